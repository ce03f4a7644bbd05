//! Hops from several sources, along edges, against them or either way: as many passes over the edge vector as there are hops.

use super::EdgeList;

/// Which way a hop goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Along,
    Against,
    Either,
}

/// The hops of every vertex from the nearest source; none beyond the bound.
pub fn hops(graph: &EdgeList, sources: &[u32], way: Way, hops_max: u64) -> Vec<Option<u64>> {
    let mut found: Vec<Option<u64>> =
        (0..graph.vertices).map(|vertex| sources.contains(&vertex).then_some(0)).collect();
    for hop in 1..=hops_max {
        let before = found.clone();
        let mut pass = |from: u32, to: u32| {
            if before[from as usize] == Some(hop - 1) && before[to as usize].is_none() {
                found[to as usize] = Some(hop);
            }
        };
        for &(source, dest) in &graph.edges {
            if way != Way::Against {
                pass(source, dest);
            }
            if way != Way::Along {
                pass(dest, source);
            }
        }
        if found == before {
            break;
        }
    }
    found
}
