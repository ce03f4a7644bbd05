//! Stores over several folders: the same answers as with one, with every fetcher; a report for each; and slow, faulty
//! and changed stripes.

use crate::common::*;
use crate::reference::*;
use proptest::prelude::*;
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;
use topostream::algorithms::Traffic;
use topostream::model::algorithm::declaration_of;
use topostream::pages::fetch::{self, Faults, FetcherKind, PagePool, PageRead, PageRef};
use topostream::pages::memory::{Decoders, FRAMES_MIN, MemoryPlan};
use topostream::report::RunReport;
use topostream::{Engine, Error};
use topostream_formats::store::PageReader;
use topostream_formats::{Edge, EdgeSource, Encoding, MemorySource, PageId, SourceInfo, Topology, WeightType};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::{Cancel, Quiet};

const PATIENCE_S: u64 = 20;

/// A store over sibling folders.
struct Striped {
    folder: tempfile::TempDir,
    stripes: usize,
}

impl Striped {
    fn new(graph: &EdgeList, stripes: usize) -> Self {
        let store = Self { folder: tempfile::tempdir().unwrap(), stripes };
        let further = (1..stripes).map(|stripe| store.stripe(stripe));
        let mut options: FormatOptions = small_pages(Encoding::VertexId);
        options.layout.stripes.extend(further);
        let mut open = || Ok(Box::new(MemorySource::pairs(graph.vertices.into(), &graph.edges)) as Box<dyn EdgeSource>);
        format(&mut open, &store.stripe(0), &options, &Quiet, &Cancel::default()).unwrap();
        store
    }

    /// The folder of a stripe; the first is the store's.
    fn stripe(&self, stripe: usize) -> PathBuf {
        self.folder.path().join(format!("disk{stripe}"))
    }

    fn open(&self) -> topostream_formats::Result<topostream::Store> {
        topostream::Store::open(self.stripe(0))
    }

    fn engine(&self, buffer_pages: Option<u64>, fetcher: FetcherKind) -> Engine {
        Engine::new(self.open().unwrap(), engine_options(buffer_pages, 2, fetcher))
    }
}

/// Small and large pages, in both directions: about 20 pages each.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..9000, 250_000, 31);
    edges.extend((0..40_000).map(|number| (17, number % 9000)));
    edges.extend((0..40_000).map(|number| (number % 9000, 4000)));
    EdgeList::new(9000, edges)
}

/// The stripes' lines add up to the totals.
fn check_report(report: &RunReport, store: &Striped, settings: &str) {
    let RunReport { stripes, total, .. } = report;
    let paths: Vec<PathBuf> = stripes.iter().map(|stripe| PathBuf::from(&stripe.path)).collect();
    let expected: Vec<PathBuf> = (0..store.stripes).map(|stripe| store.stripe(stripe)).collect();
    assert_eq!(paths, expected, "{settings}");
    let sum = |of: fn(&topostream::pages::StripeReport) -> u64| stripes.iter().map(of).sum::<u64>();
    assert_eq!(sum(|stripe| stripe.pages), total.pages - total.pages_cached + report.retries, "{settings}");
    assert_eq!(sum(|stripe| stripe.bytes), total.disk_bytes, "{settings}");
    assert_eq!(sum(|stripe| stripe.retries), report.retries, "{settings}");
    for stripe in stripes {
        assert_eq!(stripe.bytes, stripe.pages * PAGE, "{settings}");
        assert_eq!(stripe.busy_ns > 0, stripe.pages > 0, "{settings}: {stripe:?}");
        assert!(stripe.busy_ns <= report.wall_ns, "{settings}: {stripe:?}");
    }
}

