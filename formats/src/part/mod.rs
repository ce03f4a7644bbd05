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
//! that the parts of all ranks are those of one graph.

mod check;
mod path;

pub use check::{PartIdentity, PartReport, check_parts, open_for};
pub use path::{PartPath, host_name};

use crate::error::{Error, Result};
use crate::manifest::{Manifest, check_ends};
use crate::random::GOLDEN;
use crate::shard::SHARDS_MAX;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;
use std::path::Path;

/// The maximum number of parts of a graph.
pub const PARTS_MAX: u32 = SHARDS_MAX;

/// Which part of a graph a store has, and what the whole graph is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartManifest {
    /// The part's number, from 0.
    pub number: u32,
    /// For each part, the vertex after the last one that it owns. The first one is the end of the part before, or 0.
    pub ends: Vec<u64>,
    /// The hash of the part's edges.
    pub edges_hash: EdgesHash,
    /// Figures of the whole graph, the same in all parts.
    pub whole: WholeFigures,
}

/// Figures of a whole graph that is divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WholeFigures {
    /// The number of directed edges in all parts together.
    pub edges: u64,
    /// The hash of all edges.
    pub edges_hash: EdgesHash,
    /// The largest out-degree.
    pub degree_max: u32,
}

impl PartManifest {
    /// The number of parts of the graph, at least 1.
    pub fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The vertices that each part owns, in order. They partition all vertices; some may be empty.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        ranges(&self.ends)
    }

    /// The vertices that this part owns: the destinations of its edges.
    pub fn own(&self) -> Range<u64> {
        let number = self.number as usize;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..self.ends[number]
    }

    /// The part among all, for people.
    pub fn place(&self) -> String {
        format!("part {} of 0 to {}", self.number, self.count() - 1)
    }

    /// Checks the part against the rest of its manifest; errors name `path`.
    pub(crate) fn validate(&self, manifest: &Manifest, path: &Path) -> Result<()> {
        let wrong = |expected: String, found: String| Err(Error::file(path, expected, found));
        if self.ends.is_empty() || self.ends.len() > PARTS_MAX as usize {
            return wrong(format!("1 to {PARTS_MAX} parts"), self.ends.len().to_string());
        }
        if self.number >= self.count() {
            return wrong(format!("a part from 0 to {}", self.count() - 1), self.number.to_string());
        }
        check_ends("part", self.ends.iter().copied(), manifest.vertices, path)?;
        let last = self.ends[self.ends.len() - 1];
        if last != manifest.vertices {
            return wrong(format!("the last part to end at {}", manifest.vertices), last.to_string());
        }
        if manifest.out.shards.is_some() {
            return wrong("a part whose lists are not grouped".into(), "shards".into());
        }
        if !can_divide(manifest) {
            return wrong("a part with vertex ids or packed pages".into(), "record ids".into());
        }
        let (own, whole) = ((manifest.edges, self.edges_hash), (self.whole.edges, self.whole.edges_hash));
        if own.0 > whole.0 || (self.count() == 1 && own != whole) {
            return wrong(format!("edges among the {} of the whole graph", whole.0), format!("{own:?}"));
        }
        Ok(())
    }
}

/// Whether stores with this encoding can be parts: addresses of records would need those of all vertices.
fn can_divide(manifest: &Manifest) -> bool {
    !matches!(manifest.encoding, crate::Encoding::RecordId { .. })
}

/// Ranges of vertices by their ends.
pub fn ranges(ends: &[u64]) -> Vec<Range<u64>> {
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(ends).map(|(begin, &end)| begin..end).collect()
}

/// The tag of a part's pages: parts of a graph have different ones, so that their files are told apart.
pub fn tag_of(whole: u32, number: u32) -> u32 {
    crate::checksum::crc32c(format!("part {number} of {whole:08x}").as_bytes())
}

/// A sum of the hashes of edges. It does not depend on their order, and hashes of parts add up to that of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgesHash(pub u64);

impl EdgesHash {
    /// Adds an edge with the bits of its weight, 0 without weights.
    #[inline]
    pub fn add(&mut self, source: u32, dest: u32, weight: u64) {
        self.0 = self.0.wrapping_add(edge_hash(source, dest, weight));
    }

    /// The sum of several.
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().fold(0, |sum, part| sum.wrapping_add(part.0)))
    }
}

impl std::fmt::Display for EdgesHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for EdgesHash {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EdgesHash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let is_written_so = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = is_written_so.then(|| u64::from_str_radix(&text, 16).ok()).flatten();
        number.map(Self).ok_or_else(|| serde::de::Error::custom(format!("{text:?}: expected 16 hexadecimal digits")))
    }
}

/// The hash of an edge: sums of it tell multisets of edges apart.
#[inline]
pub fn edge_hash(source: u32, dest: u32, weight: u64) -> u64 {
    let mixed = (u64::from(source) << 32 | u64::from(dest)).wrapping_mul(GOLDEN);
    let mixed = (mixed ^ mixed >> 32 ^ weight).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ mixed >> 32
}
