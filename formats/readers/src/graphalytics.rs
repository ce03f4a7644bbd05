//! LDBC Graphalytics: an edge file, a vertex file and a properties file.
//!
//! ```text
//!  NAME.properties     graph.NAME.vertex-file = NAME.v
//!                      graph.NAME.edge-file = NAME.e
//!                      graph.NAME.directed = false
//!                      graph.NAME.edge-properties.names = weight        optional
//!                      graph.NAME.edge-properties.types = real          or integer
//!  NAME.v              one id a line: all vertices, including isolated ones
//!  NAME.e              source dest [properties] a line; undirected edges appear once
//! ```
//!
//! The weight is the edge property named by `sssp.weight-property`, by default the first: `real` is read as `F32`,
//! `integer` as `U32`. The graph can be opened by any of the three files, their directory or their common prefix.
//! Without a properties file the graph is directed, and weights are a third column, as in plain text. If there is a
//! vertex file, it must contain every id of the edge file.
//!
//! The benchmark's validation graphs have another format, which their properties files do not mention: a line
//! `vertex n1 n2 …` for each vertex, with an undirected edge in the lists of both endpoints.

use crate::blocks::Blocks;
use crate::cursor::{Cursor, Expected};
use crate::file::InputFile;
use crate::graphalytics_files::{Files, Properties};
use crate::lines::{LineFormat, LineSource};
use crate::options::Options;
use crate::plain::{Columns, is_comment};
use topostream_formats::edge::{Edge, EdgeSource, IdSpace, SourceInfo};
use topostream_formats::error::{Error, Result};

/// Opens a graph by one of its files, their directory or their prefix.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    let files = if file.is_standard_input() { Files::only_edges(file.path()) } else { Files::find(file.path())? };
    let edge_file = if file.is_standard_input() { file.clone() } else { file.beside(&files.edges) };
    if files.lists {
        edge_file.make_seekable()?;
    }
    let mut blocks = Blocks::open(&edge_file, options.memory_bytes / 2)?;
    if let (true, Some(properties)) = (files.lists, &files.properties) {
        let mut info = blocks.input().info(IdSpace::Named, None);
        info.directed = properties.directed;
        // The file is read a second time for the vertices.
        info.bytes = info.bytes.map(|bytes| 2 * bytes);
        let edges = Box::new(LineSource::new(info, blocks, NeighbourLines, None));
        let memory_bytes = options.memory_bytes / 2;
        return Ok(Box::new(Graphalytics {
            edges,
            vertices: Some(edge_file),
            lists: true,
            memory_bytes,
            vertex_bytes: 0,
        }));
    }
    let columns = match &files.properties {
        Some(properties) => columns(properties, options)?,
        None => Columns::look_ahead(&mut blocks, options.weights, IdSpace::UpToLargest)?,
    };
    let mut info = blocks.input().info(IdSpace::Named, columns.weight);
    info.directed = files.properties.as_ref().is_none_or(|properties| properties.directed);
    info.mirror = !info.directed;
    let vertices = files.vertices.map(|path| file.beside(&path));
    if let Some(vertices) = &vertices {
        let vertex_bytes = vertices.bytes()?;
        info.bytes = info.bytes.zip(vertex_bytes).map(|(edges, vertices)| edges + vertices);
    }
    let edges = Box::new(LineSource::new(info, blocks, columns, None));
    let memory_bytes = options.memory_bytes / 2;
    Ok(Box::new(Graphalytics { edges, vertices, lists: false, memory_bytes, vertex_bytes: 0 }))
}

/// The columns according to the properties.
fn columns(properties: &Properties, options: &Options) -> Result<Columns> {
    if options.weights.demanded() && properties.weight.is_none() {
        let found = "none; drop --weight-type";
        return Err(Error::file(&properties.path, "an edge property for the weights", found));
    }
    Ok(match options.weights.resolve(properties.weight) {
        None if properties.edge_properties > 0 => Columns { count: None, weight: None, passed: 0 },
        weight => {
            let count = Some(2 + properties.edge_properties);
            Columns { count, weight, passed: properties.place }
        }
    })
}

struct Graphalytics {
    edges: Box<dyn EdgeSource>,
    /// The file of vertices, until it has been read.
    vertices: Option<InputFile>,
    /// Whether that file has lists of neighbours, whose first ids are the vertices.
    lists: bool,
    memory_bytes: u64,
    vertex_bytes: u64,
}

impl EdgeSource for Graphalytics {
    fn info(&self) -> &SourceInfo {
        self.edges.info()
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        self.edges.read(chunk)
    }

    fn extra_vertices(&mut self, ids: &mut Vec<u64>) -> Result<()> {
        self.each_vertex(&mut |some| {
            ids.extend_from_slice(some);
            Ok(())
        })
    }

    fn declared_vertices(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        // Files of neighbour lists do not list all vertices: some may occur only as neighbours.
        let declared = self.vertices.is_some() && !self.lists;
        if declared {
            self.each_vertex(take)?;
        }
        Ok(declared)
    }

    fn place(&self) -> String {
        self.edges.place()
    }

    fn place_of(&self, index: usize, edge: &Edge) -> String {
        self.edges.place_of(index, edge)
    }

    fn is_read_once(&self) -> bool {
        self.edges.is_read_once()
    }

    fn bytes_read(&self) -> u64 {
        self.edges.bytes_read() + self.vertex_bytes
    }

    fn memory_bytes(&self) -> u64 {
        // A neighbour list has up to twice as many edges per byte as an edge list.
        if self.lists { 4 * self.edges.memory_bytes() } else { 2 * self.edges.memory_bytes() }
    }
}

impl Graphalytics {
    /// Passes the vertices of the vertex file or of the lists, in the first call only.
    fn each_vertex(&mut self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let Some(file) = self.vertices.take() else { return Ok(()) };
        let blocks = Blocks::open(&file, self.memory_bytes)?;
        let info = blocks.input().info(IdSpace::Named, None);
        let mut vertices = LineSource::new(info, blocks, VertexLines { lists: self.lists }, None);
        let (mut chunk, mut ids) = (Vec::new(), Vec::new());
        loop {
            vertices.read(&mut chunk)?;
            self.vertex_bytes = vertices.bytes_read();
            if chunk.is_empty() {
                return Ok(());
            }
            ids.clear();
            ids.extend(chunk.iter().map(|edge| edge.source));
            take(&ids)?;
        }
    }
}

/// Lines with a vertex and its neighbours.
struct NeighbourLines;

impl LineFormat for NeighbourLines {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        if is_comment(line) {
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        let mut next = || cursor.number().ok_or(Expected::Borrowed("a vertex and its neighbours, each an id"));
        let source = next()?;
        for _ in 1..Cursor::new(line).count() {
            edges.push(Edge { source, dest: next()?, weight: 0 });
        }
        Ok(())
    }
}

/// Lines with one vertex id, parsed as the source of an edge; or lines that begin with it.
struct VertexLines {
    lists: bool,
}

impl LineFormat for VertexLines {
    #[inline(always)]
    fn parse(&self, line: &[u8], edges: &mut Vec<Edge>) -> Result<(), Expected> {
        let mut cursor = Cursor::new(line);
        if is_comment(line) {
            return Ok(());
        }
        match (cursor.number(), self.lists || cursor.is_end()) {
            (Some(source), true) => edges.push(Edge { source, ..Edge::default() }),
            _ => return Err("one vertex id from 0 to 18446744073709551615".into()),
        }
        Ok(())
    }
}
