//! METIS and Chaco graphs: one line of neighbours for each vertex.
//!
//! ```text
//!  % comments
//!  4 3 001             vertices, edges [, format [, weights a vertex]]
//!  2 7 3 1             vertex 1: neighbour 2 (weight 7), neighbour 3 (weight 1)
//!  1 7                 vertex 2
//!  1 1 4 5             vertex 3
//!  3 5                 vertex 4
//! ```
//!
//! The three digits of the format are flags: vertex sizes, vertex weights (both skipped), edge weights (integers). The
//! graph is undirected and the file lists both directions of each edge, so the lists have twice as many entries as the
//! header has edges; self-loops must be listed twice, too. A line may be longer than memory: the text is read word by
//! word.

use crate::cursor::weight;
use crate::file::InputFile;
use crate::options::Options;
use crate::tokens::{Token, Tokens};
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};
use topostream_formats::text::plural;

const HEADER: &str = "the header of a METIS graph: VERTICES EDGES [FORMAT [VERTEX WEIGHTS]], \
                      where FORMAT is three digits of 0 and 1";

/// Opens a METIS graph.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let mut tokens = Tokens::open(file, options.memory_bytes)?;
    let header = Header::read(&mut tokens)?;
    if options.weights.demanded() && !header.edge_weights {
        let found = "a format without them; drop --weight-type";
        return Err(Error::file(file.path(), "edge weights", found));
    }
    let weight = options.weights.resolve(header.edge_weights.then_some(WeightType::U32));
    let ids = IdSpace::Range { first: 1, count: header.vertices };
    let mut info = tokens.input().info(ids, weight);
    info.edges = Some(2 * header.edges);
    info.directed = false;
    Ok(Box::new(Metis {
        info,
        tokens,
        header,
        weight,
        vertex: 0,
        begun: false,
        words: 0,
        listed: 0,
        loops: 0,
        ended: false,
        chunk_vertex: 0,
        chunk_line: 0,
        comments: Vec::new(),
    }))
}

/// The header line.
struct Header {
    vertices: u64,
    edges: u64,
    /// The number of words before the neighbours: a vertex's size and weights.
    vertex_words: u64,
    edge_weights: bool,
}

impl Header {
    fn read(tokens: &mut Tokens) -> Result<Self> {
        let mut numbers = Vec::with_capacity(4);
        loop {
            match tokens.next()? {
                Token::Word if numbers.is_empty() && tokens.word().starts_with(b"%") => tokens.skip_line()?,
                Token::Word => match tokens.number() {
                    Some(number) if numbers.len() < 4 => numbers.push(number),
                    _ => return Err(tokens.error(HEADER)),
                },
                Token::LineEnd if numbers.is_empty() => {}
                Token::LineEnd | Token::End => break,
            }
        }
        Self::from_numbers(&numbers).ok_or_else(|| tokens.error(HEADER))
    }

    fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let [vertices, edges, rest @ ..] = numbers else { return None };
        let format = rest.first().copied().unwrap_or(0);
        let flags = [format / 100, format / 10 % 10, format % 10];
        if flags.iter().any(|&flag| flag > 1) || *edges > u64::MAX / 2 {
            return None;
        }
        let weights = rest.get(1).copied().unwrap_or(1);
        let vertex_words = flags[0].checked_add(if flags[1] == 1 { weights } else { 0 })?;
        Some(Self { vertices: *vertices, edges: *edges, vertex_words, edge_weights: flags[2] == 1 })
    }
}

struct Metis {
    info: SourceInfo,
    tokens: Tokens,
    header: Header,
    weight: Option<WeightType>,
    /// The number of complete vertex lines, and so the index of the current vertex.
    vertex: u64,
    /// Whether the current line has any words.
    begun: bool,
    /// The number of vertex sizes and weights read from it.
    words: u64,
    listed: u64,
    loops: u64,
    ended: bool,
    /// The first vertex of the last chunk, and its line number.
    chunk_vertex: u64,
    chunk_line: u64,
    /// For each comment line within the chunk, the vertex of the next vertex line.
    comments: Vec<u64>,
}

/// Maximum number of comments kept for a chunk; with more of them, errors have no line numbers.
const COMMENTS_MAX: usize = 1 << 12;

