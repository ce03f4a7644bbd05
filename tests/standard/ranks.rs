//! Several ranks, as threads of this process that exchange through memory: the catalogue against its oracles, and
//! against several devices of one process; what ranks refuse, and how they end.

use crate::adapter;
use crate::catalogue::{assert_answers, case, oracle, run_sample, sharded_case, shared_samples as samples};
use crate::common::{FETCHERS, PAGE, TestStore, engine_options, generated, scratch, small_pages, thorough};
use crate::everywhere::{Found, run};
use crate::reference::{EdgeList, Graph, components, random_edges};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use topostream::algorithms::command::{Entry, Needs, Sample};
use topostream::algorithms::{Bfs, Components, PageRank, Stop, Traffic};
use topostream::cluster::Cluster;
use topostream::cluster::memory::clusters_on;
use topostream::device::DeviceChoice;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::team::Strategy;
use topostream::{Engine, EngineOptions, Error, Store, VertexId};
use topostream_formats::{Encoding, OpenOptions};
use topostream_tools::format::FormatOptions;
use topostream_tools::generate::Grid;
use topostream_tools::mirrors::make_mirrors;
use topostream_tools::progress::{Cancel, Quiet};
use topostream_tools::split::{PartFolders, SplitOptions, split};

/// Numbers of devices on each rank.
const RANKS: [&[usize]; 4] = [&[1], &[1, 1], &[1, 1, 1], &[2, 1]];

/// Machines of as many ranks: each on its own, all on one, and both.
const MACHINES: [&[usize]; 4] = [&[0, 1, 2], &[0, 0, 0], &[0, 1, 0], &[0, 1, 1]];

/// Runs a function on a thread for each rank, all of them on machines of their own.
pub fn on_ranks<T: Send>(ranks: usize, work: impl Fn(Arc<Cluster>) -> T + Sync) -> Vec<T> {
    on_machines(&(0..ranks).collect::<Vec<_>>(), work)
}

