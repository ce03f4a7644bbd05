//! PageRank: by pull over arrays; [`rank_iterations`] edge by edge in double precision; [`rank_limit`] as a linear
//! system.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph, Weights};

/// The damping factor where none is given.
pub const DAMPING: f64 = 0.85;

/// What becomes of the rank of vertices without out-edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dangling {
    /// It is spread over all vertices, or over the seeds.
    Spread,
    /// It is lost.
    Lost,
}

impl Dangling {
    /// `--dangling`.
    pub fn of(arguments: &Arguments<'_>) -> Self {
        if arguments.get("dangling") == Some("ignore") { Self::Lost } else { Self::Spread }
    }
}

/// `pagerank [--iterations N | --tolerance T] [--damping D] [--dangling RULE] [--weights]`: ranks.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let (damping, dangling) = (arguments.number("damping").unwrap_or(DAMPING), Dangling::of(arguments));
    if arguments.has("weights") {
        let ranks = weighted_ranks(graph, damping, dangling, arguments.number("iterations").unwrap_or(100));
        return Answer::of("rank", ranks, Compare::Within(1e-3));
    }
    let degrees: Vec<u32> = (0..graph.vertices()).map(|vertex| graph.out_lists.degree(vertex)).collect();
    // By 100 the largest change is far below any tolerance.
    let iterations = arguments.number("iterations").unwrap_or(100);
    let ranks = pagerank(graph.in_lists(), &degrees, damping, dangling, iterations);
    // Sums in single precision are of a hundred thousand terms at some vertices.
    let within = if arguments.get("sums") == Some("single") { 1e-3 } else { 1e-4 };
    Answer::of("rank", ranks.into_iter().map(f64::from).collect(), Compare::Within(within))
}

/// PageRank by pull: `f32` contributions, summed in `f64`.
pub fn pagerank(in_lists: &Csr, out_degrees: &[u32], damping: f64, dangling: Dangling, iterations: u32) -> Vec<f32> {
    let vertices = in_lists.vertices();
    let mut ranks = vec![1.0 / vertices as f32; vertices];
    let mut contributions = vec![0.0f32; vertices];
    for _ in 0..iterations {
        let mut kept = 0.0;
        for (vertex, contribution) in contributions.iter_mut().enumerate() {
            match out_degrees[vertex] {
                0 => kept += f64::from(ranks[vertex]),
                degree => *contribution = ranks[vertex] / degree as f32,
            }
        }
        let spread = if dangling == Dangling::Spread { damping * kept } else { 0.0 };
        let base = (1.0 - damping + spread) / vertices as f64;
        for (vertex, rank) in ranks.iter_mut().enumerate() {
            let sum: f64 = in_lists.list(vertex).iter().map(|&from| f64::from(contributions[from as usize])).sum();
            *rank = (base + damping * sum) as f32;
        }
    }
    ranks
}

/// PageRank by weights, in double precision: every iteration moves rank along single edges, by the probability that a
/// walk takes each of them.
pub fn weighted_ranks(graph: &Graph, damping: f64, dangling: Dangling, iterations: u32) -> Vec<f64> {
    let n = graph.vertices();
    let weight = |bits: u32| match graph.weights.expect("the graph has weights") {
        Weights::U32 => f64::from(bits),
        Weights::F32 => f64::from(f32::from_bits(bits)),
    };
    let mut chances: Vec<(usize, usize, f64)> = Vec::new();
    let mut stuck = vec![true; n];
    for (source, stays) in stuck.iter_mut().enumerate() {
        let list: Vec<(u32, f64)> = graph.out_lists.weighted(source).map(|(dest, bits)| (dest, weight(bits))).collect();
        let total: f64 = list.iter().map(|(_, weight)| weight).sum();
        *stays = total == 0.0;
        if !*stays {
            chances.extend(list.into_iter().map(|(dest, weight)| (source, dest as usize, weight / total)));
        }
    }
    let mut ranks = vec![1.0 / n as f64; n];
    for _ in 0..iterations {
        let kept: f64 = ranks.iter().zip(&stuck).filter(|(_, stays)| **stays).map(|(rank, _)| rank).sum();
        let spread = if dangling == Dangling::Spread { damping * kept } else { 0.0 };
        let mut next = vec![(1.0 - damping + spread) / n as f64; n];
        chances.iter().for_each(|&(source, dest, chance)| next[dest] += damping * ranks[source] * chance);
        ranks = next;
    }
    ranks
}

