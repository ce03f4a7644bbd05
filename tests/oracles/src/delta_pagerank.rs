//! PageRank by power iteration until no rank changes.

use crate::pagerank::{DAMPING, Dangling};
use crate::personalized::shares_received;
use crate::{Answer, Arguments, Compare, Graph};

/// `delta-pagerank [--tolerance T] [--damping D] [--dangling RULE]`: ranks within three times the tolerance.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let tolerance = arguments.number("tolerance").unwrap_or(1e-4);
    let (damping, dangling) = (arguments.number("damping").unwrap_or(DAMPING), Dangling::of(arguments));
    let ranks = pagerank_to(graph, damping, dangling, tolerance * (1.0 - damping));
    Answer::of("rank", ranks, Compare::Within(3.0 * tolerance))
}

/// PageRank until no rank changes by more than this part of itself.
pub fn pagerank_to(graph: &Graph, damping: f64, dangling: Dangling, change_max: f64) -> Vec<f64> {
    let vertices = graph.vertices() as f64;
    let mut ranks = vec![(1.0 / vertices) as f32; graph.vertices()];
    loop {
        let (sums, kept) = shares_received(graph, &ranks);
        let spread = if dangling == Dangling::Spread { damping * kept } else { 0.0 };
        let base = (1.0 - damping + spread) / vertices;
        let mut largest = 0.0f64;
        for (rank, sum) in ranks.iter_mut().zip(sums) {
            let new = base + damping * sum;
            largest = largest.max((new - f64::from(*rank)).abs() / new);
            *rank = new as f32;
        }
        if largest <= change_max {
            return ranks.into_iter().map(f64::from).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random_graphs;
    use crate::rank_limit;

    #[test]
    fn as_the_solution_of_the_linear_system() {
        for (graph, dangling) in random_graphs().zip([Dangling::Spread, Dangling::Lost].into_iter().cycle()) {
            let found = pagerank_to(&graph.graph(true), DAMPING, dangling, 1e-6);
            Compare::Within(1e-4).check(&found, &rank_limit(&graph, DAMPING, dangling)).unwrap();
        }
    }
}
