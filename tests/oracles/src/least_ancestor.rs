//! The least vertex that each vertex can be reached from: edges, until nothing changes.

use crate::EdgeList;

/// The least vertex that each vertex can be reached from.
pub fn least_ancestors(graph: &EdgeList) -> Vec<u32> {
    let mut least: Vec<u32> = (0..graph.vertices).collect();
    loop {
        let before = least.clone();
        for &(source, dest) in &graph.edges {
            least[dest as usize] = least[dest as usize].min(least[source as usize]);
        }
        if least == before {
            return least;
        }
    }
}
