//! Pajek's networks.
//!
//! ```text
//!  % comments
//!  *Vertices 3            the number of vertices; lines of labels may follow, which are not kept
//!  1 "a" 0.1 0.2
//!  *Arcs :1 "knows"       directed edges: source, dest [, weight [, attributes]]
//!  1 2 0.5
//!  *Edges                 undirected edges, each once
//!  2 3
//!  *Arcslist, *Edgeslist  source, dests …
//! ```
//!
//! Ids are 1 to n. A network of edges only is undirected. If it has arcs too, it is directed, and its edges lead in
//! both directions. A first pass over the file finds what there is: a pipe is copied. Rows without a weight have the
//! weight 1 if others have one.

use crate::blocks::Blocks;
use crate::cursor::{Cursor, Expected, integer, weight};
use crate::file::InputFile;
use crate::options::Options;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};
use topostream_formats::text::plural;

const SECTION: &str = "*Vertices, *Arcs, *Edges, *Arcslist or *Edgeslist";

/// Opens a Pajek network.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    file.make_seekable()?;
    let mut scan = Pajek::over(file, options)?;
    let mut chunk = Vec::new();
    loop {
        scan.fill(&mut chunk)?;
        if chunk.is_empty() {
            break;
        }
    }
    let found = scan.found;
    if options.weights.demanded() && found.weighted == 0 {
        return Err(Error::file(file.path(), "weights", "edges without weights; drop --weight-type"));
    }
    let stated = if found.is_integer { WeightType::U32 } else { WeightType::F32 };
    let weight = options.weights.resolve((found.weighted > 0).then_some(stated));
    let mut pajek = Pajek::over(file, options)?;
    let is_undirected = found.arcs == 0 && found.edges > 0;
    pajek.info.weights = weight;
    pajek.info.ids = IdSpace::Range { first: 1, count: scan.vertices.unwrap_or(0) };
    (pajek.info.directed, pajek.info.mirror) = (!is_undirected, is_undirected);
    pajek.is_mixed = found.arcs > 0 && !options.directed;
    let doubled = if pajek.is_mixed { found.edges - found.loops } else { 0 };
    pajek.info.edges = Some(found.arcs + found.edges + doubled);
    pajek.all = Some(found);
    Ok(Box::new(pajek))
}

/// What a network has.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    arcs: u64,
    edges: u64,
    /// Edges from a vertex to itself.
    loops: u64,
    /// Rows with a weight.
    weighted: u64,
    /// Whether all weights are unsigned integers of 32 bits.
    is_integer: bool,
    /// Sections of arcs and edges.
    sections: u64,
    labels: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Start,
    Vertices,
    Rows { are_arcs: bool, are_lists: bool },
}

struct Pajek {
    info: SourceInfo,
    blocks: Blocks,
    section: Section,
    vertices: Option<u64>,
    found: Found,
    /// What the whole file has; none in the first pass.
    all: Option<Found>,
    /// Whether undirected edges are read in both directions.
    is_mixed: bool,
    /// The rest of a line of a list, with its source.
    list: Option<List>,
    /// The line of each edge of the chunk that was read last.
    lines: Vec<u64>,
}

struct List {
    source: u64,
    bytes: Vec<u8>,
    at: usize,
}

impl Pajek {
    fn over(file: &InputFile, options: &Options) -> Result<Self> {
        let blocks = Blocks::open(file, options.memory_bytes)?;
        let info = blocks.input().info(IdSpace::Named, None);
        let found = Found { is_integer: true, ..Found::default() };
        let section = Section::Start;
        let (vertices, all, list, lines) = (None, None, None, Vec::new());
        Ok(Self { info, blocks, section, vertices, found, all, is_mixed: false, list, lines })
    }

    /// The next edges.
    fn fill(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        self.lines.clear();
        while chunk.len() < CHUNK_EDGES - 1 {
            if self.list.is_some() {
                self.next_of_list(chunk)?;
                continue;
            }
            let Some(line) = self.blocks.line()? else {
                return match self.vertices {
                    Some(_) => Ok(()),
                    None => Err(Error::file(self.blocks.input().path(), "*Vertices N", "the end of the file")),
                };
            };
            match line.trim_ascii() {
                [] | [b'%', ..] => {}
                [b'*', ..] => self.begin()?,
                _ => self.row(chunk)?,
            }
            if self.list.is_none() {
                self.blocks.advance();
            }
        }
        Ok(())
    }

    /// A line that begins a section.
    fn begin(&mut self) -> Result<()> {
        let line = self.blocks.line()?.unwrap_or_default().trim_ascii();
        let mut cursor = Cursor::new(line);
        let word = cursor.word().unwrap_or_default().to_ascii_lowercase();
        let number = cursor.word().and_then(integer);
        let rows = |are_arcs, are_lists| Section::Rows { are_arcs, are_lists };
        self.section = match &word[..] {
            b"*network" if self.vertices.is_none() => Section::Start,
            b"*vertices" if self.vertices.is_none() => {
                self.vertices = number.filter(|&count| count < u64::MAX);
                if self.vertices.is_none() {
                    return Err(self.blocks.error_here("*Vertices and the number of vertices"));
                }
                Section::Vertices
            }
            b"*network" | b"*vertices" => {
                return Err(self.blocks.error_here("one network: a project of several is not read"));
            }
            b"*matrix" => {
                let expected = "arcs or edges: a matrix is not read (networkx.read_pajek reads it)";
                return Err(self.blocks.error_here(expected));
            }
            b"*arcs" => rows(true, false),
            b"*edges" => rows(false, false),
            b"*arcslist" => rows(true, true),
            b"*edgeslist" => rows(false, true),
            _ => return Err(self.blocks.error_here(SECTION)),
        };
        if matches!(self.section, Section::Rows { .. }) {
            if self.vertices.is_none() {
                return Err(self.blocks.error_here("*Vertices before arcs and edges"));
            }
            self.found.sections += 1;
        }
        Ok(())
    }

