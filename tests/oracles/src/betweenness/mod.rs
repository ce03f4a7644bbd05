//! Betweenness by Brandes' queue, source by source; [`betweenness`] by the definition.

mod definition;

use crate::{Answer, Arguments, Compare, Csr, Graph};
pub use definition::betweenness;

/// `betweenness --source V`: what the shortest paths from these sources add.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let sources = arguments.vertices("source", graph);
    let mut sums = of_source(&graph.out_lists, sources[0]);
    for &source in &sources[1..] {
        sums.iter_mut().zip(of_source(&graph.out_lists, source)).for_each(|(sum, more)| *sum += more);
    }
    Answer::of("betweenness", sums, Compare::Within(1e-3))
}

/// What the shortest paths from one source add to every vertex's betweenness (Brandes 2001), neither scaled nor halved.
pub fn of_source(lists: &Csr, source: u32) -> Vec<f64> {
    let vertices = lists.vertices();
    let (mut levels, mut paths, mut deltas) = (vec![u32::MAX; vertices], vec![0.0; vertices], vec![0.0; vertices]);
    let mut order = Vec::with_capacity(vertices);
    (levels[source as usize], paths[source as usize]) = (0, 1.0);
    order.push(source);
    let mut at = 0;
    while let Some(&vertex) = order.get(at) {
        at += 1;
        let (level, count): (u32, f64) = (levels[vertex as usize] + 1, paths[vertex as usize]);
        for &neighbour in lists.list(vertex as usize) {
            if levels[neighbour as usize] == u32::MAX {
                levels[neighbour as usize] = level;
                order.push(neighbour);
            }
            if levels[neighbour as usize] == level {
                paths[neighbour as usize] += count;
            }
        }
    }
    for &vertex in order.iter().rev() {
        let level = levels[vertex as usize] + 1;
        let farther = lists.list(vertex as usize).iter().filter(|&&neighbour| levels[neighbour as usize] == level);
        let share = |&neighbour: &u32| (1.0 + deltas[neighbour as usize]) / paths[neighbour as usize];
        deltas[vertex as usize] = paths[vertex as usize] * farther.map(share).sum::<f64>();
    }
    deltas[source as usize] = 0.0;
    deltas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::{lists, random_graphs};

    #[test]
    fn two_ways_to_one_vertex() {
        // 0 → 1 → 3 → 4 and 0 → 2 → 3; 5 is not reached.
        let lists = lists(6, &[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1), (5, 0, 1)]);
        assert_eq!(of_source(&lists, 0), [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(of_source(&lists, 5), [4.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn as_by_the_definition() {
        for graph in random_graphs() {
            let found = of_source(&graph.graph(true).out_lists, 7);
            Compare::Within(1e-9).check(&found, &betweenness(&graph, &[7])).unwrap();
        }
    }
}
