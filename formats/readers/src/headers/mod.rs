//! Headers of plain edge lists: what comments or the first row say about the graph.
//!
//! ```text
//!  % sym unweighted            KONECT: sym, asym or bip; the second line has edges, left and right vertices
//!  % 5 5 5
//!  # Undirected graph: …       SNAP
//!  # Nodes: 6 Edges: 6
//!  5 5 5                       sizes: rows, columns, edges, or vertices, edges (Network Repository and others)
//!  EdgeArray                   PBBS
//! ```
//!
//! A header is obeyed only where the rows do not contradict it, and the summary states it: sizes are counted in the
//! whole file, and whether an undirected list has each edge once or in both directions is decided by a sample.

mod comments;
mod direction;
mod sizes;

pub(super) use comments::Comments;
pub(super) use direction::Listed;
pub(super) use sizes::Sizes;

use self::sizes::{Bounds, Found};
use crate::blocks::Blocks;
use crate::cursor::{Cursor, Expected};
use crate::file::InputFile;
use crate::lines::LineFormat;
use crate::options::Options;
use crate::options::WeightsOption;
use crate::plain::{Columns, is_comment, weight_type};
use topostream_formats::edge::{Edge, IdSpace, SourceInfo};
use topostream_formats::error::{Error, Result};

/// The header of an edge list.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    comments: Comments,
    /// How the rows of an undirected graph are listed.
    listed: Option<Listed>,
    sizes: Option<Sizes>,
    /// For people; empty if nothing is to be said.
    text: String,
}

impl Header {
    /// The header of a list; `blocks` has its first lines. Lines that are no edges are passed.
    pub(super) fn read(file: &InputFile, blocks: &mut Blocks, options: &Options) -> Result<Self> {
        let mut header = Self::of_lines(file, blocks.sample(), options)?;
        if header.is_bipartite() {
            let found = format!("`{}`, so that ids of the two columns are different things", header.comments.says);
            return Err(Error::file(file.path(), "a second line `% EDGES LEFT RIGHT`, or --bipartite", found));
        }
        if !blocks.advance_while(is_comment)? {
            return Ok(header);
        }
        if is_edge_array(blocks.line()?.unwrap_or_default()) {
            blocks.advance();
            blocks.advance_while(is_comment)?;
            header.say("EdgeArray of PBBS");
            return Ok(header);
        }
        if header.comments.is_silent() {
            header.find_sizes(file, blocks, options)?;
        }
        Ok(header)
    }

    /// What the comments at the beginning of `lines` say.
    fn of_lines(file: &InputFile, lines: &[u8], options: &Options) -> Result<Self> {
        let comments = Comments::of(lines);
        if comments.is_dynamic() && options.weights != WeightsOption::Ignore {
            let found = format!(
                "`{}`: rows that add and remove edges; --weight-type ignore reads each of them as an edge",
                comments.says
            );
            return Err(Error::file(file.path(), "edges that stay", found));
        }
        let mut header = Self { comments, ..Self::default() };
        if header.comments.undirected == Some(true) && !options.directed {
            header.listed = Some(Listed::of(lines, &header.comments.says).map_err(|found| {
                let expected = "an undirected list with each edge in one direction, or each in both";
                Error::file(file.path(), expected, found)
            })?);
        }
        header.text = header.describe(options);
        Ok(header)
    }

    /// What the comments of a file say. The beginning of a pipe is kept for reading.
    pub(super) fn of_comments(file: &InputFile, options: &Options) -> Result<Self> {
        let mut header = Self { comments: Comments::of(Blocks::peek(file)?.sample()), ..Self::default() };
        header.text = header.describe(options);
        Ok(header)
    }

    /// What a table is to know of its comments and of its first row.
    pub(super) fn of_table(file: &InputFile, options: &Options) -> Result<Self> {
        let mut blocks = match file.is_pipe()? {
            true => Blocks::peek(file)?,
            false => Blocks::open(file, options.memory_bytes)?,
        };
        Self::of_lines(file, blocks.sample(), options).and_then(|mut header| {
            if header.comments.is_silent() && blocks.advance_while(is_comment)? {
                header.find_sizes(file, &mut blocks, options)?;
            }
            Ok(header)
        })
    }

    fn find_sizes(&mut self, file: &InputFile, blocks: &mut Blocks, options: &Options) -> Result<()> {
        match Sizes::find(file, blocks, options)? {
            Found::Sizes(sizes) => {
                blocks.advance();
                self.say(&sizes.text());
                self.sizes = Some(sizes);
            }
            Found::Edge(text) => self.say(&text),
            Found::Nothing => {}
        }
        Ok(())
    }

    fn say(&mut self, text: &str) {
        let separator = if self.text.is_empty() { "" } else { "; " };
        self.text += separator;
        self.text += text;
    }

