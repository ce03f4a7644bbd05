//! Partial stores: a part of a graph for each of several machines that work on it together.
//!
//! ```text
//!  destinations   0 ········ 128 ········· 320 ······ 500
//!  parts          └ part 0    └ part 1      └ part 2          each a folder on another machine, with
//!                                                             every vertex, and the edges into its range
//! ```
//!
//! A part is a store of its own: its pages are numbered from 0, and nothing in it refers to another part. What makes it
//! one of several is the manifest's member `part`. [`open_for`] opens the part of a rank, and [`check_parts`] checks
//! that the parts of all ranks make up one graph.

mod check;
mod path;

pub use check::{PartIdentity, PartReport, check_parts, open_for};
pub use path::{PartPath, host_name};

use crate::checksum::crc32c;

pub use crate::manifest::{EdgesHash, PARTS_MAX, PartManifest, WholeFigures, edge_hash, ranges};

/// The tag of a part's pages: parts of a graph have different ones, so that their files are told apart.
pub fn tag_of(whole: u32, number: u32) -> u32 {
    crc32c(format!("part {number} of {whole:08x}").as_bytes())
}