/// PageRank in both directions and a search; returns the reads of each stripe in the first run.
fn check_answers(store: &Striped, graph: &EdgeList, engine: &Engine, settings: &str) -> Vec<u64> {
    let expected = rank_iterations(graph, 0.85, Dangling::Spread, 3);
    let mut pages = Vec::new();
    for traffic in [Traffic::Push, Traffic::Pull] {
        let found = ranks(engine, pagerank(3, Dangling::Spread, traffic)).unwrap_or_else(|e| panic!("{settings}: {e}"));
        let error = relative_error(&found.dense(), &expected);
        assert!(error < 1e-6, "{settings}, {traffic:?}: ranks are off by {error:e}");
        check_report(&found.report, store, settings);
        pages.push(found.report.stripes.iter().map(|stripe| stripe.pages).collect());
    }
    let source = graph.vertices - 1;
    let found = search(engine, source.into(), false, true).unwrap();
    assert_eq!(found.levels.dense(), levels(graph, source), "{settings}");
    check_report(&found.levels.report, store, settings);
    pages.swap_remove(0)
}

// ---- Answers and reports --------------------------------------------------------------------------------------------

/// 1 to 5 stripes, every fetcher, a minimal page buffer and one for all pages.
#[test]
fn answers_do_not_depend_on_stripes() {
    let graph = graph();
    for stripes in [1, 2, 3, 5] {
        let store = Striped::new(&graph, stripes);
        for (fetcher, buffer) in FETCHERS.into_iter().flat_map(|of| [(of, Some(FRAMES_MIN.into())), (of, None)]) {
            let settings = format!("{stripes} stripes, {fetcher:?}, {buffer:?}");
            let pages = check_answers(&store, &graph, &store.engine(buffer, fetcher), &settings);
            if buffer.is_none() {
                // Every page is read once: pages are striped round-robin.
                let all = u64::from(store.open().unwrap().topologies().next().unwrap().page_count());
                let dealt: Vec<u64> = (0..stripes as u64).map(|at| (at..all).step_by(stripes).count() as u64).collect();
                assert_eq!(pages, dealt, "{settings}");
            }
        }
    }
}

/// Three pages over five stripes: two of them have empty files.
#[test]
fn fewer_pages_than_stripes() {
    let graph = EdgeList::new(300, random_edges(0..300, 40_000, 32));
    let store = Striped::new(&graph, 5);
    let pages = store.open().unwrap().topologies().next().unwrap().page_count();
    assert!((2..5).contains(&pages), "{pages} pages");
    assert_eq!(std::fs::metadata(store.stripe(4).join("pages.4")).unwrap().len(), 0);
    for fetcher in FETCHERS {
        let read = check_answers(&store, &graph, &store.engine(None, fetcher), &format!("{fetcher:?}"));
        assert_eq!(read.iter().filter(|&&pages| pages > 0).count(), pages as usize);
    }
}

#[test]
fn no_pages_at_all() {
    let graph = EdgeList::new(0, Vec::new());
    let store = Striped::new(&graph, 3);
    let found = ranks(&store.engine(None, FetcherKind::Auto), pagerank(2, Dangling::Spread, Traffic::Push)).unwrap();
    check_report(&found.report, &store, "empty");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// A slow stripe, or one with transient faults: the same answers, and only its own reads are repeated.
    #[test]
    fn one_stripe_is_slow_or_faulty(seed in any::<u64>(), bad in 0usize..3, late in 1u32..300, buffer in 4u64..40) {
        let graph = EdgeList::new(2000, random_edges(0..2000, 90_000, seed));
        let store = Striped::new(&graph, 3);
        let calm = Faults { latency_max: late, stripe: Some(bad), ..Faults::none(seed) };
        let faults = Faults { io_errors: 200, flipped_bits: 200, short_reads: 200, ..calm };
        let engine = store.engine(Some(buffer), FetcherKind::Simulated(faults));
        check_answers(&store, &graph, &engine, &format!("{faults:?}"));
        let found = ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).unwrap();
        for (at, stripe) in found.report.stripes.iter().enumerate() {
            prop_assert!(at == bad || stripe.retries == 0, "{:?}: {:?}", faults, stripe);
        }
    }
}

