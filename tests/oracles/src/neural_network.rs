//! A neural network: sums in `f64`, pushed along out-lists.

use crate::{Answer, Arguments, Compare, Graph, Weights};

/// `neural-network [--input V=X] [--activation F] [--initial X] --iterations N [--ignore-weights]`: values.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let activation = match arguments.get("activation") {
        None | Some("tanh") => f64::tanh,
        Some("sigmoid") => |x: f64| 1.0 / (1.0 + (-x).exp()),
        Some("relu") => |x: f64| if x > 0.0 { x } else { 0.0 },
        Some(other) => panic!("--activation {other}"),
    };
    let weights = graph.weights.filter(|_| !arguments.has("ignore-weights"));
    let first = arguments.number("initial").unwrap_or(1.0);
    let (inputs, iterations) = (arguments.held("input", graph), arguments.number("iterations").unwrap_or(100));
    let values = network(graph, weights, activation, first, &inputs, iterations);
    Answer::of("value", values, Compare::Within(1e-3))
}

/// Values after this many iterations.
pub fn network(
    graph: &Graph,
    weights: Option<Weights>,
    activation: fn(f64) -> f64,
    first: f64,
    inputs: &[(u32, f32)],
    iterations: u32,
) -> Vec<f64> {
    let mut values = vec![first; graph.vertices()];
    let hold = |values: &mut Vec<f64>| inputs.iter().for_each(|&(vertex, at)| values[vertex as usize] = at.into());
    hold(&mut values);
    for _ in 0..iterations {
        let mut sums = vec![0.0; graph.vertices()];
        for (source, value) in values.iter().enumerate() {
            match weights {
                None => graph.out_lists.list(source).iter().for_each(|&dest| sums[dest as usize] += value),
                Some(of) => graph.out_lists.weighted(source).for_each(|(dest, bits)| {
                    let weight = if of == Weights::F32 { f32::from_bits(bits).into() } else { f64::from(bits) };
                    sums[dest as usize] += weight * value;
                }),
            }
        }
        values = sums.into_iter().map(activation).collect();
        hold(&mut values);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeList;

    /// A chain of two neurons behind an input.
    #[test]
    fn values_go_along_a_chain() {
        let graph = EdgeList::new(3, vec![(0, 1), (1, 2)]).graph(true);
        let found = network(&graph, None, f64::tanh, 1.0, &[(0, 0.5)], 2);
        assert_eq!(found, [0.5, 0.5f64.tanh(), 0.5f64.tanh().tanh()]);
    }
}
