//! Widest paths by a heap, the widest vertex first.

use crate::{Answer, Arguments, Compare, Csr, Graph, Weighted, Weights};
use std::collections::BinaryHeap;

/// `widest --source V`: widths.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let source = arguments.vertices("source", graph)[0];
    let widths = match graph.weights {
        Some(Weights::F32) => float_widths(&graph.out_lists, source),
        _ => whole_widths(&graph.out_lists, source),
    };
    Answer::of("width", widths, Compare::Exact)
}

/// Widths from a source: infinity there, 0 where there is no path or only one over an edge of weight 0.
pub fn widths(weighted: &Weighted, source: u32) -> Vec<f64> {
    let lists = weighted.graph(true).out_lists;
    let mut widths = match weighted.float {
        true => float_widths(&lists, source),
        false => whole_widths(&lists, source),
    };
    widths[source as usize] = f64::INFINITY;
    widths
}

/// Widths over whole weights: 2^32 - 1 at the source, 0 where there is no path.
pub fn whole_widths(lists: &Csr, source: u32) -> Vec<f64> {
    widest(lists, source, u32::MAX).into_iter().map(f64::from).collect()
}

/// From 0 on, the bits of `f32` order as numbers do.
fn float_widths(lists: &Csr, source: u32) -> Vec<f64> {
    widest(lists, source, f32::INFINITY.to_bits()).into_iter().map(|bits| f32::from_bits(bits).into()).collect()
}

/// Widths by their bits, with those of the source.
fn widest(lists: &Csr, source: u32, largest: u32) -> Vec<u32> {
    let mut widths = vec![0; lists.vertices()];
    let mut heap = BinaryHeap::from([(largest, source)]);
    widths[source as usize] = largest;
    while let Some((width, vertex)) = heap.pop() {
        if width < widths[vertex as usize] {
            continue;
        }
        for (neighbour, weight) in lists.weighted(vertex as usize) {
            let offer = width.min(weight);
            if offer > widths[neighbour as usize] {
                widths[neighbour as usize] = offer;
                heap.push((offer, neighbour));
            }
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeList;

    #[test]
    fn a_way_round_may_be_wider() {
        let graph = EdgeList::new(5, vec![(0, 1), (0, 2), (2, 1), (1, 3), (2, 3)]);
        let whole = Weighted { graph, weights: vec![7, 2, 4, 9, 1], float: false };
        assert_eq!(widths(&whole, 0), [f64::INFINITY, 7.0, 2.0, 7.0, 0.0]);
        let weights = whole.weights.iter().map(|&weight| (weight as f32 / 2.0).to_bits()).collect();
        let float = Weighted { weights, float: true, ..whole };
        assert_eq!(widths(&float, 0), [f64::INFINITY, 3.5, 1.0, 3.5, 0.0]);
    }
}