/// As [`on_ranks`], with the machine of each rank: those with the same number share memory.
pub fn on_machines<T: Send>(machines: &[usize], work: impl Fn(Arc<Cluster>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let (work, clusters) = (&work, clusters_on(machines));
        let threads: Vec<_> = clusters.into_iter().map(|cluster| scope.spawn(move || work(cluster))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Devices that share the run in this way, in a page buffer that is smaller than the graph.
fn options(device: &DeviceChoice, devices: usize, strategy: Strategy) -> EngineOptions {
    let options = engine_options(Some(18), devices, FETCHERS[devices % 2]);
    options.with_devices(vec![device.clone(); devices]).with_strategy(strategy)
}

/// The columns of an answer as bits.
fn bits(found: &Found) -> BTreeMap<String, Vec<u64>> {
    found
        .columns()
        .map(|(name, values)| (name.to_owned(), values.iter().map(|value| value.to_bits()).collect()))
        .collect()
}

/// Whether every run has the same bits: the answer does not depend on the order in which threads add terms, or visit
/// neighbours.
fn is_exact(entry: &Entry, sample: &Sample) -> bool {
    let sums =
        entry.exactness.contains("sums of") && (entry.name != "pagerank" || sample.arguments.contains("weights"));
    !sums && !sample.arguments.contains("single")
}

/// Runs a sample on ranks with these numbers of devices, on these machines, and compares all ranks' answers with the
/// oracle and with those of one process.
fn check(
    (entry, sample): (&Entry, &Sample),
    (store, graph): &(TestStore, Graph),
    device: &DeviceChoice,
    (devices, machines): (&[usize], &[usize]),
    strategy: Strategy,
) {
    let machines = &machines[..devices.len()];
    let what = format!("{} {}, {device} {devices:?} on {machines:?}, {strategy}", entry.name, sample.arguments);
    let expected = oracle(entry, sample, graph);
    let found = on_machines(machines, |cluster| {
        let options = options(device, devices[cluster.rank()], strategy).with_cluster(cluster);
        run_sample(entry, sample, &store.engine(options)).expect("the graph has vertices")
    });
    let found: Vec<Found> =
        found.into_iter().map(|found| found.unwrap_or_else(|error| panic!("{what}: {error}"))).collect();
    assert_answers(&found[0], &expected, &what);
    let first = bits(&found[0]);
    assert!(found.iter().all(|other| bits(other) == first), "{what}: ranks have different answers");
    if is_exact(entry, sample) {
        let alone = store.engine(options(device, devices.iter().sum(), strategy));
        let alone = run_sample(entry, sample, &alone).expect("the graph has vertices").unwrap();
        assert!(bits(&alone) == first, "{what}: one process has another answer");
    }
    let edges = found[0].report.total.edges;
    assert!(found.iter().all(|one| one.report.total.edges == edges), "{what}: edges");
}

/// Every sample, each with some of the numbers of ranks and strategies; with all of them if every case is tested.
#[test]
fn every_sample_agrees_with_its_oracle_on_ranks() {
    let mut cases: BTreeMap<&str, (TestStore, Graph)> = BTreeMap::new();
    for (number, (entry, sample)) in samples().enumerate() {
        let case = cases.entry(sample.needs.name).or_insert_with(|| case(&sample.needs));
        for (turn, devices) in RANKS.iter().enumerate() {
            for (way, strategy) in [Strategy::Replicate, Strategy::Shard].into_iter().enumerate() {
                let machines = MACHINES[(number / 6 + turn + way) % MACHINES.len()];
                if thorough() || (turn != 0 && (number + turn + 2 * way) % 6 == 0) {
                    check((entry, sample), case, &DeviceChoice::Cpu, (devices, machines), strategy);
                }
            }
        }
    }
}

/// Samples on GPUs of ranks: by default a few algorithms, with and without frontiers.
#[test]
fn some_samples_agree_with_their_oracles_on_gpus_of_ranks() {
    if adapter::off() {
        return;
    }
    let some = ["pagerank", "bfs", "components", "sssp", "kcore"];
    for (number, (entry, sample)) in samples().filter(|(entry, _)| some.contains(&entry.name)).enumerate() {
        if thorough() || sample.row.is_some() {
            let strategy = [Strategy::Replicate, Strategy::Shard][number % 2];
            let machines = MACHINES[number / 2 % 2];
            check((entry, sample), &case(&sample.needs), &adapter::device(), (&[1, 1], machines), strategy);
        }
    }
}

/// A folder with the parts of a store in three shards.
fn parts_of(store: &TestStore, needs: &Needs, folder: &Path) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = (0..3).map(|part| folder.join(format!("part{part}"))).collect();
    let parts = paths.iter().map(PartFolders::new).collect();
    let options = SplitOptions { parts, in_edges: needs.in_lists, memory_bytes: 256 << 20 };
    split(&store.open(), &options, &Quiet, &Cancel::default()).unwrap();
    for path in &paths {
        make_mirrors(&open_part(path), 256 << 20, &Quiet, &Cancel::default()).unwrap();
    }
    paths
}

fn open_part(path: &Path) -> Store {
    Store::open_with(path, &OpenOptions::default().with_parts()).unwrap()
}

/// Every rank has a part of the graph. Algorithms whose edges write to vertices of other parts are refused, on all
/// ranks.
#[test]
fn every_sample_agrees_with_its_oracle_on_parts() {
    type Case = (TestStore, Graph, tempfile::TempDir, Vec<PathBuf>);
    let (mut cases, mut refused, mut agreed): (BTreeMap<&str, Case>, Vec<&str>, Vec<&str>) = Default::default();
    for (entry, sample) in samples().filter(|(_, sample)| thorough() || sample.row.is_some()) {
        let (_, graph, _, paths) = cases.entry(sample.needs.name).or_insert_with(|| {
            let (store, graph) = sharded_case(&sample.needs, 3);
            let folder = scratch::in_memory();
            let paths = parts_of(&store, &sample.needs, folder.path());
            (store, graph, folder, paths)
        });
        let what = format!("{} {} on parts", entry.name, sample.arguments);
        let found = on_machines(MACHINES[agreed.len() % MACHINES.len()], |cluster| {
            let store = open_part(&paths[cluster.rank()]);
            let devices = 1 + cluster.rank() % 2;
            let options = options(&DeviceChoice::Cpu, devices, Strategy::Auto).with_cluster(cluster);
            run_sample(entry, sample, &Engine::new(store, options)).expect("the graph has vertices")
        });
        if found.iter().all(Result::is_ok) {
            agreed.push(entry.name);
            assert_answers(found[0].as_ref().unwrap(), &oracle(entry, sample, graph), &what);
        } else {
            refused.push(entry.name);
            for error in found.into_iter().map(|found| found.err().expect("refused on all ranks").to_string()) {
                assert!(error.contains("runs on whole graphs only"), "{what}: {error}");
            }
        }
    }
    for name in ["pagerank", "bfs", "sssp", "components"] {
        assert!(agreed.contains(&name), "{name}: {agreed:?}, refused {refused:?}");
    }
    for name in ["hits", "clustering"] {
        assert!(refused.contains(&name), "{name}: {agreed:?}, refused {refused:?}");
    }
}

fn store() -> TestStore {
    let graph = EdgeList::new(3_000, random_edges(0..3_000, 40_000, 5));
    TestStore::new(&graph, &crate::common::small_pages(Encoding::VertexId))
}

fn cpu() -> EngineOptions {
    options(&DeviceChoice::Cpu, 1, Strategy::Auto)
}

fn pagerank(iterations: u32, traffic: Traffic) -> PageRank {
    let stop = Stop::Iterations(iterations);
    PageRank { stop, traffic, ..PageRank::default() }
}

fn errors<T>(found: Vec<Result<T, Error>>) -> Vec<String> {
    found.into_iter().map(|found| found.err().expect("an error").to_string()).collect()
}

#[test]
fn other_parameters_are_an_error_on_every_rank() {
    let store = store();
    let found = on_ranks(2, |cluster| {
        let source = VertexId(cluster.rank() as u32);
        store.engine(cpu().with_cluster(cluster)).run(Bfs::from(source)).map(drop)
    });
    for error in errors(found) {
        assert!(error.starts_with("the ranks do not run the same: parameter source"), "{error}");
    }
}

#[test]
fn a_rank_that_fails_is_named_by_the_others() {
    let store = store();
    for machines in MACHINES {
        let found = on_machines(machines, |cluster| {
            let memory_bytes = if cluster.rank() == 1 { 1 << 20 } else { 256 << 20 };
            let options = cpu().with_buffer_bytes(None).with_memory_bytes(memory_bytes).with_cluster(cluster);
            store.engine(options).run(Components { directed: true }).map(drop)
        });
        let errors = errors(found);
        assert!(errors[1].contains("but the budget is 1048576 bytes"), "{}", errors[1]);
        for rank in [0, 2] {
            assert_eq!(errors[rank], format!("rank 1 of 3 has failed: {}", errors[1]));
        }
    }
}

/// A rank cannot read its pages: the others end too.
#[test]
fn a_rank_that_fails_during_a_run_ends_the_others() {
    let store = store();
    let faults = Faults { io_errors: 1000, lasting: true, ..Faults::none(5) };
    for machines in MACHINES {
        let found = on_machines(machines, |cluster| {
            let fetcher = if cluster.rank() == 1 { FetcherKind::Simulated(faults) } else { FetcherKind::Auto };
            let options = engine_options(Some(18), 1, fetcher).with_cluster(cluster);
            store.engine(options).run(pagerank(5, Traffic::Pull)).map(drop)
        });
        let errors = errors(found);
        assert!(errors[1].contains("could not be read"), "{}", errors[1]);
        for rank in [0, 2] {
            assert_eq!(errors[rank], format!("rank 1 of 3 has failed: {}", errors[1]));
        }
    }
}

/// One rank is cancelled; all stop after the same superstep.
#[test]
fn a_cancelled_rank_stops_all() {
    let store = store();
    let found = on_machines(&[0, 1, 0], |cluster| {
        let (rank, options) = (cluster.rank(), cpu().with_cluster(cluster));
        let (cancel, engine) = (Arc::clone(&options.cancel), store.engine(options));
        let mut supersteps = 0;
        let run = engine.run_observed(pagerank(1000, Traffic::Push), &mut |_| {
            supersteps += 1;
            if rank == 2 && supersteps == 4 {
                cancel.store(true, Ordering::Relaxed);
            }
        });
        (run.map(drop), supersteps)
    });
    for (run, supersteps) in found {
        assert!(matches!(run, Err(Error::Interrupted)), "{run:?}");
        assert_eq!(supersteps, 5, "the wish is told at the end of the next superstep");
    }
}

/// Ranks leave out pages that are not in their own page buffers; what is active there stays active on all of them.
#[test]
fn asynchronous_runs_have_the_same_answers() {
    let grid = generated(&mut Grid::new(90, 90).generate().unwrap());
    let store = TestStore::new(&grid, &FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) });
    let device = DeviceChoice::Cpu;
    for (devices, strategy) in [(1, Strategy::Replicate), (1, Strategy::Shard), (2, Strategy::Replicate)] {
        let options = || options(&device, devices, strategy).with_buffer_bytes(Some(6 * PAGE)).with_asynchronous(true);
        let expected = components(&grid);
        for machines in MACHINES {
            let found = on_machines(machines, |cluster| {
                let engine = store.engine(options().with_cluster(cluster));
                run(&engine, Components { directed: false }).unwrap()
            });
            for found in found {
                let same = found.column("component").iter().zip(&expected).all(|(one, other)| *one == *other as f64);
                assert!(same, "{devices} devices on {machines:?}, {strategy}");
            }
        }
    }
}

