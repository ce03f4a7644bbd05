//! Harmonic centrality by a queue from every source.

use crate::bfs::{UNREACHED, bfs};
use crate::{Answer, Arguments, Compare, Graph};

/// `harmonic --source V`: the sum of 1 over the number of hops from these sources.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let mut sources = arguments.vertices("source", graph);
    sources.sort_unstable();
    sources.dedup();
    let mut sums = vec![0.0; graph.out_lists.vertices()];
    for source in sources {
        let levels = bfs(&graph.out_lists, source);
        let far = |level: u32| if level == 0 || level == UNREACHED { 0.0 } else { 1.0 / f64::from(level) };
        sums.iter_mut().zip(levels).for_each(|(sum, level)| *sum += far(level));
    }
    Answer::of("harmonic", sums, Compare::Within(1e-6))
}
