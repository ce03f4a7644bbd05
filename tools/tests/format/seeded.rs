//! Graphs that a seed generates: sorted by ranges, made again or spilt, they become the same stores, byte for byte, as
//! edges that are collected and sorted.

use super::feed::{open_and_verify, small_pages};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use topostream_formats::{Edge, EdgeSource, Encoding, Error, Result, SourceInfo, VertexOrder};
use topostream_tools::format::{FormatOptions, FormatReport, OrderFrom, format};
use topostream_tools::generate::{Grid, RandomWeights, Rmat, Uniform};
use topostream_tools::progress::{Cancel, Progress, Unit};

pub(super) type Open<'a> = &'a dyn Fn() -> Box<dyn EdgeSource>;

/// A source without its parts; if it is to be symmetrized, it says that each edge is given once.
struct Stream(Box<dyn EdgeSource>, SourceInfo);

impl Stream {
    fn new(source: Box<dyn EdgeSource>, symmetrize: bool) -> Self {
        let mut info = source.info().clone();
        (info.mirror, info.directed) = (info.mirror || symmetrize, info.directed && !symmetrize);
        Self(source, info)
    }
}

impl EdgeSource for Stream {
    fn info(&self) -> &SourceInfo {
        &self.1
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> Result<()> {
        self.0.read(chunk)
    }

    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
}

/// The names of stages.
#[derive(Default)]
struct Stages(Mutex<Vec<String>>);

impl Progress for Stages {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: Unit) {
        self.0.lock().unwrap().push(stage.into());
    }
    fn position(&self, _position: u64) {}
    fn end(&self) {}
}

/// The outcome of formatting, and all files.
pub(super) struct Made {
    pub(super) report: FormatReport,
    pub(super) stages: Vec<String>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

fn made(open: Open<'_>, options: &FormatOptions) -> Made {
    try_made(open, options).unwrap()
}

pub(super) fn try_made(open: Open<'_>, options: &FormatOptions) -> Result<Made> {
    let (folder, stages) = (tempfile::tempdir().unwrap(), Stages::default());
    let report = format(&mut || Ok(open()), folder.path(), options, &stages, &Cancel::default())?;
    open_and_verify(folder.path()).unwrap();
    let mut files = BTreeMap::new();
    add_files(folder.path(), "", &mut files);
    Ok(Made { report, stages: stages.0.into_inner().unwrap(), files })
}

fn add_files(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => add_files(&entry.path(), &format!("{name}/"), files),
            false => _ = files.insert(name, fs::read(entry.path()).unwrap()),
        }
    }
}

/// Makes a store from the parts and from the stream of a source, and compares. Returns the stages of the first.
fn check(open: Open<'_>, options: &FormatOptions, what: &str) -> Vec<String> {
    let by_parts = made(open, options);
    let plenty = FormatOptions { memory_bytes: 1 << 30, symmetrize: false, ..options.clone() };
    let by_stream = made(&|| Box::new(Stream::new(open(), options.symmetrize)), &plenty);
    assert!(by_stream.stages.contains(&"read edges".into()), "{what}");
    assert!(!by_parts.stages.contains(&"read edges".into()), "{what}: {:?}", by_parts.stages);
    assert!(by_parts.files == by_stream.files, "{what}");
    let removed = |report: &FormatReport| (report.self_loops_removed, report.duplicates_removed);
    assert_eq!(removed(&by_parts.report), removed(&by_stream.report), "{what}");
    by_parts.stages
}

fn packed(options: &FormatOptions) -> FormatOptions {
    let mut options = options.clone();
    options.layout.encoding = Encoding::packed(options.layout.page_bytes, 4).unwrap();
    options
}