/// A fetcher and a plain reader read the same pages and weights, byte for byte.
#[test]
fn fetchers_read_pages_with_their_weights() {
    let pairs = random_edges(0..3000, 60_000, 33);
    let edge = |&(source, dest): &(u32, u32)| Edge {
        source: source.into(),
        dest: dest.into(),
        weight: (source ^ dest).into(),
    };
    let edges: Vec<Edge> = pairs.iter().map(edge).collect();
    let info = MemorySource::pairs(3000, &pairs).info().clone();
    let info = SourceInfo { weights: Some(WeightType::U32), ..info };
    let folder = tempfile::tempdir().unwrap();
    let mut options = FormatOptions { keep_weights: true, ..small_pages(Encoding::VertexId) };
    options.layout.stripes.extend((1..3).map(|stripe| folder.path().join(format!("disk{stripe}"))));
    let path = folder.path().join("disk0");
    let mut open = || Ok(Box::new(MemorySource::new(info.clone(), edges.clone())) as Box<dyn EdgeSource>);
    format(&mut open, &path, &options, &Quiet, &Cancel::default()).unwrap();
    let store = topostream::Store::open(&path).unwrap();
    for fetcher in FETCHERS {
        for topology in store.topologies() {
            let pages = read_pages(&store, topology, fetcher);
            let reader = PageReader::open(topology).unwrap();
            let (mut page, mut weights) = (vec![0; PAGE as usize], vec![0; topology.weight_page_bytes() as usize]);
            assert_eq!(pages.len(), topology.page_count() as usize);
            for (number, found) in pages {
                reader.read(PageId(number), &mut page, &mut weights).unwrap();
                assert!(found == [&page[..], &weights].concat(), "{fetcher:?}, page {number}");
            }
        }
    }
}

/// All pages of a topology, with their weights, in order of completion; all are requested together.
fn read_pages(store: &topostream::Store, topology: &Topology, fetcher: FetcherKind) -> Vec<(u32, Vec<u8>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let frames = PagePool::frames(topology.page_count(), PAGE as u32, topology.weight_page_bytes()).unwrap();
        let mut fetcher = fetch::open(fetcher, store, &Arc::clone(frames[0].pool()), true).unwrap();
        for (number, frame) in (0..).zip(frames) {
            fetcher.submit(PageRead { page: PageRef { direction: topology.direction(), page: PageId(number) }, frame });
        }
        let (mut filled, mut pages) = (Vec::new(), Vec::new());
        while fetcher.in_flight() > 0 {
            poll_fn(|context| fetcher.poll_filled(context, &mut filled)).await.unwrap();
            pages.extend(filled.drain(..).map(|fill| {
                fill.result.unwrap();
                (fill.page.page.0, [fill.frame.page(), fill.frame.weights()].concat())
            }));
        }
        pages
    })
}

/// Each stripe has a full queue, up to half of the frames in total.
#[test]
fn every_stripe_has_its_own_queue() {
    let graph = graph();
    let of = |stripes, buffer_pages: u64| {
        let store = Striped::new(&graph, stripes).open().unwrap();
        let declaration = declaration_of(&pagerank(1, Dangling::Spread, Traffic::Push), &store);
        let plan =
            MemoryPlan::new(&declaration, &store, 1 << 30, Some(buffer_pages * PAGE), 0, Decoders::default()).unwrap();
        // More frames than the small graph needs.
        let plan = MemoryPlan { frames: buffer_pages as u32, ..plan };
        (plan.in_flight_max(), plan.stripe_in_flight_max())
    };
    assert_eq!([of(1, 1000), of(2, 1000), of(5, 1000)], [(64, 64), (128, 64), (320, 64)]);
    assert_eq!([of(1, 20), of(2, 20), of(5, 20)], [(10, 64); 3]);
}

// ---- Stripes that fail ----------------------------------------------------------------------------------------------

