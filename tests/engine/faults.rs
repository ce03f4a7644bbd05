//! Faults of storage: read errors, flipped bits, short reads, damaged and forged files. Runs survive transient faults;
//! a lasting one is an error that names file and page. Never a wrong answer, a panic or a hang.

use crate::common::*;
use crate::forge::Forgery;
use crate::reference::*;
use std::path::Path;
use std::sync::Arc;
use topostream::algorithms::Traffic;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::pages::memory::FRAMES_MIN;
use topostream::{Engine, Error};
use topostream_formats::{Encoding, VertexOrder};
use topostream_tools::format::FormatOptions;

/// Time after which a run is considered hung.
const PATIENCE_S: u64 = 20;
const ITERATIONS: u32 = 4;

/// Small and large pages, in both directions: about 20 pages each.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9000, 250_000, 11);
    edges.extend((0..40_000).map(|number| (17, number % 9000)));
    edges.extend((0..40_000).map(|number| (number % 9000, 4000)));
    EdgeList::new(9000, edges)
}

fn simulated(faults: Faults) -> FetcherKind {
    FetcherKind::Simulated(faults)
}

/// A seed that differs from run to run; printed with failures.
fn fresh_seed() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64
}

// ---- Transient faults -----------------------------------------------------------------------------------------------

/// Every page fails once, in one way: the answer is right, and as many reads were repeated as there are pages.
#[test]
fn every_first_read_fails() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = rank_iterations(&graph, 0.85, Dangling::Spread, ITERATIONS as usize);
    let pages = u64::from(store.open().topologies().next().unwrap().page_count());
    for buffer in [Some(u64::from(FRAMES_MIN)), Some(11), None] {
        let calm = Faults::none(5);
        let io_errors = Faults { io_errors: 1000, ..calm };
        for faults in [io_errors, Faults { flipped_bits: 1000, ..calm }, Faults { short_reads: 1000, ..calm }] {
            let engine = store.engine(engine_options(buffer, 2, simulated(faults)));
            let found = ranks(&engine, pagerank(ITERATIONS, Dangling::Spread, Traffic::Push));
            let found = found.unwrap_or_else(|error| panic!("{faults:?}: {error}"));
            assert!(relative_error(&found.dense(), &expected) < 1e-6, "{faults:?}");
            let retries = found.report.retries;
            // A short read is undetected if the frame happens to contain the page's end.
            let least = if faults.short_reads > 0 { 1 } else { pages };
            assert!((least..=pages).contains(&retries), "{faults:?}: {retries} retries for {pages} pages");
        }
    }
}

/// Random faults of all kinds, under fixed seeds and a fresh one.
#[test]
fn transient_faults_of_all_kinds() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = rank_iterations(&graph, 0.85, Dangling::Lost, ITERATIONS as usize);
    let far = levels(&graph, 8999);
    let mut retries = 0;
    for seed in (0..12).chain([fresh_seed()]) {
        let each = 60 + 20 * (seed % 12) as u32;
        let calm = Faults { latency_max: 1 + (seed % 40) as u32, ..Faults::none(seed) };
        let faults = Faults { io_errors: each, flipped_bits: each, short_reads: each, ..calm };
        let buffer = Some(u64::from(FRAMES_MIN) + seed % 30);
        let engine = store.engine(engine_options(buffer, 1 + seed as usize % 3, simulated(faults)));
        let failed = |error: Error| -> ! { panic!("{faults:?}, {buffer:?}: {error}") };
        for traffic in [Traffic::Push, Traffic::Pull] {
            let found = ranks(&engine, pagerank(ITERATIONS, Dangling::Lost, traffic)).unwrap_or_else(|e| failed(e));
            let error = relative_error(&found.dense(), &expected);
            assert!(error < 1e-6, "{faults:?}, {buffer:?}: ranks are off by {error:e}");
            retries += found.report.retries;
        }
        let found = search(&engine, 8999, true, seed % 2 == 0).unwrap_or_else(|e| failed(e));
        assert_eq!(found.levels.dense(), far, "{faults:?}, {buffer:?}");
        let tree = check_least_tree(&graph, 8999, &far, &found.parents.unwrap());
        tree.unwrap_or_else(|defect| panic!("{faults:?}, {buffer:?}: {defect}"));
    }
    assert!(retries > 100, "only {retries} retries: the faults did not happen");
}

