//! Shared by tests: stores from edges, runs over them, and answers by original id.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]

#[path = "../sample/mod.rs"]
mod sample;
#[path = "../scratch/mod.rs"]
pub mod scratch;

pub use sample::{skipped, some, thorough};

use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use tempfile::TempDir;
use topostream::algorithms::{
    Bfs, Components, DanglingMass, Hooking, PageRank, Precision, Sssp, Stop, Traffic, UnionFind,
};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::report::RunReport;
use topostream::{Engine, EngineOptions, Error, OpenGpus, Run, Store, VertexId};
use topostream_formats::edge::{IdSpace, SourceInfo, WeightType};
use topostream_formats::write::Layout;
use topostream_formats::{Direction, Edge, EdgeSource, Encoding, MemorySource};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::{Cancel, Quiet};

use crate::reference::{Dangling, EdgeList, Weighted};

/// The smallest page, so that small graphs have many.
pub const PAGE: u64 = 64 << 10;

/// The encodings that are written.
pub const ENCODINGS: [Encoding; 2] = [Encoding::VertexId, PACKED];

/// Packed pages of the smallest size, whose plain images are no larger: lists of many pages, in the same buffers.
pub const PACKED: Encoding = Encoding::Packed { edges_max: 15 * 1024, step: false, own: false };

/// Fetchers: two real ones, and the simulated one.
pub const FETCHERS: [FetcherKind; 3] = [FetcherKind::Auto, FetcherKind::Threads, FetcherKind::Simulated(CALM)];

/// Random latency and order, no faults.
const CALM: Faults = Faults {
    seed: 7,
    latency_max: 9,
    io_errors: 0,
    flipped_bits: 0,
    short_reads: 0,
    stuck: 0,
    lasting: false,
    stripe: None,
};

/// A store in a temporary folder in memory, removed on drop.
pub struct TestStore {
    folder: TempDir,
}

impl TestStore {
    /// Formats a source.
    pub fn from_source(mut open: impl FnMut() -> Box<dyn EdgeSource>, options: &FormatOptions) -> Self {
        let store = Self { folder: scratch::in_memory() };
        format(&mut || Ok(open()), &store.path(), options, &Quiet, &Cancel::default()).unwrap();
        store
    }

    /// Formats a graph in memory.
    pub fn new(graph: &EdgeList, options: &FormatOptions) -> Self {
        let open = || Box::new(MemorySource::pairs(graph.vertices.into(), &graph.edges)) as Box<dyn EdgeSource>;
        Self::from_source(open, options)
    }

    /// Formats a weighted graph, directed or symmetrized.
    pub fn weighted(weighted: &Weighted, directed: bool, options: &FormatOptions) -> Self {
        Self::from_source(|| weighted_source(weighted, directed), options)
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("graph")
    }

    pub fn open(&self) -> Store {
        Store::open(self.path()).unwrap()
    }

    pub fn engine(&self, options: EngineOptions) -> Engine {
        Engine::new(self.open(), options)
    }

    /// All files of the store, by relative path.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let list = if path.is_dir() { &mut folders } else { &mut files };
                list.push(path);
            }
        }
        files.sort();
        files
    }
}

/// Small pages, in-lists, little memory.
pub fn small_pages(encoding: Encoding) -> FormatOptions {
    let layout = Layout { page_bytes: PAGE as u32, encoding, ..Layout::default() };
    FormatOptions { layout, in_edges: true, memory_bytes: 256 << 20, ..FormatOptions::plain() }
}

/// Enough memory for any test, and a page buffer of `pages` small pages.
pub fn engine_options(buffer_pages: Option<u64>, threads: usize, fetcher: FetcherKind) -> EngineOptions {
    let buffer_bytes = buffer_pages.map(|pages| pages * PAGE);
    EngineOptions::default()
        .with_memory_bytes(256 << 20)
        .with_buffer_bytes(buffer_bytes)
        .with_threads(threads)
        .with_fetcher(fetcher)
        .with_open_gpus(open_gpus())
}

