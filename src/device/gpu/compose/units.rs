//! The division of pages into units, the shares of workgroups.

use super::layout::{BatchPage, LARGE_CHUNK, WORKGROUP, edges_per_unit};
use topostream_formats::packed::PackedPage;
use topostream_formats::page::{Page, PageDefect};

/// Units of a page under the `lists` kernel.
pub fn list_units(page: &BatchPage) -> u32 {
    match page.degree {
        0 => page.slot_count.div_ceil(WORKGROUP),
        _ => page.edge_count.div_ceil(LARGE_CHUNK),
    }
}

/// Units of a page under the `segments` kernel.
pub fn segment_units(edge_count: u32, weights: bool) -> u32 {
    edge_count.div_ceil(edges_per_unit(weights))
}

/// Appends a page's rows for the `segments` kernel: for each unit the slot that its first edge belongs to, then the
/// number of slots.
pub fn append_rows(page: &Page<'_>, weights: bool, rows: &mut Vec<u32>) {
    let header = page.header();
    let per_unit = edges_per_unit(weights);
    for unit in 0..segment_units(header.edge_count, weights) {
        // The last slot that begins at or before the edge precedes the first one that begins after it.
        rows.push(page.first_slot_from(unit * per_unit + 1) - 1);
    }
    rows.push(header.slot_count);
}

/// Appends the rows of a packed page, of which no neighbour is decoded.
///
/// # Errors
/// A defect of the packed degrees.
pub fn append_packed_rows(page: &PackedPage<'_>, weights: bool, rows: &mut Vec<u32>) -> Result<(), PageDefect> {
    let header = page.header();
    for unit in 0..segment_units(header.edge_count, weights) {
        rows.push(page.slot_of(unit * edges_per_unit(weights))?);
    }
    rows.push(header.slot_count);
    Ok(())
}
