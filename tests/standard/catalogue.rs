//! Every algorithm of the catalogue against its oracle, over graphs of the kind that it needs.

use crate::common::{TestStore, engine_options, small_pages, thorough};
use crate::everywhere::{Found, all_ways, found, needs_wide_atomics};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use topostream::algorithms::CATALOGUE;
use topostream::algorithms::command::{Entry, Needs, Sample, StoreKind};
use topostream::device::DeviceChoice;
use topostream::pages::fetch::FetcherKind;
use topostream::{Engine, EngineOptions, Error, VertexId};
use topostream_formats::Encoding;
use topostream_formats::edge::WeightType;
use topostream_oracles::{self as oracles, Answer, Arguments, EdgeList, Graph, Weighted, random_edges};
use topostream_tools::format::FormatOptions;

/// Every sample with its algorithm.
pub fn samples() -> impl Iterator<Item = (&'static Entry, &'static Sample)> {
    CATALOGUE.iter().flat_map(|&entry| entry.samples.iter().map(move |sample| (entry, sample)))
}

/// Those that several devices can share.
pub fn shared_samples() -> impl Iterator<Item = (&'static Entry, &'static Sample)> {
    samples().filter(|(entry, sample)| !is_of_one_cpu(entry, sample))
}

/// Whether an algorithm has no shader, and is not shared either.
fn is_of_one_cpu(entry: &Entry, sample: &Sample) -> bool {
    let kind = StoreKind { vertices: 64, directed: true, in_lists: false, weights: sample.needs.weights };
    let parsed = entry.arguments.read(sample.arguments.split_whitespace()).unwrap_or_else(|error| panic!("{error}"));
    let declaration = parsed.shader(&kind).declare(false);
    declaration.alone && declaration.shader.is_none()
}

/// Runs a sample; `None` if it names a vertex and the graph has none.
pub fn run_sample(entry: &Entry, sample: &Sample, engine: &Engine) -> Option<Result<Found, Error>> {
    let store = engine.store();
    if store.vertices() == 0 && sample.arguments.contains("max-degree") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = with_files(sample.arguments, engine, folder.path());
    let parsed = entry.arguments.read(arguments.split_whitespace()).unwrap_or_else(|error| panic!("{error}"));
    let run =
        parsed.prepare(store, &engine.options().cancel).and_then(|prepared| prepared.runs.run(engine, &mut |_| {}));
    Some(run.and_then(|run| found(engine, &run)))
}

/// Replaces `@even` and `@odd` in arguments by files.
fn with_files(arguments: &str, engine: &Engine, folder: &Path) -> String {
    let mut arguments = arguments.to_owned();
    for (name, parity) in [("@even", 0), ("@odd", 1)] {
        let path = folder.join(&name[1..]);
        let ids = engine.store().ids().unwrap();
        let vertices = (parity..engine.store().vertices()).step_by(2);
        let lines = vertices.map(|vertex| format!("{}\n", ids.original(VertexId(vertex as u32))));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        arguments = arguments.replace(name, path.to_str().unwrap());
    }
    arguments
}

/// The oracle's answer.
pub fn oracle(entry: &Entry, sample: &Sample, graph: &Graph) -> Answer {
    let oracle = oracles::find(entry.oracle).unwrap_or_else(|| panic!("{} has no oracle", entry.name));
    oracle(graph, &Arguments::of(sample.arguments))
}

/// Compares answers with the oracle's columns.
pub fn assert_answers(found: &Found, expected: &Answer, what: &str) {
    for (name, expected_values) in &expected.columns {
        let of_vertex = |(&found, &expected): (&f64, &f64)| {
            // No value.
            if found == -1.0 && expected == f64::INFINITY { expected } else { found }
        };
        let values: Vec<f64> = found.column(name).iter().zip(expected_values).map(of_vertex).collect();
        let checked = expected.compare.check(&values, expected_values);
        checked.unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
    }
}

/// A graph of a kind, as a store and as arrays: a hub, vertices without edges, and if permitted, loops and repeated
/// edges.
pub fn case(needs: &Needs) -> (TestStore, Graph) {
    sharded_case(needs, 1)
}

