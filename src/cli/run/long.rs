//! Says that a graph is long where that takes time: before a run, as far as its degrees show it, and while it runs.

use crate::cli::printing::tell;
use crate::cli::{tables, verbosity};
use crate::model::algorithm::{Algorithm, SmallSteps, declaration_of};
use crate::predict::LongPaths;
use crate::report::StepReport;
use crate::store::Store;
use indicatif::HumanDuration;
use std::time::{Duration, Instant};

/// The superstep after which there is the first note during a run, and the factor between two of them.
const FIRST: u64 = 10_000;
const FACTOR: u64 = 10;

/// There are notes once a run takes longer, in seconds.
const LONG_S: f64 = 5.0;

/// A superstep is small if it visits less than this part of the edges.
const SMALL: u64 = 1000;

fn note_before(name: &str, long: &LongPaths, vertices: u64) -> String {
    let LongPaths { degree_max, small, superstep_ns, longest_ns } = *long;
    let work = match small {
        SmallSteps::Lists => "",
        SmallSteps::Rounds => ", in several rounds",
        SmallSteps::Vertices => ", which goes over all vertices",
        SmallSteps::AllLists => ", which reads all lists",
    };
    format!(
        "note: no vertex has more than {}, as in paths, roads and meshes. If this graph is long, \
         {name} takes long: a superstep for each hop{work}, about {} each; {} if all {} vertices are one path",
        tables::counted(degree_max.into(), "neighbour"),
        of_ns(superstep_ns),
        HumanDuration(Duration::from_secs_f64((longest_ns / 1e9).min(1e15))),
        tables::count(vertices),
    )
}

/// A short time as text.
fn of_ns(ns: f64) -> String {
    if ns < 1e6 { format!("{:.0} µs", ns / 1e3) } else { format!("{:.0} ms", ns / 1e6) }
}

/// Watches a run, and says on stderr when it has taken many supersteps.
pub struct Watch {
    /// The algorithm's command, if its supersteps grow in number with the lengths of paths.
    name: Option<&'static str>,
    edges_of_graph: u64,
    begun: Instant,
    supersteps: u64,
    edges: u64,
    next: u64,
}

impl Watch {
    /// Begins to watch a run. Says on stderr that it may take long, if it goes from neighbour to neighbour and no
    /// degree speaks against long paths.
    pub fn begin(algorithm: Option<&dyn Algorithm>, store: &Store) -> Self {
        let declaration = algorithm.map(|algorithm| declaration_of(algorithm, store));
        let name = declaration.as_ref().filter(|one| one.small_steps.is_some()).map(|one| one.command);
        let long = declaration.and_then(|declaration| LongPaths::of(&declaration, store));
        if let (Some(name), Some(long)) = (name, long) {
            say(&note_before(name, &long, store.vertices()));
        }
        let edges_of_graph = store.edges();
        Self { name, edges_of_graph, begun: Instant::now(), supersteps: 0, edges: 0, next: FIRST }
    }

    /// Takes note of a superstep.
    pub fn see(&mut self, step: &StepReport) {
        if let Some(text) = self.noted(step, self.begun.elapsed()) {
            say(&text);
        }
    }

    /// The note after a superstep that ended so long after the beginning of the run, if it is time for one.
    fn noted(&mut self, step: &StepReport, elapsed: Duration) -> Option<String> {
        (self.supersteps, self.edges) = (self.supersteps + 1, self.edges + step.edges);
        let name = self.name.filter(|_| self.supersteps == self.next)?;
        self.next *= FACTOR;
        let mean = self.edges / self.supersteps;
        let says = elapsed.as_secs_f64() > LONG_S && mean < self.edges_of_graph / SMALL;
        says.then(|| {
            format!(
                "note: {} in {:.0} s, which visited {} of {} on average: {name} takes a superstep \
                 for each hop, and the paths of this graph are long",
                tables::counted(self.supersteps, "superstep"),
                elapsed.as_secs_f64(),
                tables::count(mean),
                tables::counted(self.edges_of_graph, "edge"),
            )
        })
    }
}

fn say(text: &str) {
    if !verbosity::is_quiet() {
        tell(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_what_takes_time() {
        let long = LongPaths { degree_max: 2, small: SmallSteps::Vertices, superstep_ns: 1e6, longest_ns: 1e12 };
        let expected = "note: no vertex has more than 2 neighbours, as in paths, roads and meshes. If this graph is \
                        long, kcore takes long: a superstep for each hop, which goes over all vertices, about 1 ms \
                        each; 17 minutes if all 1,000,000 vertices are one path";
        assert_eq!(note_before("kcore", &long, 1_000_000), expected);
    }

    #[test]
    fn long_runs_are_noted_while_they_last() {
        let (name, begun) = (Some("bfs"), Instant::now());
        let mut watch = Watch { name, edges_of_graph: 99_998, begun, supersteps: 0, edges: 0, next: FIRST };
        let step = StepReport { edges: 2, ..StepReport::default() };
        let mut noted = |s| (0..50_000).filter_map(|_| watch.noted(&step, Duration::from_secs(s))).collect::<Vec<_>>();
        let expected = "note: 10,000 supersteps in 6 s, which visited 2 of 99,998 edges on average: bfs takes a \
                        superstep for each hop, and the paths of this graph are long";
        assert_eq!(noted(6), [expected]);
        assert_eq!(noted(1), [""; 0], "a fast one");
        watch.name = None;
        watch.next = watch.supersteps + 1;
        assert_eq!(watch.noted(&step, Duration::from_secs(60)), None, "one that does not go by hops");
        watch.name = name;
        let large = StepReport { edges: 99_998 * watch.supersteps, ..step };
        watch.next = watch.supersteps + 1;
        assert_eq!(watch.noted(&large, Duration::from_secs(60)), None, "large supersteps");
    }
}
