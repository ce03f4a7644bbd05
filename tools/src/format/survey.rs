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
    /// Whether the graph looks undirected: every edge is there in one direction only, or every edge in both.
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

/// Whether a hash is below the bound of a sample that was halved this often.
#[inline]
fn is_below(hash: u64, shift: u32) -> bool {
    shift == 0 || hash >> (64 - shift) == 0
}

impl<K: Copy + std::hash::Hash + Eq> Sample<K> {
    /// Adds those that are in the sample, and keeps half of its members whenever there are too many.
    fn take(&mut self, found: &[(K, u8)], hash: impl Fn(&K) -> u64) {
        for (key, flags) in found {
            if !is_below(hash(key), self.shift) {
                continue;
            }
            *self.members.entry(*key).or_default() |= flags;
            while self.members.len() > SAMPLE_MAX {
                self.shift += 1;
                let shift = self.shift;
                self.members.retain(|key, _| is_below(hash(key), shift));
            }
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

/// The hash of a pair, in any order, from the hashes of its ids.
#[inline]
fn hash_of_both(one: u64, other: u64) -> u64 {
    let sum = one.wrapping_add(other);
    (sum ^ sum >> 31).wrapping_mul(GOLDEN)
}

/// How often the samples of pairs and of vertices have been halved.
#[derive(Clone, Copy)]
pub struct Halvings {
    pairs: u32,
    vertices: u32,
}

impl Halvings {
    /// Whether few edges are in samples.
    pub fn leave_few(self) -> bool {
        self.pairs.min(self.vertices) >= 2
    }
}

/// What some edges show: most are in no sample.
#[derive(Default)]
pub struct Sight {
    pairs: Vec<((u64, u64), u8)>,
    vertices: Vec<(u64, u8)>,
    self_loops: u64,
    ascending: bool,
    descending: bool,
}

impl Sight {
    /// Forgets all edges.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.vertices.clear();
        (self.self_loops, self.ascending, self.descending) = (0, false, false);
    }

    /// Counts an edge of the input, for samples that have been halved this often or more.
    #[inline]
    pub fn add(&mut self, halvings: Halvings, source: u64, dest: u64) {
        if source == dest {
            self.self_loops += 1;
            return;
        }
        self.ascending |= source < dest;
        self.descending |= source > dest;
        let (hash_of_source, hash_of_dest) = (hash(source), hash(dest));
        if is_below(hash_of_both(hash_of_source, hash_of_dest), halvings.pairs) {
            self.pairs.push(((source.min(dest), source.max(dest)), if source < dest { 1 } else { 2 }));
        }
        if is_below(hash_of_source, halvings.vertices) {
            self.vertices.push((source, 1));
        }
        if is_below(hash_of_dest, halvings.vertices) {
            self.vertices.push((dest, 2));
        }
    }
}

impl Survey {
    /// What decides which edges are in no sample.
    pub fn halvings(&self) -> Halvings {
        Halvings { pairs: self.pairs.shift, vertices: self.vertices.shift }
    }

    /// Adds what edges show.
    pub fn take(&mut self, sight: &Sight) {
        self.self_loops += sight.self_loops;
        self.ascending |= sight.ascending;
        self.descending |= sight.descending;
        self.pairs.take(&sight.pairs, |&(low, high)| hash_of_both(hash(low), hash(high)));
        self.vertices.take(&sight.vertices, |&id| hash(id));
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
        let (mut survey, mut sight) = (Survey::default(), Sight::default());
        for (number, (source, dest)) in edges.into_iter().enumerate() {
            sight.add(survey.halvings(), source, dest);
            if number % 1000 == 999 {
                survey.take(&sight);
                sight.clear();
            }
        }
        survey.take(&sight);
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
