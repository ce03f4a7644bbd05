//! Label propagation as it is told: maps of labels, one for each vertex.

use super::EdgeList;
use std::collections::BTreeMap;

/// Everybody's label after some iterations.
pub fn communities(graph: &EdgeList, iterations: u32, directed: bool) -> Vec<f64> {
    let mut labels: Vec<u32> = (0..graph.vertices).collect();
    for _ in 0..iterations {
        let mut heard = vec![BTreeMap::<u32, u32>::new(); labels.len()];
        for &(source, dest) in &graph.edges {
            *heard[source as usize].entry(labels[dest as usize]).or_default() += 1;
            if directed {
                *heard[dest as usize].entry(labels[source as usize]).or_default() += 1;
            }
        }
        for (label, heard) in labels.iter_mut().zip(heard) {
            let most = heard.values().copied().max();
            if let Some((&first, _)) = heard.iter().find(|(_, count)| Some(**count) == most) {
                *label = first;
            }
        }
    }
    labels.into_iter().map(f64::from).collect()
}
