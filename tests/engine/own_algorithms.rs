//! Algorithms of third parties: features of the public trait that no built-in algorithm uses. One algorithm reads
//! weights, one is slow enough to be cancelled in the middle of a superstep.

use crate::common::*;
use crate::reference::*;
use crate::weighted::{WeightedSum, expected_sums, weighted, weighted_sums};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use topostream::algorithms::Traffic;
use topostream::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Kernel, List, Next, Now, Scalars, State, Step, Visit,
};
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::{Direction, Error};
use topostream_formats::Encoding;
use topostream_formats::write::Layout;
use topostream_tools::format::FormatOptions;

// ---- Weights --------------------------------------------------------------------------------------------------------

/// Small and large pages with weights, in stripes, in both directions, with every encoding, with faults.
#[test]
fn weights_come_with_their_edges() {
    let mut edges = random_edges(0..5000, 100_000, 31);
    edges.extend((0..30_000).map(|number| (2500, number % 5000)));
    edges.extend((0..30_000).map(|number| (number % 5000, 77)));
    let graph = EdgeList::new(5000, edges);
    let second = tempfile::tempdir().unwrap();
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        let options = small_pages(encoding);
        let stripes = vec![".".into(), second.path().join(number.to_string())];
        let options = FormatOptions { layout: Layout { stripes, ..options.layout.clone() }, ..options };
        let store = TestStore::from_source(|| weighted(&graph), &options);
        let faults = Faults { io_errors: 90, flipped_bits: 90, short_reads: 90, ..Faults::none(number as u64) };
        for fetcher in FETCHERS.into_iter().chain([FetcherKind::Simulated(faults)]) {
            let engine = store.engine(engine_options(Some(13), 2, fetcher));
            for direction in [Direction::Out, Direction::In] {
                let found = weighted_sums(&engine, direction).unwrap();
                assert!(found == expected_sums(&graph, direction), "{encoding}, {fetcher:?}, {direction:?}");
            }
            // A run without weights in between: its buffer has another shape.
            let ranks = ranks(&engine, pagerank(2, Dangling::Lost, Traffic::Push)).unwrap().dense();
            assert!(relative_error(&ranks, &rank_iterations(&graph, 0.85, Dangling::Lost, 2)) < 1e-6);
        }
    }
}

#[test]
fn damaged_weights_are_found() {
    let graph = EdgeList::new(3000, random_edges(0..3000, 60_000, 32));
    let store = TestStore::from_source(|| weighted(&graph), &small_pages(Encoding::VertexId));
    let file = store.path().join("weights.0");
    let sound = std::fs::read(&file).unwrap();
    let mut state = 5;
    for _ in 0..10 {
        let at = draw(&mut state) as usize % sound.len();
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&file, &damaged).unwrap();
        let engine = store.engine(engine_options(None, 2, FetcherKind::Auto));
        let message = weighted_sums(&engine, Direction::Out).expect_err("damaged").to_string();
        let page = format!("page {}", at as u64 / PAGE);
        assert!(message.contains("weights.0") && message.contains(&page), "byte {at}: {message}");
        // Runs without weights are not affected.
        ranks(&engine, pagerank(2, Dangling::Lost, Traffic::Push)).unwrap();
    }
}

#[test]
fn a_store_without_weights_is_refused() {
    let store = TestStore::new(&EdgeList::new(2, vec![(0, 1)]), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 1, FetcherKind::Auto));
    let error = engine.run(WeightedSum { direction: Direction::Out, shader: None }).map(|_| ()).unwrap_err();
    assert!(matches!(&error, Error::Parameter(message) if message.contains("weights")), "{error}");
}

// ---- Cancellation ---------------------------------------------------------------------------------------------------

/// Takes 50 ms for each page from the second superstep on, and never converges.
struct Slow {
    started: Arc<AtomicBool>,
}

struct Sleeper<'a> {
    slow: &'a Slow,
    superstep: u32,
    graph: &'a Graph,
}

impl Kernel for Sleeper<'_> {
    type Record = ();

    fn open(&self, list: List) -> Option<()> {
        let page_vertices = (self.graph.vertices / 60) as u32;
        if self.superstep > 0 && list.vertex.is_multiple_of(page_vertices) {
            self.slow.started.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    fn edge(&self, _record: &mut (), _neighbour: u32, _weight: u32) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn close(&self, _record: ()) {}
}

impl Algorithm for Slow {
    type Kernel<'a> = Sleeper<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        Declaration::new("slow", Vec::new(), vec![(Direction::Out, Visit::All)])
    }

    fn check(&self, _graph: &Graph) -> Result<(), String> {
        Ok(())
    }

    fn first(&self, _graph: &Graph, _totals: Scalars) -> Option<Step> {
        Some(Step::new(0, Direction::Out, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Sleeper<'a> {
        Sleeper { slow: self, superstep: step.superstep, graph: &state.graph }
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        now.stay()
    }

    fn answers<'a>(&'a self, _state: &'a State) -> Vec<Answer<'a>> {
        Vec::new()
    }
}

/// A run stops within a few pages even if all pages of the superstep are with the device, and not after all sixty,
/// which take three seconds.
#[test]
fn a_superstep_stops_in_the_middle() {
    let graph = EdgeList::new(60_000, random_edges(0..60_000, 1_000_000, 33));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for buffer in [None, Some(8)] {
        let cancel = Arc::new(AtomicBool::new(false));
        let options = engine_options(buffer, 1, FetcherKind::Auto).with_cancel(Arc::clone(&cancel));
        let engine = store.engine(options);
        let slow = Slow { started: Arc::default() };
        let started = Arc::clone(&slow.started);
        let run = std::thread::spawn(move || engine.run(slow).map(|_| ()));
        while !started.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let raised = Instant::now();
        cancel.store(true, Ordering::Relaxed);
        let result = within(20, "a cancelled run", move || run.join().unwrap());
        let took = raised.elapsed();
        assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
        assert!(took < Duration::from_millis(600), "{buffer:?} pages: stopped after {took:?}");
    }
}
