//! PageRank and searches compared with plain loops over edges, under settings that cover every value of each parameter
//! or, if every case is tested, every pair of values.
//!
//! Sums are exact: the same bits for every order of threads and pages, and every setting of one graph.

use crate::adapter;
use crate::bits::SameBits;
use crate::common::*;
use crate::cover::{Strength, covering};
use crate::gpu_test;
use crate::graphs::{self, ITERATIONS, Oracle, TestGraph};
use crate::reference::*;
use crate::setting::*;
use std::collections::HashMap;
use topostream::algorithms::{PageRank, Stop, Sums, Traffic};
use topostream::device::settings::{CachePolicy, PageTransfer};
use topostream::{Engine, Error};
use topostream_formats::Encoding;

/// Maximum relative error of ranks.
pub const RANK_ERROR: f64 = 1e-5;
/// Time after which a run is considered hung; enough for the slowest shader compiler.
const PATIENCE_S: u64 = 120;

/// The algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Ranks(Traffic, Dangling, Sums),
    /// A search: with parents, direction-optimizing.
    Search(bool, bool),
}

const WORKS: [Work; 8] = [
    Work::Ranks(Traffic::Push, Dangling::Spread, Sums::Exact),
    Work::Ranks(Traffic::Pull, Dangling::Spread, Sums::Exact),
    Work::Ranks(Traffic::Push, Dangling::Lost, Sums::Exact),
    Work::Ranks(Traffic::Push, Dangling::Lost, Sums::Single),
    Work::Ranks(Traffic::Pull, Dangling::Lost, Sums::Single),
    Work::Search(true, false),
    Work::Search(true, true),
    Work::Search(false, true),
];

const PAGE_BYTES: [u32; 2] = [64 << 10, 1 << 20];
const CACHES: [Cache; 3] = [Cache::Off, Cache::Few, Cache::All];
const BUFFERS: [Option<u64>; 3] = [Some(4), Some(9), None];
const BATCHES: [u32; 3] = [1, 3, 1024];
/// Launches in flight, with these.
const LAUNCHES: [u32; 3] = [5, 1, 2];
const TRANSFERS: [PageTransfer; 3] = [PageTransfer::Auto, PageTransfer::InPlace, PageTransfer::Copy];

/// Numbers of values: graphs, algorithms, encodings, page sizes, caches, buffers, distributions, batches, transfers,
/// fast paths, whether copies have a queue.
const COUNTS: [usize; 11] = [4, WORKS.len(), ALL_ENCODINGS.len(), 2, 3, 3, DISTRIBUTIONS.len(), 3, 3, 7, 2];

fn setting(row: &[usize]) -> Setting {
    Setting {
        encoding: ALL_ENCODINGS[row[2]],
        page_bytes: PAGE_BYTES[row[3]],
        cache: CACHES[row[4]],
        buffer: BUFFERS[row[5]],
        distribution: DISTRIBUTIONS[row[6]],
        batch_pages: BATCHES[row[7]],
        launches: LAUNCHES[row[7]],
        transfer: TRANSFERS[row[8]],
        cache_policy: CachePolicy::default(),
        fast_paths: fast_paths()[row[9]],
        fetcher: FETCHERS[row.iter().sum::<usize>() % 3],
        threads: 1 + row[6] % 3,
        binding_bytes_max: None,
        copy_queue: row[10] == 1,
        turn: Setting::default().turn,
    }
}

/// The seed: `TOPOSTREAM_GPU_SEED`, or a fixed one.
fn seed() -> u64 {
    std::env::var("TOPOSTREAM_GPU_SEED").map_or(1, |seed| seed.parse().unwrap())
}

gpu_test! {
    fn settings_of_every_kind() {
        let graphs = [graphs::dense(), graphs::hubs(), graphs::giant(), graphs::sparse()];
        let mut stores = HashMap::new();
        let (oracle, mut same) = (Oracle::default(), SameBits::default());
        // By default every value occurs; with every case, every pair of values does.
        let strength = if thorough() { Strength::Pairs } else { Strength::Values };
        let rows = covering(&COUNTS, strength, seed(), |row| setting(row).is_possible());
        for (number, row) in rows.iter().enumerate() {
            let (graph, work, setting) = (&graphs[row[0]], WORKS[row[1]], setting(row));
            let key = (row[0], row[2], row[3]);
            let store = stores.entry(key).or_insert_with(|| TestStore::new(&graph.edges, &setting.store_options()));
            let what = format!("seed {}, row {number}: {work:?} of {}, {setting:?}", seed(), graph.name);
            let engine = setting.engine(store, |engine| run(engine, graph, work).map(|_| ()));
            let found = run_within(engine, graph, work, &what);
            check(&oracle, graph, work, &found, &what);
            if let (Found::Ranks(ranks), Work::Ranks(_, dangling, Sums::Exact)) = (found, work) {
                // Sums over vertices may differ in the last bit between reductions.
                let ways = dangling == Dangling::Spread && setting.fast_paths.subgroups;
                same.check((graph.name, dangling == Dangling::Spread, ways), &ranks, &what);
            }
        }
        println!("{} rows on {}", rows.len(), adapter::report().name);
    }
}