/// Every generator, with every option that changes the edges.
#[test]
fn parts_and_streams_become_the_same_store() {
    let rmat = |scramble, weights| {
        move || -> Box<dyn EdgeSource> {
            Box::new(Rmat { scramble, weights, ..Rmat::new(10, 9, 3) }.generate().unwrap())
        }
    };
    let uniform = || -> Box<dyn EdgeSource> { Box::new(Uniform::new(1000, 9000, 5).generate().unwrap()) };
    let grid = || -> Box<dyn EdgeSource> {
        let weights = Some(RandomWeights::F32 { min: -1.0, max: 1.0 });
        Box::new(Grid { width: 70, height: 60, diagonal_probability: 0.4, seed: 2, weights }.generate().unwrap())
    };
    let (plain, weighted) = (rmat(false, None), rmat(true, Some(RandomWeights::U32 { min: 0, max: 3 })));
    let sources: [(&str, Open<'_>); 4] =
        [("rmat", &plain), ("weighted", &weighted), ("uniform", &uniform), ("grid", &grid)];
    let base = small_pages();
    let sample = Some(OrderFrom::Sample);
    let cases = [
        ("natural", base.clone()),
        ("in-lists", FormatOptions { in_edges: true, remove_self_loops: true, ..packed(&base) }),
        ("distinct", FormatOptions { remove_duplicates: true, in_edges: true, ..base.clone() }),
        ("both ways", FormatOptions { symmetrize: true, keep_weights: false, ..packed(&base) }),
        ("degree", FormatOptions { order: VertexOrder::Degree, in_edges: true, ..base.clone() }),
        ("groups", FormatOptions { order: VertexOrder::DegreeGroups, symmetrize: true, ..packed(&base) }),
        ("out first", FormatOptions { order: VertexOrder::OutFirst, ..packed(&base) }),
        ("sample", FormatOptions { order_from: sample, remove_self_loops: true, ..packed(&base) }),
    ];
    for (graph, open) in sources {
        for (name, options) in &cases {
            check(open, options, &format!("{graph}, {name}"));
        }
    }
}

/// In little memory edges are spilt, or made again for each range. How much that is depends on the number of threads.
#[test]
fn ranges_become_the_same_store_as_all_edges_at_once() {
    let open = || -> Box<dyn EdgeSource> { Box::new(Rmat::new(16, 32, 3).generate().unwrap()) };
    for order in [VertexOrder::Natural, VertexOrder::DegreeGroups] {
        let options = FormatOptions { order, ..packed(&small_pages()) };
        let expected = made(&|| Box::new(Stream::new(open(), false)), &options);
        let mut has_spilt = false;
        for memory_mib in [44, 46, 48, 50, 52] {
            let found = try_made(&open, &FormatOptions { memory_bytes: memory_mib << 20, ..options.clone() });
            let found = match found {
                // With more threads, more memory is needed.
                Err(Error::Memory { .. }) => continue,
                found => found.unwrap(),
            };
            assert!(found.files == expected.files, "{memory_mib} MiB: {:?}", found.stages);
            has_spilt |= found.stages.contains(&"spill edges".into());
        }
        assert!(has_spilt);
    }
}

/// If one vertex has all edges, no range can hold them: they are collected and sorted as edges from a file are.
#[test]
fn a_list_that_is_larger_than_memory_is_sorted_as_a_stream() {
    let open = || -> Result<Box<dyn EdgeSource>> {
        Ok(Box::new(Rmat { a: 0.0, b: 0.0, c: 1.0, scramble: false, ..Rmat::new(16, 16, 3) }.generate()?))
    };
    let options = FormatOptions { memory_bytes: 48 << 20, ..small_pages() };
    let (folder, stages) = (tempfile::tempdir().unwrap(), Stages::default());
    let report = format(&mut || open(), folder.path(), &options, &stages, &Cancel::default()).unwrap();
    open_and_verify(folder.path()).unwrap();
    assert_eq!((report.manifest.edges, report.manifest.out.degree_max), (16 << 16, 16 << 16));
    assert!(stages.0.into_inner().unwrap().contains(&"read edges".into()));
}
