//! Devices that share a run: two GPUs and a CPU between them come to what one device comes to, whoever holds what.

use crate::adapter;
use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::coordinator::{Kind, Team};
use crate::gpu_test;
use crate::graphs::{self, ITERATIONS, Oracle, TestGraph};
use crate::own::{LeastLabel, least_labels};
use crate::reference::*;
use crate::setting::*;
use topostream::algorithm::{Algorithm, AnswerValues, State};
use topostream::algorithms::{Bfs, Traffic};
use topostream::device::settings::{FastPaths, GpuSettings, PageTransfer};
use topostream::{Error, VertexId};

const TEAMS: [&[Kind]; 3] = [&[Kind::Gpu, Kind::Gpu], &[Kind::Gpu, Kind::Cpu, Kind::Gpu], &[Kind::Cpu, Kind::Gpu]];

/// Pieces of exchange memory: less than the attributes of these graphs take, and than a binding of any setting here.
const PIECE_BYTES: u64 = 128 << 10;

/// The fast paths, the portable ones, and bindings that no attribute fits in.
fn settings() -> [Setting; 3] {
    let imported = FastPaths { host_import: false, ..FastPaths::default() };
    // Copies beside kernels, where the device can do as if.
    let copy_queue = adapter::has("host memory import");
    [
        Setting { binding_bytes_max: Some(192 << 10), copy_queue, ..Setting::default() },
        Setting { fast_paths: imported, ..Setting::default() },
        Setting { fast_paths: SLOW, binding_bytes_max: Some(256 << 10), ..Setting::default() },
    ]
}

/// Both strategies in every setting, with one team each.
fn ways() -> impl Iterator<Item = (bool, Setting, &'static [Kind])> {
    let both = [false, true].into_iter().flat_map(|sharded| settings().map(|setting| (sharded, setting)));
    both.enumerate().map(|(number, (sharded, setting))| (sharded, setting, TEAMS[(2 * number + 1) % TEAMS.len()]))
}

fn team<A: Algorithm>(
    store: &TestStore,
    algorithm: A,
    sharded: bool,
    setting: &Setting,
    kinds: &[Kind],
) -> Result<Team<A>, Error> {
    Team::new(store, algorithm, kinds, sharded, &setting.gpu(), PIECE_BYTES)
}

