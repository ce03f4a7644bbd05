//! Checks of any engine against published graphs and their answers.

#![allow(dead_code, reason = "each test binary uses a part")]

use crate::common::*;
use crate::published::*;
use crate::reference::*;
use std::collections::BTreeMap;
use std::path::Path;
use topostream::Engine;
use topostream::algorithms::{DanglingMass, PageRank, Stop, Traffic};
use topostream_formats::edge::{IdSpace, SourceInfo, WeightType};
use topostream_formats::{Edge, EdgeSource, Encoding, MemorySource};
use topostream_readers::{self as readers, Kind};
use topostream_tools::format::{FormatOptions, IdPolicy};

/// Relative tolerance of ranks.
const RANK_ERROR: f64 = 1e-4;

/// Graphs with more edges have fewer runs by default.
const EDGES_MANY: u64 = 60_000;

/// Creates an engine over a store, with a page buffer of `pages` pages.
pub type MakeEngine<'a> = &'a dyn Fn(&TestStore, Option<u64>) -> Engine;

/// How a file represents edges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// As the graph has them.
    Both,
    /// An undirected edge once.
    Once,
    /// An undirected edge once, in a file with another format than its name says.
    HeadlessOnce,
    /// With self-loops and repeated edges, which the graph does not have.
    Unclean,
}

/// Formats a published graph's file, if available, and checks its answers.
pub fn check_published(name: &str, file: &str, given: Given, encoding: Encoding, make: MakeEngine<'_>) {
    let Some(graph) = Published::find(name) else { return };
    let canonical = file.ends_with(".zst");
    let options = FormatOptions {
        ids: if canonical { IdPolicy::Below(graph.vertices) } else { IdPolicy::Auto },
        symmetrize: matches!(given, Given::Once | Given::HeadlessOnce),
        remove_self_loops: given == Given::Unclean,
        remove_duplicates: given == Given::Unclean,
        keep_weights: false,
        ..small_pages(encoding)
    };
    let kind = (given == Given::HeadlessOnce).then_some(Kind::Text);
    let reader = readers::Options { kind, ..readers::Options::default() };
    let store = TestStore::from_source(|| readers::open(graph.folder.join(file), &reader).unwrap(), &options);
    let manifest = store.open().manifest().clone();
    assert_eq!((manifest.vertices, manifest.edges), (graph.vertices, graph.arcs), "{name}");
    assert_eq!(manifest.directed, graph.directed, "{name}");
    let pages = manifest.out.pages + manifest.in_lists.map_or(0, |lists| lists.pages);
    let engine = make(&store, Some((pages / 3).max(4)));
    check_answers(&engine, name, &graph.sources, |array| graph.expected(array));
}

/// Checks the answers that each graph has; `expected` has vertices by index among the sorted ids.
fn check_answers(engine: &Engine, name: &str, sources: &[u64], mut expected: impl FnMut(&str) -> Vec<f64>) {
    // Enough iterations for small components, which barely affect the sum of changes.
    let converged = Stop::Iterations(80);
    let pull = if engine.store().topology(topostream::Direction::In).is_some() { Traffic::Pull } else { Traffic::Push };
    let every = thorough() || engine.store().edges() <= EDGES_MANY;
    let of = |dangling, stop, traffic| PageRank { damping: 0.85, dangling, stop, traffic, ..PageRank::default() };
    let runs = [
        ("pr10_gts", of(DanglingMass::Ignored, Stop::Iterations(10), Traffic::Push)),
        ("pr10_graphalytics", of(DanglingMass::Redistributed, Stop::Iterations(10), pull)),
        ("pr10_gts", of(DanglingMass::Ignored, Stop::Iterations(10), pull)),
        ("pr10_graphalytics", of(DanglingMass::Redistributed, Stop::Iterations(10), Traffic::Push)),
        ("pr_prpack", of(DanglingMass::Redistributed, converged, Traffic::Auto)),
    ];
    for (array, algorithm) in runs.into_iter().take(if every { 5 } else { 2 }) {
        let found = ranks(engine, algorithm).unwrap();
        let error = relative_error(&found.by_place(), &expected(array));
        assert!(error <= RANK_ERROR, "{name}, {algorithm:?}: {array} is off by {error:e}");
    }
    let ids: Vec<u64> = engine
        .store()
        .ids()
        .map(|ids| (0..engine.store().vertices()).map(|v| ids.original(topostream::VertexId(v as u32))).collect())
        .unwrap();
    for (number, &source) in sources.iter().enumerate().take(if every { sources.len() } else { 1 }) {
        let expected = expected(&format!("bfs_src{number}"));
        // Both variants from the first source, then alternating: road networks have more than a thousand levels.
        let ways = if every { [[false, true].as_slice(), &[true], &[false]][number] } else { &[true] };
        for &bottom_up in ways {
            let found = search(engine, ids[source as usize], false, bottom_up).unwrap().levels.by_place();
            let found: Vec<f64> = found.iter().map(|level| level.map_or(-1.0, |level| level as f64)).collect();
            assert!(found == expected, "{name}, source {source}, bottom up {bottom_up}");
        }
    }
    let found = component_ids(engine).unwrap().by_place();
    let places: Vec<f64> = found.iter().map(|id| ids.binary_search(id).expect("an id of the graph") as f64).collect();
    assert!(places == expected("wcc"), "{name}: other components");
}

