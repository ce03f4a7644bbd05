//! GraphML, by the `quick-xml` crate.
//!
//! ```text
//!  <graphml>
//!    <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>1</default></key>
//!    <graph edgedefault="undirected">
//!      <node id="ann"/>
//!      <edge source="ann" target="bob"><data key="d0">2.5</data></edge>
//! ```
//!
//! Ids are names, or integers if all of them are. A first pass finds that, and whether edges have weights. Undirected
//! edges of a directed graph lead in both directions; directed edges of an undirected one, hyperedges and graphs within
//! nodes are refused. Nodes without edges are left out.

use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::columns::{ColumnChoice, Columns};
use super::options::TableOptions;
use super::plan::{Plan, TableHead};
use super::rows::{Ids, Kept, RowBatch, Rows, Start};
use crate::cursor::{integer, weight};
use crate::file::InputFile;
use crate::input::{Input, Unpack};
use crate::options::WeightsOption;
use topostream_formats::edge::WeightType;
use topostream_formats::error::{Error, Result};
use topostream_formats::names::IdType;

const BUFFER_BYTES: usize = 256 << 10;
/// The most edges and bytes of a batch.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_BYTES: usize = 4 << 20;
/// The longest element.
const ELEMENT_BYTES_MAX: u64 = 16 << 20;

/// Examines a file: its ids and weights.
pub(super) fn head(file: &InputFile, options: &TableOptions, weights: WeightsOption) -> Result<TableHead> {
    let columns = ColumnChoice { weight: None, ..options.columns.clone() };
    if columns != ColumnChoice::default() || options.header.is_some() || options.separator.is_some() {
        let found = "columns, a header or a separator; GraphML has none (--weight names the key of weights)";
        return Err(Error::file(file.path(), "options of GraphML", found));
    }
    file.make_seekable()?;
    let mut document = Document::open(file, options.columns.weight.clone(), 256 << 20)?;
    let (mut edges, mut weighted, mut is_integer, mut are_numbers) = (0u64, 0u64, true, true);
    while let Some(edge) = document.next()? {
        edges += 1;
        are_numbers &= [&edge.source, &edge.dest].iter().all(|id| is_number(id));
        if let Some(text) = &edge.weight {
            weighted += 1;
            is_integer &= integer(text.as_bytes()).is_some();
        }
    }
    let asked = options.columns.weight.is_some() || weights.demanded();
    if weights != WeightsOption::Ignore && (asked || weighted > 0) && weighted < edges {
        let found = format!("{weighted} of {edges} with one; --weight-type ignore reads them without");
        return Err(Error::file(file.path(), format!("edges with a {}", document.weight_name()), found));
    }
    let stated = if is_integer { WeightType::U32 } else { WeightType::F32 };
    let weight = weights.resolve((weighted > 0).then_some(stated));
    let notes = format!("{} nodes, of which those without edges are left out", document.nodes);
    Ok(TableHead {
        names: vec!["source".into(), "target".into(), document.weight_name().into()],
        columns: Columns { source: 0, dest: 1, weight: weight.map(|_| 2) },
        id_type: if are_numbers && edges > 0 { IdType::Integer } else { IdType::String },
        weight,
        notes,
        layout: None,
    })
}

/// Whether the edges of a file are undirected.
pub(super) fn is_undirected(file: &InputFile) -> Result<bool> {
    let mut document = Document::open(file, None, 256 << 20)?;
    document.next()?;
    Ok(document.directed == Some(false))
}

/// An integer without leading zeros.
fn is_number(id: &str) -> bool {
    integer(id.as_bytes()).is_some() && (id.len() == 1 || !id.starts_with('0'))
}

/// The bytes of a document; fails in an element without an end.
struct Bytes {
    input: Input,
    since_event: Arc<AtomicU64>,
    consumed: Arc<AtomicU64>,
    failure: Option<Error>,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(io::Error::other(failure));
        }
        if self.since_event.fetch_add(buffer.len() as u64, Relaxed) > ELEMENT_BYTES_MAX {
            return Err(io::Error::other(format!("an element of more than {ELEMENT_BYTES_MAX} bytes")));
        }
        let (read, failure) = self.input.fill(buffer);
        self.consumed.store(self.input.consumed_bytes(), Relaxed);
        match failure {
            Some(failure) if read == 0 => Err(io::Error::other(failure)),
            later => {
                self.failure = later;
                Ok(read)
            }
        }
    }
}

/// An edge as it stands.
#[derive(Default)]
struct EdgeElement {
    source: String,
    dest: String,
    weight: Option<String>,
    /// Whether it says another direction than the graph.
    is_other: bool,
}

/// The edges of a document.
struct Document {
    path: PathBuf,
    reader: Reader<BufReader<Bytes>>,
    buffer: Vec<u8>,
    since_event: Arc<AtomicU64>,
    consumed: Arc<AtomicU64>,
    memory_bytes: u64,
    /// The name of the weights that are requested.
    weight: Option<String>,
    key: Option<String>,
    default: Option<String>,
    /// The default of the graph.
    directed: Option<bool>,
    graphs: u64,
    nodes: u64,
    edges: u64,
    edge: Option<EdgeElement>,
    reads: Reads,
    text: String,
    is_ended: bool,
}

