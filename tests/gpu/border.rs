//! Values of own and bordering vertices only, under Strategy-S: the same answers as with the values of all vertices,
//! and runs on devices that have no room for more.

use crate::adapter;
use crate::agreement::RANK_ERROR;
use crate::common::*;
use crate::gpu_test;
use crate::graphs::{self, TestGraph};
use crate::reference::*;
use crate::setting::*;
use std::collections::HashSet;
use topostream::algorithms::Traffic;
use topostream::device::settings::FastPaths;
use topostream::report::RunReport;
use topostream::team::{Exchanged, Strategy};
use topostream::{Engine, EngineOptions, Error};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::Rmat;
use topostream_tools::mirrors::make_mirrors;
use topostream_tools::progress::{Cancel, Quiet};

const ITERATIONS: u32 = 5;
const SIDE: u32 = 200;

/// A square of streets, of which each device's part borders on others in one or two rows.
fn grid() -> EdgeList {
    let at = |row: u32, column: u32| row * SIDE + column;
    let right = (0..SIDE).flat_map(|row| (1..SIDE).map(move |column| (at(row, column - 1), at(row, column))));
    let down = (1..SIDE).flat_map(|row| (0..SIDE).map(move |column| (at(row - 1, column), at(row, column))));
    EdgeList::new(SIDE * SIDE, right.chain(down).collect())
}

/// The same with express streets, so that no two vertices are many hops apart.
fn express() -> EdgeList {
    let grid = grid();
    let stops = (0..SIDE * SIDE).filter(|vertex| [vertex % SIDE, vertex / SIDE].iter().all(|at| at.is_multiple_of(16)));
    let lines = stops.flat_map(|vertex| [(vertex, vertex + 16), (vertex, vertex + 16 * SIDE)]);
    let on_grid = |&(from, to): &(u32, u32)| to < SIDE * SIDE && (to == from + 16 * SIDE || to / SIDE == from / SIDE);
    let lines = lines.filter(on_grid).collect::<Vec<_>>();
    EdgeList::new(SIDE * SIDE, grid.edges.into_iter().chain(lines).collect())
}

/// Every vertex has an edge to the same one, and two others: a tree.
fn funnel() -> TestGraph {
    let n = 32_000;
    let edges = (0..n).flat_map(|vertex| [(vertex, 77), (vertex, 2 * vertex % n), (vertex, (2 * vertex + 1) % n)]);
    TestGraph { name: "funnel", edges: EdgeList::new(n, edges.collect()), source: 9 }
}

fn options(setting: &Setting, devices: usize) -> EngineOptions {
    setting.options().with_devices(vec![adapter::device(); devices]).with_strategy(Strategy::Shard)
}

/// Checks that every device has held values of the vertices with edges to its own, and hardly any others.
fn assert_bordering(what: &str, edges: &EdgeList, undirected: bool, report: &RunReport) {
    for device in &report.sharing.as_ref().unwrap().devices {
        let own = device.own.0..device.own.1;
        let is_own = |vertex: u32| own.contains(&u64::from(vertex));
        let both = |&(a, b): &(u32, u32)| [(a, b)].into_iter().chain(undirected.then_some((b, a)));
        let across = edges.edges.iter().flat_map(both).filter(|&(from, to)| !is_own(from) && is_own(to));
        let bordering = across.map(|(from, _)| from).collect::<HashSet<u32>>().len() as u64;
        let others = edges.vertices as u64 - (own.end - own.start);
        let held = device.bordering.unwrap_or_else(|| panic!("{what}: values of all vertices"));
        assert!((bordering..=others).contains(&held), "{what}: {held} held, {bordering} read, {others} others");
    }
}

/// Ranks by pull and distances, each of two runs.
fn check(what: &str, weighted: &Weighted, source: u32, engine: &Engine) {
    let edges = &weighted.graph;
    let expected = rank_iterations(edges, 0.85, Dangling::Spread, ITERATIONS as usize);
    for run in 0..2 {
        let found = ranks(engine, pagerank(ITERATIONS, Dangling::Spread, Traffic::Pull)).unwrap();
        assert_bordering(what, edges, false, &found.report);
        let error = relative_error(&found.dense(), &expected);
        assert!(error <= RANK_ERROR, "{what}, run {run}: off by {error:e}");
        let found = distances(engine, source.into()).unwrap();
        assert_bordering(what, edges, false, &found.report);
        assert!(found.dense() == weighted.distances(source), "{what}, run {run}");
    }
}

gpu_test! {
    /// Two and three devices, supersteps of the engine and of the devices, many buffers, no fast path.
    fn answers_are_those_of_whole_copies() {
        let all = FastPaths { whole_copies: false, ..FastPaths::default() };
        let settings = [
            Setting { fast_paths: all, ..Setting::default() },
            Setting { fast_paths: FastPaths { device_loop: false, ..all }, cache: Cache::Off, ..Setting::default() },
            Setting { fast_paths: FastPaths { whole_copies: false, ..SLOW }, ..Setting::default() },
            // Buffers of 16,384 values: of three devices, one borders on more of `funnel`.
            Setting { fast_paths: all, binding_bytes_max: Some(128 << 10), ..Setting::default() },
        ];
        let graphs = [graphs::hubs(), graphs::sparse(), graphs::dense(), funnel()];
        for (number, (graph, setting)) in graphs.iter().zip(&settings).enumerate() {
            // Distances of 64 bits for all but one of the others.
            let float = setting.has_wide_atomics() && number != 1;
            let weighted = Weighted::by_chance(graph.edges.clone(), float, 7);
            let store_options = FormatOptions { mirrors: true, ..small_pages(setting.encoding) };
            let store = TestStore::weighted(&weighted, true, &store_options);
            // By default, an odd setting with three devices, the others with two.
            for devices in [2, 3].into_iter().filter(|devices| thorough() || devices % 2 == number % 2) {
                let what = format!("{}, {devices} devices, {setting:?}", graph.name);
                check(&what, &weighted, graph.source, &store.engine(options(setting, devices)));
            }
        }
    }
}

