//! Alternative supersteps: the engine runs the one with the least predicted time if pages have to be read, otherwise
//! the algorithm's own choice.

use crate::common::*;
use crate::cost::rates;
use crate::reference::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use topostream::Direction;
use topostream::model::algorithm::{
    Algorithm, Alternative, Answer, Declaration, Graph, Kernel, List, Next, Now, Seed, Seeds, State, Step, Summary,
    Visit,
};
use topostream::model::attributes::{Attribute, Role};
use topostream::model::bits::Bits;
use topostream::pages::fetch::{Faults, FetcherKind};
use topostream::predict::Rates;
use topostream::report::StepReport;
use topostream_formats::Encoding;

const TOP_DOWN: (Direction, Visit) = (Direction::Out, Visit::Frontier);
const BOTTOM_UP: (Direction, Visit) = (Direction::In, Visit::Without(0));

/// Hops from vertex 0. Returns `asked` supersteps, and claims that they and the alternatives have so many edges.
struct Hops {
    asked: (Direction, Visit),
    edges: [f64; 2],
}

/// Far more edges than the alternatives.
const SLOW: [f64; 2] = [1e30, 0.0];

struct Hop<'a> {
    visited: &'a Bits,
    frontier: &'a Bits,
    next: &'a Bits,
    bottom_up: bool,
}

impl Kernel for Hop<'_> {
    type Record = u32;

    fn open(&self, list: List) -> Option<u32> {
        (!self.bottom_up || !self.visited.contains(list.vertex)).then_some(list.vertex)
    }

    fn edge(&self, vertex: &mut u32, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        let reached = if self.bottom_up { *vertex } else { neighbour };
        if (!self.bottom_up || self.frontier.contains(neighbour)) && self.visited.insert(reached) {
            self.next.insert(reached);
        }
        ControlFlow::Continue(())
    }
}

impl Algorithm for Hops {
    type Kernel<'a> = Hop<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let visited = Attribute::set("visited", Role::Accumulated);
        Declaration { keeps_activations: true, ..Declaration::new("hops", vec![visited], vec![TOP_DOWN, BOTTOM_UP]) }
    }

    fn seeds(&self) -> Seeds<'_> {
        Seeds { active: vec![0], values: vec![Seed { attribute: 0, vertex: 0, bits: 1 }], sets: Vec::new() }
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> Hop<'a> {
        Hop {
            visited: state.attributes.bits(0),
            frontier: state.frontier(step.superstep),
            next: state.next_frontier(step.superstep),
            bottom_up: step.direction == Direction::In,
        }
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        now.visit(self.asked.0, self.asked.1).unless(now.is_idle())
    }

    fn alternatives(&self, _graph: &Graph, step: &Step, _summary: &Summary) -> Vec<Alternative> {
        let (direction, visit) = other(self.asked);
        let [own, others] = self.edges;
        let other = Alternative { step: Step { direction, visit, ..*step }, edges: others };
        vec![Alternative { step: *step, edges: own }, other]
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        vec![Answer::integer("level", |vertex| state.first_active(vertex).map(u64::from))]
    }
}

fn other(visit: (Direction, Visit)) -> (Direction, Visit) {
    if visit == TOP_DOWN { BOTTOM_UP } else { TOP_DOWN }
}

#[test]
fn the_faster_superstep_runs_if_pages_have_to_be_read() {
    let graph = EdgeList::new(200_000, random_edges(0..200_000, 500_000, 71));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let expected = levels(&graph, 0);
    let faults = Faults { io_errors: 50, short_reads: 50, ..Faults::none(3) };
    for asked in [TOP_DOWN, BOTTOM_UP] {
        for fetcher in [FetcherKind::Auto, FetcherKind::Simulated(faults)] {
            // With few frames every superstep reads pages; with many none does after both directions were read.
            for (buffer, in_memory) in [(Some(13), false), (None, true)] {
                let engine = store.engine(engine_options(buffer, 2, fetcher));
                engine.run(Hops { asked: other(asked), edges: SLOW }).unwrap();
                engine.run(Hops { asked, edges: SLOW }).unwrap();
                for direction in [Direction::Out, Direction::In] {
                    ranks(&engine, scan(direction)).unwrap();
                }
                let run = engine.run(Hops { asked, edges: SLOW }).unwrap();
                let what = format!("{asked:?}, {fetcher:?}, {buffer:?}");
                let found: Vec<_> = column(&engine, &run, "level", integer).unwrap();
                assert!(found.iter().map(|(_, level)| *level).eq(expected.iter().copied()), "{what}");
                assert_eq!(run.report.total.disk_bytes == 0, in_memory, "{what}");
                let steps = &run.report.steps[1..];
                let (asked, others): (Vec<&StepReport>, Vec<_>) =
                    steps.iter().partition(|step| step.direction == Some(asked.0));
                // The buffer may hold all pages of a small superstep, even if they were read ahead for it.
                let in_buffer = |step: &&StepReport| step.disk_bytes == 0 || step.pages <= buffer.unwrap_or(0);
                assert!(asked.iter().all(in_buffer), "{what}: {asked:?}");
                assert_eq!(others.len() > 5, !in_memory, "{what}: {} of {}", others.len(), steps.len());
            }
        }
    }
}

