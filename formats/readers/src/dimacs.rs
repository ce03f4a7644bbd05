//! Graphs of the DIMACS Implementation Challenges, and of PACE.
//!
//! ```text
//!  c comments
//!  p sp 4 5            vertices, edges          p edge, p col: undirected        p max, p asn: directed
//!  a 1 2 17            source, dest, weight     e 1 2                            a 1 2 17   (n lines are skipped)
//! ```
//!
//! Ids count from 1. Some published shortest-path files lack the `p` line and count from 0. They are accepted: their
//! vertices are the endpoints of edges, and their number of edges is not checked.
//!
//! Graphs of colouring and of PACE (`p tw`, lines of two ids) are undirected. Most list each edge once, some in both
//! directions, and their `p` lines count either: a sample decides, and their number of edges is not relied on.

use crate::blocks::Blocks;
use crate::cursor::{Cursor, Expected, ID, is_blank, weight};
use crate::file::InputFile;
use crate::headers::Listed;
use crate::lines::{LineFormat, LineSource, Promise};
use crate::options::Options;
use topostream_formats::edge::{Edge, EdgeSource, IdSpace, WeightType};
use topostream_formats::error::{Error, Result};

const PROBLEM: &str = "p sp VERTICES EDGES (or p edge, p col, p max, p asn, p tw; the other problems are not read)";

/// Opens a DIMACS graph.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let mut blocks = Blocks::open(file, options.memory_bytes)?;
    let problem = Problem::read(&mut blocks)?;
    let ids = match problem.sizes {
        Some([vertices, _]) => IdSpace::Range { first: 1, count: vertices },
        None => IdSpace::Named,
    };
    if options.weights.demanded() && !problem.form.is_weighted() {
        return Err(Error::file(file.path(), "weights", "edges without weights; drop --weight-type"));
    }
    let weight = options.weights.resolve(problem.form.is_weighted().then_some(WeightType::U32));
    let mut info = blocks.input().info(ids, weight);
    let (mut promise, mut listed) = (None, None);
    let edges = problem.sizes.map(|[_, edges]| edges);
    if problem.form.is_undirected() {
        if !options.directed {
            let found = Listed::of(&problem.form.pairs(blocks.sample()), problem.form.name());
            let expected = "an undirected graph with each edge in one direction, or each in both";
            listed = Some(found.map_err(|found| Error::file(file.path(), expected, found))?);
            (info.directed, info.mirror) = (false, matches!(listed, Some(Listed::Once { .. })));
        }
    } else {
        info.edges = edges;
        promise = edges.map(|edges| Promise { edges, says: "as the p line says" });
    }
    let claimed = edges.filter(|_| problem.form.is_undirected());
    let format =
        Lines { form: problem.form, vertices: problem.sizes.map(|[vertices, _]| vertices), weight, listed, claimed };
    Ok(Box::new(LineSource::new(info, blocks, format, promise)))
}

/// The problems whose graphs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `p sp`, or no `p` line.
    Paths,
    /// `p edge`, `p col`: `e SOURCE DEST`.
    Edges,
    /// `p max`, `p asn`: `a SOURCE DEST VALUE`, and lines `n …`.
    Flow,
    /// PACE's `p tw`: `SOURCE DEST`.
    Pace,
}

impl Form {
    fn is_weighted(self) -> bool {
        matches!(self, Self::Paths | Self::Flow)
    }

    fn is_undirected(self) -> bool {
        matches!(self, Self::Edges | Self::Pace)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Paths => "p sp",
            Self::Edges => "p edge",
            Self::Flow => "p max",
            Self::Pace => "p tw",
        }
    }

    /// The letter before an edge.
    fn letter(self) -> Option<u8> {
        match self {
            Self::Paths | Self::Flow => Some(b'a'),
            Self::Edges => Some(b'e'),
            Self::Pace => None,
        }
    }

    fn edge(self) -> &'static str {
        match self {
            Self::Paths => "an edge: a SOURCE DEST WEIGHT",
            Self::Flow => "an edge: a SOURCE DEST CAPACITY",
            Self::Edges => "an edge: e SOURCE DEST",
            Self::Pace => "an edge: SOURCE DEST",
        }
    }

    /// The two ids of each edge of `lines`.
    fn pairs(self, lines: &[u8]) -> Vec<u8> {
        let letter = self.letter();
        let edges = lines.split(|&byte| byte == b'\n').filter(|line| letter.is_none_or(|of| line.first() == Some(&of)));
        edges.flat_map(|line| [&line[usize::from(letter.is_some())..], b"\n"].concat()).collect()
    }
}