#[test]
fn asynchronous_runs_on_parts_are_refused() {
    let (needs, folder) = (samples().next().unwrap().1.needs, scratch::in_memory());
    let paths = parts_of(&sharded_case(&needs, 3).0, &needs, folder.path());
    let found = on_ranks(3, |cluster| {
        let store = open_part(&paths[cluster.rank()]);
        let options = cpu().with_asynchronous(true).with_cluster(cluster);
        Engine::new(store, options).run(Bfs::from(VertexId(0))).map(drop)
    });
    let errors = errors(found);
    assert!(errors.iter().any(|error| error.contains("do not know which pages the others leave out")), "{errors:?}");
}

#[test]
fn the_part_of_another_rank_is_refused() {
    let (needs, folder) = (samples().next().unwrap().1.needs, scratch::in_memory());
    let paths = parts_of(&sharded_case(&needs, 3).0, &needs, folder.path());
    let found = on_ranks(3, |cluster| {
        let store = open_part(&paths[2 - cluster.rank()]);
        Engine::new(store, cpu().with_cluster(cluster)).run(Bfs::from(VertexId(0))).map(drop)
    });
    let errors = errors(found);
    assert!(errors.iter().any(|error| error.contains("part 2 of 0 to 2, opened by rank 0 of 3")), "{errors:?}");
    let alone = Engine::new(open_part(&paths[1]), cpu()).run(Bfs::from(VertexId(0)));
    assert!(alone.map(drop).unwrap_err().to_string().contains("part 1 of 0 to 2 of a graph: a run needs all parts"));
}

