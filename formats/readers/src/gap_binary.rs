//! Serialized graphs of the GAP Benchmark Suite.
//!
//! ```text
//!  u8  directed
//!  i64 m                     number of list entries: an undirected edge counts twice
//!  i64 n
//!  i64 offsets[n + 1]        index of the first entry of each list; the last is m
//!  i32 neighbours[m]         in a .wsg: i32 neighbour, i32 weight
//!  if directed: offsets and neighbours of the in-lists (skipped)
//! ```
//!
//! All numbers are little-endian and packed. Undirected graphs list both directions. The offsets need not fit in
//! memory: the file is read at two positions concurrently, the offsets and the neighbours.

use crate::file::InputFile;
use crate::input::Unpack;
use crate::options::Options;
use crate::packing::strip;
use crate::records::Records;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::error::{Error, Result};
use topostream_formats::text::plural;

const HEADER_BYTES: u64 = 17;

/// Opens a serialized graph.
pub(super) fn open(file: &InputFile, options: &Options) -> Result<Box<dyn EdgeSource>> {
    file.make_seekable()?;
    let (offsets, header) = Header::open(file, options)?;
    let (mut edges, _) = Header::open(file, options)?;
    if options.weights.demanded() && !header.weighted {
        return Err(Error::file(file.path(), "a weighted graph (.wsg)", "one without weights; drop --weight-type"));
    }
    edges.skip(header.list_bytes() - header.edges * header.edge_bytes())?;
    let ids = IdSpace::Range { first: 0, count: header.vertices };
    let weight = options.weights.resolve(header.weighted.then_some(WeightType::U32));
    let mut info = offsets.input().info(ids, weight);
    info.edges = Some(header.edges);
    info.directed = header.directed;
    Ok(Box::new(GapBinary { info, header, offsets, edges, vertices: 0, end: 0, at: 0, chunk_at: 0, ended: false }))
}

/// The header, with the facts that follow from name and length.
#[derive(Clone, Copy)]
struct Header {
    directed: bool,
    edges: u64,
    vertices: u64,
    weighted: bool,
}

impl Header {
    fn open(file: &InputFile, options: &Options) -> Result<(Records, Self)> {
        let mut records = Records::open(file, options.memory_bytes / 2, Unpack::ByContent)?;
        let expected = "the header of a serialized graph: directed (0 or 1), edges, vertices";
        let directed = records.array()?.and_then(|[byte]| (byte <= 1).then_some(byte == 1));
        let [edges, vertices] = [records.array()?, records.array()?].map(|bytes| count(bytes.unwrap_or([0xff; 8])));
        let (Some(directed), Some(edges), Some(vertices)) = (directed, edges, vertices) else {
            return Err(records.error(expected, "other bytes"));
        };
        let mut header = Self { directed, edges, vertices, weighted: false };
        let plain_bytes = records.input().plain_bytes();
        header.weighted = match strip(file.path()).extension() {
            Some(extension) if extension == "sg" => false,
            Some(extension) if extension == "wsg" => true,
            _ => plain_bytes.is_some() && plain_bytes != Some(header.file_bytes()),
        };
        if let Some(bytes) = plain_bytes {
            header.check_length(&records, bytes)?;
        }
        Ok((records, header))
    }

    fn edge_bytes(self) -> u64 {
        if self.weighted { 8 } else { 4 }
    }

    /// The bytes of the offsets and neighbours of one direction.
    fn list_bytes(self) -> u64 {
        8 * (self.vertices + 1) + self.edges * self.edge_bytes()
    }

    fn file_bytes(self) -> u64 {
        HEADER_BYTES + self.list_bytes() * if self.directed { 2 } else { 1 }
    }

    fn check_length(self, records: &Records, bytes: u64) -> Result<()> {
        if bytes == self.file_bytes() {
            return Ok(());
        }
        let Self { vertices, edges, .. } = self;
        let weights = if self.weighted { "with" } else { "without" };
        let (of_vertices, of_edges) = (plural(vertices, "vertex"), plural(edges, "edge"));
        let bytes_of = self.file_bytes();
        let expected = format!("{bytes_of} bytes for {vertices} {of_vertices}, {edges} {of_edges} {weights} weights");
        Err(records.error(expected, format!("{bytes} bytes")))
    }
}

/// A non-negative count, small enough for arithmetic without overflow.
fn count(bytes: [u8; 8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes)).filter(|&count| count < 1 << 56)
}