    /// What the comments say, and what follows.
    fn describe(&self, options: &Options) -> String {
        let Comments { says, undirected, apart, weights, hint, .. } = &self.comments;
        if says.is_empty() {
            return hint.clone().unwrap_or_default();
        }
        let kind = match (self.listed, undirected) {
            (Some(Listed::Once { both: 0 }), _) => {
                "undirected, each edge listed once (--directed reads the rows as they \
                                                     are)"
                    .into()
            }
            (Some(Listed::Once { both }), _) => format!(
                "undirected, each edge listed once; {both} of the first rows are listed in both directions and make \
                 two edges (--directed reads the rows as they are, --remove-duplicates keeps one)"
            ),
            (Some(Listed::Both), _) => "undirected, each edge listed in both directions".into(),
            (None, Some(true)) => {
                "undirected, and its rows are read as they are listed (--directed, --symmetrize)".to_owned()
            }
            (None, _) => "directed".into(),
        };
        let mut text = format!("by its header `{says}` {kind}");
        if let Some([left, right]) = apart {
            text += &format!(
                "; the columns are ids of different things: 1 to {left} on the left, 1 to {right} on the right, which \
                 become {} to {}",
                left + 1,
                left + right
            );
        }
        if *weights == Some(false) {
            text += "; unweighted: a third column is not read";
        } else if self.comments.is_konect() && options.weights != WeightsOption::Ignore {
            text += "; of columns after the second the first is the weight";
        }
        text
    }

    /// Whether there is nothing to obey and nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text for people.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the first row is the sizes of the graph.
    pub(super) fn has_sizes(&self) -> bool {
        self.sizes.is_some()
    }

    /// The sizes in the first row.
    pub(super) fn sizes(&self) -> Option<&Sizes> {
        self.sizes.as_ref()
    }

    /// Whether the columns are ids of different things whose numbers are not stated.
    pub(super) fn is_bipartite(&self) -> bool {
        self.comments.is_bipartite() && self.comments.apart.is_none()
    }

    /// The number of edges in the comments.
    pub(super) fn claimed(&self) -> Option<u64> {
        self.comments.edges
    }

    /// Sets direction and vertices.
    pub(super) fn apply(&self, info: &mut SourceInfo) {
        if let Some(listed) = self.listed {
            info.directed = false;
            info.mirror = matches!(listed, Listed::Once { .. });
        }
        if let Some(sizes) = &self.sizes {
            info.ids = sizes.ids();
            info.edges = Some(sizes.edges);
        }
    }

    /// The columns, where the header says what they are.
    pub(super) fn columns(&self, blocks: &mut Blocks, options: &Options) -> Result<Option<Columns>> {
        if !self.comments.is_konect() || !blocks.advance_while(is_comment)? {
            return Ok(None);
        }
        let count = Cursor::new(blocks.line()?.unwrap_or_default()).count();
        if !(2..=4).contains(&count) {
            return Err(blocks.error_here("2 to 4 columns, as in a file of KONECT: source dest [weight [time]]"));
        }
        let is_weighted = count >= 3 && self.comments.weights != Some(false);
        let weight = options.weights.resolve(is_weighted.then(|| weight_type(blocks.ahead())));
        if weight.is_some() && count < 3 {
            return Err(blocks.error_here("3 columns: source dest weight, since weights are required"));
        }
        Ok(Some(Columns { count: Some(count), weight, passed: 0 }))
    }
}

/// Whether a line is the first one of PBBS's edge arrays.
pub(super) fn is_edge_array(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), b"EdgeArray" | b"WeightedEdgeArray")
}

/// The rows below a header.
pub(super) struct Headed {
    pub(super) columns: Columns,
    pub(super) header: Header,
}

impl Headed {
    #[cold]
    fn fault(&self, bounds: &Bounds) -> Expected {
        let Bounds { first, last, says } = bounds;
        let [source, dest] = last;
        format!("a source from {first} to {source} and a dest from {first} to {dest}, as {says}").into()
    }

    /// The bounds of ids; dests of another kind get ids after the sources' ids.
    fn bounds(&self) -> Option<Bounds> {
        if let Some(sizes) = &self.header.sizes {
            return Some(sizes.bounds());
        }
        let last = self.header.comments.apart?;
        Some(Bounds { first: 1, last, says: "the header says" })
    }

    fn shift(&self) -> u64 {
        match (&self.header.sizes, self.header.comments.apart) {
            (Some(sizes), _) => sizes.shift(),
            (None, Some([left, _])) => left,
            _ => 0,
        }
    }
}

impl LineFormat for Headed {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        let before = edges.len();
        self.columns.parse(line, edges)?;
        let (Some(edge), Some(bounds)) = (edges.get_mut(before), self.bounds()) else { return Ok(()) };
        let inside = |id: u64, last: u64| (bounds.first..=last).contains(&id);
        if !inside(edge.source, bounds.last[0]) || !inside(edge.dest, bounds.last[1]) {
            edges.truncate(before);
            return Err(self.fault(&bounds));
        }
        edge.dest += self.shift();
        Ok(())
    }

    fn note(&self) -> Option<String> {
        Some(self.header.text.clone())
    }

    fn claimed(&self) -> Option<u64> {
        self.header.claimed()
    }
}

/// The vertices of a list without sizes.
pub(super) fn id_space(header: &Header, otherwise: IdSpace) -> IdSpace {
    header.sizes().map_or(otherwise, Sizes::ids)
}
