//! Checks that an undirected input lists each edge at both ends.
//!
//! ```text
//!  each edge ─▶ + hash of its ends and weight, from the smaller end; − from the larger ─▶ 0 in the end, or an error:
//!  some passes over the edges, 16 bits of (smaller, larger, weight) each ─▶ an edge that lacks its reverse ─▶
//!  the input once more ─▶ its line
//! ```
//!
//! The sum of keyed hashes takes no memory. For an unbalanced list it is 0 with a probability of 2^-64.

use super::naming::Naming;
use super::source::OpenSource;
use crate::progress::Cancel;
use crate::sorting::record::{Record, unsortable};
use crate::sorting::sorter::Collected;
use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use topostream_formats::{Edge, Error, Result, WeightType};

/// The bits of an edge's key that one pass determines: 2^16 sums take half a MiB.
const PASS_BITS: u32 = 16;

/// Adds up edges in both directions.
pub struct Balance {
    key: u64,
    sum: u64,
}

impl Default for Balance {
    fn default() -> Self {
        Self { key: RandomState::new().hash_one(0), sum: 0 }
    }
}

impl Balance {
    /// Counts an edge between two original ids.
    #[inline]
    pub fn add(&mut self, source: u64, dest: u64, weight: u64) {
        let hash = hash(self.key, source.min(dest), source.max(dest), weight);
        match source.cmp(&dest) {
            Ordering::Less => self.sum = self.sum.wrapping_add(hash),
            Ordering::Greater => self.sum = self.sum.wrapping_sub(hash),
            Ordering::Equal => {}
        }
    }

    /// A sum of no edges yet that can be merged into this one.
    pub fn empty(&self) -> Self {
        Self { key: self.key, sum: 0 }
    }