/// With room for all lists, those that searches avoid are read once that would have paid, and never again.
#[test]
fn lists_that_stay_are_read_once_they_would_have_paid() {
    let graph = EdgeList::new(200_000, random_edges(0..200_000, 500_000, 71));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    // Some hundred milliseconds to read all in-lists, which is far more than a search takes.
    let rates = Rates { disk_bytes_per_s: 2e7, ..rates() };
    let engine = store.engine(engine_options(None, 2, FetcherKind::Auto).with_rates(Arc::new(rates)));
    ranks(&engine, scan(Direction::Out)).unwrap();
    let run = || engine.run(Hops { asked: BOTTOM_UP, edges: [0.0, 1.0] }).unwrap().report;
    let first = run();
    assert_eq!(first.total.disk_bytes, 0, "read at once");
    assert!(first.steps.len() > 5 && first.steps[1..].iter().all(|step| step.direction == Some(Direction::Out)));
    let bytes = (0..2000).find_map(|_| Some(run().total.disk_bytes).filter(|&bytes| bytes > 0));
    let pages = store.open().topology(Direction::In).unwrap().page_count();
    assert_eq!(bytes, Some(u64::from(pages) * PAGE), "not read, or not once");
    let last = run();
    assert_eq!(last.total.disk_bytes, 0, "read again");
    assert!(last.steps[1..].iter().all(|step| step.direction == Some(Direction::In)), "{:?}", last.steps);
}

/// Without room for all lists, a search does not change its direction for fewer bytes than it would displace.
#[test]
fn a_change_of_direction_pays_for_what_it_displaces() {
    // Vertex 0 reaches all of the first part, whose out-lists have a few pages more than the second part's in-lists.
    let (first, second) = (0..80_000, 80_000..200_000);
    let mut edges: Vec<_> = (1..80_000).map(|to| (0, to)).collect();
    edges.extend(random_edges(first.clone(), 130_000, 71));
    let to = |from: u32| second.start + from.wrapping_mul(2_654_435_761) % (second.end - second.start);
    edges.extend(random_edges(first, 350_000, 72).into_iter().map(|(from, other)| (from, to(other))));
    let store = TestStore::new(&EdgeList::new(200_000, edges), &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(Some(13), 2, FetcherKind::Auto));
    let report = engine.run(Hops { asked: BOTTOM_UP, edges: [0.0; 2] }).unwrap().report;
    let directions: Vec<_> = report.steps.iter().map(|step| (step.direction, step.pages)).collect();
    assert_eq!(directions[1].0, Some(Direction::Out), "{directions:?}");
}

/// A pass over all lists of a direction.
fn scan(direction: Direction) -> topostream::algorithms::PageRank {
    use topostream::algorithms::Traffic;
    pagerank(1, Dangling::Lost, if direction == Direction::Out { Traffic::Push } else { Traffic::Pull })
}

/// Levels of a search from disk are the same with and without in-lists.
#[test]
fn levels_do_not_depend_on_the_choice() {
    let graph = EdgeList::new(5000, random_edges(0..5000, 60_000, 72));
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    for buffer in [Some(13), Some(40), None] {
        let engine = store.engine(engine_options(buffer, 2, FetcherKind::Auto));
        for source in [0, 17, 4999] {
            for _ in 0..2 {
                let found = search(&engine, source, true, true).unwrap();
                assert_eq!(found.levels.dense(), levels(&graph, source as u32), "{buffer:?}, source {source}");
                check_least_tree(&graph, source as u32, &found.levels.dense(), &found.parents.unwrap()).unwrap();
            }
        }
    }
}
