//! The graphs that tests of the store share.

use super::spec_reader::Triple;

/// Vertices of the canonical graph.
pub const VERTICES: u64 = 12;

/// The canonical small graph, in the order of its lists:
///
/// - no edges at all: vertices 0 (the first) and 11 (the last)
/// - the longest list: vertex 1, to everything from 1 to 10
/// - self-loops: 1 and 5
/// - duplicate edges: 2 → 3 (other weight), 8 → 9 (same weight)
/// - cycle: 2 → 4 → 6 → 2
/// - an edge in both directions: 9 ⇄ 10
/// - no out-edges, but in-edges: 7; no in-edges except from the hub: 8
/// - weights: the smallest, the largest, equal ones
pub const EDGES: [Triple; 22] = [
    (1, 1, 0),
    (1, 2, 7),
    (1, 3, 1),
    (1, 4, 1),
    (1, 5, u32::MAX as u64),
    (1, 6, 3),
    (1, 7, 2),
    (1, 8, 9),
    (1, 9, 4),
    (1, 10, 6),
    (2, 3, 5),
    (2, 3, 8),
    (2, 4, 1),
    (3, 7, 2),
    (4, 6, 1),
    (5, 5, 12),
    (6, 2, 1),
    (8, 9, 4),
    (8, 9, 4),
    (8, 10, 11),
    (9, 10, 13),
    (10, 9, 13),
];

/// Edges without their weights.
pub fn unweighted(edges: &[Triple]) -> Vec<Triple> {
    edges.iter().map(|&(u, v, _)| (u, v, 0)).collect()
}

/// Edges whose weights have more and more bits from one edge to the next, a few at a time, with a large one among them.
pub fn with_weights(edges: &[Triple]) -> Vec<Triple> {
    let weight = |i: usize| {
        let noise = (i as u32).wrapping_mul(0x9E37_79B9);
        let bits = if i % 61 == 5 { 32 } else { i / 150 % 33 };
        u64::from(1000 + (noise >> 1 & ((1u64 << bits) - 1) as u32))
    };
    edges.iter().enumerate().map(|(i, &(u, v, _))| (u, v, weight(i))).collect()
}

/// Edges whose weights are integers of 64 bits: the smallest, the largest, and what 32 bits or a double would change.
pub fn with_long_weights(edges: &[Triple]) -> Vec<Triple> {
    let values = [0, 1, 1 << 32, (1 << 53) + 1, 1 << 63, u64::MAX, 1_082_008_561_000];
    edges.iter().enumerate().map(|(i, &(u, v, _))| (u, v, values[i % values.len()])).collect()
}

/// Edges whose weights are the bits of an f64 that is no f32, and zero of both signs.
pub fn with_double_weights(edges: &[Triple]) -> Vec<Triple> {
    let values = [0.1f64, -0.1, 0.0, -0.0, 1e300, 5e-324, 9_007_199_254_740_991.0, 1.0 / 3.0];
    edges.iter().enumerate().map(|(i, &(u, v, _))| (u, v, values[i % values.len()].to_bits())).collect()
}

/// Vertices of the graph with a hub.
pub const HUB_VERTICES: u64 = 1003;

/// Vertex 1 has a list of 9000 neighbours, nine times every vertex below 1000. With an encoding of 8 bytes, that is
/// more than a page of 64 KiB holds. Vertices 2 and 1002 have edges to it. Vertices 1000 and 1001 are isolated.
pub fn hub() -> Vec<Triple> {
    let list = (0..9000).map(|i| (1, i / 9, i));
    list.chain([(2, 1, 70_000), (2, 1002, 1), (1002, 1, 2)]).collect()
}

/// The edges in the order of in-lists: by destination, source, weight.
pub fn by_destination(edges: &[Triple]) -> Vec<Triple> {
    let mut sorted = edges.to_vec();
    sorted.sort_by_key(|&(u, v, w)| (v, u, w));
    sorted
}