/// Weights that are packed on disk are checked before they are unpacked, whichever fault they come with.
#[test]
fn faults_of_packed_weights() {
    let weighted = Weighted::by_chance(graph(), false, 3);
    let store = TestStore::weighted(&weighted, true, &small_pages(PACKED));
    assert!(store.open().topologies().all(|topology| topology.weight_places().is_some()));
    let expected = weighted.distances(17);
    let mut failed = 0;
    for (seed, lasting) in (0..8).flat_map(|seed| [(seed, false), (seed, true)]) {
        let calm = Faults { lasting, ..Faults::none(seed) };
        let faults = Faults { io_errors: 30, flipped_bits: 90, short_reads: 90, ..calm };
        let engine = store.engine(engine_options(Some(18), 2, simulated(faults)));
        let found = within(PATIENCE_S, &format!("{faults:?}"), move || distances(&engine, 17));
        match found {
            Ok(found) => assert_eq!(found.dense(), expected, "{faults:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(lasting && message.contains("page "), "{faults:?}: {message}");
                failed += u32::from(message.contains("weights.0"));
            }
        }
    }
    assert!(failed > 0, "a lasting fault of weights");
}

// ---- Lasting faults -------------------------------------------------------------------------------------------------

/// The run ends with an error that names file and page, after all tries, with or without reads in flight.
#[test]
fn lasting_faults_end_the_run() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    for seed in (0..6).chain([fresh_seed()]) {
        for rate in [1000, 60] {
            let calm = Faults { lasting: true, ..Faults::none(seed) };
            let all = [
                Faults { io_errors: rate, ..calm },
                Faults { flipped_bits: rate, ..calm },
                Faults { short_reads: rate, ..calm },
            ];
            for faults in all {
                lasting_fault(&store, faults, rate == 1000);
            }
        }
    }
}

fn lasting_fault(store: &TestStore, faults: Faults, certain: bool) {
    let engine = store.engine(engine_options(Some(9), 2, simulated(faults)));
    let what = format!("{faults:?}");
    let result = within(PATIENCE_S, &what, move || {
        ranks(&engine, pagerank(ITERATIONS, Dangling::Spread, Traffic::Push)).map(|found| found.report.retries)
    });
    match result {
        Err(error @ (Error::Read { tries: 3, .. } | Error::Store(topostream_formats::Error::Page { .. }))) => {
            assert_eq!(faults.io_errors > 0, matches!(error, Error::Read { .. }), "{what}: {error}");
            let message = error.to_string();
            assert!(message.contains("pages.0") && message.contains("page "), "{what}: {message}");
        }
        Err(error) => panic!("{what}: {error:?}"),
        Ok(retries) => assert!(!certain && (faults.short_reads > 0 || retries == 0), "{what}: {retries} retries"),
    }
}

/// After the disk is repaired, the same engine works.
#[test]
fn after_an_error_the_engine_works() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let pages = store.path().join("pages.0");
    let sound = std::fs::read(&pages).unwrap();
    let mut damaged = sound.clone();
    damaged.chunks_mut(PAGE as usize).for_each(|page| page[100] ^= 4);
    let cut = &sound[..PAGE as usize + 1000];
    for fetcher in FETCHERS {
        let engine = Arc::new(store.engine(engine_options(Some(6), 2, fetcher)));
        let run = |what: &str| {
            let engine = Arc::clone(&engine);
            within(PATIENCE_S, &format!("{what}, {fetcher:?}"), move || {
                ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)).map(|found| bits(&found.dense()))
            })
        };
        let before = run("sound").unwrap();
        for (what, bytes) in [("damaged", &damaged[..]), ("cut off", cut), ("empty", &[])] {
            // Written in place: the engine reopens the files for every run, but they are the same files.
            std::fs::write(&pages, bytes).unwrap();
            let message = run(what).expect_err(what).to_string();
            assert!(message.contains("pages.0"), "{what}, {fetcher:?}: {message}");
            std::fs::write(&pages, &sound).unwrap();
            assert_eq!(run(what).unwrap(), before, "{what}, {fetcher:?}");
        }
    }
}