// ---- Distances
// -------------------------------------------------------------------------------------------------------

/// Formats a published graph with its weights, or those of its answers, and checks distances.
pub fn check_distances(name: &str, encoding: Encoding, make: MakeEngine<'_>) {
    let Some(graph) = Published::find(name) else { return };
    let weighted = canonical(&graph, name);
    let store = TestStore::weighted(&weighted, graph.directed, &small_pages(encoding));
    let manifest = store.open().manifest().clone();
    assert_eq!((manifest.vertices, manifest.edges), (graph.vertices, graph.arcs), "{name}");
    let engine = make(&store, Some((manifest.out.pages * 2 / 3).max(8)));
    let every = thorough() || graph.arcs <= EDGES_MANY;
    for (number, &source) in graph.sources.iter().enumerate().take(if every { graph.sources.len() } else { 1 }) {
        let found = distances(&engine, source).unwrap().dense();
        for (vertex, (found, expected)) in found.iter().zip(graph.expected(&format!("sssp_src{number}"))).enumerate() {
            let expected = if expected < 0.0 { f64::INFINITY } else { expected };
            let error = if weighted.float { 1e-4 * expected } else { 0.0 };
            let passes = *found == expected || (found - expected).abs() <= error;
            assert!(passes, "{name}, source {source}: vertex {vertex} is at {found}, not {expected}");
        }
    }
}

/// A published graph from its edge file; each edge of an undirected graph once.
fn canonical(graph: &Published, name: &str) -> Weighted {
    let given = graph.folder.join(format!("{name}.wel.zst"));
    let path = if given.exists() { given } else { graph.folder.join(format!("{name}.el.zst")) };
    let mut source = readers::open(&path, &readers::Options::default()).unwrap();
    let weights = source.info().weights;
    let (mut edges, mut chunk) = (Vec::new(), vec![Edge::default()]);
    while !chunk.is_empty() {
        source.read(&mut chunk).unwrap();
        edges.append(&mut chunk.clone());
    }
    let weight =
        |edge: &Edge| if weights.is_some() { edge.weight as u32 } else { weight_by_hash(edge.source, edge.dest) };
    Weighted {
        weights: edges.iter().map(weight).collect(),
        graph: EdgeList::new(
            graph.vertices as u32,
            edges.iter().map(|edge| (edge.source as u32, edge.dest as u32)).collect(),
        ),
        float: weights == Some(WeightType::F32),
    }
}

