//! Which part of a graph a store has, as its manifest says it.

use crate::random::GOLDEN;
use crate::shard::SHARDS_MAX;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;

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
}

/// Ranges of vertices by their ends.
pub fn ranges(ends: &[u64]) -> Vec<Range<u64>> {
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(ends).map(|(begin, &end)| begin..end).collect()
}

/// A sum of the hashes of edges. It does not depend on their order, and the hashes of parts add up to the hash of the
/// whole.
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
