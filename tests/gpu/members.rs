//! Devices that share a run: two GPUs and a CPU together have the results of one device, for every division of the
//! data.

use crate::adapter;
use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::coordinator::{Kind, Team, words};
use crate::gpu_test;
use crate::graphs::{self, ITERATIONS, Oracle, TestGraph};
use crate::own::{LeastLabel, least_labels};
use crate::reference::*;
use crate::setting::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use topostream::algorithms::{Bfs, PageRank, Sums, Traffic};
use topostream::device::exchange::{ExchangeMemory, Move, Moves, Values};
use topostream::device::settings::{FastPaths, GpuSettings, PageTransfer};
use topostream::model::Part;
use topostream::model::algorithm::{Algorithm, AnswerValues, State};
use topostream::model::attributes::{Attribute, AttributeType, Role};
use topostream::{Error, VertexId};

const TEAMS: [&[Kind]; 3] = [&[Kind::Gpu, Kind::Gpu], &[Kind::Gpu, Kind::Cpu, Kind::Gpu], &[Kind::Cpu, Kind::Gpu]];

/// Size of a piece of exchange memory: less than the attributes of these graphs, and than any binding here.
const PIECE_BYTES: u64 = 128 << 10;

/// All fast paths, none, and bindings smaller than any attribute.
fn settings() -> [Setting; 3] {
    let imported = FastPaths { host_import: false, ..FastPaths::default() };
    // A copy queue, simulated if necessary and possible.
    let copy_queue = adapter::has("host memory import");
    [
        Setting { binding_bytes_max: Some(192 << 10), copy_queue, ..Setting::default() },
        Setting { fast_paths: imported, ..Setting::default() },
        Setting { fast_paths: SLOW, binding_bytes_max: Some(256 << 10), ..Setting::default() },
    ]
}

/// Both strategies under every setting, with one team each.
fn ways() -> impl Iterator<Item = (bool, Setting, &'static [Kind])> {
    let both = [false, true].into_iter().flat_map(|sharded| settings().map(|setting| (sharded, setting)));
    both.enumerate().map(|(number, (sharded, setting))| (sharded, setting, TEAMS[(2 * number + 1) % TEAMS.len()]))
}