/// What crosses is what the schedule says: of a scan, each value that another rank reads, once; of a search, messages
/// about what was activated. Besides, some hundred bytes for sums.
#[test]
fn bytes_between_ranks_are_bounded() {
    let (store, vertices, ranks) = (store(), 3_000, 3);
    let small = 8 * 256 * ranks;
    let bytes_of = |machines: &[usize], work: &(dyn Fn(&Engine) -> Found + Sync), strategy| {
        let found = on_machines(machines, |cluster| {
            work(&store.engine(options(&DeviceChoice::Cpu, 1, strategy).with_cluster(cluster)))
        });
        let report = &found[0].report;
        assert_eq!(report.ranks.len(), ranks as usize);
        let steps: Vec<(u64, u64)> =
            report.steps.iter().map(|step| (step.network_bytes, step.active.unwrap_or(0))).collect();
        assert_eq!(report.total.network_bytes, steps.iter().map(|(bytes, _)| bytes).sum::<u64>());
        steps
    };
    let scan = |traffic| move |engine: &Engine| run(engine, pagerank(3, traffic)).unwrap();
    let others = ranks - 1;
    for (traffic, strategy, value_bytes) in [
        (Traffic::Pull, Strategy::Replicate, 4),
        (Traffic::Push, Strategy::Replicate, 8),
        (Traffic::Push, Strategy::Shard, 4),
    ] {
        for (bytes, _) in bytes_of(&[0, 1, 2], &scan(traffic), strategy) {
            let bound = value_bytes * others * vertices;
            assert!(bytes <= bound + small && 10 * bytes > 8 * bound, "{traffic:?}, {strategy}: {bytes} of {bound}");
        }
        let inside = bytes_of(&[0, 0, 0], &scan(traffic), strategy);
        assert!(inside.iter().all(|(bytes, _)| *bytes <= 2 * small), "{traffic:?}, {strategy}: {inside:?}");
    }
    // To a machine everything goes once, however many ranks are there.
    for (bytes, _) in bytes_of(&[0, 1, 1], &scan(Traffic::Pull), Strategy::Replicate) {
        let bound = 4 * vertices;
        assert!(bytes <= bound + 2 * small && 10 * bytes > 8 * bound, "{bytes} of {bound}");
    }
    let search = |engine: &Engine| run(engine, Bfs::from(VertexId(0))).unwrap();
    let steps = bytes_of(&[0, 1, 2], &search, Strategy::Replicate);
    for pair in steps.windows(2) {
        let (bytes, activated) = (pair[0].0, pair[1].1);
        // Every rank may have activated each of them.
        let (sparse, dense) = (4 * activated * ranks, vertices / 8 * ranks + 64);
        assert!(bytes <= others * (sparse.min(dense) + 16 * ranks) + small, "{bytes} for {activated} vertices");
    }
}
