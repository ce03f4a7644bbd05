//! Personalized PageRank by powers of a dense matrix.

use super::{Dangling, EdgeList};

/// Ranks after some iterations from the seeds.
pub fn personalized(graph: &EdgeList, seeds: &[u32], damping: f64, dangling: Dangling, iterations: usize) -> Vec<f64> {
    let n = graph.vertices as usize;
    let restart: Vec<f64> =
        (0..n as u32).map(|vertex| if seeds.contains(&vertex) { 1.0 / seeds.len() as f64 } else { 0.0 }).collect();
    // Row v: the probability of going from v to each other vertex.
    let mut matrix = vec![0.0; n * n];
    for &(source, dest) in &graph.edges {
        matrix[source as usize * n + dest as usize] += 1.0;
    }
    for row in matrix.chunks_exact_mut(n) {
        let degree: f64 = row.iter().sum();
        if degree > 0.0 {
            row.iter_mut().for_each(|value| *value /= degree);
        } else if dangling == Dangling::Spread {
            row.copy_from_slice(&restart);
        }
    }
    let mut ranks = restart.clone();
    for _ in 0..iterations {
        let mut next: Vec<f64> = restart.iter().map(|value| (1.0 - damping) * value).collect();
        for (row, rank) in matrix.chunks_exact(n).zip(&ranks).filter(|(_, rank)| **rank > 0.0) {
            next.iter_mut().zip(row).for_each(|(next, value)| *next += damping * rank * value);
        }
        ranks = next;
    }
    ranks
}
