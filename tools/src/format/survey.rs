//! What a sample of edges shows about a graph, for hints: a list of undirected edges, or of two kinds of vertices.
//!
//! A vertex or an unordered pair is in the sample if its hash is below a bound. The bound is halved whenever the sample
//! is full, so both directions of an edge, and all edges of a vertex, are counted or none of them.

use std::collections::HashMap;
use topostream_formats::random::GOLDEN;

/// The size at which a sample is halved.
const SAMPLE_MAX: usize = 1 << 13;
/// The least number of members from which anything is concluded.
const MEMBERS_MIN: usize = 32;

/// What was seen in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Edges from a vertex to itself.
    pub self_loops: u64,
    /// Whether the edges look like those of an undirected graph: each in one direction, or each in both.
    pub undirected: Option<Undirected>,
    /// Whether no vertex has both an edge that leaves it and one that enters it: two kinds of vertices.
    pub bipartite: bool,
    /// Edges whose reverse was in a list that was symmetrized: they are kept as often as in one direction.
    pub both_ways: u64,
    /// Rows of a table that were left out, since they do not meet conditions.
    pub left_out: u64,
}

/// Why a graph looks undirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undirected {
    /// Every edge has its reverse.
    BothWays,
    /// Every edge leads from the smaller to the larger id, or every one from the larger to the smaller.
    OneWay,
}

/// A sample that halves itself.
#[derive(Default)]
struct Sample<K> {
    members: HashMap<K, u8>,
    shift: u32,
}

impl<K: std::hash::Hash + Eq> Sample<K> {
    #[inline]
    fn add(&mut self, hash: u64, key: impl FnOnce() -> K, flags: u8) {
        if self.shift == 0 || hash >> (64 - self.shift) == 0 {
            self.insert(key(), flags);
        }
    }

    #[cold]
    fn insert(&mut self, key: K, flags: u8) {
        *self.members.entry(key).or_default() |= flags;
    }

    /// Keeps half of the members if there are too many.
    fn trim(&mut self, hash: impl Fn(&K) -> u64) {
        while self.members.len() > SAMPLE_MAX {
            self.shift += 1;
            let shift = self.shift;
            self.members.retain(|key, _| hash(key) >> (64 - shift) == 0);
        }
    }
}

/// Counts edges as they are read.
#[derive(Default)]
pub struct Survey {
    pairs: Sample<(u64, u64)>,
    vertices: Sample<u64>,
    self_loops: u64,
    ascending: bool,
    descending: bool,
}

#[inline]
fn hash(id: u64) -> u64 {
    let mixed = (id ^ id >> 32).wrapping_mul(GOLDEN);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

#[inline]
fn pair_hash(&(low, high): &(u64, u64)) -> u64 {
    hash(hash(low) ^ high.rotate_left(17))
}

impl Survey {
    /// Counts an edge of the input.
    #[inline]
    pub fn add(&mut self, source: u64, dest: u64) {
        if source == dest {
            self.self_loops += 1;
            return;
        }
        self.ascending |= source < dest;
        self.descending |= source > dest;
        let pair = (source.min(dest), source.max(dest));
        self.pairs.add(pair_hash(&pair), || pair, if source < dest { 1 } else { 2 });
        self.vertices.add(hash(source), || source, 1);
        self.vertices.add(hash(dest), || dest, 2);
        if self.pairs.members.len() > SAMPLE_MAX {
            self.pairs.trim(pair_hash);
        }
        if self.vertices.members.len() > SAMPLE_MAX {
            self.vertices.trim(|&id| hash(id));
        }
    }

    /// What was seen.
    pub fn seen(&self) -> Seen {
        let (pairs, vertices) = (&self.pairs.members, &self.vertices.members);
        let enough = pairs.len() >= MEMBERS_MIN;
        let undirected = match () {
            () if enough && pairs.values().all(|&flags| flags == 3) => Some(Undirected::BothWays),
            () if enough && self.ascending != self.descending => Some(Undirected::OneWay),
            () => None,
        };
        let bipartite = vertices.len() >= MEMBERS_MIN && vertices.values().all(|&flags| flags != 3);
        Seen { self_loops: self.self_loops, undirected, bipartite, both_ways: 0, left_out: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(edges: impl IntoIterator<Item = (u64, u64)>) -> Seen {
        let mut survey = Survey::default();
        edges.into_iter().for_each(|(source, dest)| survey.add(source, dest));
        assert!(survey.pairs.members.len() <= SAMPLE_MAX && survey.vertices.members.len() <= SAMPLE_MAX);
        survey.seen()
    }

    #[test]
    fn what_edges_look_like() {
        let ring = |at: u64| (at * 7 % 100_003, (at + 1) * 7 % 100_003);
        let plain = survey((0..50_000).map(ring));
        assert_eq!(plain, Seen::default());
        let both = survey((0..50_000).map(ring).chain((0..50_000).map(ring).map(|(a, b)| (b, a))));
        assert_eq!(both.undirected, Some(Undirected::BothWays));
        let one_way = survey((0..50_000).map(ring).map(|(a, b)| (a.max(b), a.min(b))).chain([(5, 5)]));
        assert_eq!((one_way.undirected, one_way.self_loops), (Some(Undirected::OneWay), 1));
        let bipartite = survey((0..50_000).map(|at| (at % 1000, 100_000 - at % 777)));
        assert!(bipartite.bipartite);
        // A few edges show nothing.
        assert_eq!(survey((0..20).map(|at| (at, at + 1))), Seen::default());
    }
}