gpu_test! {
    /// Labels, which begin with the number of each vertex.
    fn components_of_an_undirected_graph() {
        let fast_paths = FastPaths { whole_copies: false, ..FastPaths::default() };
        let setting = Setting { fast_paths, ..Setting::default() };
        let weighted = Weighted::by_chance(express(), false, 3);
        let store_options = FormatOptions { mirrors: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::weighted(&weighted, false, &store_options);
        for (devices, setting) in [(2, setting.clone()), (3, by_host(&setting))] {
            let engine = store.engine(options(&setting, devices));
            for _ in 0..2 {
                let found = component_ids(&engine).unwrap();
                assert_bordering("components", &weighted.graph, true, &found.report);
                assert!(found.dense().iter().all(|&id| id == 0), "{devices} devices");
            }
        }
    }
}

gpu_test! {
    /// What is refused without mirrors runs with them.
    fn a_border_takes_less_memory() {
        let weighted = Weighted::by_chance(grid(), false, 5);
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        let fast_paths = FastPaths { host_import: false, ..FastPaths::default() };
        let setting = Setting { fast_paths, ..Setting::default() };
        let engine = |memory| store.engine(with_memory(options(&setting, 2), memory));
        let run = |memory| ranks(&engine(memory), pagerank(ITERATIONS, Dangling::Spread, Traffic::Pull));
        // What one device needs, then what the other one does.
        let needed = || {
            let mut needed = 0;
            while let Err(error) = run(needed) {
                match error {
                    Error::DeviceMemory { needed_bytes, .. } if needed_bytes > needed => needed = needed_bytes,
                    other => panic!("with {needed} bytes: {other}"),
                }
            }
            needed
        };
        let whole = needed();
        let held = |memory| {
            let devices = run(memory).unwrap().report.sharing.unwrap().devices;
            devices.iter().map(|device| device.bordering.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(held(whole), [false; 2]);
        make_mirrors(&store.open(), 64 << 20, &Quiet, &Cancel::default()).unwrap();
        let bordering = needed();
        // Half of the gathered values of 4 bytes, less the table's 2 bits.
        let vertices = u64::from(SIDE * SIDE);
        assert!(bordering + 3 * vertices / 2 < whole, "{whole} bytes, with a border {bordering}");
        assert_eq!(held(bordering), [true; 2]);
        let found = run(bordering).unwrap();
        let expected = rank_iterations(&weighted.graph, 0.85, Dangling::Spread, ITERATIONS as usize);
        assert!(relative_error(&found.dense(), &expected) <= RANK_ERROR);
    }
}

gpu_test! {
    /// By push, shares go to the devices that read them with lists of theirs; the ranks are the same, bit for bit.
    fn shares_are_sent_where_lists_are_read() {
        let rmat = generated(&mut Rmat::new(13, 8, 3).generate().unwrap());
        for (name, graph, shards) in [("grid", grid(), 1), ("grid", grid(), 3), ("rmat", rmat, 3)] {
            let setting = Setting::default();
            let store_options = FormatOptions { mirrors: true, shards, ..small_pages(setting.encoding) };
            let store = TestStore::new(&graph, &store_options);
            let run = |exchanged| {
                let options = options(&setting, 3).with_exchanged(exchanged);
                ranks(&store.engine(options), pagerank(ITERATIONS, Dangling::Spread, Traffic::Push)).unwrap()
            };
            let [all, linked, mirrored] = Exchanged::ALL.map(run);
            let what = format!("{name}, {shards} shards");
            let expected = rank_iterations(&graph, 0.85, Dangling::Spread, ITERATIONS as usize);
            let error = relative_error(&all.dense(), &expected);
            assert!(error <= RANK_ERROR, "{what}: off by {error:e}");
            assert!(all.dense() == linked.dense() && all.dense() == mirrored.dense(), "{what}: other bits");
            let told = [&all, &linked, &mirrored].map(|run| run.report.total.exchanged_bytes);
            assert!(told[0] > told[1] && told[1] > told[2], "{what}: {told:?}");
            assert_eq!(mirrored.report.sharing.unwrap().exchanged, Some(Exchanged::Mirrored), "{what}");
        }
    }
}

gpu_test! {
    /// Devices with little memory keep most of it for values: messages are cut into smaller pieces.
    fn pieces_are_a_small_part_of_memory() {
        let n = 1 << 19;
        let path = EdgeList::new(n, (0..n - 1).step_by(64).map(|vertex| (vertex, vertex + 1)).collect());
        let weighted = Weighted::by_chance(path, false, 5);
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        for setting in [Setting::default(), by_host(&Setting::default())] {
            let run = |memory: Option<u64>| {
                let options = options(&setting, 2);
                let options = memory.map_or(options.clone(), |memory| with_memory(options, memory));
                let found = distances(&store.engine(options), 64).unwrap();
                assert!(found.dense() == weighted.distances(64));
                found.report.sharing.unwrap().exchange_bytes
            };
            let (ample, short) = (run(None), run(Some(8 << 20)));
            // Messages of 1.1 MB: a piece of 2 MiB for each device, or three of 512 KiB.
            assert_eq!((ample, short), (4 << 20, 3 << 20), "{setting:?}");
        }
    }
}
