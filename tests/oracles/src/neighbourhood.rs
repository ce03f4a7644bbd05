//! Hops from several sources, along edges, against them or either way.

use crate::bfs::{UNREACHED, numbers, optional};
use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};

/// `neighbourhood --source V --hops K [--direction out|in|both]`: levels.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let sources = arguments.vertices("source", graph);
    let hops_max = arguments.number("hops").expect("--hops is required");
    let levels = match arguments.get("direction") {
        Some("in") => within(&[graph.in_lists()], &sources, hops_max),
        Some("both") => within(&[&graph.out_lists, graph.in_lists()], &sources, hops_max),
        _ => within(&[&graph.out_lists], &sources, hops_max),
    };
    Answer::of("level", numbers(levels), Compare::Exact)
}

/// Levels as far as the given number of hops in any of these lists.
pub fn within(lists: &[&Csr], sources: &[u32], hops_max: u32) -> Vec<u32> {
    let mut levels = vec![UNREACHED; lists[0].vertices()];
    let mut outermost = sources.to_vec();
    sources.iter().for_each(|&source| levels[source as usize] = 0);
    for level in 1..=hops_max {
        let mut next = Vec::new();
        for vertex in outermost {
            for &neighbour in lists.iter().flat_map(|lists| lists.list(vertex as usize)) {
                if levels[neighbour as usize] == UNREACHED {
                    levels[neighbour as usize] = level;
                    next.push(neighbour);
                }
            }
        }
        outermost = next;
        if outermost.is_empty() {
            break;
        }
    }
    levels
}

/// The direction of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From source to destination.
    Along,
    /// From destination to source.
    Against,
    /// Both.
    Either,
}

/// The hops of every vertex from the nearest source; none beyond the bound.
pub fn hops(graph: &EdgeList, sources: &[u32], way: Way, hops_max: u64) -> Vec<Option<u64>> {
    let graph = graph.graph(true);
    let hops_max = u32::try_from(hops_max).unwrap_or(u32::MAX);
    let (out, against) = (&graph.out_lists, graph.in_lists());
    optional(match way {
        Way::Along => within(&[out], sources, hops_max),
        Way::Against => within(&[against], sources, hops_max),
        Way::Either => within(&[out, against], sources, hops_max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::{lists, random_graphs};

    #[test]
    fn of_a_path_with_a_loop() {
        let lists = lists(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (1, 1, 1), (3, 1, 1), (3, 1, 1)]);
        assert_eq!(within(&[&lists], &[0], 2), [0, 1, 2, UNREACHED]);
    }

    /// As many passes over the edge vector as there are hops.
    #[test]
    fn as_by_passes_over_the_edges() {
        for graph in random_graphs() {
            let mut found: Vec<Option<u64>> =
                (0..graph.vertices).map(|vertex| (vertex % 9 == 3).then_some(0)).collect();
            let sources: Vec<u32> = (0..graph.vertices).filter(|vertex| vertex % 9 == 3).collect();
            for hop in 1..=2 {
                let before = found.clone();
                let mut pass = |from: u32, to: u32| {
                    if before[from as usize] == Some(hop - 1) && before[to as usize].is_none() {
                        found[to as usize] = Some(hop);
                    }
                };
                graph.edges.iter().for_each(|&(source, dest)| {
                    pass(source, dest);
                    pass(dest, source);
                });
            }
            assert_eq!(hops(&graph, &sources, Way::Either, 2), found);
        }
    }
}