/// One answer of a run.
fn values<A: Algorithm, T>(
    team: &Team<A>,
    state: &State,
    name: &str,
    value: impl Fn(&AnswerValues<'_>, u32) -> T,
) -> Vec<T> {
    let answers = team.answers(state);
    let answer = answers.iter().find(|answer| answer.name == name).expect("the algorithm has this answer");
    (0..team.graph.vertices as u32).map(|vertex| value(&answer.values, vertex)).collect()
}

fn number(values: &AnswerValues<'_>, vertex: u32) -> f64 {
    match values {
        AnswerValues::F64(of) => of(vertex),
        _ => panic!("ranks are numbers"),
    }
}

fn other_vertex(values: &AnswerValues<'_>, vertex: u32) -> Option<u64> {
    match values {
        AnswerValues::Vertex(of) => of(vertex).map(u64::from),
        _ => panic!("parents are vertices"),
    }
}

fn tested() -> [TestGraph; 2] {
    [graphs::hubs(), graphs::sparse()]
}

gpu_test! {
    /// Sums that are merged or have one owner, shares that all read.
    fn ranks_are_those_of_one_device() {
        let oracle = Oracle::default();
        for graph in tested() {
            for (sharded, setting, kinds) in ways() {
                let store = TestStore::new(&graph.edges, &setting.store_options());
                for traffic in [Traffic::Push, Traffic::Pull] {
                    let what = format!("{}, {traffic:?}, sharded: {sharded}, {kinds:?}, {setting:?}", graph.name);
                    let algorithm = pagerank(ITERATIONS, Dangling::Spread, traffic);
                    let mut team = team(&store, algorithm, sharded, &setting, kinds).unwrap();
                    let state = team.run().unwrap_or_else(|error| panic!("{what}: {error}"));
                    let found = values(&team, &state, "rank", number);
                    let error = relative_error(&found, &oracle.ranks(&graph, Dangling::Spread));
                    assert!(error <= RANK_ERROR, "{what}: off by {error:e}");
                }
            }
        }
    }
}

gpu_test! {
    /// Messages, sparse and dense; bottom-up supersteps, where each device knows what its own vertices lack.
    fn levels_are_those_of_one_device() {
        let oracle = Oracle::default();
        for graph in tested() {
            let levels = oracle.levels(&graph);
            for (sharded, setting, kinds) in ways() {
                let store = TestStore::new(&graph.edges, &setting.store_options());
                for bottom_up in [false, true] {
                    let what = format!("{}, bottom-up: {bottom_up}, sharded: {sharded}, {kinds:?}, {setting:?}", graph.name);
                    let search = Bfs { source: VertexId(graph.source), parents: true, bottom_up };
                    let mut team = team(&store, search, sharded, &setting, kinds).unwrap();
                    let state = team.run().unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(values(&team, &state, "level", integer) == levels, "{what}");
                    let parents = values(&team, &state, "parent", other_vertex);
                    let tree = check_tree(&graph.edges, graph.source, &levels, &parents);
                    tree.unwrap_or_else(|defect| panic!("{what}: {defect}"));
                }
            }
        }
    }
}

gpu_test! {
    /// What is read at random while it is written: of others' vertices, what their owners have told; bits too.
    fn labels_are_those_of_one_device() {
        let graph = graphs::sparse().edges;
        let sources = vec![55_000, 20_500, 29_990, 63, 64, 69_999, 50_001, 21_000, 34_995, 23_328];
        let expected = least_labels(&graph, &sources);
        for (sharded, setting, kinds) in ways() {
            let store = TestStore::new(&graph, &setting.store_options());
            let what = format!("sharded: {sharded}, {kinds:?}, {setting:?}");
            let algorithm = LeastLabel { sources: sources.clone(), greet: true };
            let mut team = team(&store, algorithm, sharded, &setting, kinds).unwrap();
            let state = team.run().unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(values(&team, &state, "label", integer) == expected, "{what}");
            let lowered = |(vertex, label): (usize, &Option<u64>)| {
                let first = sources.contains(&(vertex as u32)).then_some(vertex as u64);
                Some(u64::from(*label != first))
            };
            let lowered: Vec<_> = expected.iter().enumerate().map(lowered).collect();
            assert!(values(&team, &state, "seen", integer) == lowered, "{what}");
        }
    }
}

/// The least device memory that every device of a team says it needs.
fn needed_bytes<A: Algorithm>(store: &TestStore, algorithm: A, kinds: &[Kind], gpu: &GpuSettings) -> u64 {
    let none = GpuSettings { memory_bytes: Some(0), ..gpu.clone() };
    match Team::new(store, algorithm, kinds, true, &none, PIECE_BYTES).map(drop) {
        Err(Error::DeviceMemory { needed_bytes, parts, .. }) => {
            assert!(parts.contains(&adapter::report().name) && parts.contains("exchange"), "{parts}");
            needed_bytes
        }
        other => panic!("not about device memory: {other:?}"),
    }
}

gpu_test! {
    /// What only others write moves to main memory, so that more devices need less each; and so little is enough.
    fn sharded_devices_need_less_memory_the_more_there_are() {
        let (graph, setting) = (graphs::sparse(), Setting { transfer: PageTransfer::Copy, ..Setting::default() });
        let store = TestStore::new(&graph.edges, &setting.store_options());
        let ranks = || pagerank(ITERATIONS, Dangling::Spread, Traffic::Push);
        let labels = || LeastLabel { sources: vec![20_500, 55_000], greet: true };
        let (two, four) = (&[Kind::Gpu; 2], &[Kind::Gpu; 4]);
        let needed = needed_bytes(&store, ranks(), two, &setting.gpu());
        if adapter::has("host memory import") {
            // A quarter of the vertices: 8 bytes of sum and 4 of degree each.
            let less = needed - needed_bytes(&store, ranks(), four, &setting.gpu());
            assert!(less.abs_diff(70_000 / 4 * 12) < 1000, "{less}");
        }
        // The second has a few vertices more.
        let gpu = GpuSettings { memory_bytes: Some(needed + 2000), ..setting.gpu() };
        let mut team = Team::new(&store, ranks(), two, true, &gpu, PIECE_BYTES).unwrap();
        let state = team.run().unwrap();
        let found = values(&team, &state, "rank", number);
        assert!(relative_error(&found, &Oracle::default().ranks(&graph, Dangling::Spread)) <= RANK_ERROR);
        let needed = needed_bytes(&store, labels(), two, &setting.gpu());
        let gpu = GpuSettings { memory_bytes: Some(needed + 2000), ..setting.gpu() };
        let mut team = Team::new(&store, labels(), two, true, &gpu, PIECE_BYTES).unwrap();
        let state = team.run().unwrap();
        assert!(values(&team, &state, "label", integer) == least_labels(&graph.edges, &labels().sources));
    }
}

gpu_test! {
    /// The run ends with an error that names the device, whenever it goes, and nothing waits.
    fn a_lost_device_ends_the_run() {
        let graph = graphs::sparse();
        for sharded in [false, true] {
            for before_pages in [false, true] {
                let setting = Setting::default();
                let store = TestStore::new(&graph.edges, &setting.store_options());
                let source = VertexId(graph.source);
                let error = within(120, "a lost device", move || {
                    let search = Bfs { source, parents: false, bottom_up: false };
                    let mut team = team(&store, search, sharded, &setting, TEAMS[0]).unwrap();
                    for member in &mut team.members {
                        member.initialise().unwrap();
                    }
                    let step = search.first(&team.graph, [0.0; 4]).unwrap();
                    let mut lose = team.losers.remove(1);
                    if before_pages {
                        lose();
                    }
                    let pages = team.edges(&step);
                    lose();
                    pages.and_then(|()| team.tell_activated()).expect_err("a device is gone")
                });
                let lost = matches!(error, Error::Gpu(topostream::error::GpuError::Lost { .. }));
                assert!(lost && error.to_string().contains(&adapter::report().name), "{error}");
            }
        }
    }
}