/// The GPUs that tests share one after the other: opening one and compiling its kernels takes longer than most runs.
pub fn open_gpus() -> OpenGpus {
    static OPEN: OnceLock<OpenGpus> = OnceLock::new();
    OPEN.get_or_init(|| OpenGpus::at_most(16)).clone()
}

/// PageRank over a number of iterations.
pub fn pagerank(iterations: u32, dangling: Dangling, traffic: Traffic) -> PageRank {
    let dangling = match dangling {
        Dangling::Spread => DanglingMass::Redistributed,
        Dangling::Lost => DanglingMass::Ignored,
    };
    PageRank { damping: 0.85, dangling, stop: Stop::Iterations(iterations), traffic, ..PageRank::default() }
}

/// The result of a run, in original ids.
#[derive(Clone, Debug)]
pub struct Answers<T> {
    /// Original ids and values, by ascending id.
    pub values: Vec<(u64, T)>,
    pub report: RunReport,
}

impl<T: Clone> Answers<T> {
    /// The values alone, of a graph with ids 0, 1, 2, ….
    pub fn dense(&self) -> Vec<T> {
        let expected = 0..self.values.len() as u64;
        assert!(self.values.iter().map(|(id, _)| *id).eq(expected), "ids are not 0, 1, 2, …");
        self.by_place()
    }

    /// The values alone, by ascending id.
    pub fn by_place(&self) -> Vec<T> {
        self.values.iter().map(|(_, value)| value.clone()).collect()
    }
}

/// Levels and parents of a search.
pub struct Search {
    pub levels: Answers<Option<u64>>,
    pub parents: Option<Vec<Option<u64>>>,
}

pub fn ranks(engine: &Engine, algorithm: PageRank) -> Result<Answers<f64>, Error> {
    let run = engine.run(algorithm)?;
    let values = column(engine, &run, "rank", |values, vertex| match values {
        AnswerValues::F64(of) => of.get(vertex),
        _ => panic!("ranks are numbers"),
    })?;
    Ok(Answers { values, report: run.report })
}

/// A search from the vertex with an original id.
pub fn search(engine: &Engine, source: u64, parents: bool, bottom_up: bool) -> Result<Search, Error> {
    let source = engine.store().ids()?.vertex(source).expect("the source exists");
    let run = engine.run(Bfs { parents, bottom_up, ..Bfs::from(source) })?;
    let values = column(engine, &run, "level", integer)?;
    let ids = engine.store().ids()?;
    let parents = parents.then(|| {
        column(engine, &run, "parent", |values, vertex| match values {
            AnswerValues::Vertex(of) => of.get(vertex).map(|parent| ids.original(parent)),
            _ => panic!("parents are vertices"),
        })
    });
    let parents = parents.transpose()?.map(|column| column.into_iter().map(|(_, parent)| parent).collect());
    Ok(Search { levels: Answers { values, report: run.report }, parents })
}

/// The edges of a graph with their weights.
fn weighted_source(weighted: &Weighted, directed: bool) -> Box<dyn EdgeSource> {
    let edges = weighted.graph.edges.iter().zip(&weighted.weights);
    let edges = edges.map(|(&(source, dest), &weight)| Edge {
        source: source.into(),
        dest: dest.into(),
        weight: weight.into(),
    });
    let info = SourceInfo {
        name: "weighted".into(),
        ids: IdSpace::Range { first: 0, count: weighted.graph.vertices.into() },
        mirror: !directed,
        directed,
        weights: Some(if weighted.float { WeightType::F32 } else { WeightType::U32 }),
        edges: None,
        bytes: None,
    };
    Box::new(MemorySource::new(info, edges.collect()))
}

/// Distances from the vertex with an original id; infinity for unreachable vertices.
pub fn distances(engine: &Engine, source: u64) -> Result<Answers<f64>, Error> {
    distances_in(engine, source, Precision::Double)
}