/// Whether a case runs: every second one by default.
fn is_run(number: usize) -> bool {
    thorough() || number.is_multiple_of(2)
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

fn number_of(values: &AnswerValues<'_>, vertex: u32) -> f64 {
    match values {
        AnswerValues::F64(of) => of.get(vertex),
        _ => panic!("ranks are numbers"),
    }
}

fn other_vertex(values: &AnswerValues<'_>, vertex: u32) -> Option<u64> {
    match values {
        AnswerValues::Vertex(of) => of.get(vertex).map(|other| other.0.into()),
        _ => panic!("parents are vertices"),
    }
}

fn tested() -> [TestGraph; 2] {
    [graphs::hubs(), graphs::sparse()]
}

gpu_test! {
    /// Merged sums and sums with one owner, shares that all devices read: each way with one graph by push, with the
    /// other by pull.
    fn ranks_equal_those_of_one_device() {
        let oracle = Oracle::default();
        for (which, graph) in tested().iter().enumerate() {
            for (number, (sharded, setting, kinds)) in ways().enumerate().filter(|(number, _)| is_run(number + which)) {
                let store = TestStore::new(&graph.edges, &setting.store_options());
                let traffic = TRAFFICS[(number / 2 + which) % 2];
                let what = format!("{}, {traffic:?}, sharded: {sharded}, {kinds:?}, {setting:?}", graph.name);
                let algorithm = pagerank(ITERATIONS, Dangling::Spread, traffic);
                let mut team = team(&store, algorithm, sharded, &setting, kinds).unwrap();
                let state = team.run().unwrap_or_else(|error| panic!("{what}: {error}"));
                let found = values(&team, &state, "rank", number_of);
                let error = relative_error(&found, &oracle.ranks(graph, Dangling::Spread));
                assert!(error <= RANK_ERROR, "{what}: off by {error:e}");
            }
        }
    }
}

gpu_test! {
    /// Sparse and dense messages; bottom-up supersteps, where each device knows its own unvisited vertices.
    fn levels_equal_those_of_one_device() {
        let oracle = Oracle::default();
        for (which, graph) in tested().iter().enumerate() {
            let levels = oracle.levels(graph);
            for (number, (sharded, setting, kinds)) in ways().enumerate().filter(|(number, _)| is_run(number + which)) {
                let store = TestStore::new(&graph.edges, &setting.store_options());
                let bottom_up = (number / 2 + which) % 2 == 0;
                let what =
                    format!("{}, bottom-up: {bottom_up}, sharded: {sharded}, {kinds:?}, {setting:?}", graph.name);
                let search = Bfs { parents: true, bottom_up, ..Bfs::from(VertexId(graph.source)) };
                let mut team = team(&store, search, sharded, &setting, kinds).unwrap();
                let state = team.run().unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(values(&team, &state, "level", integer) == levels, "{what}");
                let parents = values(&team, &state, "parent", other_vertex);
                let tree = check_least_tree(&graph.edges, graph.source, &levels, &parents);
                tree.unwrap_or_else(|defect| panic!("{what}: {defect}"));
            }
        }
    }
}

gpu_test! {
    /// Attributes and bits that are read at random while they are written: for other devices' vertices, the values last
    /// sent by their owners.
    fn labels_equal_those_of_one_device() {
        let graph = graphs::sparse().edges;
        let sources = vec![33_000, 12_300, 17_990, 63, 64, 41_999, 30_001, 12_600, 20_995, 13_997];
        let expected = least_labels(&graph, &sources);
        for (sharded, setting, kinds) in some(ways(), 2) {
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

/// The minimum device memory of a team, from its refusal.
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

/// A random range of vertices inside or outside of a part.
fn random_range(random: &mut u64, part: &Part, own: bool) -> Range<u64> {
    let sides = [part.own.clone(), 0..part.own.start, part.own.end..part.vertices];
    let side = if own { 0 } else { draw(random) as usize % 3 };
    let side = if sides[side].is_empty() { &part.own } else { &sides[side] };
    let length = side.end - side.start;
    let start = side.start + draw(random) % length;
    start..start + 1 + draw(random) % (side.end - start).min(7000)
}

/// A random word that is a valid value of a type.
fn random_word(random: &mut u64, of: AttributeType) -> u32 {
    match of {
        // At least 1, so that a maximum never keeps an initial share: GPUs may divide with an error of 2.5 ulp.
        AttributeType::F32 => ((draw(random) % 1000 + 1) as f32).to_bits(),
        AttributeType::Fixed63 => draw(random) as u32 & 0x0fff_ffff,
        _ => draw(random) as u32,
    }
}

/// A GPU and a CPU with the same part execute the same moves; afterwards both put values, which must be equal.
fn compare_moves<A: Algorithm>(store: &TestStore, algorithm: A, sharded: bool, setting: &Setting, seed: u64) {
    let mut random = seed;
    let kinds = &[Kind::Gpu, Kind::Cpu];
    let mut team = Team::twins(store, algorithm, kinds, sharded, &setting.gpu(), PIECE_BYTES).unwrap();
    for member in &mut team.members {
        member.initialise().unwrap();
    }
    let (part, piece) = (team.parts[0].clone(), PIECE_BYTES);
    for number in 0..40 {
        let attribute = draw(&mut random) as usize % team.attributes.len();
        let declared = team.attributes[attribute];
        let own = sharded && declared.role.is_written() && declared.role != Role::Writable;
        let vertices = random_range(&mut random, &part, own);
        let at = piece * (draw(&mut random) % 3) + 16 * (draw(&mut random) % 64);
        let count = words(&declared, &vertices);
        for word in team.memory.words(at, count) {
            word.store(random_word(&mut random, declared.of), Relaxed);
        }
        let values = Values::all(attribute, vertices.clone());
        let one = match draw(&mut random) % 4 {
            0 => Move::Clear(values.clone()),
            1 if part.held(declared.role) == (0..part.vertices) || part.own.contains(&vertices.start) => {
                Move::Merge { values: values.clone(), at }
            }
            _ => Move::Take { values: values.clone(), at },
        };
        let puts = [4, 8].map(|to| Move::Put { values: values.clone(), at: to * piece });
        team.memory.announce(&Move::Put { values, at });
        let take = || Moves { take: vec![one.clone()], ..Moves::default() };
        team.exchange(vec![take(), take()]).unwrap();
        team.exchange(puts.map(|put| Moves { put: vec![put], ..Moves::default() }).to_vec()).unwrap();
        let [gpu, cpu] = [4, 8].map(|from| told(&team.memory, &declared, &vertices, from * piece));
        assert!(gpu == cpu, "move {number}, {one:?} of {declared:?}, {part:?}, {setting:?}");
    }
    // Nothing else has changed. Initial values are quotients, which may be off by 2.5 ulp on GPUs.
    let whole = || {
        let state = State::new(team.graph.clone(), &team.attributes, false, Part::whole(part.vertices));
        state.with_activations(team.declaration.keeps_activations)
    };
    let states: Vec<State> = team
        .members
        .iter_mut()
        .map(|member| {
            let state = whole();
            member.contribute(&state).unwrap();
            state
        })
        .collect();
    for name in team.answers(&states[0]).iter().map(|answer| &*answer.name) {
        let column = |state| values(&team, state, name, printed);
        let differing =
            column(&states[0]).into_iter().zip(column(&states[1])).position(|(gpu, cpu)| !is_same(&gpu, &cpu));
        assert!(differing.is_none(), "{name} of {differing:?}, {part:?}, {setting:?}, seed {seed}");
    }
}

/// The words of a put; of bits only those in the range.
fn told(exchange: &ExchangeMemory, attribute: &Attribute, vertices: &Range<u64>, at: u64) -> Vec<u32> {
    let mut read: Vec<u32> =
        exchange.words(at, words(attribute, vertices)).iter().map(|word| word.load(Relaxed)).collect();
    if attribute.of == AttributeType::Bit {
        *read.first_mut().unwrap() &= u32::MAX << (vertices.start % 32);
        *read.last_mut().unwrap() &= u32::MAX >> (31 - (vertices.end - 1) % 32);
    }
    read
}

/// A value of an answer: a number, or other values as text.
fn printed(values: &AnswerValues<'_>, vertex: u32) -> Result<f64, String> {
    match values {
        AnswerValues::F64(of) => Ok(of.get(vertex)),
        AnswerValues::Integer(of) => Err(format!("{:?}", of.get(vertex))),
        AnswerValues::Vertex(of) => Err(format!("{:?}", of.get(vertex))),
    }
}

fn is_same(one: &Result<f64, String>, other: &Result<f64, String>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one == other || (one - other).abs() <= 1e-6 * one.abs(),
        _ => one == other,
    }
}

gpu_test! {
    /// Each dense move of each type of attribute, on the GPU and on the CPU, over arbitrary ranges.
    fn moves_match_the_cpu() {
        let graph = graphs::sparse().edges;
        for (number, setting) in settings().into_iter().enumerate() {
            let store = TestStore::new(&graph, &setting.store_options());
            for sharded in [false, true].into_iter().filter(|&one| thorough() || one == number.is_multiple_of(2)) {
                let seed = 100 + number as u64;
                let labels = LeastLabel { sources: vec![12_300, 41_000, 100], greet: true };
                compare_moves(&store, labels, sharded, &setting, seed);
                let ranks = pagerank(ITERATIONS, Dangling::Spread, Traffic::Push);
                compare_moves(&store, ranks, sharded, &setting, seed);
                compare_moves(&store, PageRank { sums: Sums::Single, ..ranks }, sharded, &setting, seed);
            }
        }
    }
}

gpu_test! {
    /// Values that only others write move to main memory, so that each of more devices needs less; and that suffices.
    fn sharded_devices_need_less_memory_the_more_there_are() {
        let (graph, setting) = (graphs::sparse(), Setting { transfer: PageTransfer::Copy, ..Setting::default() });
        let store = TestStore::new(&graph.edges, &setting.store_options());
        let ranks = || pagerank(ITERATIONS, Dangling::Spread, Traffic::Push);
        let labels = || LeastLabel { sources: vec![12_300, 33_000], greet: true };
        let (two, four) = (&[Kind::Gpu; 2], &[Kind::Gpu; 4]);
        let needed = needed_bytes(&store, ranks(), two, &setting.gpu());
        if adapter::has("host memory import") {
            // A quarter of the vertices: 8 bytes of sum each.
            let less = needed - needed_bytes(&store, ranks(), four, &setting.gpu());
            assert!(less.abs_diff(42_000 / 4 * 8) < 1000, "{less}");
        }
        // The second device has a few more vertices.
        let gpu = GpuSettings { memory_bytes: Some(needed + 2000), ..setting.gpu() };
        let mut team = Team::new(&store, ranks(), two, true, &gpu, PIECE_BYTES).unwrap();
        let state = team.run().unwrap();
        let found = values(&team, &state, "rank", number_of);
        assert!(relative_error(&found, &Oracle::default().ranks(&graph, Dangling::Spread)) <= RANK_ERROR);
        let needed = needed_bytes(&store, labels(), two, &setting.gpu());
        let gpu = GpuSettings { memory_bytes: Some(needed + 2000), ..setting.gpu() };
        let mut team = Team::new(&store, labels(), two, true, &gpu, PIECE_BYTES).unwrap();
        let state = team.run().unwrap();
        assert!(values(&team, &state, "label", integer) == least_labels(&graph.edges, &labels().sources));
    }
}

/// The time of a device loss.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    BeforePages,
    BehindPages,
    InExchange,
    /// In parallel with the run, after this many microseconds.
    After(u64),
}

/// The first superstep of a search, in which the second device is lost.
fn lose(store: &TestStore, source: VertexId, sharded: bool, moment: Moment) -> Result<(), Error> {
    let search = Bfs { bottom_up: false, ..Bfs::from(source) };
    let mut team = team(store, search.clone(), sharded, &Setting::default(), TEAMS[0]).unwrap();
    for member in &mut team.members {
        member.initialise().unwrap();
    }
    let step = search.first(&team.graph, [0.0; 4]).unwrap();
    let mut lose = team.losers.remove(1);
    if let Moment::After(microseconds) = moment {
        let beside = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(microseconds));
            lose();
        });
        // The search takes a few milliseconds: repeat its exchange until the device is lost.
        let result = team.edges(&step).and_then(|()| (0..1000).try_for_each(|_| team.tell_activated()));
        beside.join().unwrap();
        return result;
    }
    if moment == Moment::BeforePages {
        lose();
    }
    team.edges(&step)?;
    if moment == Moment::BehindPages {
        lose();
    }
    for (at, member) in (0..).step_by(PIECE_BYTES as usize).zip(&mut team.members) {
        member.begin_exchange(Moves { put: vec![Move::Collect { vertices: 0..8192, at }], ..Moves::default() })?;
    }
    lose();
    team.members.iter_mut().try_for_each(|member| member.end_exchange())?;
    team.tell_activated()
}

