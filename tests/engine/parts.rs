//! Reading parts of pages: the same answers with fewer bytes, whatever is read, fails, or is damaged.

use crate::common::*;
use crate::reference::*;
use proptest::prelude::*;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use topostream::algorithms::{Bfs, Traffic};
use topostream::device::DeviceChoice;
use topostream::pages::fetch::{self, Faults, FetcherKind, PagePool, PageRead, PageRef};
use topostream::pages::memory::FRAMES_MIN;
use topostream::pages::parts::Parts;
use topostream::report::StepReport;
use topostream::{Direction, Engine, EngineOptions, Error, PageId, Store, VertexId};
use topostream_formats::chunks::ChunkSet;
use topostream_formats::{Encoding, OpenOptions};
use topostream_tools::format::FormatOptions;

/// Pages of 64 KiB, full of neighbours: four chunks each.
const FULL: Encoding = Encoding::Packed { edges_max: 63 << 10, step: false, own: true };
const CHUNK: u64 = 16 << 10;
const VERTICES: u32 = 20_000;
/// Vertices in a row, each far from the one before it, before the search reaches the others.
const ROW: u32 = 24;

/// The vertices of the row are spread over all pages.
fn in_row(number: u32) -> u32 {
    number * 7919 % VERTICES
}

fn graph() -> &'static EdgeList {
    static GRAPH: OnceLock<EdgeList> = OnceLock::new();
    GRAPH.get_or_init(|| {
        let row: Vec<u32> = (0..ROW).map(in_row).collect();
        let mut edges = random_edges(0..VERTICES, 400_000, 5);
        edges.retain(|(source, dest)| !row.contains(source) && !row.contains(dest));
        edges.extend(row.windows(2).map(|pair| (pair[0], pair[1])));
        edges.push((row[row.len() - 1], 1));
        EdgeList::new(VERTICES, edges)
    })
}

/// The graph as it is, or with every edge both ways.
fn store(directed: bool) -> &'static TestStore {
    static STORES: [OnceLock<TestStore>; 2] = [const { OnceLock::new() }; 2];
    let options = FormatOptions { in_edges: directed, symmetrize: !directed, ..small_pages(FULL) };
    STORES[usize::from(directed)].get_or_init(|| TestStore::new(graph(), &options))
}

fn engine(directed: bool, frames: u64, fetcher: FetcherKind) -> Engine {
    store(directed).engine(engine_options(Some(frames), 2, fetcher))
}

fn whole(options: EngineOptions) -> EngineOptions {
    options.with_partial_reads(false)
}

/// One of several parts of a graph, which has other machines' edges missing, is not run on by itself.
#[test]
fn a_part_of_a_graph_is_refused() {
    let options = FormatOptions { shards: 2, part: Some(1), ..small_pages(FULL) };
    let part = TestStore::new(graph(), &options);
    let store = Store::open_with(part.path(), &OpenOptions::default().with_parts()).unwrap();
    let engine = Engine::new(store, engine_options(Some(6), 2, FetcherKind::Auto));
    let Err(error) = search(&engine, 0, false, false) else { panic!("a part is run on") };
    assert!(matches!(&error, Error::Parameter(what) if what.contains("part 1 of 0 to 1 of a graph")), "{error}");
}

#[test]
fn searches_read_parts_of_pages() {
    for directed in [false, true] {
        let list = if directed { graph().clone() } else { graph().symmetrized() };
        let expected = levels(&list, in_row(0));
        for (number, fetcher) in FETCHERS.into_iter().enumerate() {
            for bottom_up in [false, true] {
                let frames = [u64::from(FRAMES_MIN), 6, 12][number];
                let found = search(&engine(directed, frames, fetcher), in_row(0).into(), false, bottom_up).unwrap();
                let what = format!("directed {directed}, {fetcher:?}, bottom-up {bottom_up}");
                assert_eq!(found.levels.dense(), expected, "{what}");
                let report = found.levels.report;
                let row: Vec<&StepReport> = report.steps.iter().take(ROW as usize - 1).collect();
                // A page is read whole where a list begins in one chunk and ends in the next.
                let parts = row.iter().filter(|step| (1..=2 * CHUNK).contains(&step.disk_bytes)).count();
                assert!(parts > row.len() / 2, "{what}: {parts} parts");
                assert!(row.iter().all(|step| step.disk_bytes <= PAGE && step.edges > 0), "{what}");
                assert!(row.iter().all(|step| step.wanted_bytes <= step.disk_bytes), "{what}");
                // Later supersteps read whole pages.
                assert!(report.total.disk_bytes >= 12 * PAGE, "{what}: {}", report.total.disk_bytes);
                let options = whole(engine_options(Some(frames), 2, fetcher));
                let found = search(&store(directed).engine(options), in_row(0).into(), false, bottom_up).unwrap();
                assert_eq!(found.levels.dense(), expected, "{what}, whole pages");
                let total = found.levels.report.total;
                assert_eq!(total.wanted_bytes, total.disk_bytes);
                let before: u64 = found.levels.report.steps.iter().take(row.len()).map(|step| step.disk_bytes).sum();
                assert!(before > row.iter().map(|step| step.disk_bytes).sum() && before.is_multiple_of(PAGE), "{what}");
            }
        }
    }
}