/// Graphs whose edges can be gone through.
pub trait Edges {
    /// The length of every vertex's out-list.
    fn out_degrees(&self) -> Vec<usize>;

    /// Calls with source and destination of every edge.
    fn each(&self, take: impl FnMut(usize, usize));
}

impl Edges for EdgeList {
    fn out_degrees(&self) -> Vec<usize> {
        EdgeList::out_degrees(self)
    }

    fn each(&self, mut take: impl FnMut(usize, usize)) {
        self.edges.iter().for_each(|&(source, dest)| take(source as usize, dest as usize));
    }
}

impl Edges for Csr {
    fn out_degrees(&self) -> Vec<usize> {
        (0..self.vertices()).map(|vertex| self.degree(vertex) as usize).collect()
    }

    fn each(&self, mut take: impl FnMut(usize, usize)) {
        (0..self.vertices()).for_each(|source| self.list(source).iter().for_each(|&dest| take(source, dest as usize)));
    }
}

/// Ranks after some iterations from 1/n, in double precision, each a loop over all edges.
pub fn rank_iterations(graph: &impl Edges, damping: f64, dangling: Dangling, iterations: usize) -> Vec<f64> {
    let n = graph.out_degrees().len();
    ranks_from(graph, &vec![1.0 / n as f64; n], damping, dangling, iterations)
}

/// Ranks of walks that begin by these probabilities, in the first iteration and wherever they begin anew.
pub fn ranks_from(
    graph: &impl Edges,
    restart: &[f64],
    damping: f64,
    dangling: Dangling,
    iterations: usize,
) -> Vec<f64> {
    let degrees = graph.out_degrees();
    let mut ranks = restart.to_vec();
    for _ in 0..iterations {
        let mut received = vec![0.0; ranks.len()];
        graph.each(|source, dest| received[dest] += ranks[source] / degrees[source] as f64);
        let kept: f64 = (0..ranks.len()).filter(|&vertex| degrees[vertex] == 0).map(|vertex| ranks[vertex]).sum();
        let spread = if dangling == Dangling::Spread { damping * kept } else { 0.0 };
        let rank = |(sum, restart): (&f64, &f64)| (1.0 - damping + spread) * restart + damping * sum;
        ranks = received.iter().zip(restart).map(rank).collect();
    }
    ranks
}

/// Converged ranks: solves `y = 1 + damping * (sum of y[u] / out_degree[u])` by Gauss-Seidel. Without the dangling mass
/// that is the answer but for a factor (1 - damping) / n; with it, the answer is y scaled to a sum of one.
pub fn rank_limit(graph: &EdgeList, damping: f64, dangling: Dangling) -> Vec<f64> {
    let n = graph.vertices as usize;
    let degrees = graph.out_degrees();
    let in_lists = graph.lists(false);
    let mut y = vec![1.0; n];
    loop {
        let mut change = 0.0f64;
        for v in 0..n {
            // A self-loop's own term is solved for.
            let (own, others): (Vec<usize>, Vec<usize>) = in_lists[v].iter().partition(|&&u| u == v);
            let sum: f64 = others.iter().map(|&u| y[u] / degrees[u] as f64).sum();
            let itself = damping * own.len() as f64 / degrees[v].max(1) as f64;
            let next = (1.0 + damping * sum) / (1.0 - itself);
            change = change.max((next - y[v]).abs() / next);
            y[v] = next;
        }
        if change < 1e-13 {
            break;
        }
    }
    let factor = match dangling {
        Dangling::Spread => 1.0 / y.iter().sum::<f64>(),
        Dangling::Lost => (1.0 - damping) / n as f64,
    };
    y.iter().map(|value| value * factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random_graphs;

    #[test]
    fn pull_and_push_agree() {
        for (graph, dangling) in random_graphs().zip([Dangling::Spread, Dangling::Lost].into_iter().cycle()) {
            let arrays = graph.graph(true);
            let degrees: Vec<u32> = graph.out_degrees().into_iter().map(|degree| degree as u32).collect();
            let pulled = pagerank(arrays.in_lists(), &degrees, DAMPING, dangling, 20);
            let pulled: Vec<f64> = pulled.into_iter().map(f64::from).collect();
            let pushed = rank_iterations(&graph, DAMPING, dangling, 20);
            Compare::Within(1e-5).check(&pulled, &pushed).unwrap();
            let limit = rank_limit(&graph, DAMPING, dangling);
            Compare::Within(1e-6).check(&rank_iterations(&arrays.out_lists, DAMPING, dangling, 200), &limit).unwrap();
        }
    }
}
