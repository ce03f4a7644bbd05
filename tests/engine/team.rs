//! Several devices that share a run: numbers × strategies × assignments × algorithms, with the CPU as several devices.
//! GPUs are tested in tests/gpu.

use crate::common::*;
use crate::reference::*;
use crate::sharing::*;
use std::sync::Arc;
use topostream::VertexId;
use topostream::algorithms::{Bfs, Traffic};
use topostream::device::DeviceChoice;
use topostream::device::settings::GpuSettings;
use topostream::model::algorithm::{Algorithm, declaration_of};
use topostream::predict::{Assumed, DeviceProfile, DeviceRates, UserOptions, alone, choose};
use topostream::team::{Assignment, Exchanged, Strategy};
use topostream::{Engine, EngineOptions};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::Rmat;

/// Several devices, each of them the CPU.
fn cpus(devices: usize, draw: usize) -> EngineOptions {
    // Frames with room for weights.
    let buffer = [None, Some(18), Some(33)][draw % 3];
    let options = engine_options(buffer, 1 + draw % 3, FETCHERS[draw % 3]);
    options.with_devices(vec![DeviceChoice::Cpu; devices])
}

fn check(name: &str, graph: &EdgeList, shapes: &[Shape]) {
    shapes.iter().for_each(|&shape| Shared::new(name, graph, shape).check(&DEVICES, cpus));
}

const fn shape(directed: bool, float: bool, encoding: Encoding, shards: u32) -> Shape {
    Shape { directed, float, encoding, shards }
}

#[test]
fn rmat_graphs() {
    let graph = generated(&mut Rmat::new(13, 8, 5).generate().unwrap());
    check("rmat", &graph, &[shape(true, false, Encoding::VertexId, 1), shape(false, true, Encoding::VertexId, 1)]);
}

/// Without rates, `auto` shards what GPUs would have to merge, if all of them keep their pages.
#[test]
fn the_strategy_of_unmeasured_devices() {
    let graph = generated(&mut Rmat::new(12, 8, 4).generate().unwrap());
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId)).open();
    let chosen = |algorithm: &dyn Algorithm, profile: DeviceProfile| {
        let options = UserOptions {
            memory_bytes: 1 << 30,
            trace_bytes: 0,
            buffer_bytes: None,
            strategy: Strategy::Auto,
            assignment: Assignment::Auto,
            assumed: Assumed::default(),
            warm: false,
        };
        choose(None, &declaration_of(algorithm, &store), &store, &options, &[profile.clone(), profile])
    };
    let gpu =
        |cache_bytes| DeviceProfile::gpu("gpu", Some(8 << 30), &GpuSettings { cache_bytes, ..GpuSettings::default() });
    let push = pagerank(5, Dangling::Spread, Traffic::Push);
    let all = store.topologies().map(|topology| u64::from(topology.page_count()) << 16).sum::<u64>();
    assert_eq!(chosen(&push, gpu(None)), Strategy::Shard);
    assert_eq!(chosen(&push, gpu(Some(all))), Strategy::Shard);
    assert_eq!(chosen(&push, gpu(Some(1 << 16))), Strategy::Replicate, "pages would cross both buses");
    assert_eq!(chosen(&push, DeviceProfile::cpu(4)), Strategy::Replicate);
    assert_eq!(chosen(&Bfs::from(VertexId(0)), gpu(None)), Strategy::Replicate, "messages");
    let pull = pagerank(5, Dangling::Spread, Traffic::Pull);
    assert_eq!(chosen(&pull, gpu(None)), Strategy::Replicate, "every list is on the device that owns its vertex");
}

