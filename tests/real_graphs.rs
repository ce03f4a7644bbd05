//! Real graphs with answers that others computed: igraph, networkit, scipy, GraphBLAS, and LDBC Graphalytics' own.
//!
//! The small ones are in `tests/data`. The large ones are not part of this repository: they lie in `shared/data` beside the
//! checkout, or where `TOPOSTREAM_DATA` says; a test whose graph is missing says so and passes.

mod common;
mod published;
mod reference;

use common::*;
use published::*;
use reference::*;
use std::collections::BTreeMap;
use std::path::Path;
use topostream::algorithms::{DanglingMass, PageRank, Stop, Traffic};
use topostream::{Engine, Error};
use topostream_formats::edge::{IdSpace, SourceInfo};
use topostream_formats::readers::{self, Kind};
use topostream_formats::{Edge, EdgeSource, Encoding, MemorySource};
use topostream_tools::format::{FormatOptions, IdPolicy};

/// What ranks may be off, relative to the rank.
const RANK_ERROR: f64 = 1e-4;

// ---- Published graphs -----------------------------------------------------------------------------------------------

/// Defines a test for each graph: its folder, its file, how that gives edges, and the encoding to store it in.
macro_rules! published {
    ($($test:ident: $graph:literal, $file:literal, $given:expr, $encoding:expr;)*) => {
        $(#[test] fn $test() { check_published($graph, $file, $given, $encoding); })*
    };
}

published! {
    karate: "karate", "karate.graph", Given::Both, Encoding::VertexId;
    karate_canonical: "karate", "karate.el.zst", Given::Once, ENCODINGS[5];
    pgp: "PGPgiantcompo", "PGPgiantcompo.graph", Given::Both, ENCODINGS[1];
    wing: "wing", "wing.graph", Given::Both, ENCODINGS[2];
    facebook: "facebook_combined", "facebook_combined.txt", Given::Once, ENCODINGS[3];
    wiki_vote: "wiki-Vote", "wiki-Vote.txt", Given::Both, Encoding::VertexId;
    bremen: "bremen_dist", "bremen_dist.gr", Given::Unclean, ENCODINGS[1];
    luxembourg: "luxembourg_osm", "luxembourg_osm.mtx", Given::HeadlessOnce, Encoding::VertexId;
    chicago: "chicago-regional", "chicago-regional.wel.zst", Given::Both, ENCODINGS[4];
    cornell: "Cornell5", "Cornell5.el.zst", Given::Once, ENCODINGS[2];
    uk_2007: "uk-2007-05-100k", "uk-2007-05-100k.el.zst", Given::Both, Encoding::VertexId;
    kronecker: "synth-kron16", "synth-kron16.el.zst", Given::Once, ENCODINGS[3];
}

/// How a file gives its edges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// As the graph has them.
    Both,
    /// An undirected edge once.
    Once,
    /// The same, in a file that is not what its name says.
    HeadlessOnce,
    /// With self-loops and repeated edges that the graph does not have.
    Unclean,
}

fn check_published(name: &str, file: &str, given: Given, encoding: Encoding) {
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
    let engine = store.engine(engine_options(Some((pages / 3).max(4)), 2, FETCHERS[name.len() % 3]));
    check_answers(&engine, name, &graph.sources, |array| graph.expected(array));
}

/// The answers that each graph comes with; `expected` names vertices by their place among the ids.
fn check_answers(engine: &Engine, name: &str, sources: &[u64], mut expected: impl FnMut(&str) -> Vec<f64>) {
    // Enough for small components too, which a tolerance on the sum of changes does not wait for.
    let converged = Stop::Iterations(80);
    let pull = if engine.store().topology(topostream::Direction::In).is_some() { Traffic::Pull } else { Traffic::Push };
    let of = |dangling, stop, traffic| PageRank { damping: 0.85, dangling, stop, traffic, ..PageRank::default() };
    for (array, algorithm) in [
        ("pr10_gts", of(DanglingMass::Ignored, Stop::Iterations(10), Traffic::Push)),
        ("pr10_gts", of(DanglingMass::Ignored, Stop::Iterations(10), pull)),
        ("pr10_graphalytics", of(DanglingMass::Redistributed, Stop::Iterations(10), Traffic::Push)),
        ("pr10_graphalytics", of(DanglingMass::Redistributed, Stop::Iterations(10), pull)),
        ("pr_prpack", of(DanglingMass::Redistributed, converged, Traffic::Auto)),
    ] {
        let found = ranks(engine, algorithm).unwrap();
        let error = relative_error(&found.by_place(), &expected(array));
        assert!(error <= RANK_ERROR, "{name}, {algorithm:?}: {array} is off by {error:e}");
    }
    let ids: Vec<u64> = engine
        .store()
        .ids()
        .map(|ids| (0..engine.store().vertices()).map(|v| ids.original(topostream::VertexId(v as u32))).collect())
        .unwrap();
    for (number, &source) in sources.iter().enumerate() {
        let expected = expected(&format!("bfs_src{number}"));
        // Both ways from the first source, then in turn: road networks have more than a thousand levels.
        let ways = [[false, true].as_slice(), &[true], &[false]][number];
        for &bottom_up in ways {
            let found = search(engine, ids[source as usize], false, bottom_up).unwrap().levels.by_place();
            let found: Vec<f64> = found.iter().map(|level| level.map_or(-1.0, |level| level as f64)).collect();
            assert!(found == expected, "{name}, source {source}, bottom up {bottom_up}");
        }
    }
}