// ---- Damaged files --------------------------------------------------------------------------------------------------

/// A store with every kind of file, and the results of runs over it.
struct Victim {
    store: TestStore,
    ranks: Vec<u64>,
}

impl Victim {
    fn new(encoding: Encoding) -> Self {
        let mut edges = random_edges(0..3000, 60_000, 12);
        edges.extend((0..20_000).map(|number| (17, number % 3000)));
        let options = FormatOptions { order: VertexOrder::Degree, ..small_pages(encoding) };
        let store = TestStore::new(&EdgeList::new(3000, edges), &options);
        let ranks = Self::run(&store.path()).unwrap();
        Self { store, ranks }
    }

    /// Ranks by push and by pull, and levels: together they read every file that runs can read.
    fn run(path: &Path) -> Result<Vec<u64>, Error> {
        let engine = Engine::new(topostream::Store::open(path)?, engine_options(None, 2, FetcherKind::Threads));
        let mut all = Vec::new();
        for traffic in [Traffic::Push, Traffic::Pull] {
            all.extend(bits(&ranks(&engine, pagerank(2, Dangling::Spread, traffic))?.dense()));
        }
        let levels = search(&engine, 0, false, true)?.levels.dense();
        all.extend(levels.into_iter().map(|level| level.unwrap_or(u64::MAX)));
        Ok(all)
    }

    /// Runs with a changed file: an error, or the same answer if `harmless`.
    fn check(&self, file: &Path, bytes: &[u8], harmless: bool, what: &str) {
        let sound = std::fs::read(file).unwrap();
        std::fs::write(file, bytes).unwrap();
        let path = self.store.path();
        let result = within(PATIENCE_S, what, move || Self::run(&path).map_err(|error| error.to_string()));
        std::fs::write(file, sound).unwrap();
        match result {
            Ok(answers) => assert!(harmless && answers == self.ranks, "{what}: went unnoticed"),
            Err(message) => {
                let name = file.file_name().unwrap().to_str().unwrap();
                assert!(message.contains(name), "{what}: {message}");
            }
        }
    }

    /// Whether damage may be undetected: white space around the manifest's checked part, and files that no run reads.
    fn harmless(file: &Path) -> bool {
        file.ends_with("graph.json") || file.ends_with("in/degrees.bin")
    }
}

/// One bit in every file, at random positions and at both ends.
#[test]
fn a_flipped_bit_anywhere_is_found() {
    let victim = Victim::new(Encoding::VertexId);
    for file in victim.store.files() {
        let sound = std::fs::read(&file).unwrap();
        let seed = fresh_seed();
        let mut state = seed | 1;
        for flip in 0..12 {
            let at = match flip {
                0 => 0,
                1 => sound.len() - 1,
                _ => draw(&mut state) as usize % sound.len(),
            };
            let bit = draw(&mut state) % 8;
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << bit;
            let what = format!("{}, byte {at}, bit {bit}, seed {seed}", file.display());
            victim.check(&file, &damaged, Victim::harmless(&file), &what);
        }
    }
}