/// As [`case`], with its out-lists grouped by so many ranges of destinations.
pub fn sharded_case(needs: &Needs, shards: u32) -> (TestStore, Graph) {
    let mut edges = random_edges(0..1_900, 9_000, 23);
    edges.extend((0..600).map(|number| (5, 3 * number)));
    edges.extend((0..300).flat_map(|number| [(number % 40, number % 40), (7, 9 + number % 2)]));
    if needs.distinct {
        let ordered =
            |(one, other): (u32, u32)| if needs.undirected { (one.min(other), one.max(other)) } else { (one, other) };
        let distinct: BTreeSet<(u32, u32)> =
            edges.into_iter().map(ordered).filter(|(one, other)| one != other).collect();
        edges = distinct.into_iter().collect();
    }
    let graph = EdgeList::new(2_000, edges);
    let options = FormatOptions { in_edges: needs.in_lists, shards, ..small_pages(Encoding::VertexId) };
    let directed = !needs.undirected;
    match needs.weights {
        Some(of) => {
            let weighted = Weighted::by_chance(graph, of == WeightType::F32, 9);
            let arrays = if directed { weighted.graph(true) } else { weighted.mirrored().graph(false) };
            (TestStore::weighted(&weighted, directed, &options), arrays)
        }
        None => {
            let arrays = if directed { graph.graph(true) } else { graph.symmetrized().graph(false) };
            (TestStore::new(&graph, &FormatOptions { symmetrize: !directed, ..options }), arrays)
        }
    }
}

/// Every sample on a team of CPUs and on one with GPUs: samples take the teams in turn. If every case is tested, every
/// sample on every team.
#[test]
fn every_sample_agrees_with_its_oracle_on_cpus() {
    assert_samples_agree(|options| options.devices.contains(&DeviceChoice::Cpu));
}

#[test]
fn every_sample_agrees_with_its_oracle_on_gpus() {
    assert_samples_agree(|options| !options.devices.contains(&DeviceChoice::Cpu));
}

fn assert_samples_agree(has_turn: impl Fn(&EngineOptions) -> bool) {
    let ways: Vec<_> = all_ways().into_iter().filter(|(_, options)| has_turn(options)).collect();
    let mut cases: BTreeMap<&str, (TestStore, Graph)> = BTreeMap::new();
    let mut in_ways = BTreeSet::new();
    for (number, (entry, sample)) in samples().enumerate() {
        let (store, graph) = cases.entry(sample.needs.name).or_insert_with(|| case(&sample.needs));
        let expected = oracle(entry, sample, graph);
        if is_of_one_cpu(entry, sample) {
            let options = engine_options(None, 2, FetcherKind::Auto).with_device(DeviceChoice::Cpu);
            let found = run_sample(entry, sample, &store.engine(options)).expect("the graph has vertices");
            assert_answers(&found.unwrap(), &expected, &format!("{} {}", entry.name, sample.arguments));
            continue;
        }
        for (turn, (way, options)) in ways.iter().enumerate() {
            if !thorough() && turn != number % ways.len() {
                continue;
            }
            let what = format!("{} {}, {way}", entry.name, sample.arguments);
            let found = run_sample(entry, sample, &store.engine(options.clone())).expect("the graph has vertices");
            in_ways.insert(turn);
            match found {
                Ok(found) => assert_answers(&found, &expected, &what),
                Err(error) => assert!(needs_wide_atomics(options, &error), "{what}: {error}"),
            }
        }
    }
    assert_eq!(in_ways.len(), ways.len(), "every team has its turn");
}

#[test]
fn the_catalogue_is_complete() {
    let (mut names, mut rows) = (HashSet::new(), HashSet::new());
    for entry in CATALOGUE {
        let name = entry.name;
        assert!(oracles::find(entry.oracle).is_some(), "{name}: tests/oracles has no {}", entry.oracle);
        assert!(!entry.samples.is_empty(), "{name} has no sample");
        for name in std::iter::once(&name).chain(entry.aliases) {
            assert!(names.insert(*name), "two algorithms are called {name}");
        }
        for row in entry.samples.iter().filter_map(|sample| sample.row) {
            assert!(rows.insert(row), "two rows of benchmarks are called {row}");
        }
        assert!(entry.samples.iter().any(|sample| sample.row.is_some()), "{name} is not measured");
    }
    for (oracle, _) in oracles::ORACLES {
        assert!(CATALOGUE.iter().any(|entry| entry.oracle == *oracle), "no algorithm has the oracle {oracle}");
    }
}

/// The table in the catalogue's documentation has a row for each algorithm, which matches its entry.
#[test]
fn the_table_in_the_documentation_matches_the_catalogue() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/algorithms/catalogue.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("/// | `")).collect();
    let expected = CATALOGUE.iter().map(|entry| {
        let Entry { name, lists, bytes_per_vertex, exactness, .. } = entry;
        format!("{name}` | {lists} | {bytes_per_vertex} | {exactness} |")
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}