// ---- The karate club, in every kind of file ---------------------------------------------------------------------------

#[test]
fn the_karate_club_in_every_kind_of_file() {
    for (file, once) in [("karate.graph", false), ("karate.txt", true), ("karate.mtx", false), ("karate.gr", false)] {
        let path = data("karate").join(file);
        let reader = readers::Options::default();
        let options = FormatOptions { symmetrize: once, keep_weights: false, ..small_pages(Encoding::VertexId) };
        let store = TestStore::from_source(|| readers::open(&path, &reader).unwrap(), &options);
        assert_eq!((store.open().vertices(), store.open().edges()), (34, 156), "{file}");
        let engine = store.engine(engine_options(None, 2, FETCHERS[1]));
        let table = std::fs::read_to_string(data("karate/expected.csv")).unwrap();
        check_answers(&engine, file, &[0, 33, 23], |array| csv_column(&table, array));
    }
}

fn csv_column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines();
    let column = lines.next().unwrap().split(',').position(|title| title == name).unwrap();
    lines.map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect()
}

// ---- Graphalytics ---------------------------------------------------------------------------------------------------

#[test]
fn graphalytics_examples() {
    for name in ["example-directed", "example-undirected"] {
        let folder = data("graphalytics/example");
        let properties = Properties::read(&folder.join(format!("{name}.properties")));
        let path = folder.join(format!("{name}.properties"));
        let reader = readers::Options::default();
        for encoding in [Encoding::VertexId, ENCODINGS[1]] {
            let store = TestStore::from_source(|| readers::open(&path, &reader).unwrap(), &small_pages(encoding));
            let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
            validate_bfs(&engine, &properties, &folder.join(format!("{name}-BFS")));
            validate_ranks(&engine, &properties, &folder.join(format!("{name}-PR")));
        }
    }
}

#[test]
fn graphalytics_validation() {
    for (algorithm, input, properties) in [
        ("bfs", "dir", "test-bfs-directed"),
        ("bfs", "undir", "test-bfs-undirected"),
        ("pr", "dir", "test-pr-directed"),
        ("pr", "undir", "test-pr-undirected"),
    ] {
        let folder = data("graphalytics").join(algorithm);
        let properties = Properties::read(&folder.join(format!("{properties}.properties")));
        let lists = std::fs::read_to_string(folder.join(format!("{input}-input"))).unwrap();
        let store =
            TestStore::from_source(|| neighbour_lists(&lists, input == "dir"), &small_pages(Encoding::VertexId));
        assert_eq!(store.open().vertices(), properties.number("meta.vertices"));
        let engine = store.engine(engine_options(None, 2, FETCHERS[2]));
        let output = folder.join(format!("{input}-output"));
        match algorithm {
            "bfs" => validate_bfs(&engine, &properties, &output),
            _ => validate_ranks(&engine, &properties, &output),
        }
    }
}

/// `v n1 n2 …` a line: the form of Graphalytics' validation inputs. An undirected edge stands in both lists.
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

fn read_output<T: std::str::FromStr<Err: std::fmt::Debug>>(path: &Path) -> BTreeMap<u64, T> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let (id, value) = line.split_once(' ').unwrap();
        (id.parse().unwrap(), value.trim().parse().unwrap())
    };
    text.lines().map(line).collect()
}

/// A properties file of a graph, less the name of the graph.
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

/// What everything above relies on: vertices are numbered by ascending id, and called as the file calls them.
#[test]
fn ids_are_those_of_the_file() {
    let path = data("karate/karate.graph");
    let store = TestStore::from_source(
        || readers::open(&path, &readers::Options::default()).unwrap(),
        &small_pages(Encoding::VertexId),
    );
    let ids = store.open().ids().map_err(Error::from).unwrap();
    assert_eq!(ids.original(topostream::VertexId(0)), 1);
    assert_eq!((ids.vertex(0), ids.vertex(34).map(|vertex| vertex.0), ids.vertex(35)), (None, Some(33), None));
}