    /// Adds the edges of another sum.
    pub fn merge(&mut self, other: &Self) {
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Whether each edge has occurred as often as its reverse.
    pub fn is_even(&self) -> bool {
        self.sum == 0
    }
}

/// The hash of an edge for such sums.
#[inline]
fn hash(key: u64, smaller: u64, larger: u64, weight: u64) -> u64 {
    let mixed = smaller ^ key;
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x94D0_49BB_1331_11EB);
    let mixed = (mixed ^ mixed >> 31 ^ larger.rotate_left(32)).wrapping_mul(topostream_formats::random::GOLDEN);
    let mixed = (mixed ^ mixed >> 29 ^ weight.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_add(key);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 31
}

/// The error about an edge without its reverse, located in the input. `place` is the input as a whole.
pub fn error<R: Record>(
    edges: &Collected<R>,
    naming: &Naming,
    weights: Option<WeightType>,
    place: &str,
    open: &mut OpenSource<'_>,
    cancel: &Cancel,
) -> Error {
    let lonely = match find(edges) {
        Ok(Some(lonely)) => lonely,
        // Two edges with the same hash: the sum shows a defect that the passes cannot find.
        Ok(None) => {
            return Error::Invalid(format!("{place}: expected every edge in both directions, found some in one"));
        }
        Err(error) => return error,
    };
    let bits = weights.map_or(0, |of| unsortable(lonely.weight, of));
    let edge = Edge { source: naming.original(lonely.source), dest: naming.original(lonely.dest), weight: bits };
    let place = locate(&edge, weights.is_some(), open, cancel).unwrap_or_else(|| place.to_owned());
    let weight = weights.map_or(String::new(), |of| format!(" with weight {}", of.text(bits)));
    let Edge { source, dest, .. } = edge;
    Error::Invalid(format!(
        "{place}: expected the edge from {dest} to {source}{weight} as often as that from {source} to {dest}, since \
         the graph is undirected and lists each edge at both ends; found {} and {}",
        lonely.against, lonely.along
    ))
}

/// An edge that occurs more often than its reverse, and both counts.
#[derive(Debug)]
struct Lonely {
    source: u32,
    dest: u32,
    weight: u64,
    along: u64,
    against: u64,
}

/// The least edge, by its smaller end, whose directions occur differently often.
fn find<R: Record>(edges: &Collected<R>) -> Result<Option<Lonely>> {
    let hash_key = RandomState::new().hash_one(0);
    let mut known = 0u128;
    let weight_bits = 8 * R::WEIGHT_BYTES as u32;
    let key_bits = 64 + weight_bits;
    for pass in 1..=key_bits / PASS_BITS {
        let below = key_bits - pass * PASS_BITS;
        let mut sums = vec![0u64; 1 << PASS_BITS];
        edges.for_each_unordered(|records| {
            for &record in records {
                let (source, dest, weight) = record.parts();
                let key = key(source, dest, weight, weight_bits);
                if source == dest || key.checked_shr(below + PASS_BITS).unwrap_or(0) != known {
                    continue;
                }
                let sum = &mut sums[(key >> below) as usize & ((1 << PASS_BITS) - 1)];
                let hash = hash(hash_key, source.min(dest).into(), source.max(dest).into(), weight);
                *sum = if source < dest { sum.wrapping_add(hash) } else { sum.wrapping_sub(hash) };
            }
            Ok(())
        })?;
        let Some(uneven) = sums.iter().position(|&sum| sum != 0) else { return Ok(None) };
        known = known << PASS_BITS | uneven as u128;
    }
    let ends = (known >> weight_bits) as u64;
    let (smaller, larger) = ((ends >> 32) as u32, ends as u32);
    let weight = (known & ((1 << weight_bits) - 1)) as u64;
    let (mut up, mut down) = (0, 0);
    edges.for_each_unordered(|records| {
        for &record in records {
            up += u64::from(record.parts() == (smaller, larger, weight));
            down += u64::from(record.parts() == (larger, smaller, weight));
        }
        Ok(())
    })?;
    let (source, dest) = if up > down { (smaller, larger) } else { (larger, smaller) };
    Ok(Some(Lonely { source, dest, weight, along: up.max(down), against: up.min(down) }))
}

fn key(source: u32, dest: u32, weight: u64, weight_bits: u32) -> u128 {
    let ends = u64::from(source.min(dest)) << 32 | u64::from(source.max(dest));
    u128::from(ends) << weight_bits | u128::from(weight)
}

/// The position of an edge in the input; `None` if the input cannot be read again.
fn locate(edge: &Edge, weighted: bool, open: &mut OpenSource<'_>, cancel: &Cancel) -> Option<String> {
    let mut source = open().ok()?;
    let mut chunk = Vec::new();
    loop {
        source.read(&mut chunk).ok()?;
        if chunk.is_empty() || cancel.is_cancelled() {
            return None;
        }
        let same = |found: &Edge| {
            (found.source, found.dest) == (edge.source, edge.dest) && (!weighted || found.weight == edge.weight)
        };
        if let Some(index) = chunk.iter().position(same) {
            return Some(source.place_of(index, edge));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sorting::record::Wide;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Compared with counts of each edge in a table.
        #[test]
        fn finds_unbalanced_edges(
            mut edges in prop::collection::vec((0u32..6, 0u32..6, 0u64..3), 0..20),
            both_ways: bool,
            large: bool,
        ) {
            if both_ways {
                edges.extend(edges.clone().into_iter().filter(|edge| edge.0 != edge.1).map(|(s, d, w)| (d, s, w)));
            }
            if large {
                edges.iter_mut().for_each(|edge| *edge = (edge.0 << 29 | 7, edge.1 << 29 | 7, edge.2 << 62));
            }
            let count = |wanted: (u32, u32, u64)| edges.iter().filter(|&&edge| edge == wanted).count() as u64;
            let uneven = |&&(s, d, w): &&(u32, u32, u64)| count((s, d, w)) > count((d, s, w));
            let expected = edges.iter().filter(uneven).min_by_key(|edge| key(edge.0, edge.1, edge.2, 64));
            let mut balance = Balance::default();
            edges.iter().for_each(|&(s, d, w)| balance.add(s.into(), d.into(), w));
            prop_assert_eq!(balance.is_even(), expected.is_none());
            let records: Vec<Wide> = edges.iter().map(|&(s, d, w)| Wide::new(s, d, w)).collect();
            let found = find(&Collected::Memory(records)).unwrap();
            prop_assert_eq!(found.as_ref().map(|edge| (edge.source, edge.dest, edge.weight)), expected.copied());
            if let Some(Lonely { source, dest, weight, along, against }) = found {
                prop_assert_eq!((along, against), (count((source, dest, weight)), count((dest, source, weight))));
            }
        }
    }
}
