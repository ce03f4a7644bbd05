//! Katz centrality: each term of the series of walks, in `f64` over arrays, added up.

use crate::{Answer, Arguments, Compare, Graph};

/// `katz [--alpha A] [--beta B] --iterations N`: centralities of norm 1.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let (alpha, beta) = (arguments.number("alpha").unwrap_or(0.1), arguments.number("beta").unwrap_or(1.0));
    let values = katz(graph, alpha, beta, arguments.number("iterations").unwrap_or(1000));
    Answer::of("centrality", values, Compare::Within(1e-3))
}

/// The sum of the first terms of beta (1 + alpha A' + (alpha A')^2 + …), scaled to norm 1.
pub fn katz(graph: &Graph, alpha: f64, beta: f64, iterations: u32) -> Vec<f64> {
    let mut term = vec![beta; graph.vertices()];
    let mut sum = vec![0.0; graph.vertices()];
    for _ in 0..iterations {
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
        // Walks that are an edge longer, edge by edge along the out-lists.
        let mut longer = vec![0.0; graph.vertices()];
        for (source, &walks) in term.iter().enumerate() {
            graph.out_lists.list(source).iter().for_each(|&dest| longer[dest as usize] += alpha * walks);
        }
        term = longer;
    }
    let norm = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
    sum.into_iter().map(|value| value / norm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeList;

    /// A path 0 → 1 → 2: 1, 1 + alpha, 1 + alpha + alpha^2.
    #[test]
    fn walks_along_a_path_are_counted() {
        let graph = EdgeList::new(3, vec![(0, 1), (1, 2)]).graph(true);
        let found = katz(&graph, 0.5, 1.0, 10);
        let norm = (1.0f64 + 1.5 * 1.5 + 1.75 * 1.75).sqrt();
        for (found, expected) in found.iter().zip([1.0, 1.5, 1.75]) {
            assert!((found - expected / norm).abs() < 1e-12);
        }
    }
}
