//! Heat, circuits and adsorption: each sum over a vertex's in-list, in `f64`, of values in `f32`; [`Linear`] by a dense
//! matrix.

mod definition;

use crate::{Answer, Arguments, Compare, Csr, Graph, Weights};
pub use definition::{Linear, Means};

/// How far values may be off, whose sums are in single precision.
const SINGLE: Compare = Compare::Within(1e-3);

/// `heat --source V=T [--alpha STEP] --iterations N [--ignore-weights]`: temperatures.
pub fn heat_answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let (alpha, held) = (arguments.number("alpha").unwrap_or(0.5), arguments.held("source", graph));
    let values = heat(graph.in_lists(), weights(graph, arguments), &held, alpha, iterations(arguments));
    Answer::of("temperature", values, SINGLE)
}

/// `circuit --source V=U --iterations N [--ignore-weights]`: voltages.
pub fn circuit_answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let held = arguments.held("source", graph);
    let values = circuit(graph.in_lists(), weights(graph, arguments), &held, iterations(arguments));
    Answer::of("voltage", values, SINGLE)
}

/// `adsorption --source V [--inject P] [--abandon P] --iterations N [--ignore-weights]`: masses.
pub fn adsorption_answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let seeds: Vec<(u32, f32)> = arguments.vertices("source", graph).into_iter().map(|seed| (seed, 1.0)).collect();
    let (inject, abandon) = (arguments.number("inject").unwrap_or(0.25), arguments.number("abandon").unwrap_or(0.05));
    let weights = weights(graph, arguments);
    let values = adsorption(graph.in_lists(), weights, &seeds, inject, abandon, iterations(arguments));
    Answer::of("mass", values, SINGLE)
}

fn iterations(arguments: &Arguments<'_>) -> u32 {
    arguments.number("iterations").unwrap_or(100)
}

fn weights(graph: &Graph, arguments: &Arguments<'_>) -> Option<Weights> {
    graph.weights.filter(|_| !arguments.has("ignore-weights"))
}

/// Heat: a vertex's value goes towards the mean of its in-neighbours' by a part of the way; held vertices keep theirs.
pub fn heat(in_lists: &Csr, weights: Option<Weights>, held: &[(u32, f32)], alpha: f64, iterations: u32) -> Vec<f64> {
    averaged(in_lists, weights, held, true, iterations, |old, mean, _| (1.0 - alpha) * old + alpha * mean)
}

/// Voltages: every value but the held ones becomes the mean.
pub fn circuit(in_lists: &Csr, weights: Option<Weights>, held: &[(u32, f32)], iterations: u32) -> Vec<f64> {
    averaged(in_lists, weights, held, true, iterations, |_, mean, _| mean)
}

/// Adsorption of one label.
pub fn adsorption(
    in_lists: &Csr,
    weights: Option<Weights>,
    seeds: &[(u32, f32)],
    inject: f64,
    abandon: f64,
    iterations: u32,
) -> Vec<f64> {
    averaged(in_lists, weights, seeds, false, iterations, |_, mean, seed| {
        (1.0 - inject - abandon) * mean + inject * seed
    })
}

/// Values from 0 but at `given`; `renew` makes a new one of the old one, the mean by weight, and what was given.
fn averaged(
    in_lists: &Csr,
    weights: Option<Weights>,
    given: &[(u32, f32)],
    holds: bool,
    iterations: u32,
    renew: impl Fn(f64, f64, f64) -> f64,
) -> Vec<f64> {
    let value = |bits: u32| f64::from(f32::from_bits(bits));
    match weights {
        Some(Weights::F32) => {
            let list = |vertex| in_lists.weighted(vertex).map(move |(from, bits)| (from, value(bits)));
            averaged_by(in_lists.vertices(), list, given, holds, iterations, renew)
        }
        Some(Weights::U32) => {
            let list = |vertex| in_lists.weighted(vertex).map(|(from, weight)| (from, f64::from(weight)));
            averaged_by(in_lists.vertices(), list, given, holds, iterations, renew)
        }
        None => {
            let list = |vertex| in_lists.list(vertex).iter().map(|&from| (from, 1.0));
            averaged_by(in_lists.vertices(), list, given, holds, iterations, renew)
        }
    }
}

/// The iteration over lists of neighbours with their weights.
fn averaged_by<L: Iterator<Item = (u32, f64)>>(
    vertices: usize,
    list: impl Fn(usize) -> L,
    given: &[(u32, f32)],
    holds: bool,
    iterations: u32,
    renew: impl Fn(f64, f64, f64) -> f64,
) -> Vec<f64> {
    let norms: Vec<f64> = (0..vertices).map(|vertex| list(vertex).map(|(_, weight)| weight).sum()).collect();
    let mut first = vec![0.0f32; vertices];
    given.iter().for_each(|&(vertex, value)| first[vertex as usize] = value);
    let mut values = first.clone();
    for _ in 0..iterations {
        let sum = |vertex| list(vertex).map(|(from, weight)| weight * f64::from(values[from as usize])).sum::<f64>();
        let renewed = |vertex: usize| {
            let mean = if norms[vertex] > 0.0 { sum(vertex) / norms[vertex] } else { 0.0 };
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
    use super::*;
    use crate::graph::tests::{lists, random_graphs};
    const F32: Option<Weights> = Some(Weights::F32);

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
        near(&circuit(&ones(&[(0, 1), (1, 2), (2, 3)]), F32, &[(0, 3.0), (3, 0.0)], 200), &[3.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn heat_goes_half_of_the_way() {
        let lists = ones(&[(0, 1), (1, 2)]);
        near(&heat(&lists, F32, &[(0, 8.0)], 0.5, 1), &[8.0, 2.0, 0.0, 0.0]);
        near(&heat(&lists, F32, &[(0, 8.0)], 0.5, 2), &[8.0, 3.0, 1.0, 0.0]);
    }

    #[test]
    fn labels_are_injected_and_abandoned() {
        near(&adsorption(&ones(&[(0, 1)]), F32, &[(0, 1.0)], 0.25, 0.25, 1), &[0.25, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn as_by_a_dense_matrix() {
        for graph in random_graphs() {
            let lists = graph.graph(true);
            let means = Means::of(&graph);
            let found = heat(lists.in_lists(), None, &[(3, 5.0)], 0.25, 6);
            let expected = Linear::held(graph.vertices, 0.75, 0.25, &[(3, 5.0)]).iterations(&means, 6);
            Compare::Within(1e-5).check(&found, &expected).unwrap();
            let found = adsorption(lists.in_lists(), None, &[(3, 1.0)], 0.25, 0.05, 6);
            let expected = Linear::given(graph.vertices, 0.7, 0.25, &[3]).iterations(&means, 6);
            Compare::Within(1e-5).check(&found, &expected).unwrap();
        }
    }
}
