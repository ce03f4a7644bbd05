//! What spreads along all edges at once, iteration by iteration: each sum over a vertex's in-list, in `f64`, of values in `f32`.

use super::{Csr, DAMPING, Plain};

/// PageRank whose walks begin at one vertex, and begin anew there where there is no way on.
pub fn personalized(graph: &Plain, seed: u32, iterations: u32) -> Vec<f64> {
    let mut ranks = vec![0.0f32; graph.vertices()];
    ranks[seed as usize] = 1.0;
    for _ in 0..iterations {
        let (sums, dangling) = shares_received(graph, &ranks);
        ranks = sums.into_iter().map(|sum| (DAMPING * sum) as f32).collect();
        ranks[seed as usize] += (1.0 - DAMPING + DAMPING * dangling) as f32;
    }
    ranks.into_iter().map(f64::from).collect()
}

/// PageRank until no rank changes by more than this part of itself; dangling rank is spread over all vertices.
pub fn pagerank_to(graph: &Plain, change_max: f64) -> Vec<f64> {
    let vertices = graph.vertices() as f64;
    let mut ranks = vec![(1.0 / vertices) as f32; graph.vertices()];
    loop {
        let (sums, dangling) = shares_received(graph, &ranks);
        let base = (1.0 - DAMPING + DAMPING * dangling) / vertices;
        let mut largest = 0.0f64;
        for (rank, sum) in ranks.iter_mut().zip(sums) {
            let new = base + DAMPING * sum;
            largest = largest.max((new - f64::from(*rank)).abs() / new);
            *rank = new as f32;
        }
        if largest <= change_max {
            return ranks.into_iter().map(f64::from).collect();
        }
    }
}

/// What every vertex receives of its in-neighbours' ranks, and what belongs to those without out-edges.
fn shares_received(graph: &Plain, ranks: &[f32]) -> (Vec<f64>, f64) {
    let degree = |vertex: usize| graph.out_lists.degree(vertex);
    let shares: Vec<f32> = ranks.iter().enumerate().map(|(vertex, rank)| rank / degree(vertex).max(1) as f32).collect();
    let dangling = (0..ranks.len()).filter(|&vertex| degree(vertex) == 0).map(|vertex| f64::from(ranks[vertex])).sum();
    let received = |list: &[u32]| list.iter().map(|&from| f64::from(shares[from as usize])).sum();
    ((0..ranks.len()).map(|vertex| received(graph.in_lists().list(vertex))).collect(), dangling)
}

/// Heat: a vertex's value goes towards the mean of its in-neighbours' by a part of the way; held vertices keep theirs.
pub fn heat(in_lists: &Csr, held: &[(u32, f32)], alpha: f64, iterations: u32) -> Vec<f64> {
    averaged(in_lists, held, true, iterations, |old, mean, _| (1.0 - alpha) * old + alpha * mean)
}

/// Voltages: every value but the held ones becomes the mean.
pub fn circuit(in_lists: &Csr, held: &[(u32, f32)], iterations: u32) -> Vec<f64> {
    averaged(in_lists, held, true, iterations, |_, mean, _| mean)
}

/// Adsorption of one label.
pub fn adsorption(in_lists: &Csr, seeds: &[(u32, f32)], inject: f64, abandon: f64, iterations: u32) -> Vec<f64> {
    averaged(in_lists, seeds, false, iterations, |_, mean, seed| (1.0 - inject - abandon) * mean + inject * seed)
}

/// Values from 0 but at `given`; `renew` makes a new one of the old one, the mean by weight, and what was given.
fn averaged(
    in_lists: &Csr,
    given: &[(u32, f32)],
    holds: bool,
    iterations: u32,
    renew: impl Fn(f64, f64, f64) -> f64,
) -> Vec<f64> {
    let vertices = in_lists.vertices();
    let sum = |vertex, value: &dyn Fn(u32) -> f32| -> f64 {
        in_lists.weighted(vertex).map(|(from, weight)| f64::from(f32::from_bits(weight)) * f64::from(value(from))).sum()
    };
    let norms: Vec<f64> = (0..vertices).map(|vertex| sum(vertex, &|_| 1.0)).collect();
    let mut first = vec![0.0f32; vertices];
    given.iter().for_each(|&(vertex, value)| first[vertex as usize] = value);
    let mut values = first.clone();
    for _ in 0..iterations {
        let renewed = |vertex: usize| {
            let mean =
                if norms[vertex] > 0.0 { sum(vertex, &|from| values[from as usize]) / norms[vertex] } else { 0.0 };
            renew(values[vertex].into(), mean, first[vertex].into()) as f32
        };
        let mut next: Vec<f32> = (0..vertices).map(renewed).collect();
        given.iter().filter(|_| holds).for_each(|&(vertex, value)| next[vertex as usize] = value);
        values = next;
    }
    values.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lists, undirected};
    use super::*;

    fn ones(edges: &[(u32, u32)]) -> Csr {
        let both = edges.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
        let weight = 1f32.to_bits();
        lists(4, &both.map(|(one, other)| (one, other, weight)).collect::<Vec<_>>())
    }

    fn near(found: &[f64], expected: &[f64]) {
        let wrong = found.iter().zip(expected).any(|(found, expected)| (found - expected).abs() > 1e-5);
        assert!(!wrong && found.len() == expected.len(), "{found:?}, not {expected:?}");
    }

    #[test]
    fn voltages_of_a_line_fall_evenly() {
        near(&circuit(&ones(&[(0, 1), (1, 2), (2, 3)]), &[(0, 3.0), (3, 0.0)], 200), &[3.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn heat_goes_half_of_the_way() {
        let lists = ones(&[(0, 1), (1, 2)]);
        near(&heat(&lists, &[(0, 8.0)], 0.5, 1), &[8.0, 2.0, 0.0, 0.0]);
        near(&heat(&lists, &[(0, 8.0)], 0.5, 2), &[8.0, 3.0, 1.0, 0.0]);
    }

    #[test]
    fn labels_are_injected_and_abandoned() {
        near(&adsorption(&ones(&[(0, 1)]), &[(0, 1.0)], 0.25, 0.25, 1), &[0.25, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn ranks_of_a_cycle() {
        let cycle = undirected(3, &[(0, 1), (1, 2), (2, 0)]);
        near(&pagerank_to(&cycle, 1e-6), &[1.0 / 3.0; 3]);
        let personalized = personalized(&cycle, 0, 100);
        near(&[personalized.iter().sum(), personalized[1]], &[1.0, personalized[2]]);
        assert!(personalized[0] > personalized[1]);
    }
}
