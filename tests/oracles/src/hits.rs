//! HITS: hubs and authorities in `f64`, edge by edge.

use crate::{Answer, Arguments, Compare, Graph};

/// `hits --iterations N`: hubs and authorities, each with a sum of 1.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let (hubs, authorities) = hits(graph, arguments.number("iterations").unwrap_or(100));
    Answer { columns: vec![("hub", hubs), ("authority", authorities)], compare: Compare::Within(1e-3) }
}

/// The hubs after this many iterations, and the authorities that follow from them.
pub fn hits(graph: &Graph, iterations: u32) -> (Vec<f64>, Vec<f64>) {
    let vertices = graph.vertices();
    let edges: Vec<(usize, usize)> = (0..vertices)
        .flat_map(|source| graph.out_lists.list(source).iter().map(move |&dest| (source, dest as usize)))
        .collect();
    let gathered = |values: &[f64], from_hubs: bool| {
        let mut sums = vec![0.0; vertices];
        for &(source, dest) in &edges {
            if from_hubs { sums[dest] += values[source] } else { sums[source] += values[dest] }
        }
        scaled(sums)
    };
    let mut hubs = scaled(vec![1.0; vertices]);
    for _ in 0..iterations {
        hubs = gathered(&gathered(&hubs, true), false);
    }
    let authorities = gathered(&hubs, true);
    (hubs, authorities)
}

fn scaled(values: Vec<f64>) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    values.into_iter().map(|value| if sum > 0.0 { value / sum } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeList;

    /// Two hubs, one of which leads to an authority more.
    #[test]
    fn a_hub_of_more_authorities_is_a_better_one() {
        let graph = EdgeList::new(4, vec![(0, 2), (0, 3), (1, 2)]).graph(true);
        let (hubs, authorities) = hits(&graph, 100);
        // The singular vectors of [[1, 1], [1, 0]] are those of the golden ratio.
        let golden = (1.0 + 5f64.sqrt()) / 2.0;
        assert!((hubs[0] / hubs[1] - golden).abs() < 1e-9 && (authorities[2] / authorities[3] - golden).abs() < 1e-9);
        assert_eq!((hubs[2], hubs[3], authorities[0], authorities[1]), (0.0, 0.0, 0.0, 0.0));
    }
}