#[test]
fn a_file_of_another_length_is_found() {
    let victim = Victim::new(Encoding::VertexId);
    for file in victim.store.files() {
        let sound = std::fs::read(&file).unwrap();
        let seed = fresh_seed();
        for length in [0, 1, sound.len() / 2, draw(&mut (seed | 1)) as usize % sound.len(), sound.len() - 1] {
            let what = format!("{} cut to {length} bytes", file.display());
            victim.check(&file, &sound[..length], Victim::harmless(&file), &what);
        }
        let longer = [&sound[..], &[0; 4096]].concat();
        let what = format!("{} with zeros behind", file.display());
        victim.check(&file, &longer, Victim::harmless(&file), &what);
    }
}

#[test]
fn a_missing_file_is_named() {
    let victim = Victim::new(Encoding::VertexId);
    for file in victim.store.files() {
        let away = file.with_extension("away");
        std::fs::rename(&file, &away).unwrap();
        let result = Victim::run(&victim.store.path());
        std::fs::rename(&away, &file).unwrap();
        match result {
            Ok(answers) => assert!(file.ends_with("in/degrees.bin") && answers == victim.ranks, "{}", file.display()),
            Err(error) => {
                let name = file.file_name().unwrap().to_str().unwrap();
                assert!(error.to_string().contains(name), "{}: {error}", file.display());
            }
        }
    }
}

// ---- Files that are truncated while they are in use -----------------------------------------------------------------

/// Files that were read at the start are not needed again; others cause an error that names the file. No signal ends
/// the process.
#[test]
fn files_truncated_during_a_run_do_not_crash_it() {
    let mut edges = random_edges(0..30_000, 600_000, 14);
    edges.extend((0..20_000).map(|number| (17, number)));
    let graph = EdgeList::new(30_000, edges);
    let options = FormatOptions { order: VertexOrder::Degree, ..small_pages(Encoding::VertexId) };
    for (name, read_anew) in
        [("pages.0", true), ("directory.bin", false), ("degrees.bin", false), ("in/directory.bin", false)]
    {
        for fetcher in FETCHERS {
            let store = TestStore::new(&graph, &options);
            let engine = store.engine(engine_options(Some(9), 2, fetcher));
            let path = store.path().join(name);
            let what = format!("{name} cut, {fetcher:?}");
            let result = within(PATIENCE_S, &what, move || {
                let run = engine.run_observed(pagerank(ITERATIONS, Dangling::Spread, Traffic::Push), &mut |step| {
                    if step.superstep == 1 {
                        std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
                    }
                });
                run.map(|run| run.report.steps.len()).map_err(|error| error.to_string())
            });
            match result {
                Ok(steps) => assert!(!read_anew && steps == ITERATIONS as usize, "{what}: {steps} steps"),
                Err(message) => assert!(read_anew && message.contains(name), "{what}: {message}"),
            }
        }
    }
}

// ---- Forged files ---------------------------------------------------------------------------------------------------

/// Pages with correct checksums and wrong contents never cause accesses out of bounds.
#[test]
fn forged_pages_are_refused() {
    // The formats crate forges packed pages.
    let mut edges = random_edges(0..3000, 60_000, 13);
    edges.extend((0..40_000).map(|number| (17, number % 3000)));
    let graph = EdgeList::new(3000, edges);
    for (name, forge) in crate::forge::FORGERIES {
        let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
        let mut forgery = Forgery::open(&store.path());
        forge(&mut forgery);
        forgery.seal();
        let what = name.to_owned();
        let path = store.path();
        let result = within(PATIENCE_S, &what, move || {
            let engine = Engine::new(topostream::Store::open(path)?, engine_options(None, 2, FetcherKind::Auto));
            ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)).map(|_| ())
        });
        match result {
            Err(Error::Store(topostream_formats::Error::Page { path, .. })) => {
                assert!(path.ends_with("pages.0"), "{what}: {}", path.display());
            }
            Err(error) => panic!("{what}: {error:?}"),
            Ok(()) => panic!("{what}: went unnoticed"),
        }
    }
}

/// The forger itself: sealed without a change, the store is valid.
#[test]
fn an_unchanged_forgery_is_a_store() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    Forgery::open(&store.path()).seal();
    let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
    ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)).unwrap();
}
