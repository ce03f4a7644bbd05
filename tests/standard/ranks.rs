//! Several ranks, as threads of this process that exchange through memory: the catalogue against its oracles, and
//! against several devices of one process.

use crate::catalogue::{assert_answers, case, oracle, run_sample, samples};
use crate::common::{FETCHERS, TestStore, engine_options, thorough};
use crate::everywhere::Found;
use std::collections::BTreeMap;
use std::sync::Arc;
use topostream::algorithms::command::{Entry, Sample};
use topostream::cluster::Cluster;
use topostream::cluster::memory::clusters;
use topostream::device::DeviceChoice;
use topostream::team::Strategy;
use topostream::{EngineOptions, Error};
use topostream_oracles::Graph;

/// Numbers of devices on each rank.
const RANKS: [&[usize]; 4] = [&[1], &[1, 1], &[1, 1, 1], &[2, 1]];

/// Runs a function on a thread for each rank.
fn on_ranks<T: Send>(ranks: usize, work: impl Fn(Arc<Cluster>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = clusters(ranks).into_iter().map(|cluster| scope.spawn(move || work(cluster))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// CPU devices that share the run in this way, in a page buffer that is smaller than the graph.
fn options(devices: usize, strategy: Strategy) -> EngineOptions {
    let options = engine_options(Some(18), devices, FETCHERS[devices % 2]);
    options.with_devices(vec![DeviceChoice::Cpu; devices]).with_strategy(strategy)
}

/// Runs a sample on ranks with these numbers of devices.
fn run_ranked(
    (entry, sample): (&Entry, &Sample),
    store: &TestStore,
    devices: &[usize],
    strategy: Strategy,
) -> Vec<Result<Found, Error>> {
    on_ranks(devices.len(), |cluster| {
        let options = options(devices[cluster.rank()], strategy).with_cluster(cluster);
        run_sample(entry, sample, &store.engine(options)).expect("the graph has vertices")
    })
}

/// The columns of an answer as bits.
fn bits(found: &Found) -> BTreeMap<&'static str, Vec<u64>> {
    found.columns().map(|(name, values)| (name, values.iter().map(|value| value.to_bits()).collect())).collect()
}

/// Whether every run has the same bits: the answer does not depend on the order in which threads add terms, or visit
/// neighbours.
fn is_exact(entry: &Entry, sample: &Sample) -> bool {
    let sums =
        entry.exactness.contains("sums of") && (entry.name != "pagerank" || sample.arguments.contains("weights"));
    !sums && !sample.arguments.contains("parents")
}

/// Every sample, each with some of the numbers of ranks and strategies; with all of them if every case is tested.
#[test]
fn every_sample_agrees_with_its_oracle_on_ranks() {
    let mut cases: BTreeMap<&str, (TestStore, Graph)> = BTreeMap::new();
    for (number, (entry, sample)) in samples().enumerate() {
        let (store, graph) = cases.entry(sample.needs.name).or_insert_with(|| case(&sample.needs));
        let expected = oracle(entry, sample, graph);
        for (turn, devices) in RANKS.iter().enumerate() {
            for (way, strategy) in [Strategy::Replicate, Strategy::Shard].into_iter().enumerate() {
                if !thorough() && (turn == 0 || (number + turn + way) % 3 != 0) {
                    continue;
                }
                let what = format!("{} {}, devices {devices:?}, {strategy}", entry.name, sample.arguments);
                let found: Vec<Found> = run_ranked((entry, sample), store, devices, strategy)
                    .into_iter()
                    .map(|found| found.unwrap_or_else(|error| panic!("{what}: {error}")))
                    .collect();
                assert_answers(&found[0], &expected, &what);
                let first = bits(&found[0]);
                assert!(found.iter().all(|other| bits(other) == first), "{what}: ranks have different answers");
                let alone = store.engine(options(devices.iter().sum(), strategy));
                let alone = run_sample(entry, sample, &alone).expect("the graph has vertices").unwrap();
                if is_exact(entry, sample) {
                    assert!(bits(&alone) == first, "{what}: one process has another answer");
                }
                let edges = |found: &Found| found.report.total.edges;
                assert!(found.iter().all(|one| edges(one) == edges(&found[0])), "{what}: edges");
            }
        }
    }
}