impl Metis {
    /// Reads a token, or a neighbour with its weight.
    fn step(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        match self.tokens.next()? {
            Token::Word if !self.begun && self.tokens.word().starts_with(b"%") => self.comment(),
            Token::Word if self.vertex == self.header.vertices => {
                let expected = {
                    let vertices = self.header.vertices;
                    format!(
                        "the end of the file after the {} of {vertices} {}",
                        plural(vertices, "line"),
                        plural(vertices, "vertex")
                    )
                };
                Err(self.tokens.error(expected))
            }
            Token::Word if self.words < self.header.vertex_words => self.vertex_word(),
            Token::Word => self.neighbour(chunk),
            Token::LineEnd if self.vertex == self.header.vertices => Ok(()),
            Token::LineEnd => self.end_line(),
            Token::End => self.finish(),
        }
    }

    fn comment(&mut self) -> Result<()> {
        if self.comments.len() <= COMMENTS_MAX {
            self.comments.push(self.vertex);
        }
        self.tokens.skip_line()
    }

    /// The line number, from 1, of a vertex of the chunk.
    fn line_of(&self, vertex: u64) -> Option<u64> {
        let comments = self.comments.iter().filter(|&&before| before <= vertex).count() as u64;
        let known = self.comments.len() <= COMMENTS_MAX && vertex >= self.chunk_vertex;
        known.then(|| self.chunk_line + (vertex - self.chunk_vertex) + comments)
    }

    fn vertex_word(&mut self) -> Result<()> {
        self.begun = true;
        self.words += 1;
        self.tokens.number().map(drop).ok_or_else(|| self.tokens.error("the size or a weight of the vertex"))
    }

    fn neighbour(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let vertices = self.header.vertices;
        let neighbour = self.tokens.number().filter(|id| (1..=vertices).contains(id));
        let dest = neighbour.ok_or_else(|| self.tokens.error(format!("a neighbour from 1 to {vertices}")))?;
        let mut edge = Edge { source: self.vertex + 1, dest, weight: 0 };
        if self.header.edge_weights {
            if self.tokens.next()? != Token::Word {
                return Err(self.tokens.error(format!("the weight of the edge to neighbour {dest}")));
            }
            if let Some(weight_type) = self.weight {
                edge.weight =
                    weight(self.tokens.word(), weight_type).map_err(|expected| self.tokens.error(expected))?;
            }
        }
        self.begun = true;
        self.listed += 1;
        self.loops += u64::from(edge.source == edge.dest);
        chunk.push(edge);
        Ok(())
    }

    fn end_line(&mut self) -> Result<()> {
        if self.words < self.header.vertex_words {
            let expected = format!("{} numbers before the neighbours of the vertex", self.header.vertex_words);
            return Err(self.tokens.error(expected));
        }
        self.vertex += 1;
        self.begun = false;
        self.words = 0;
        Ok(())
    }

    /// Checks the totals. The last line may lack its newline, even if it is empty.
    fn finish(&mut self) -> Result<()> {
        let Header { vertices, edges, vertex_words, .. } = self.header;
        self.ended = true;
        if self.begun || (vertex_words == 0 && vertices - self.vertex == 1) {
            self.end_line()?;
        }
        let path = self.tokens.input().path();
        if self.vertex < vertices {
            let found = format!("{} {}", self.vertex, plural(self.vertex, "vertex line"));
            let expected = format!("{vertices} {}, as the header says", plural(vertices, "vertex line"));
            return Err(Error::file(path, expected, found));
        }
        if self.listed != 2 * edges {
            let expected = {
                let edges_of = plural(edges, "edge");
                format!("{} neighbours in all, twice the header's {edges} {edges_of}", 2 * edges)
            };
            let found = format!("{}, {} of them self-loops", self.listed, self.loops);
            return Err(Error::file(path, expected, found));
        }
        Ok(())
    }
}

impl EdgeSource for Metis {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        self.comments.clear();
        (self.chunk_vertex, self.chunk_line) = (self.vertex, self.tokens.lines() + 1);
        while chunk.len() < CHUNK_EDGES && !self.ended {
            self.step(chunk)?;
        }
        Ok(())
    }

    fn place(&self) -> String {
        self.tokens.input().path().display().to_string()
    }

    fn place_of(&self, _index: usize, edge: &Edge) -> String {
        match self.line_of(edge.source - 1) {
            Some(line) => format!("{}:{line}", self.place()),
            None => self.place(),
        }
    }

    fn is_read_once(&self) -> bool {
        self.tokens.input().is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.tokens.input().consumed_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        self.tokens.memory_bytes()
    }
}