/// As [`distances`], in a precision.
pub fn distances_in(engine: &Engine, source: u64, precision: Precision) -> Result<Answers<f64>, Error> {
    let source = engine.store().ids()?.vertex(source).expect("the source exists");
    let weights = engine.store().manifest().weights.expect("the store has weights");
    let run = engine.run(Sssp { source, weights, precision, cutoff: None })?;
    let values = column(engine, &run, "distance", |values, vertex| match values {
        AnswerValues::F64(of) => of.get(vertex),
        _ => integer(values, vertex).map_or(f64::INFINITY, |distance| distance as f64),
    })?;
    Ok(Answers { values, report: run.report })
}

/// An original id for each vertex's component, by labels.
pub fn component_ids(engine: &Engine) -> Result<Answers<u64>, Error> {
    let directed = engine.store().manifest().directed;
    components_by(engine, Components { directed })
}

/// The same by union-find.
pub fn linked_ids(engine: &Engine) -> Result<Answers<u64>, Error> {
    let directed = engine.store().manifest().directed;
    components_by(engine, UnionFind::new(directed, engine.store().topology(Direction::In).is_some()))
}

/// The same by hooking.
pub fn hooked_ids(engine: &Engine) -> Result<Answers<u64>, Error> {
    components_by(engine, Hooking { directed: engine.store().manifest().directed })
}

fn components_by(engine: &Engine, algorithm: impl Algorithm) -> Result<Answers<u64>, Error> {
    let run = engine.run(algorithm)?;
    let ids = engine.store().ids()?;
    let values = column(engine, &run, "component", |values, vertex| match values {
        AnswerValues::Vertex(of) => ids.original(of.get(vertex).expect("every vertex is in a component")),
        _ => panic!("components are vertices"),
    })?;
    Ok(Answers { values, report: run.report })
}

/// Reads integers.
pub fn integer(values: &AnswerValues<'_>, vertex: u32) -> Option<u64> {
    match values {
        AnswerValues::Integer(of) => of.get(vertex),
        _ => panic!("the answer is not whole numbers"),
    }
}

/// A column of a run's answers, by ascending original id.
pub fn column<A: Algorithm, T>(
    engine: &Engine,
    run: &Run<A>,
    name: &str,
    value: impl Fn(&AnswerValues<'_>, u32) -> T,
) -> Result<Vec<(u64, T)>, Error> {
    let answers = run.answers();
    let answer = answers.iter().find(|answer| answer.name == name).expect("the algorithm has this answer");
    let ids = engine.store().ids()?;
    let vertices = 0..engine.store().vertices();
    let one = |vertex| (ids.original(VertexId(vertex as u32)), value(&answer.values, vertex as u32));
    let mut column: Vec<(u64, T)> = vertices.map(one).collect();
    column.sort_by_key(|(id, _)| *id);
    Ok(column)
}

/// Asserts bitwise equality.
pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Runs `work` with a time limit.
pub fn within<T: Send + 'static>(seconds: u64, what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (give, take) = mpsc::channel();
    let thread = std::thread::spawn(move || give.send(work()));
    match take.recv_timeout(Duration::from_secs(seconds)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: not done after {seconds} s"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("the thread gives its result before it ends"),
        },
    }
}

/// The path of a file in this repository's test data.
pub fn data(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(relative)
}

/// All edges of a generator.
pub fn generated(source: &mut dyn EdgeSource) -> EdgeList {
    let topostream_formats::IdSpace::Range { count, .. } = source.info().ids else { panic!("generators count") };
    let (mut edges, mut chunk) = (Vec::new(), vec![Edge::default()]);
    while !chunk.is_empty() {
        source.read(&mut chunk).unwrap();
        edges.extend(chunk.iter().map(|edge| (edge.source as u32, edge.dest as u32)));
    }
    EdgeList::new(count as u32, edges)
}