/// With rates, `auto` takes one of several devices where that is predicted to be faster, unless shares ask for all.
#[test]
fn one_device_runs_alone_where_that_is_predicted_to_be_faster() {
    let graph = generated(&mut Rmat::new(12, 8, 4).generate().unwrap());
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let options = cpus(2, 1).with_threads(4);
    let ran = |exchange_ns: f64, options: EngineOptions| {
        let mut rates = crate::cost::rates();
        rates.devices.iter_mut().for_each(|device| {
            (device.exchange_ns, device.superstep_ns) = (exchange_ns, 1.0);
            device.kernels.truncate(1);
        });
        let engine = Engine::new(store.open(), options.with_rates(Arc::new(rates)));
        let run = engine.run(Bfs { bottom_up: false, ..Bfs::from(VertexId(0)) }).unwrap();
        let levels = run.column::<Option<u32>>("level").unwrap();
        (run.report, (0..store.open().vertices() as u32).map(|vertex| levels[VertexId(vertex)]).collect::<Vec<_>>())
    };
    // CPUs share their threads, so that several gain nothing; and exchanges take time.
    let (report, expected) = ran(1e6, options.clone());
    let alone = report.alone.expect("one device");
    assert_eq!(
        (alone.device, &alone.devices[..]),
        (1, &["cpu, 2 threads".to_owned(), "cpu, 2 threads".to_owned()][..])
    );
    assert!(alone.alone_ns < alone.shared_ns && alone.shared_ns > 1_000_000, "{alone:?}");
    assert!(report.sharing.is_none() && report.device == "cpu, 4 threads", "{}", report.device);
    let requests = [
        options.clone().with_strategy(Strategy::Replicate),
        options.clone().with_strategy(Strategy::Shard),
        options.clone().with_shares([1.0, 1.0]),
    ];
    for all in requests {
        let (report, levels) = ran(1e6, all);
        assert!(report.alone.is_none() && !report.sharing.expect("two devices").unmeasured);
        assert_eq!(levels, expected);
    }
    let unmeasured = Engine::new(store.open(), options).run(Bfs::from(VertexId(0))).unwrap().report;
    assert!(unmeasured.alone.is_none() && unmeasured.sharing.expect("two devices").unmeasured);
}

/// The fastest of all devices that have room, compared with all of them.
#[test]
fn the_device_that_runs_alone() {
    let graph = generated(&mut Rmat::new(12, 8, 4).generate().unwrap());
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId)).open();
    let search = declaration_of(&Bfs::from(VertexId(0)), &store);
    let chosen = |exchange_ns: f64, second: DeviceProfile, strategy| {
        let mut rates = crate::cost::rates();
        let gpu = rates.devices[0].clone();
        rates.devices.push(DeviceRates { name: "slow".into(), superstep_ns: 1e8, ..gpu });
        rates.devices.iter_mut().for_each(|device| device.exchange_ns = exchange_ns);
        let options = UserOptions {
            memory_bytes: 1 << 30,
            trace_bytes: 0,
            buffer_bytes: None,
            strategy,
            assignment: Assignment::Auto,
            assumed: Assumed::default(),
            warm: true,
        };
        let profiles = [second, gpu_of(8 << 30, "gpu")].map(|profile| DeviceProfile { share: 0.5, ..profile });
        alone(&rates, &search, &store, &options, &profiles, Strategy::Replicate)
    };
    let auto = Strategy::Auto;
    let one = chosen(1e9, gpu_of(8 << 30, "gpu"), auto).expect("exchanges of a second");
    assert!(one.device == 0 && one.alone_ns < 1e8 && one.shared_ns > 6e9, "{one:?}");
    assert_eq!(chosen(1e9, gpu_of(8 << 30, "slow"), auto).map(|one| one.device), Some(1));
    assert_eq!(chosen(1e9, gpu_of(1 << 10, "gpu"), auto).map(|one| one.device), Some(1), "no room on the first");
    assert_eq!(chosen(1e-6, gpu_of(8 << 30, "gpu"), auto), None, "exchanges that take no time");
    assert_eq!(chosen(1e-6, gpu_of(1 << 10, "gpu"), auto).map(|one| one.device), Some(1), "all have no room");
    assert_eq!(chosen(1e9, gpu_of(8 << 30, "gpu"), Strategy::Replicate), None);
    assert_eq!(chosen(1e9, gpu_of(8 << 30, "another"), auto), None, "not measured");
}