/// The result of a run.
enum Found {
    Ranks(Vec<f64>),
    Tree(Vec<Option<u64>>, Option<Vec<Option<u64>>>),
}

fn run(engine: &Engine, graph: &TestGraph, work: Work) -> Result<Found, Error> {
    match work {
        Work::Ranks(traffic, dangling, sums) => {
            let algorithm = PageRank { sums, ..pagerank(ITERATIONS, dangling, traffic) };
            Ok(Found::Ranks(ranks(engine, algorithm)?.dense()))
        }
        Work::Search(parents, bottom_up) => {
            let found = search(engine, graph.source.into(), parents, bottom_up)?;
            Ok(Found::Tree(found.levels.dense(), found.parents))
        }
    }
}

fn run_within(engine: Engine, graph: &TestGraph, work: Work, what: &str) -> Found {
    let source = TestGraph { edges: EdgeList::new(0, Vec::new()), ..*graph };
    let result = within(PATIENCE_S, what, move || run(&engine, &source, work));
    result.unwrap_or_else(|error| panic!("{what}: {error}"))
}

fn check(oracle: &Oracle, graph: &TestGraph, work: Work, found: &Found, what: &str) {
    match (work, found) {
        (Work::Ranks(_, dangling, sums), Found::Ranks(ranks)) => {
            let error = relative_error(ranks, &oracle.ranks(graph, dangling));
            // Single-precision sums lose at most a bit with each addition.
            let single =
                if sums == Sums::Single { graph.longest_in_list() as f64 * 0.5 * f64::from(f32::EPSILON) } else { 0.0 };
            assert!(error <= RANK_ERROR + single, "{what}: ranks are off by {error:e}");
        }
        (Work::Search(..), Found::Tree(levels, parents)) => {
            assert!(*levels == oracle.levels(graph), "{what}: other levels");
            if let Some(parents) = parents {
                let tree = check_least_tree(&graph.edges, graph.source, levels, parents);
                tree.unwrap_or_else(|defect| panic!("{what}: {defect}"));
            }
        }
        _ => unreachable!("each work has its answer"),
    }
}

// ---- The same bits --------------------------------------------------------------------------------------------------

gpu_test! {
    /// Twice on one engine, with and without pages in device memory, in batches of one page and of all, push under
    /// every distribution: all ranks are equal bit for bit.
    fn exact_sums_are_the_same_bits_every_time() {
        let graph = graphs::hubs();
        let store = TestStore::new(&graph.edges, &small_pages(Encoding::VertexId));
        let mut same = SameBits::default();
        for (number, distribution) in some(DISTRIBUTIONS.into_iter().enumerate(), 2) {
            let (cache, batch_pages) = ([Cache::All, Cache::Off][number / 2 % 2], BATCHES[number % 3]);
            let setting =
                Setting { distribution, cache, batch_pages, buffer: BUFFERS[number % 3], ..Setting::default() };
            let engine = store.engine(setting.options());
            for run in 0..2 {
                for traffic in TRAFFICS {
                    let found = ranks(&engine, pagerank(ITERATIONS, Dangling::Spread, traffic)).unwrap().dense();
                    same.check((graph.name, true, true), &found, &format!("{traffic:?}, run {run}, {setting:?}"));
                }
            }
        }
    }
}

// ---- Parameters -----------------------------------------------------------------------------------------------------

gpu_test! {
    /// Damping, rules and iterations have an effect; a tolerance stops as on the CPU device.
    fn parameters_have_their_effect() {
        let graph = EdgeList::new(1000, random_edges(0..900, 3000, 4));
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let setting = Setting::default();
        let (engine, cpu) = (store.engine(setting.options()), store.engine(on_cpu(setting.options())));
        for (damping, iterations) in [(0.0, 3), (0.5, 0), (0.5, 1), (0.99, 30)] {
            for (dangling, traffic) in [Dangling::Spread, Dangling::Lost].into_iter().zip(TRAFFICS) {
                let found = ranks(&engine, PageRank { damping, ..pagerank(iterations, dangling, traffic) }).unwrap();
                let error =
                    relative_error(&found.dense(), &rank_iterations(&graph, damping, dangling, iterations as usize));
                assert!(error <= RANK_ERROR, "damping {damping}, {dangling:?}, {iterations}: off by {error:e}");
            }
        }
        for l1 in [1e-2, 1e-4, 1e-6] {
            let stop = Stop::Tolerance { l1, iterations_max: 100 };
            let algorithm = PageRank { stop, ..pagerank(0, Dangling::Spread, Traffic::Push) };
            let (found, expected) = (ranks(&engine, algorithm).unwrap(), ranks(&cpu, algorithm).unwrap());
            let (steps, usual) = (found.report.steps.len(), expected.report.steps.len());
            assert!(steps.abs_diff(usual) <= 1, "{l1:e}: {steps} iterations, {usual} on the CPU");
        }
    }
}
