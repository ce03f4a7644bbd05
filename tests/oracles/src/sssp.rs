//! Shortest paths by Dijkstra's algorithm with a heap.

use crate::{Answer, Arguments, Compare, Csr, Graph, Weights};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `sssp --source V`: distances, over `f32` weights in double precision; with `--single` rounded to single precision
/// after each addition. With `--cutoff X` none beyond it, with `--parents` the tree too.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let source = arguments.vertices("source", graph)[0];
    let single = arguments.has("single");
    let mut distances = match graph.weights {
        Some(Weights::F32) => distances(graph, source, single),
        _ => shortest(&graph.out_lists, source),
    };
    if let Some(cutoff) = arguments.number("cutoff") {
        distances.iter_mut().filter(|distance| **distance > cutoff).for_each(|distance| *distance = f64::INFINITY);
    }
    let parents = arguments.has("parents").then(|| parents(graph, source, single, &distances));
    let mut answer = Answer::of("distance", distances, Compare::Exact);
    let number = |parent: Option<u32>| parent.map_or(f64::INFINITY, f64::from);
    answer.columns.extend(parents.map(|parents| ("parent", parents.into_iter().map(number).collect())));
    answer
}

/// The tree of shortest paths by its definition. An edge whose weight, added to the distance of its source, gives that
/// of its dest is tight. The parent of a vertex is the smallest that is nearer and has a tight edge to it; of a vertex
/// that has none, the smallest with a tight edge on a way of the fewest edges from a vertex of the same distance that
/// has one, or from the source, which is its own parent.
pub fn parents(graph: &Graph, source: u32, single: bool, distances: &[f64]) -> Vec<Option<u32>> {
    let float = graph.weights == Some(Weights::F32);
    let sum = |distance: f64, weight: u32| match (float, single) {
        (false, _) => distance + f64::from(weight),
        (true, false) => distance + f64::from(f32::from_bits(weight)),
        (true, true) => {
            let weight = Some(f32::from_bits(weight)).filter(|weight| weight.abs() >= f32::MIN_POSITIVE);
            f64::from(distance as f32 + weight.unwrap_or(0.0))
        }
    };
    // Tight edges: source, dest, and whether the source is nearer.
    let mut tight = Vec::new();
    for vertex in 0..distances.len() {
        let from = distances[vertex];
        let edges = graph.out_lists.weighted(vertex).filter(|_| from.is_finite());
        let edges = edges.filter(|&(dest, weight)| sum(from, weight) == distances[dest as usize]);
        tight.extend(edges.map(|(dest, _)| (vertex as u32, dest, from < distances[dest as usize])));
    }
    let mut steps = vec![usize::MAX; distances.len()];
    steps[source as usize] = 0;
    tight.iter().filter(|edge| edge.2).for_each(|edge| steps[edge.1 as usize] = 0);
    loop {
        let before = steps.clone();
        for &(from, to, _) in tight.iter().filter(|edge| !edge.2) {
            steps[to as usize] = steps[to as usize].min(steps[from as usize].saturating_add(1));
        }
        if before == steps {
            break;
        }
    }
    let mut parents: Vec<Option<u32>> = vec![None; distances.len()];
    for (from, to, is_nearer) in tight {
        let is_closer = steps[from as usize].checked_add(1) == Some(steps[to as usize]);
        let parent = &mut parents[to as usize];
        if (is_nearer || is_closer) && parent.is_none_or(|parent| from < parent) {
            *parent = Some(from);
        }
    }
    parents[source as usize] = Some(source);
    parents
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
        // Subnormal numbers count as 0 in single precision.
        let is_lost = single && weight.abs() < f64::from(f32::MIN_POSITIVE);
        let weight = if is_lost { 0.0 } else { weight };
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

    /// 4 and 5 are in a circle of length 0 beside 3, which has a nearer parent; 6 hangs on both.
    #[test]
    fn parents_lead_to_the_source() {
        let edges = [
            (0, 3, 2),
            (3, 5, 0),
            (5, 4, 0),
            (4, 5, 0),
            (4, 3, 0),
            (5, 6, 1),
            (4, 6, 1),
            (0, 6, 3),
            (7, 7, 0),
            (0, 0, 0),
        ];
        let graph = Graph::new(lists(8, &edges), None, true, Some(Weights::U32));
        let distances = shortest(&graph.out_lists, 0);
        assert_eq!(distances[..7], [0.0, f64::INFINITY, f64::INFINITY, 2.0, 2.0, 2.0, 3.0]);
        let found = parents(&graph, 0, false, &distances);
        assert_eq!(found, [Some(0), None, None, Some(0), Some(5), Some(3), Some(0), None]);
    }

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
