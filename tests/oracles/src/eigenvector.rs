//! Eigenvector centrality: powers of A' + I in `f64`, pushed along out-lists.

use crate::{Answer, Arguments, Compare, Graph};

/// `eigenvector --iterations N`: centralities of norm 1.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let values = eigenvector(graph, arguments.number("iterations").unwrap_or(100));
    Answer::of("centrality", values, Compare::Within(1e-3))
}

/// The direction of (A' + I)^n 1.
pub fn eigenvector(graph: &Graph, iterations: u32) -> Vec<f64> {
    let mut values = vec![1.0f64; graph.vertices()];
    for _ in 0..iterations {
        let mut next = values.clone();
        for (source, value) in values.iter().enumerate() {
            graph.out_lists.list(source).iter().for_each(|&dest| next[dest as usize] += value);
        }
        // Scaled by the largest, so that nothing overflows.
        let largest = next.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        values = next.into_iter().map(|value| value / largest).collect();
    }
    let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.into_iter().map(|value| value / norm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeList;

    /// A star of four: the centre has 1/√2, a leaf 1/√6 (the eigenvalue is √3).
    #[test]
    fn a_star_has_its_known_eigenvector() {
        let star = EdgeList::new(4, vec![(0, 1), (0, 2), (0, 3)]).mirrored().graph(false);
        let found = eigenvector(&star, 200);
        assert!((found[0] - 0.5f64.sqrt()).abs() < 1e-9, "{found:?}");
        assert!(found[1..].iter().all(|leaf| (leaf - 6f64.sqrt().recip()).abs() < 1e-9), "{found:?}");
    }
}