struct GapBinary {
    info: SourceInfo,
    header: Header,
    offsets: Records,
    edges: Records,
    /// The number of offsets read; the edges before `end` belong to earlier vertices.
    vertices: u64,
    end: u64,
    /// The number of edges read.
    at: u64,
    /// The number of edges before the last chunk.
    chunk_at: u64,
    ended: bool,
}

impl GapBinary {
    /// Reads the next offset, where the edges of the current vertex end.
    fn next_offset(&mut self) -> Result<()> {
        let Header { vertices, edges, .. } = self.header;
        let position = self.offsets.position();
        let Some(bytes) = self.offsets.array()? else { return Err(self.truncated(&self.offsets)) };
        let offset = u64::from_le_bytes(bytes);
        let least = if self.vertices == vertices { edges } else { self.end };
        let most = if self.vertices == 0 { 0 } else { edges };
        if !(least..=most).contains(&offset) {
            let expected = format!("an offset from {least} to {most} at byte {position}");
            return Err(self.offsets.error(expected, offset.to_string()));
        }
        self.end = offset;
        self.vertices += 1;
        Ok(())
    }

    /// Reads edges of the current vertex until its list ends or `chunk` is full.
    fn read_edges(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        let Self { header, edges, info, .. } = self;
        let source = self.vertices - 2;
        let position = edges.position();
        let max = (self.end - self.at).min((CHUNK_EDGES - chunk.len()) as u64) as usize;
        let size = header.edge_bytes() as usize;
        let mut fault = None;
        let records = edges.take(size, max)?;
        let count = (records.len() / size) as u64;
        for (index, record) in (0u64..).zip(records.chunks_exact(size)) {
            match edge(source, record, info.weights, header.vertices) {
                Ok(edge) => chunk.push(edge),
                Err((expected, found)) => {
                    let byte = position + index * size as u64;
                    fault.get_or_insert((format!("{expected} at byte {byte}"), found.to_string()));
                }
            }
        }
        self.at += count;
        match fault {
            Some((expected, found)) => Err(self.edges.error(expected, found)),
            None if count == 0 => Err(self.truncated(&self.edges)),
            None => Ok(()),
        }
    }

    fn truncated(&self, records: &Records) -> Error {
        let expected = format!("{} bytes", self.header.file_bytes());
        records.error(expected, format!("only {} bytes", records.position() + records.rest() as u64))
    }

    /// Checks the length at the end, when the length of a compressed file is known, too.
    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        let rest = self.header.file_bytes() - self.edges.position();
        self.edges.skip(rest)?;
        if self.edges.position() < self.header.file_bytes() {
            return Err(self.truncated(&self.edges));
        }
        match self.edges.array::<1>()? {
            Some(_) => Err(self.edges.error(format!("{} bytes", self.header.file_bytes()), "more")),
            None => Ok(()),
        }
    }
}

/// Returns the edge of a record of 4 or 8 bytes, or the expectation and the number found.
fn edge(source: u64, record: &[u8], weights: Option<WeightType>, vertices: u64) -> Result<Edge, (String, i32)> {
    let mut numbers = record.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes));
    let dest = numbers.next().unwrap_or(-1);
    let id = u64::try_from(dest).ok().filter(|&id| id < vertices);
    let id = id.ok_or_else(|| (format!("a neighbour below {vertices}"), dest))?;
    let weight = match (weights, numbers.next()) {
        (Some(WeightType::U32 | WeightType::U64), Some(weight)) => u64::try_from(weight).map_err(|_| {
            ("an integer weight from 0 (pass --weight-type f32 or f64 for other numbers)".to_owned(), weight)
        })?,
        (Some(WeightType::F32 | WeightType::F64), Some(weight)) => f64::from(weight).to_bits(),
        _ => 0,
    };
    Ok(Edge { source, dest: id, weight })
}

impl EdgeSource for GapBinary {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        chunk.clear();
        self.chunk_at = self.at;
        while !self.ended && chunk.len() < CHUNK_EDGES {
            if self.at < self.end {
                self.read_edges(chunk)?;
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

    fn place_of(&self, index: usize, _edge: &Edge) -> String {
        let lists_at = HEADER_BYTES + 8 * (self.header.vertices + 1);
        let byte = lists_at + (self.chunk_at + index as u64) * self.header.edge_bytes();
        format!("{}: the neighbour at byte {byte}", self.place())
    }

    fn bytes_read(&self) -> u64 {
        self.edges.input().consumed_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        self.offsets.memory_bytes() + self.edges.memory_bytes()
    }
}