/// What the text of an element is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Nothing,
    /// Within the key of weights.
    Key,
    Default,
    Weight,
}

impl Document {
    fn open(file: &InputFile, weight: Option<String>, memory_bytes: u64) -> Result<Self> {
        let input = Input::open(file, memory_bytes, Unpack::ByContent)?;
        let memory_bytes = input.memory_bytes() + 2 * BUFFER_BYTES as u64 + 2 * ELEMENT_BYTES_MAX;
        let (since_event, consumed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let bytes =
            Bytes { input, since_event: Arc::clone(&since_event), consumed: Arc::clone(&consumed), failure: None };
        Ok(Self {
            path: file.path().to_owned(),
            reader: Reader::from_reader(BufReader::with_capacity(BUFFER_BYTES, bytes)),
            buffer: Vec::new(),
            since_event,
            consumed,
            memory_bytes,
            weight,
            key: None,
            default: None,
            directed: None,
            graphs: 0,
            nodes: 0,
            edges: 0,
            edge: None,
            reads: Reads::Nothing,
            text: String::new(),
            is_ended: false,
        })
    }

    fn weight_name(&self) -> &str {
        self.weight.as_deref().unwrap_or("weight")
    }

    /// The next edge.
    fn next(&mut self) -> Result<Option<EdgeElement>> {
        while !self.is_ended {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            self.since_event.store(0, Relaxed);
            let read = self.reader.read_event_into(&mut buffer);
            let edge = match read {
                Ok(event) => self.take(event),
                Err(error) => Err(self.broken(error)),
            };
            self.buffer = buffer;
            if let Some(edge) = edge? {
                self.edges += 1;
                return Ok(Some(edge));
            }
        }
        Ok(None)
    }

    /// Handles an event; an edge at its end.
    fn take(&mut self, event: Event<'_>) -> Result<Option<EdgeElement>> {
        match event {
            Event::Start(element) => self.begin(&element)?,
            Event::Empty(element) => {
                self.begin(&element)?;
                return Ok(self.end(element.local_name().into_inner()));
            }
            Event::End(element) => return Ok(self.end(element.local_name().into_inner())),
            Event::Text(text) if self.reads != Reads::Nothing => self.text.push_str(&text.into_inner()),
            Event::CData(text) if self.reads != Reads::Nothing => self.text.push_str(&text.into_inner()),
            Event::Eof => {
                self.is_ended = true;
                if self.directed.is_none() {
                    return Err(Error::file(&self.path, "a graph element", "the end of the file"));
                }
                if self.graphs > 0 {
                    return Err(Error::file(&self.path, "the end of the graph", "the end of the file"));
                }
            }
            _ => {}
        }
        Ok(None)
    }

    fn begin(&mut self, element: &BytesStart<'_>) -> Result<()> {
        match element.local_name().into_inner() {
            "key" => {
                let name = self.attribute(element, "attr.name")?.unwrap_or_default();
                let of = self.attribute(element, "for")?.unwrap_or_default();
                let is_asked = match &self.weight {
                    Some(weight) => name == *weight,
                    None => name.eq_ignore_ascii_case("weight"),
                };
                if is_asked && matches!(&of[..], "edge" | "all" | "") {
                    self.key = self.attribute(element, "id")?;
                    self.reads = Reads::Key;
                }
            }
            "default" if self.reads == Reads::Key => {
                self.reads = Reads::Default;
                self.text.clear();
            }
            "graph" => self.begin_graph(element)?,
            "node" => self.nodes += 1,
            "hyperedge" => {
                return Err(Error::file(&self.path, "edges with two ends", "a hyperedge, which is not read"));
            }
            "edge" => self.begin_edge(element)?,
            "data" => self.begin_data(element)?,
            _ => {}
        }
        Ok(())
    }

    fn begin_graph(&mut self, element: &BytesStart<'_>) -> Result<()> {
        if self.directed.is_some() {
            return Err(Error::file(&self.path, "one graph", "a second one, or one within a node, which is not read"));
        }
        self.graphs += 1;
        self.directed = Some(match self.attribute(element, "edgedefault")?.as_deref() {
            Some("directed") => true,
            Some("undirected") => false,
            other => {
                let found = other.unwrap_or("none").to_owned();
                return Err(Error::file(&self.path, "edgedefault=\"directed\" or \"undirected\" of the graph", found));
            }
        });
        Ok(())
    }

    /// Reads the weight of the current edge next, if this is its element.
    fn begin_data(&mut self, element: &BytesStart<'_>) -> Result<()> {
        let is_weight = self.edge.is_some() && self.key.is_some() && self.attribute(element, "key")? == self.key;
        if is_weight {
            self.reads = Reads::Weight;
            self.text.clear();
        }
        Ok(())
    }

    fn begin_edge(&mut self, element: &BytesStart<'_>) -> Result<()> {
        let ends = [self.attribute(element, "source")?, self.attribute(element, "target")?];
        let [Some(source), Some(dest)] = ends else {
            let expected = format!("the source and the target of edge {}", self.edges + 1);
            return Err(Error::file(&self.path, expected, "none"));
        };
        let directed = self.attribute(element, "directed")?.map(|text| text == "true");
        let is_other = directed.is_some_and(|directed| Some(directed) != self.directed);
        if is_other && self.directed == Some(false) {
            let expected = format!("edge {} undirected, as the graph is", self.edges + 1);
            let found = "directed=\"true\"; with edgedefault=\"directed\" a graph may have edges of both kinds";
            return Err(Error::file(&self.path, expected, found));
        }
        self.edge = Some(EdgeElement { source, dest, weight: self.default.clone(), is_other });
        Ok(())
    }

    fn end(&mut self, name: &str) -> Option<EdgeElement> {
        match (name, self.reads) {
            ("key", _) => self.reads = Reads::Nothing,
            ("default", Reads::Default) => {
                self.default = Some(self.text.trim().to_owned());
                self.reads = Reads::Key;
            }
            ("data", Reads::Weight) => {
                if let Some(edge) = &mut self.edge {
                    edge.weight = Some(self.text.trim().to_owned());
                }
                self.reads = Reads::Nothing;
            }
            ("graph", _) => self.graphs = self.graphs.saturating_sub(1),
            ("edge", _) => return self.edge.take(),
            _ => {}
        }
        None
    }

    fn attribute(&self, element: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
        let found = element.try_get_attribute(name).map_err(|error| self.broken(error.into()))?;
        let value = found.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0));
        Ok(value.transpose().map_err(|error| self.broken(error))?.map(std::borrow::Cow::into_owned))
    }

    fn broken(&self, error: quick_xml::Error) -> Error {
        match error {
            quick_xml::Error::Io(error) => match Arc::try_unwrap(error) {
                Ok(error) => error.downcast::<Error>().unwrap_or_else(Error::io(&self.path, "read")),
                Err(error) => Error::file(&self.path, "GraphML", error.to_string()),
            },
            other => {
                let found = format!("{other}, at byte {}", self.reader.error_position());
                Error::file(&self.path, "GraphML", found)
            }
        }
    }
}