/// The run ends with an error that names the stripe's file and a page of it, while other stripes have reads in flight.
#[test]
fn a_stripe_that_fails_ends_the_run() {
    let store = Striped::new(&graph(), 3);
    for seed in 0..4 {
        for bad in 0..3 {
            let calm = Faults { lasting: true, stripe: Some(bad), ..Faults::none(seed) };
            for faults in [Faults { io_errors: 300, ..calm }, Faults { flipped_bits: 300, ..calm }] {
                let engine = store.engine(Some(9), FetcherKind::Simulated(faults));
                let what = format!("{faults:?}");
                let result = within(PATIENCE_S, &what, move || {
                    ranks(&engine, pagerank(3, Dangling::Spread, Traffic::Push)).map(|found| found.report.retries)
                });
                let (page, error) = match result {
                    Err(Error::Read { page, tries: 3, source }) => (page.0, source.to_string()),
                    Err(Error::Store(error @ topostream_formats::Error::Page { page, .. })) => {
                        (page, error.to_string())
                    }
                    other => panic!("{what}: {other:?}"),
                };
                assert_eq!(page as usize % 3, bad, "{what}: {error}");
                let file = store.stripe(bad).join(format!("pages.{bad}"));
                assert!(error.contains(&file.display().to_string()), "{what}: {error}");
            }
        }
    }
}

/// A file that is truncated after the store was opened: between pages, within a page, to nothing; then restored.
#[test]
fn a_file_that_shrinks_after_it_was_opened() {
    let store = Striped::new(&graph(), 2);
    let file = store.stripe(1).join("pages.1");
    let sound = std::fs::read(&file).unwrap();
    for fetcher in FETCHERS {
        let engine = Arc::new(store.engine(Some(6), fetcher));
        for length in [0, PAGE as usize, PAGE as usize + 1000, sound.len() - 1] {
            std::fs::write(&file, &sound[..length]).unwrap();
            let (what, run) = (format!("{length} bytes, {fetcher:?}"), Arc::clone(&engine));
            let result = within(PATIENCE_S, &what, move || {
                ranks(&run, pagerank(2, Dangling::Spread, Traffic::Push)).map(|found| found.report.retries)
            });
            std::fs::write(&file, &sound).unwrap();
            let Err(error @ Error::Read { .. }) = result else { panic!("{what}: {result:?}") };
            let found = format!("{}: expected ", file.display());
            assert!(error.to_string().contains(&found), "{what}: {error}");
            assert!(error.to_string().contains(&format!("found {length}")), "{what}: {error}");
        }
        ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)).unwrap();
    }
}

// ---- Missing stripes ------------------------------------------------------------------------------------------------

/// Errors of opening a store with a missing file or folder of a stripe, or with a file of another length.
#[test]
fn opening_names_the_stripe() {
    let store = Striped::new(&graph(), 3);
    let says = |words: &[&str]| {
        let error = store.open().map(|_| ()).expect_err("the store is incomplete").to_string();
        words.iter().for_each(|word| assert!(error.contains(word), "no {word:?} in {error}"));
    };
    for direction in ["", "in"] {
        let folder: PathBuf = store.stripe(2).join(direction).components().collect();
        let file = folder.join("pages.2");
        let sound = std::fs::read(&file).unwrap();
        let (name, bytes) = (file.display().to_string(), format!("{} bytes", sound.len()));
        let pages = format!("{} pages", sound.len() as u64 / PAGE);
        std::fs::write(&file, &sound[..sound.len() - 1]).unwrap();
        says(&[&name, &pages, &bytes, &format!("found {} bytes", sound.len() - 1)]);
        std::fs::write(&file, [&sound[..], &[0]].concat()).unwrap();
        says(&[&name, &pages, &bytes, &format!("found {} bytes", sound.len() + 1)]);
        std::fs::remove_file(&file).unwrap();
        says(&[&name, &pages, &bytes, "found no such file"]);
        std::fs::create_dir(&file).unwrap();
        says(&[&name, "expected an ordinary file"]);
        std::fs::remove_dir(&file).unwrap();
        std::fs::write(&file, &sound).unwrap();
        let away = folder.with_extension("away");
        std::fs::rename(&folder, &away).unwrap();
        says(&[&folder.display().to_string(), "stripe 2 of 0 to 2", "pages.2", &bytes, "found no such directory"]);
        std::fs::rename(&away, &folder).unwrap();
    }
    store.open().unwrap();
}
