//! Adjacency graphs of Ligra and PBBS.
//!
//! ```text
//!  AdjacencyGraph      or WeightedAdjacencyGraph
//!  n
//!  m
//!  n offsets           index of each vertex's first edge
//!  m dest ids          ids from 0
//!  m weights           of a WeightedAdjacencyGraph only
//! ```
//!
//! One number a line, but any white space is accepted. The offsets need not fit in memory: the file is read at two or
//! three positions concurrently, the offsets, the edges and the weights.

use crate::cursor::weight;
use crate::file::InputFile;
use crate::options::Options;
use crate::tokens::Tokens;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};

/// Opens an adjacency graph.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    file.make_seekable()?;
    let (offsets, header) = Header::open(file, options)?;
    let (edges, _) = Header::open(file, options)?;
    if options.weights.demanded() && !header.weighted {
        return Err(Error::file(file.path(), "a WeightedAdjacencyGraph", "one without weights; drop --weight-type"));
    }
    let weight = options.weights.resolve(header.weighted.then_some(WeightType::U32));
    let weights = match weight {
        Some(_) => Some(Header::open(file, options)?.0),
        None => None,
    };
    let ids = IdSpace::Range { first: 0, count: header.vertices };
    let mut info = offsets.input().info(ids, weight);
    info.edges = Some(header.edges);
    let state = State::Start;
    Ok(Box::new(Adjacency { info, header, offsets, edges, weights, vertices: 0, end: 0, at: 0, state }))
}

/// The lines before the offsets.
#[derive(Clone, Copy)]
struct Header {
    weighted: bool,
    vertices: u64,
    edges: u64,
}

impl Header {
    fn open(file: &InputFile, options: &Options) -> Result<(Tokens, Self)> {
        let mut tokens = Tokens::open(file, options.memory_bytes / 3)?;
        tokens.next_word()?;
        let weighted = match tokens.word() {
            b"AdjacencyGraph" => false,
            b"WeightedAdjacencyGraph" => true,
            _ => return Err(tokens.error("AdjacencyGraph or WeightedAdjacencyGraph")),
        };
        let vertices = number(&mut tokens, "the number of vertices")?;
        let edges = number(&mut tokens, "the number of edges")?;
        Ok((tokens, Self { weighted, vertices, edges }))
    }
}

fn number(tokens: &mut Tokens, expected: &'static str) -> Result<u64> {
    tokens.next_word()?;
    tokens.number().ok_or_else(|| tokens.error(expected))
}

fn skip(tokens: &mut Tokens, words: u64, expected: &'static str) -> Result<()> {
    for _ in 0..words {
        if !tokens.next_word()? {
            return Err(tokens.error(expected));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Edges,
    End,
}

struct Adjacency {
    info: SourceInfo,
    header: Header,
    offsets: Tokens,
    edges: Tokens,
    weights: Option<Tokens>,
    /// The number of offsets read; the edges before `end` belong to earlier vertices.
    vertices: u64,
    end: u64,
    /// The number of edges read.
    at: u64,
    state: State,
}

impl Adjacency {
    /// Moves each reader to its position. Not part of `open`, since it takes a pass over the file.
    fn start(&mut self) -> Result<()> {
        let Header { vertices, edges, .. } = self.header;
        skip(&mut self.edges, vertices, "an offset for each vertex")?;
        if let Some(weights) = &mut self.weights {
            skip(weights, vertices, "an offset for each vertex")?;
            skip(weights, edges, "the dest of an edge")?;
        }
        self.next_offset()?;
        if self.end != 0 {
            return Err(self.offsets.error("0 as the first offset"));
        }
        self.state = State::Edges;
        Ok(())
    }

    /// Reads the next offset, where the edges of the current vertex end.
    fn next_offset(&mut self) -> Result<()> {
        let Header { vertices, edges, .. } = self.header;
        let last = self.end;
        if self.vertices < vertices {
            self.offsets.next_word()?;
            let offset = self.offsets.number().filter(|offset| (last..=edges).contains(offset));
            self.end = offset.ok_or_else(|| self.offsets.error(format!("an offset from {last} to {edges}")))?;
        } else {
            self.end = if vertices == 0 { 0 } else { edges };
        }
        self.vertices += 1;
        Ok(())
    }

    fn edge(&mut self) -> Result<Edge> {
        let vertices = self.header.vertices;
        self.edges.next_word()?;
        let dest = self.edges.number().filter(|&dest| dest < vertices);
        let dest = dest.ok_or_else(|| self.edges.error(format!("a dest id below {vertices}")))?;
        let mut edge = Edge { source: self.vertices - 2, dest, weight: 0 };
        if let (Some(weights), Some(weight_type)) = (&mut self.weights, self.info.weights) {
            weights.next_word()?;
            edge.weight = weight(weights.word(), weight_type).map_err(|expected| weights.error(expected))?;
        }
        self.at += 1;
        Ok(edge)
    }

    /// Checks that the file ends here.
    fn finish(&mut self) -> Result<()> {
        let Header { edges, weighted, .. } = self.header;
        self.state = State::End;
        if self.at < edges {
            return Err(self.offsets.error("0 edges, since there are no vertices"));
        }
        if weighted && self.weights.is_none() {
            skip(&mut self.edges, edges, "the weight of an edge")?;
        }
        let last = self.weights.as_mut().unwrap_or(&mut self.edges);
        if last.next_word()? {
            return Err(last.error("the end of the file after as many numbers as the header says"));
        }
        Ok(())
    }
}

impl EdgeSource for Adjacency {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        if self.state == State::Start {
            self.start()?;
        }
        while self.state == State::Edges && chunk.len() < CHUNK_EDGES {
            if self.at < self.end {
                chunk.push(self.edge()?);
            } else if self.vertices <= self.header.vertices {
                self.next_offset()?;
            } else {
                self.finish()?;
            }
        }
        Ok(())
    }

    fn place(&self) -> String {
        self.edges.input().path().display().to_string()
    }

    fn bytes_read(&self) -> u64 {
        self.weights.as_ref().unwrap_or(&self.edges).input().consumed_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        let tokens = [Some(&self.offsets), Some(&self.edges), self.weights.as_ref()];
        tokens.into_iter().flatten().map(Tokens::memory_bytes).sum()
    }
}
