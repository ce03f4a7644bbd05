//! Personalized PageRank: by pull over arrays; [`personalized`] edge by edge in double precision.

use crate::pagerank::{DAMPING, Dangling, ranks_from};
use crate::{Answer, Arguments, Compare, EdgeList, Graph};

/// `personalized-pagerank --source V [--iterations N] [--damping D] [--dangling RULE]`: ranks.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let seeds = arguments.vertices("source", graph);
    let (damping, dangling) = (arguments.number("damping").unwrap_or(DAMPING), Dangling::of(arguments));
    let ranks = pulled(graph, &seeds, damping, dangling, arguments.number("iterations").unwrap_or(100));
    Answer::of("rank", ranks, Compare::Within(1e-4))
}

/// PageRank whose walks begin at seeds, and begin anew there where there is no way on.
pub fn pulled(graph: &Graph, seeds: &[u32], damping: f64, dangling: Dangling, iterations: u32) -> Vec<f64> {
    let mut ranks = vec![0.0f32; graph.vertices()];
    let each = 1.0 / seeds.len() as f64;
    seeds.iter().for_each(|&seed| ranks[seed as usize] = each as f32);
    for _ in 0..iterations {
        let (sums, kept) = shares_received(graph, &ranks);
        ranks = sums.into_iter().map(|sum| (damping * sum) as f32).collect();
        let spread = if dangling == Dangling::Spread { damping * kept } else { 0.0 };
        seeds.iter().for_each(|&seed| ranks[seed as usize] += ((1.0 - damping + spread) * each) as f32);
    }
    ranks.into_iter().map(f64::from).collect()
}

/// The sum of shares that every vertex receives from its in-neighbours, and the rank of all vertices without out-edges.
pub fn shares_received(graph: &Graph, ranks: &[f32]) -> (Vec<f64>, f64) {
    let degree = |vertex: usize| graph.out_lists.degree(vertex);
    let shares: Vec<f32> = ranks.iter().enumerate().map(|(vertex, rank)| rank / degree(vertex).max(1) as f32).collect();
    let dangling = (0..ranks.len()).filter(|&vertex| degree(vertex) == 0).map(|vertex| f64::from(ranks[vertex])).sum();
    let received = |list: &[u32]| list.iter().map(|&from| f64::from(shares[from as usize])).sum();
    ((0..ranks.len()).map(|vertex| received(graph.in_lists().list(vertex))).collect(), dangling)
}

/// Ranks after some iterations from the seeds, by a loop over the edge vector.
pub fn personalized(graph: &EdgeList, seeds: &[u32], damping: f64, dangling: Dangling, iterations: usize) -> Vec<f64> {
    let mut restart = vec![0.0; graph.vertices as usize];
    seeds.iter().for_each(|&seed| restart[seed as usize] = 1.0 / seeds.len() as f64);
    ranks_from(graph, &restart, damping, dangling, iterations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random_graphs;

    #[test]
    fn as_edge_by_edge() {
        for (graph, dangling) in random_graphs().zip([Dangling::Spread, Dangling::Lost].into_iter().cycle()) {
            let found = pulled(&graph.graph(true), &[3, 11], DAMPING, dangling, 12);
            Compare::Within(1e-5).check(&found, &personalized(&graph, &[3, 11], DAMPING, dangling, 12)).unwrap();
        }
    }
}