/// The `p` line.
struct Problem {
    form: Form,
    /// The numbers of vertices and edges; none without such a line.
    sizes: Option<[u64; 2]>,
}

impl Problem {
    /// Reads the `p` line, if one comes before the first edge.
    fn read(blocks: &mut Blocks) -> Result<Self> {
        let is_comment = |line: &[u8]| matches!(Cursor::new(line).first(), None | Some(b'c'));
        let without = |form| Ok(Self { form, sizes: None });
        if !blocks.advance_while(is_comment)? {
            return without(Form::Paths);
        }
        let mut cursor = Cursor::new(blocks.line()?.unwrap_or_default());
        match cursor.first() {
            Some(b'p') => {}
            Some(b'e') => return without(Form::Edges),
            _ => return without(Form::Paths),
        }
        let form = match (cursor.word(), cursor.word()) {
            (Some(b"p"), Some(b"sp")) => Some(Form::Paths),
            (Some(b"p"), Some(b"edge" | b"edges" | b"col")) => Some(Form::Edges),
            (Some(b"p"), Some(b"max" | b"asn")) => Some(Form::Flow),
            (Some(b"p"), Some(b"tw")) => Some(Form::Pace),
            _ => None,
        };
        match (form, cursor.number(), cursor.number(), cursor.is_end()) {
            (Some(form), Some(vertices), Some(edges), true) => {
                blocks.advance();
                Ok(Self { form, sizes: Some([vertices, edges]) })
            }
            _ => Err(blocks.error_here(PROBLEM)),
        }
    }
}

/// The lines after the `p` line.
struct Lines {
    form: Form,
    /// The largest id; `None` without a `p` line.
    vertices: Option<u64>,
    weight: Option<WeightType>,
    /// How undirected edges are listed.
    listed: Option<Listed>,
    /// The number of edges that is not relied on.
    claimed: Option<u64>,
}

impl Lines {
    #[cold]
    fn id_fault(&self) -> Expected {
        match self.vertices {
            Some(vertices) => format!("vertex ids from 1 to {vertices}").into(),
            None => ID.into(),
        }
    }

    /// A line that is no edge.
    #[cold]
    fn other(&self, line: &[u8]) -> Result<(), Expected> {
        match Cursor::new(line).first() {
            None | Some(b'c') => Ok(()),
            // Terminals of flows, colours and weights of vertices, coordinates.
            Some(b'n' | b'd' | b'v' | b'x') if self.form != Form::Paths => Ok(()),
            Some(b'p') => Err("one p line at most, before all edges".into()),
            _ => Err(self.form.edge().into()),
        }
    }
}

impl LineFormat for Lines {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        let letter = self.form.letter();
        let mut cursor = match (line, letter) {
            ([first, blank, ..], Some(letter)) if *first == letter && is_blank(*blank) => Cursor::new(&line[1..]),
            ([b'0'..=b'9', ..], None) => Cursor::new(line),
            _ => return self.other(line),
        };
        let is_weighted = self.form.is_weighted();
        let (Some(source), Some(dest)) = (cursor.number(), cursor.number()) else {
            let count = 2 + usize::from(letter.is_some()) + usize::from(is_weighted);
            return Err(if Cursor::new(line).count() == count { self.id_fault() } else { self.form.edge().into() });
        };
        let mut bits = 0;
        if is_weighted {
            let word = cursor.word().ok_or(self.form.edge())?;
            bits = self.weight.map_or(Ok(0), |weight_type| weight(word, weight_type))?;
        }
        if !cursor.is_end() {
            return Err(self.form.edge().into());
        }
        if self.vertices.is_some_and(|last| !(1..=last).contains(&source) || !(1..=last).contains(&dest)) {
            return Err(self.id_fault());
        }
        edges.push(Edge { source, dest, weight: bits });
        Ok(())
    }

    fn note(&self) -> Option<String> {
        let name = self.form.name();
        match self.listed? {
            Listed::Once { both: 0 } => {
                Some(format!("`{name}`: undirected, each edge listed once (--directed reads the lines as they are)"))
            }
            Listed::Once { both } => Some(format!(
                "`{name}`: undirected, each edge listed once; {both} of the first lines are listed in both directions \
                 and make two edges (--remove-duplicates keeps one)"
            )),
            Listed::Both => Some(format!("`{name}`: undirected, each edge listed in both directions")),
        }
    }

    fn claimed(&self) -> Option<u64> {
        self.claimed
    }
}
