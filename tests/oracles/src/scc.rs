//! Strongly connected components by one depth-first search.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};

/// `scc`: a vertex of each vertex's component.
pub fn answer(graph: &Graph, _arguments: &Arguments<'_>) -> Answer {
    Answer::of("component", strong(&graph.out_lists), Compare::Groups)
}

/// The least vertex of every vertex's strongly connected component.
pub fn strong_components(graph: &EdgeList) -> Vec<u32> {
    let components = strong(&graph.graph(true).out_lists);
    let mut least = vec![u32::MAX; components.len()];
    for (vertex, &component) in components.iter().enumerate() {
        least[component as usize] = least[component as usize].min(vertex as u32);
    }
    components.iter().map(|&component| least[component as usize]).collect()
}

/// The place of a vertex that has not been met.
const UNSEEN: u32 = u32::MAX;

/// Strongly connected components (Tarjan 1972, with a stack of its own instead of recursion), called by one of their
/// vertices.
pub fn strong(lists: &Csr) -> Vec<f64> {
    let vertices = lists.vertices();
    let (mut places, mut lows, mut components) = (vec![UNSEEN; vertices], vec![0; vertices], vec![UNSEEN; vertices]);
    // Vertices without a component yet, and the path to the vertex that is looked at, with how far its lists have been
    // read.
    let (mut waiting, mut path, mut place) = (Vec::new(), Vec::<(u32, u32)>::new(), 0);
    for first in 0..vertices as u32 {
        if places[first as usize] == UNSEEN {
            path.push((first, 0));
        }
        while let Some((vertex, read)) = path.last_mut() {
            let (vertex, at) = (*vertex as usize, *read as usize);
            if at == 0 && places[vertex] == UNSEEN {
                (places[vertex], lows[vertex]) = (place, place);
                place += 1;
                waiting.push(vertex as u32);
            }
            if let Some(&neighbour) = lists.list(vertex).get(at) {
                *read += 1;
                if places[neighbour as usize] == UNSEEN {
                    path.push((neighbour, 0));
                } else if components[neighbour as usize] == UNSEEN {
                    lows[vertex] = lows[vertex].min(places[neighbour as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(above, _)) = path.last() {
                lows[above as usize] = lows[above as usize].min(lows[vertex]);
            }
            while lows[vertex] == places[vertex] && components[vertex] == UNSEEN {
                let member = waiting.pop().expect("the vertex itself waits");
                components[member as usize] = vertex as u32;
            }
        }
    }
    components.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random_graphs;

    #[test]
    fn two_cycles_and_a_bridge() {
        let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4)];
        assert_eq!(strong_components(&EdgeList::new(7, edges)), [0, 0, 0, 3, 3, 5, 6]);
    }

    /// Two vertices share a component where each reaches the other.
    #[test]
    fn as_by_the_definition() {
        for graph in random_graphs() {
            let levels: Vec<_> = (0..graph.vertices).map(|vertex| crate::levels(&graph, vertex)).collect();
            let reaches = |one: u32, other: u32| levels[one as usize][other as usize].is_some();
            let least = |vertex| (0..graph.vertices).find(|&other| reaches(vertex, other) && reaches(other, vertex));
            let expected: Vec<u32> = (0..graph.vertices).filter_map(least).collect();
            assert_eq!(strong_components(&graph), expected);
        }
    }
}
