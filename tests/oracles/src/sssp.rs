//! Shortest paths by Dijkstra's algorithm with a heap.

use crate::{Answer, Arguments, Compare, Csr, Graph, Weights};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `sssp --source V`: distances, over `f32` weights in double precision; with `--single` rounded to single precision
/// after each addition.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let source = arguments.vertices("source", graph)[0];
    let distances = match graph.weights {
        Some(Weights::F32) => distances(graph, source, arguments.has("single")),
        _ => shortest(&graph.out_lists, source),
    };
    Answer::of("distance", distances, Compare::Exact)
}

/// Distances over whole weights: infinity where there is no path.
pub fn shortest(lists: &Csr, source: u32) -> Vec<f64> {
    let distances = dijkstra(lists, source, 0, u64::MAX, |distance, weight| distance + u64::from(weight));
    distances.into_iter().map(|distance| if distance == u64::MAX { f64::INFINITY } else { distance as f64 }).collect()
}

/// Distances in double precision over weights of any type; or rounded to single precision after each addition.
pub fn distances(graph: &Graph, source: u32, single: bool) -> Vec<f64> {
    let float = graph.weights == Some(Weights::F32);
    // From 0 on, bits order as numbers do.
    let add = |bits: u64, weight: u32| {
        let weight = if float { f64::from(f32::from_bits(weight)) } else { f64::from(weight) };
        let sum = f64::from_bits(bits) + weight;
        if single { f64::from(f64::from_bits(bits) as f32 + weight as f32) } else { sum }.to_bits()
    };
    let bits = dijkstra(&graph.out_lists, source, 0, f64::INFINITY.to_bits(), add);
    bits.into_iter().map(f64::from_bits).collect()
}

/// The least sum along a path to each vertex; `add` is the sum that goes on by an edge, `none` where there is no path.
fn dijkstra<T: Copy + Ord>(lists: &Csr, source: u32, zero: T, none: T, add: impl Fn(T, u32) -> T) -> Vec<T> {
    let mut distances = vec![none; lists.vertices()];
    let mut heap = BinaryHeap::from([Reverse((zero, source))]);
    distances[source as usize] = zero;
    while let Some(Reverse((distance, vertex))) = heap.pop() {
        if distance > distances[vertex as usize] {
            continue;
        }
        for (neighbour, weight) in lists.weighted(vertex as usize) {
            let offer = add(distance, weight);
            if offer < distances[neighbour as usize] {
                distances[neighbour as usize] = offer;
                heap.push(Reverse((offer, neighbour)));
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::lists;
    use crate::{EdgeList, Weighted};

    #[test]
    fn a_way_round_may_be_shorter() {
        let edges = [(0, 1, 7), (0, 2, 2), (2, 1, 4), (1, 3, 9), (2, 3, 1)];
        assert_eq!(shortest(&lists(5, &edges), 0), [0.0, 6.0, 2.0, 3.0, f64::INFINITY]);
        let graph = EdgeList::new(5, edges.iter().map(|&(source, dest, _)| (source, dest)).collect());
        let weights = edges.iter().map(|&(.., weight)| (weight as f32 / 2.0).to_bits()).collect();
        let graph = Weighted { graph, weights, float: true };
        assert_eq!(graph.distances(0), [0.0, 3.0, 1.0, 1.5, f64::INFINITY]);
        assert_eq!(graph.single_distances(0), graph.distances(0));
    }
}
