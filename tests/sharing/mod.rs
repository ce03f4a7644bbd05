//! Checks that devices of any kinds that share a run compute the answers of the reference, for every
//! algorithm.

#![allow(dead_code, reason = "each test binary uses a part")]

use crate::common::*;
use crate::reference::*;
use topostream::algorithms::Traffic;
use topostream::team::{Assignment, Strategy};
use topostream::{Engine, EngineOptions};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// What ranks may be off, relative to the rank.
const RANK_ERROR: f64 = 1e-4;

/// How many devices share a run.
pub const DEVICES: [usize; 4] = [1, 2, 3, 5];

/// Every way to share one.
pub const WAYS: [(Strategy, Assignment); 3] = [
    (Strategy::Replicate, Assignment::Modulo),
    (Strategy::Replicate, Assignment::Contiguous),
    (Strategy::Shard, Assignment::Auto),
];

/// A store, and what is right for it.
pub struct Shared {
    name: String,
    store: TestStore,
    weighted: Weighted,
    source: u32,
    ranks: Vec<f64>,
    levels: Vec<Option<u64>>,
    distances: Vec<f64>,
    components: Vec<u64>,
}

/// How a store is made of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub directed: bool,
    pub float: bool,
    pub encoding: Encoding,
    pub shards: u32,
}

impl Shared {
    pub fn new(name: &str, graph: &EdgeList, shape: Shape) -> Self {
        let Shape { directed, float, encoding, shards } = shape;
        let weighted = Weighted::by_chance(graph.clone(), float, 11);
        // Half of the stores have mirrors.
        let options = FormatOptions { shards, mirrors: float && shards <= 32, ..small_pages(encoding) };
        let store = TestStore::weighted(&weighted, directed, &options);
        let weighted = if directed { weighted } else { weighted.mirrored() };
        let graph = &weighted.graph;
        let degrees = graph.out_degrees();
        let source = (0..graph.vertices).max_by_key(|&vertex| degrees[vertex as usize]).unwrap_or(0);
        let some = graph.vertices > 0;
        let distances = if some { weighted.distances(source) } else { Vec::new() };
        Self {
            name: format!("{name}, {shape:?}"),
            ranks: rank_iterations(graph, 0.85, Dangling::Spread, 4),
            levels: if some { levels(graph, source) } else { Vec::new() },
            components: components(graph),
            distances,
            source,
            store,
            weighted,
        }
    }

    /// Every way with every number of devices, on the devices that `options` gives.
    pub fn check(&self, devices: &[usize], options: impl Fn(usize, usize) -> EngineOptions) {
        for (number, &devices) in devices.iter().enumerate() {
            for (way, (strategy, assignment)) in WAYS.into_iter().enumerate() {
                // By default, one of the four assignments, the next with another number of devices.
                let turn = devices + way + usize::from(self.weighted.float);
                if !thorough() && strategy == Strategy::Replicate && !turn.is_multiple_of(4) {
                    continue;
                }
                let options = options(devices, number + way).with_strategy(strategy).with_assignment(assignment);
                let what = format!("{}, {devices} devices, {strategy}, {assignment}", self.name);
                self.check_engine(&self.store.engine(options), &what);
            }
        }
    }

    /// All algorithms.
    pub fn check_engine(&self, engine: &Engine, what: &str) {
        for traffic in [Traffic::Push, Traffic::Pull] {
            let what = format!("{what}, {traffic:?}");
            let run =
                ranks(engine, pagerank(4, Dangling::Spread, traffic)).unwrap_or_else(|error| panic!("{what}: {error}"));
            let error = relative_error(&run.dense(), &self.ranks);
            assert!(error <= RANK_ERROR, "{what}: ranks are off by {error:e}");
            let edges = 4 * self.weighted.graph.edges.len() as u64;
            assert_eq!(run.report.total.edges, edges, "{what}");
        }
        let found = component_ids(engine).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found.dense(), self.components, "{what}");
        if self.weighted.graph.vertices == 0 {
            return;
        }
        for bottom_up in [false, true] {
            let what = format!("{what}, bottom up {bottom_up}");
            let run =
                search(engine, self.source.into(), true, bottom_up).unwrap_or_else(|error| panic!("{what}: {error}"));
            let levels = run.levels.dense();
            assert_eq!(levels, self.levels, "{what}");
            let tree = check_least_tree(&self.weighted.graph, self.source, &levels, &run.parents.unwrap());
            tree.unwrap_or_else(|defect| panic!("{what}: {defect}"));
        }
        let run = distances(engine, self.source.into()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(run.dense(), self.distances, "{what}");
    }
}