    /// A line within a section.
    fn row(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let Section::Rows { are_arcs, are_lists } = self.section else {
            self.found.labels = true;
            return match self.section {
                Section::Vertices => Ok(()),
                _ => Err(self.blocks.error_here(SECTION)),
            };
        };
        let last = self.vertices.unwrap_or(0);
        let line = self.blocks.line()?.unwrap_or_default();
        let mut cursor = Cursor::new(line);
        let mut id = || cursor.number().filter(|id| (1..=last).contains(id));
        let source = id();
        if let (true, Some(source)) = (are_lists, source) {
            self.list = Some(List { source, bytes: cursor.rest().to_vec(), at: 0 });
            return Ok(());
        }
        let (Some(source), Some(dest)) = (source, id()) else {
            return Err(self.blocks.error_here(format!("vertex ids from 1 to {last}")));
        };
        let word = cursor.word().filter(|word| is_number(word));
        let weight = self.found.weight(word, self.all.is_none(), self.info.weights);
        let weight = weight.map_err(|expected| self.blocks.error_here(expected))?;
        self.push(chunk, Edge { source, dest, weight }, are_arcs);
        Ok(())
    }

    /// The next dest of a list, or its end.
    fn next_of_list(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let Some(List { source, bytes, at }) = &mut self.list else { return Ok(()) };
        let (source, last) = (*source, self.vertices.unwrap_or(0));
        let mut cursor = Cursor::new(&bytes[*at..]);
        if cursor.is_end() {
            self.list = None;
            self.blocks.advance();
            return Ok(());
        }
        let dest = cursor.number().filter(|id| (1..=last).contains(id));
        *at = bytes.len() - cursor.rest().len();
        let Some(dest) = dest else {
            return Err(self.blocks.error_here(format!("vertex ids from 1 to {last}")));
        };
        let weight = self.found.weight(None, self.all.is_none(), self.info.weights);
        let weight = weight.map_err(|expected| self.blocks.error_here(expected))?;
        self.push(chunk, Edge { source, dest, weight }, matches!(self.section, Section::Rows { are_arcs: true, .. }));
        Ok(())
    }

    fn push(&mut self, chunk: &mut Vec<Edge>, edge: Edge, is_arc: bool) {
        chunk.push(edge);
        let is_loop = edge.source == edge.dest;
        if is_arc {
            self.found.arcs += 1;
        } else {
            self.found.edges += 1;
            self.found.loops += u64::from(is_loop);
            if self.is_mixed && !is_loop {
                chunk.push(Edge { source: edge.dest, dest: edge.source, ..edge });
            }
        }
        self.lines.resize(chunk.len(), self.blocks.lines_counted() + 1);
    }
}

impl Found {
    /// The weight of a row with this third word: 1 without one. The first pass finds the type of weights.
    fn weight(&mut self, word: Option<&[u8]>, is_first: bool, of: Option<WeightType>) -> Result<u64, Expected> {
        if is_first {
            let is_whole = |word| integer(word).is_some();
            self.weighted += u64::from(word.is_some());
            self.is_integer &= word.is_none_or(is_whole);
            return Ok(0);
        }
        of.map_or(Ok(0), |of| weight(word.unwrap_or(b"1"), of))
    }
}

/// Whether the third word of a row is a weight: attributes may follow the ids.
fn is_number(word: &[u8]) -> bool {
    matches!(word, [b'0'..=b'9' | b'-' | b'+' | b'.', ..])
}

impl EdgeSource for Pajek {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        self.fill(chunk)
    }

    fn place(&self) -> String {
        self.blocks.input().path().display().to_string()
    }

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        match self.lines.get(index) {
            Some(line) => format!("{}:{line}", self.place()),
            None => self.place(),
        }
    }

    fn note(&self) -> Option<String> {
        let Found { arcs, edges, weighted, sections, labels, .. } = self.all?;
        let directed = format!("{arcs} {}", plural(arcs, "arc"));
        let undirected = format!("{edges} {}", plural(edges, "undirected edge"));
        let mut text = vec![match (arcs, edges) {
            (0, 1..) => format!("{undirected}, each listed once (--directed reads the lines as they are)"),
            (_, 0) => directed,
            _ if self.is_mixed => format!("{directed}, and {undirected} in both directions"),
            _ => format!("{directed}, and {undirected} in the direction in which they are listed"),
        }];
        if sections > 1 {
            text.push(format!("{sections} sections read as one"));
        }
        if (1..arcs + edges).contains(&weighted) && self.info.weights.is_some() {
            let rows = arcs + edges - weighted;
            let have = if rows == 1 { "has" } else { "have" };
            text.push(format!("{rows} {} without a weight, which {have} weight 1", plural(rows, "row")));
        }
        if labels {
            text.push("the labels of vertices are not kept, ids are 1 to n".into());
        }
        Some(text.join("; "))
    }

    fn bytes_read(&self) -> u64 {
        self.blocks.input().consumed_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        self.blocks.memory_bytes() + 8 * CHUNK_EDGES as u64
    }
}