/// The weight of an edge in a graph without weights: 1 to 255.
fn weight_by_hash(source: u64, dest: u64) -> u32 {
    let mut hash = source.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(dest.wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash ^= hash >> 32;
    1 + (hash % 255) as u32
}

// ---- The karate club
// -------------------------------------------------------------------------------------------------

/// File formats of the karate club, and how they list edges.
pub const KARATE: [(&str, bool); 4] =
    [("karate.graph", false), ("karate.txt", true), ("karate.mtx", false), ("karate.gr", false)];

/// Checks the karate club in some file formats.
pub fn check_karate_club(files: &[(&str, bool)], make: MakeEngine<'_>) {
    for &(file, once) in files {
        let path = data("karate").join(file);
        let reader = readers::Options::default();
        let options = FormatOptions { symmetrize: once, keep_weights: false, ..small_pages(Encoding::VertexId) };
        let store = TestStore::from_source(|| readers::open(&path, &reader).unwrap(), &options);
        assert_eq!((store.open().vertices(), store.open().edges()), (34, 156), "{file}");
        let engine = make(&store, None);
        let table = std::fs::read_to_string(data("karate/expected.csv")).unwrap();
        check_answers(&engine, file, &[0, 33, 23], |array| csv_column(&table, array));
    }
}

fn csv_column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines();
    let column = lines.next().unwrap().split(',').position(|title| title == name).unwrap();
    lines.map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect()
}

// ---- Graphalytics
// ----------------------------------------------------------------------------------------------------

/// Graphalytics' examples.
pub fn check_graphalytics_examples(make: MakeEngine<'_>) {
    for name in ["example-directed", "example-undirected"] {
        let folder = data("graphalytics/example");
        let properties = Properties::read(&folder.join(format!("{name}.properties")));
        let path = folder.join(format!("{name}.properties"));
        let reader = readers::Options::default();
        for encoding in ENCODINGS {
            let store = TestStore::from_source(|| readers::open(&path, &reader).unwrap(), &small_pages(encoding));
            let engine = make(&store, None);
            validate_bfs(&engine, &properties, &folder.join(format!("{name}-BFS")));
            validate_ranks(&engine, &properties, &folder.join(format!("{name}-PR")));
            validate_distances(&engine, &properties, &folder.join(format!("{name}-SSSP")));
            validate_components(&engine, &folder.join(format!("{name}-WCC")));
        }
    }
}

/// Graphalytics' own tests of validation.
pub fn check_graphalytics_validation(make: MakeEngine<'_>) {
    for (algorithm, input, properties) in [
        ("bfs", "dir", "test-bfs-directed"),
        ("bfs", "undir", "test-bfs-undirected"),
        ("pr", "dir", "test-pr-directed"),
        ("pr", "undir", "test-pr-undirected"),
        ("wcc", "dir", "test-wcc-directed"),
        ("wcc", "undir", "test-wcc-undirected"),
    ] {
        let folder = data("graphalytics").join(algorithm);
        let properties = Properties::read(&folder.join(format!("{properties}.properties")));
        let lists = std::fs::read_to_string(folder.join(format!("{input}-input"))).unwrap();
        let store =
            TestStore::from_source(|| neighbour_lists(&lists, input == "dir"), &small_pages(Encoding::VertexId));
        assert_eq!(store.open().vertices(), properties.number("meta.vertices"));
        let engine = make(&store, None);
        let output = folder.join(format!("{input}-output"));
        match algorithm {
            "bfs" => validate_bfs(&engine, &properties, &output),
            "pr" => validate_ranks(&engine, &properties, &output),
            _ => validate_components(&engine, &output),
        }
    }
    for (input, properties) in [("dir", "test-sssp-directed"), ("undir", "test-sssp-undirected")] {
        let folder = data("graphalytics/sssp");
        let (edges, reader) = (folder.join(format!("{input}-input.e")), readers::Options::default());
        let options = FormatOptions { symmetrize: input == "undir", ..small_pages(Encoding::VertexId) };
        let store = TestStore::from_source(|| readers::open(&edges, &reader).unwrap(), &options);
        let properties = Properties::read(&folder.join(format!("{properties}.properties")));
        assert_eq!(store.open().vertices(), properties.number("meta.vertices"));
        validate_distances(&make(&store, None), &properties, &folder.join(format!("{input}-output")));
    }
}