/// The edges of one file.
pub(super) struct GraphMlRows {
    document: Document,
    plan: Plan,
    rows: u64,
}

impl GraphMlRows {
    pub(super) fn open(file: &InputFile, weight: Option<String>, plan: Plan, memory_bytes: u64) -> Result<Self> {
        Ok(Self { document: Document::open(file, weight, memory_bytes)?, plan, rows: 0 })
    }

    fn push(&self, edge: &EdgeElement, ends: [&str; 2], batch: &mut RowBatch) -> Result<()> {
        let fault = |expected: String, found: &str| {
            let path = format!("{}: edge {}", self.document.path.display(), self.document.edges);
            Error::file(path, expected, found)
        };
        match &mut batch.ids {
            Ids::Integers(pairs) => {
                let id =
                    |text: &str| integer(text.as_bytes()).ok_or_else(|| fault("an id that is an integer".into(), text));
                pairs.push([id(ends[0])?, id(ends[1])?]);
            }
            Ids::Names(names) => {
                for (name, prefix) in ends.into_iter().zip(&self.plan.prefixes) {
                    if name.is_empty() {
                        return Err(fault("an id".into(), "an empty one"));
                    }
                    names.push_parts(prefix, name.as_bytes());
                }
            }
        }
        if let Some(of) = self.plan.weight {
            let text = edge.weight.as_deref().unwrap_or_default();
            batch.weights.push(weight(text.as_bytes(), of).map_err(|expected| fault(expected.into_owned(), text))?);
        }
        Ok(())
    }
}

impl Rows for GraphMlRows {
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()> {
        let start = Start { group: None, row: self.rows };
        let ids = Ids::new(self.plan.id_type != IdType::Integer);
        let mut batch = RowBatch { ids, weights: Vec::new(), start, kept: Kept::default() };
        batches.clear();
        let mut bytes = 0;
        while batch.ids.rows() < BATCH_ROWS && bytes < BATCH_BYTES {
            let Some(edge) = self.document.next()? else { break };
            bytes += edge.source.len() + edge.dest.len();
            self.push(&edge, [&edge.source, &edge.dest], &mut batch)?;
            if edge.is_other && edge.source != edge.dest {
                self.push(&edge, [&edge.dest, &edge.source], &mut batch)?;
            }
        }
        self.rows += batch.ids.rows() as u64;
        if batch.ids.rows() > 0 {
            batches.push(batch);
        }
        Ok(())
    }

    fn consumed_bytes(&self) -> u64 {
        self.document.consumed.load(Relaxed)
    }

    fn memory_bytes(&self) -> u64 {
        self.document.memory_bytes + 4 * BATCH_BYTES as u64
    }
}