fn gpu_of(memory_bytes: u64, name: &str) -> DeviceProfile {
    DeviceProfile::gpu(name, None, &GpuSettings { memory_bytes: Some(memory_bytes), ..GpuSettings::default() })
}

/// As many shards as devices, more, fewer, and a prime number of them.
#[test]
fn stores_with_shards() {
    let graph = generated(&mut Rmat::new(12, 16, 6).generate().unwrap());
    check("rmat", &graph, &[shape(true, true, Encoding::VertexId, 2), shape(false, false, Encoding::VertexId, 3)]);
    check("rmat", &graph, &[shape(true, false, Encoding::VertexId, 7)]);
}

/// More devices than a word of 32 bits has, and as many as there may be.
#[test]
fn many_devices() {
    let graph = generated(&mut Rmat::new(10, 8, 7).generate().unwrap());
    for (devices, shards) in [(40, 1), (64, 64)] {
        Shared::new("many", &graph, shape(true, shards > 1, Encoding::VertexId, shards)).check(&[devices], cpus);
    }
}

/// More devices than pages, devices without vertices, an empty graph.
#[test]
fn tiny_graphs() {
    let graphs = [
        (0, vec![]),
        (1, vec![(0, 0)]),
        (2, vec![(0, 1)]),
        (3, vec![(0, 1), (1, 2), (2, 0)]),
        (70, vec![(0, 69), (69, 33)]),
    ];
    for (vertices, edges) in graphs {
        let graph = EdgeList::new(vertices, edges);
        check(
            "little",
            &graph,
            &[shape(true, false, Encoding::VertexId, 1), shape(false, true, Encoding::VertexId, 4)],
        );
    }
}

/// Lists of several pages, and numbers of vertices without small divisors.
#[test]
fn hubs_and_isolated_vertices() {
    let n = 30_001;
    let mut edges = random_edges(7..n - 101, 20_000, 2);
    edges.extend((0..n).map(|vertex| (1, vertex)));
    edges.extend((0..n).map(|vertex| (vertex, n / 2)));
    edges.extend((0..n - 5).map(|vertex| (n / 2, vertex)));
    check(
        "hubs",
        &EdgeList::new(n, edges),
        &[shape(true, false, Encoding::VertexId, 1), shape(true, true, ENCODINGS[0], 3)],
    );
}

/// A grid, numbered so that adjacent vertices are near each other.
/// Shares that are given are shares of the edges, whatever runs and however it is shared.
#[test]
fn work_is_divided_by_given_shares() {
    let graph = generated(&mut Rmat::new(14, 8, 3).generate().unwrap());
    let store = TestStore::new(&graph, &FormatOptions { in_edges: true, ..small_pages(Encoding::VertexId) });
    let expected = rank_iterations(&graph, 0.85, Dangling::Spread, 2);
    let mut first = Vec::new();
    for shares in [vec![], vec![3.0, 1.0], vec![0.1, 0.4, 0.5]] {
        for (strategy, traffic) in [
            (Strategy::Replicate, Traffic::Pull),
            (Strategy::Replicate, Traffic::Push),
            // Lists that write to their own vertex only: plain stores are divided by edges.
            (Strategy::Shard, Traffic::Pull),
        ] {
            let devices = shares.len().max(2);
            let options = cpus(devices, 1).with_strategy(strategy).with_shares(shares.iter().copied());
            let run = ranks(&store.engine(options), pagerank(2, Dangling::Spread, traffic)).unwrap();
            assert!(relative_error(&run.dense(), &expected) <= 1e-4, "{shares:?}, {strategy}");
            let balance = run.report.total.balance;
            let devices = run.report.sharing.unwrap().devices;
            let edges: Vec<f64> = devices.iter().map(|device| device.edges as f64).collect();
            // Every superstep has the same edges and the same division.
            let (mean, most) =
                (edges.iter().sum::<f64>() / edges.len() as f64, edges.iter().copied().fold(0.0, f64::max));
            assert_eq!((balance.mean_edges, balance.most_edges as f64), (mean, most), "{shares:?}, {strategy}");
            let share = edges[0] / edges.iter().sum::<f64>();
            let asked = if shares.is_empty() { 0.5 } else { shares[0] / shares.iter().sum::<f64>() };
            // In-lists count as edges, too; and pages are not divided.
            assert!((share - asked).abs() < 0.12, "{shares:?}, {strategy}, {traffic:?}: {share} for {asked}");
            first.push(share);
        }
    }
    assert!(first.iter().any(|share| *share > 0.65) && first.iter().any(|share| *share < 0.25), "{first:?}");
    let run = store.engine(cpus(2, 1).with_shares([1.0, 1.0, 1.0])).run(Bfs::from(VertexId(0)));
    let error = run.map(drop).unwrap_err().to_string();
    assert!(error.contains("expected a share for each of 2 devices, found 3"), "{error}");
}

