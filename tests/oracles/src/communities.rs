//! Communities by label propagation.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};

/// `communities [--max-iterations N]`: labels.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let iterations = arguments.number("max-iterations").unwrap_or(10);
    let labels = match graph.directed {
        false => labels(&[&graph.out_lists], iterations),
        true => labels(&[&graph.out_lists, graph.in_lists()], iterations),
    };
    Answer::of("community", labels, Compare::Exact)
}

/// The labels of a graph of edges after some iterations; in a directed one, neighbours count both ways.
pub fn communities(graph: &EdgeList, iterations: u32, directed: bool) -> Vec<f64> {
    let graph = graph.graph(true);
    match directed {
        false => labels(&[&graph.out_lists], iterations),
        true => labels(&[&graph.out_lists, graph.in_lists()], iterations),
    }
}

/// Labels after some iterations by Graphalytics' rule: the one that most neighbours in any of these lists have, of
/// several the least. Counts lie in an array by label.
pub fn labels(lists: &[&Csr], iterations: u32) -> Vec<f64> {
    let mut labels: Vec<u32> = (0..lists[0].vertices() as u32).collect();
    let (mut next, mut counts) = (labels.clone(), vec![0u32; lists[0].vertices()]);
    for _ in 0..iterations {
        for (vertex, chosen) in next.iter_mut().enumerate() {
            let mut best = (0, labels[vertex]);
            for list in lists.iter().map(|lists| lists.list(vertex)) {
                for &neighbour in list {
                    let label = labels[neighbour as usize];
                    counts[label as usize] += 1;
                    let count = counts[label as usize];
                    if count > best.0 || (count == best.0 && label < best.1) {
                        best = (count, label);
                    }
                }
            }
            for list in lists.iter().map(|lists| lists.list(vertex)) {
                list.iter().for_each(|&neighbour| counts[labels[neighbour as usize] as usize] = 0);
            }
            *chosen = best.1;
        }
        std::mem::swap(&mut labels, &mut next);
        if labels == next {
            break;
        }
    }
    labels.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::undirected;

    #[test]
    fn ties_go_to_the_least_label() {
        // 0 - 1 - 2 - 3: each takes the lesser neighbour's label; 4 has none.
        let path = undirected(5, &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(labels(&[&path.out_lists], 0), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(labels(&[&path.out_lists], 1), [1.0, 0.0, 1.0, 2.0, 4.0]);
        assert_eq!(labels(&[&path.out_lists], 2), [0.0, 1.0, 0.0, 1.0, 4.0]);
    }

    #[test]
    fn most_win() {
        let star = undirected(5, &[(0, 4), (1, 4), (2, 4), (3, 4), (0, 1)]);
        assert_eq!(labels(&[&star.out_lists], 2)[4], 4.0);
    }
}
