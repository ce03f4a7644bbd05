//! Parts of graphs: section 15.

use super::json::Json;
use super::{Triple, ensure};
use std::ops::Range;

/// Which part of a graph a store has.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub number: usize,
    pub ends: Vec<u64>,
    pub edges_hash: u64,
    pub whole_edges: u64,
    pub whole_hash: u64,
    pub whole_degree_max: u64,
}

const FILE: &str = "graph.json";

impl Part {
    /// Reads the member `part`.
    pub fn read(part: &Json, vertices: u64, edges: u64) -> Result<Self, String> {
        ensure(part.names() == ["edges_hash", "ends", "number", "whole"], FILE, "other members in part")?;
        let whole = part.member("whole");
        ensure(whole.names() == ["degree_max", "edges", "edges_hash"], FILE, "other members in whole")?;
        let number = |of: &Json, name: &str| of.member(name).number().ok_or(format!("{FILE}: {name} of a part"));
        let ends: Option<Vec<u64>> = part.member("ends").items().iter().map(Json::number).collect();
        let found = Self {
            number: number(part, "number")? as usize,
            ends: ends.ok_or(format!("{FILE}: ends of parts"))?,
            edges_hash: hash(part.member("edges_hash"))?,
            whole_edges: number(whole, "edges")?,
            whole_hash: hash(whole.member("edges_hash"))?,
            whole_degree_max: number(whole, "degree_max")?,
        };
        let words = found.ends.iter().all(|&end| end % 64 == 0 || end == vertices);
        ensure((1..=256).contains(&found.ends.len()) && found.ends.is_sorted() && words, FILE, "ends of parts")?;
        ensure(found.ends.last() == Some(&vertices) && found.number < found.ends.len(), FILE, "number of a part")?;
        ensure(edges <= found.whole_edges, FILE, "edges of a part")?;
        Ok(found)
    }

    /// The vertices that the part owns.
    pub fn own(&self) -> Range<u64> {
        let begin = if self.number == 0 { 0 } else { self.ends[self.number - 1] };
        begin..self.ends[self.number]
    }

    /// Checks the edges of the out-lists, the lengths of the lists, and the degrees of the whole graph.
    pub fn check(&self, edges: &[Triple], counted: &[u64], degrees: &[u64]) -> Result<(), String> {
        let sum = edges.iter().fold(0u64, |sum, &edge| sum.wrapping_add(edge_hash(edge)));
        ensure(sum == self.edges_hash, FILE, "edges_hash")?;
        let fit = counted.iter().zip(degrees).all(|(list, degree)| list <= degree);
        let figures = (degrees.iter().sum::<u64>(), degrees.iter().copied().max().unwrap_or(0));
        ensure(fit && figures == (self.whole_edges, self.whole_degree_max), "degrees.bin", "other degrees")
    }
}

fn hash(text: &Json) -> Result<u64, String> {
    let digits = text.text().filter(|text| text.len() == 16 && !text.contains(|c: char| c.is_ascii_uppercase()));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or(format!("{FILE}: a hash"))
}

fn edge_hash((u, v, w): Triple) -> u64 {
    let x = ((u << 32) + v).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let y = (x ^ (x >> 32) ^ w).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    y ^ (y >> 32)
}