fn grid(side: u32) -> EdgeList {
    let at = |x: u32, y: u32| y * side + x;
    let right = (0..side).flat_map(|y| (1..side).map(move |x| (at(x - 1, y), at(x, y))));
    let down = (1..side).flat_map(|y| (0..side).map(move |x| (at(x, y - 1), at(x, y))));
    EdgeList::new(side * side, right.chain(down).collect())
}

/// Devices send each other fewer values if they know what the others read, and compute the same ranks, bit for bit.
#[test]
fn mirrors_are_all_that_is_sent() {
    let graphs = [("grid", grid(120)), ("rmat", generated(&mut Rmat::new(14, 8, 3).generate().unwrap()))];
    for (name, graph) in &graphs {
        let options = FormatOptions { mirrors: true, in_edges: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::new(graph, &options);
        let expected = rank_iterations(graph, 0.85, Dangling::Spread, 4);
        for (devices, strategy) in [(2, Strategy::Replicate), (3, Strategy::Replicate), (3, Strategy::Shard)] {
            let what = format!("{name}, {devices} devices, {strategy}");
            let run = |exchanged| {
                let options = cpus(devices, 1).with_strategy(strategy).with_exchanged(exchanged);
                ranks(&store.engine(options), pagerank(4, Dangling::Spread, Traffic::Pull)).unwrap()
            };
            let [all, linked, mirrored] = Exchanged::ALL.map(run);
            let error = relative_error(&all.dense(), &expected);
            assert!(error <= 1e-4, "{what}: off by {error:e}");
            assert!(all.dense() == linked.dense() && all.dense() == mirrored.dense(), "{what}: other bits");
            let told = [&all, &linked, &mirrored].map(|run| run.report.total.exchanged_bytes);
            assert!(told[0] > told[1] && told[1] > told[2], "{what}: {told:?}");
            // Of a grid, 32 sections of four rows each know a vertex only to the row; in R-MAT, most are read.
            let share = told[2] as f64 / told[1] as f64;
            assert_eq!(*name == "grid", share < 0.1, "{what}: {share}");
            let sharing = mirrored.report.sharing.unwrap();
            assert_eq!(sharing.exchanged, Some(Exchanged::Mirrored), "{what}");
        }
        // Devices that see other lists than those of their own vertices read values without a mirror.
        let options = cpus(2, 1).with_strategy(Strategy::Replicate).with_assignment(Assignment::Modulo);
        let run = ranks(&store.engine(options), pagerank(4, Dangling::Spread, Traffic::Pull)).unwrap();
        assert_eq!(run.report.sharing.as_ref().unwrap().exchanged, Some(Exchanged::Linked));
        let error = relative_error(&run.dense(), &expected);
        assert!(error <= 1e-4, "{name}: off by {error:e}");
    }
}