/// Reads lines `v n1 n2 …`, the format of Graphalytics' validation inputs. An undirected edge is in both lists.
fn neighbour_lists(text: &str, directed: bool) -> Box<dyn EdgeSource> {
    let (mut edges, mut vertices) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut ids = line.split_whitespace().map(|id| id.parse::<u64>().unwrap());
        let Some(source) = ids.next() else { continue };
        vertices.push(source);
        edges.extend(ids.map(|dest| Edge { source, dest, weight: 0 }));
    }
    let (name, ids) = ("lists".to_owned(), IdSpace::Named);
    let info = SourceInfo { name, ids, mirror: false, directed, weights: None, edges: None, bytes: None };
    Box::new(MemorySource::new(info, edges).with_extra_vertices(vertices))
}

fn validate_bfs(engine: &Engine, properties: &Properties, output: &Path) {
    const UNREACHABLE: u64 = i64::MAX as u64;
    let expected: BTreeMap<u64, u64> = read_output(output);
    for bottom_up in [false, true] {
        let found = search(engine, properties.number("bfs.source-vertex"), false, bottom_up).unwrap().levels;
        let found: BTreeMap<u64, u64> =
            found.values.into_iter().map(|(id, level)| (id, level.unwrap_or(UNREACHABLE))).collect();
        assert_eq!(found, expected, "{}", output.display());
    }
}

fn validate_ranks(engine: &Engine, properties: &Properties, output: &Path) {
    let expected: BTreeMap<u64, f64> = read_output(output);
    let stop = Stop::Iterations(properties.number("pr.num-iterations") as u32);
    let damping = properties.value("pr.damping-factor").parse().unwrap();
    for traffic in [Traffic::Push, Traffic::Pull] {
        let algorithm =
            PageRank { damping, dangling: DanglingMass::Redistributed, stop, traffic, ..PageRank::default() };
        let found = ranks(engine, algorithm).unwrap().values;
        assert!(found.iter().map(|(id, _)| id).eq(expected.keys()), "{}: other vertices", output.display());
        for (id, rank) in found {
            let expected = expected[&id];
            let passes = (expected - rank).abs() <= 1e-4 * expected;
            assert!(passes, "{}, {traffic:?}: vertex {id} has {rank}, not {expected}", output.display());
        }
    }
}

fn validate_distances(engine: &Engine, properties: &Properties, output: &Path) {
    let expected: BTreeMap<u64, f64> = read_output(output);
    let found = distances(engine, properties.number("sssp.source-vertex")).unwrap().values;
    assert!(found.iter().map(|(id, _)| id).eq(expected.keys()), "{}: other vertices", output.display());
    for (id, distance) in found {
        let expected = expected[&id];
        let passes = distance == expected || (expected - distance).abs() <= 1e-4 * expected;
        assert!(passes, "{}: vertex {id} is at {distance}, not {expected}", output.display());
    }
}

/// Checks for the same components, each labelled with its smallest id, which Graphalytics does not require.
fn validate_components(engine: &Engine, output: &Path) {
    let expected: BTreeMap<u64, u64> = read_output(output);
    let found: BTreeMap<u64, u64> = component_ids(engine).unwrap().values.into_iter().collect();
    assert_eq!(found, expected, "{}", output.display());
}

fn read_output<T: std::str::FromStr<Err: std::fmt::Debug>>(path: &Path) -> BTreeMap<u64, T> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let (id, value) = line.split_once(' ').unwrap();
        (id.parse().unwrap(), value.trim().parse().unwrap())
    };
    text.lines().map(line).collect()
}

/// A graph's properties, without the prefix with its name.
struct Properties(Vec<(String, String)>);

impl Properties {
    fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let line = |line: &str| {
            let (key, value) = line.split_once('=')?;
            let key = key.trim().strip_prefix("graph.")?.strip_prefix(name)?.strip_prefix('.')?;
            Some((key.to_owned(), value.trim().to_owned()))
        };
        Self(text.lines().filter_map(line).collect())
    }

    fn value(&self, key: &str) -> &str {
        &self.0.iter().find(|(found, _)| found == key).unwrap_or_else(|| panic!("no {key}")).1
    }

    fn number(&self, key: &str) -> u64 {
        self.value(key).parse().unwrap()
    }
}
