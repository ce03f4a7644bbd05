//! Unit rows: where in a page's slots each equal share of edges begins.
//!
//! The `segments` kernel gives every workgroup the same number of edges. Whose edges they are, a binary search in the
//! page's slots says; done here, once a page, instead of by every workgroup over the bus.

use topostream_formats::page::Page;

/// For each unit of `unit_edges` edges the slot whose record holds the unit's first edge, and at the end the slot count.
/// Empty for a page without edges.
pub fn unit_row(page: &Page<'_>, unit_edges: u32) -> Vec<u32> {
    let header = page.header();
    if header.edge_count == 0 {
        return Vec::new();
    }
    // The last slot that begins at or before an edge is the one before the first that begins behind it.
    let holds = |edge: u32| page.first_slot_from(edge + 1) - 1;
    let firsts = (0..header.edge_count).step_by(unit_edges as usize).map(holds);
    firsts.chain([header.slot_count]).collect()
}

/// The most words that a row has, for pages of at most `edges_max` edges.
pub fn row_words(edges_max: u64, unit_edges: u32) -> u64 {
    edges_max.div_ceil(u64::from(unit_edges)) + 1
}