/// The baseline of measurements visits every page in every superstep, and opens the same lists.
#[test]
fn all_pages_are_visited_where_that_is_asked_for() {
    for directed in [false, true] {
        let list = if directed { graph().clone() } else { graph().symmetrized() };
        let pages = store(directed).open().topology(Direction::Out).unwrap().page_count();
        for devices in [1, 2] {
            let options = engine_options(Some(12), 2, FETCHERS[0]).with_devices(vec![DeviceChoice::Cpu; devices]);
            let run =
                |options| search(&store(directed).engine(options), in_row(0).into(), false, false).unwrap().levels;
            let (some, all) = (run(options.clone()), run(options.with_all_pages(true)));
            assert_eq!(all.dense(), levels(&list, in_row(0)), "directed {directed}, {devices} devices");
            assert_eq!(all.report.total.edges, some.report.total.edges);
            assert!(all.report.steps.iter().all(|step| step.pages == u64::from(pages)), "{:?}", all.report.steps);
            assert!(some.report.total.pages < all.report.total.pages);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    /// Frontiers of any vertices, with any vertices unvisited.
    #[test]
    fn any_frontier_reaches_what_it_reaches_over_whole_pages(
        draws in prop::collection::btree_set(0..VERTICES, 1..40),
        hops in 1u32..4,
        frames in u64::from(FRAMES_MIN)..24,
        (directed, bottom_up) in any::<(bool, bool)>(),
        fetcher in prop::sample::select(&FETCHERS[..]),
    ) {
        let sources: Vec<VertexId> = draws.into_iter().map(VertexId).collect();
        let search = |options: EngineOptions| {
            let engine = store(directed).engine(options);
            let bfs = Bfs { sources: sources.clone(), parents: false, bottom_up, hops_max: Some(hops), against: false };
            let run = engine.run(bfs).unwrap();
            (column(&engine, &run, "level", integer).unwrap(), run.report)
        };
        let options = engine_options(Some(frames), 2, fetcher);
        let (found, report) = search(options.clone());
        let (expected, whole) = search(whole(options));
        prop_assert_eq!(found, expected);
        prop_assert!(report.total.wanted_bytes <= report.total.disk_bytes);
        let first = |report: &topostream::report::RunReport| report.steps[0].disk_bytes;
        prop_assert!(first(&report) <= first(&whole));
    }
}

/// A page of which parts are in the page buffer is not taken for a whole one, by the same run or by another.
#[test]
fn parts_are_not_taken_for_pages() {
    let expected = rank_iterations(graph(), 0.85, Dangling::Spread, 2);
    for frames in [12, 64] {
        let engine = engine(true, frames, FetcherKind::Threads);
        for source in [in_row(0), 3] {
            let found = search(&engine, source.into(), false, false).unwrap();
            assert_eq!(found.levels.dense(), levels(graph(), source));
            let found = ranks(&engine, pagerank(2, Dangling::Spread, Traffic::Push)).unwrap();
            assert!(relative_error(&found.dense(), &expected) < 1e-6, "{frames} frames");
        }
    }
}

/// Every kind of fault, once for each page or at random: the answer is right.
#[test]
fn transient_faults_of_parts() {
    let expected = levels(&graph().symmetrized(), in_row(0));
    let mut retries = 0;
    for seed in 0..2 {
        let calm = Faults::none(seed);
        let all = [
            Faults { io_errors: 1000, ..calm },
            Faults { flipped_bits: 1000, ..calm },
            Faults { short_reads: 1000, ..calm },
            Faults { io_errors: 80, flipped_bits: 80, short_reads: 80, latency_max: 30, ..calm },
        ];
        for faults in all {
            let engine = engine(false, [5, 9][seed as usize % 2], FetcherKind::Simulated(faults));
            let found = search(&engine, in_row(0).into(), false, seed % 2 == 0);
            let found = found.unwrap_or_else(|error| panic!("{faults:?}: {error}"));
            assert_eq!(found.levels.dense(), expected, "{faults:?}");
            retries += found.levels.report.retries;
        }
    }
    assert!(retries > 20, "only {retries} retries: the faults did not happen");
}

#[test]
fn lasting_faults_of_parts_end_the_run() {
    for (io_errors, flipped_bits) in [(1000, 0), (0, 1000)] {
        let faults = Faults { io_errors, flipped_bits, lasting: true, ..Faults::none(3) };
        let engine = engine(false, 8, FetcherKind::Simulated(faults));
        let error = search(&engine, in_row(0).into(), false, false).map(|_| ()).unwrap_err();
        let is_read = matches!(error, Error::Read { tries: 3, .. });
        assert_eq!(is_read, io_errors > 0, "{error}");
        let (message, part) = (error.to_string(), if is_read { "simulated" } else { "checksum" });
        assert!(["pages.0", "page ", part].iter().all(|word| message.contains(word)), "{message}");
    }
}

/// A flipped bit in any chunk: an error that names it if it is read as a part, one that names the page if it is read
/// with the page, and the same answer otherwise.
#[test]
fn damaged_chunks_are_found_where_they_are_read() {
    let folder = scratch::in_memory();
    let path = folder.path().join("graph");
    std::fs::create_dir(&path).unwrap();
    for file in store(false).files() {
        std::fs::copy(&file, path.join(file.file_name().unwrap())).unwrap();
    }
    let run = || {
        let options = engine_options(Some(40), 1, FetcherKind::Threads);
        let engine = Engine::new(topostream::Store::open(&path).unwrap(), options);
        let bfs = Bfs { hops_max: Some(5), bottom_up: false, ..Bfs::from(VertexId(in_row(0))) };
        engine.run(bfs).map(|run| (column(&engine, &run, "level", integer).unwrap(), run.report.total.disk_bytes))
    };
    let (expected, bytes) = run().unwrap();
    let pages = std::fs::read(path.join("pages.0")).unwrap();
    let (mut found, mut named) = (0, 0);
    for chunk in 0..pages.len() as u64 / CHUNK {
        let mut damaged = pages.clone();
        damaged[(chunk * CHUNK) as usize + 37 * (chunk as usize + 1) % CHUNK as usize] ^= 1 << (chunk % 8);
        std::fs::write(path.join("pages.0"), damaged).unwrap();
        match run() {
            Ok((levels, _)) => assert!(levels == expected, "chunk {chunk}"),
            Err(error) => {
                let (error, page, part) = (error.to_string(), chunk / 4, chunk % 4);
                assert!(error.contains(&format!("pages.0: page {page}: expected checksum")), "{chunk}: {error}");
                named += usize::from(error.contains(&format!("of chunk {part}")));
                found += 1;
            }
        }
    }
    assert_eq!(found * CHUNK, bytes, "every chunk that is read is checked, and no other is read");
    assert!(named > 3, "{named} of {found}");
}

/// Fetchers write the chunks that are requested, and nothing else.
#[test]
fn fetchers_read_parts() {
    let opened = store(false).open();
    let topology = opened.topology(Direction::Out).unwrap();
    let bytes = std::fs::read(&topology.page_files()[0]).unwrap();
    let sets = [0b0000, 0b0001, 0b1000, 0b0110, 0b1011, 0b1111].map(ChunkSet);
    for kind in FETCHERS {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let frames = PagePool::frames(sets.len() as u32, PAGE as u32, 0).unwrap();
            let mut fetcher = fetch::open(kind, &opened, &Arc::clone(frames[0].pool()), false).unwrap();
            for ((number, mut frame), set) in (0..).zip(frames).zip(sets) {
                frame.bytes_mut().fill(0xEE);
                frame.request(Parts::Chunks(set));
                let page = PageRef { direction: Direction::Out, page: PageId(number) };
                fetcher.submit(PageRead { page, frame });
            }
            let (mut filled, mut count) = (Vec::new(), 0);
            while fetcher.in_flight() > 0 {
                poll_fn(|context| fetcher.poll_filled(context, &mut filled)).await.unwrap();
                for mut fill in filled.drain(..) {
                    fill.result.unwrap();
                    fill.frame.arrived();
                    let page = fill.page.page.index();
                    let stored = bytes[page * PAGE as usize..][..PAGE as usize].chunks(CHUNK as usize);
                    for (chunk, (read, stored)) in (0..).zip(fill.frame.page().chunks(CHUNK as usize).zip(stored)) {
                        let is_read = sets[page].contains(ChunkSet::of_range(chunk..chunk + 1));
                        assert!(if is_read { read == stored } else { read.iter().all(|&byte| byte == 0xEE) });
                    }
                    assert_eq!(fill.frame.held(), Parts::Chunks(sets[page]), "{kind:?}");
                    count += 1;
                }
            }
            assert_eq!(count, sets.len());
        });
    }
}