gpu_test! {
    /// The run ends with an error that names the device, whenever it is lost, and nothing waits.
    fn a_lost_device_ends_the_run() {
        let graph = graphs::sparse();
        let store = Arc::new(TestStore::new(&graph.edges, &Setting::default().store_options()));
        for sharded in [false, true] {
            let beside = (0..8).map(|number| Moment::After(number * 700));
            for moment in [Moment::BeforePages, Moment::BehindPages, Moment::InExchange].into_iter().chain(beside) {
                let (store, source) = (Arc::clone(&store), VertexId(graph.source));
                let result = within(120, "a lost device", move || lose(&store, source, sharded, moment));
                let error = result.expect_err("a device is lost");
                let lost = matches!(error, Error::Gpu(topostream::error::GpuError::Lost { .. }));
                assert!(lost && error.to_string().contains(&adapter::report().name), "{moment:?}: {error}");
            }
        }
    }
}

gpu_test! {
    /// A device that gets a stop message during the end of a superstep stops: the thread that drops it need not
    /// wait forever.
    fn a_device_that_is_dropped_in_a_superstep_stops() {
        let graph = graphs::sparse();
        let store = Arc::new(TestStore::new(&graph.edges, &Setting::default().store_options()));
        for _ in 0..5 {
            let store = Arc::clone(&store);
            within(60, "a device that is dropped", move || {
                let pagerank = pagerank(3, Dangling::Spread, Traffic::Push);
                let mut team = team(&store, pagerank, false, &Setting::default(), TEAMS[0]).unwrap();
                let totals = team.members.iter_mut().map(|member| member.initialise().unwrap());
                let totals = totals.fold([0.0; 4], |all, one| std::array::from_fn(|at| all[at] + one[at]));
                let step = pagerank.first(&team.graph, totals).unwrap();
                team.leave_in_the_middle(&step).unwrap();
            });
        }
    }
}
