//! The graph of a level in memory: each edge in the lists of both of its ends, without loops.
//!
//! A loop moves with its vertex: it counts in the vertex's mass and nowhere else.

use super::objective::Masses;
use super::tally::Tally;
use crate::model::bits::Bits;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::zeroed;

/// The lists of a level.
#[derive(Debug, Default)]
pub struct Lists {
    /// Where each vertex's list begins; one more than there are vertices.
    pub offsets: Vec<u64>,
    /// The neighbours of all vertices, concatenated.
    pub neighbours: Vec<u32>,
    /// The weights of their edges.
    pub weights: Weights,
    /// The masses of vertices, loops included.
    pub masses: Masses,
}

/// The weights of edges.
#[derive(Debug, Default)]
pub enum Weights {
    /// All 1.
    #[default]
    Ones,
    /// Of 32 bits.
    Narrow(Vec<u32>),
    /// Of 64 bits.
    Wide(Vec<u64>),
}

/// Coarse vertices that a thread makes at a time.
const CHUNK: usize = 256;

impl Lists {
    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    /// The number of edges, each from both ends.
    pub fn edges(&self) -> u64 {
        self.neighbours.len() as u64
    }

    /// The length of a vertex's list.
    #[inline(always)]
    pub fn degree(&self, vertex: u32) -> usize {
        (self.offsets[vertex as usize + 1] - self.offsets[vertex as usize]) as usize
    }

    /// Passes the neighbours of a vertex, with the weights of the edges.
    #[inline(always)]
    pub fn each(&self, vertex: u32, mut take: impl FnMut(u32, u64)) {
        let range = self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize;
        let neighbours = &self.neighbours[range.clone()];
        match &self.weights {
            Weights::Ones => neighbours.iter().for_each(|&neighbour| take(neighbour, 1)),
            Weights::Narrow(all) => {
                neighbours.iter().zip(&all[range]).for_each(|(&neighbour, &weight)| take(neighbour, weight.into()));
            }
            Weights::Wide(all) => {
                neighbours.iter().zip(&all[range]).for_each(|(&neighbour, &weight)| take(neighbour, weight));
            }
        }
    }

    /// The graph of groups: the edges between two groups become one. `group_of` has the group of each vertex, below
    /// `groups`.
    pub fn coarse(&self, group_of: &[u32], groups: u32) -> Self {
        let (starts, members) = members(group_of, groups);
        let one = |group: u32, tally: &mut Tally, made: &mut Made| {
            let members = &members[starts[group as usize] as usize..starts[group as usize + 1] as usize];
            let most = members.iter().map(|&vertex| self.degree(vertex)).sum::<usize>();
            tally.begin(most.min(groups as usize));
            for &vertex in members {
                self.each(vertex, |neighbour, weight| {
                    let other = group_of[neighbour as usize];
                    if other != group {
                        tally.add(other, weight);
                    }
                });
            }
            let before = made.neighbours.len();
            tally.drain(|other, weight| {
                made.neighbours.push(other);
                made.weights.push(weight);
            });
            made.lengths.push((made.neighbours.len() - before) as u64);
        };
        let parts = (0..groups as usize).into_par_iter().step_by(CHUNK).map_init(Tally::default, |tally, first| {
            let mut made = Made::default();
            (first..(first + CHUNK).min(groups as usize)).for_each(|group| one(group as u32, tally, &mut made));
            made
        });
        let parts: Vec<Made> = parts.collect();
        let sum_of = |masses: &[u64]| -> Vec<u64> {
            let of = |group: usize| members[starts[group] as usize..starts[group + 1] as usize].iter();
            let count = if masses.is_empty() { 0 } else { groups as usize };
            (0..count).into_par_iter().map(|group| of(group).map(|&vertex| masses[vertex as usize]).sum()).collect()
        };
        let masses = Masses { out: sum_of(&self.masses.out), into: sum_of(&self.masses.into) };
        Made::together(parts, masses)
    }
}

/// The lists of some coarse vertices.
#[derive(Default)]
struct Made {
    lengths: Vec<u64>,
    neighbours: Vec<u32>,
    weights: Vec<u64>,
}

impl Made {
    fn together(parts: Vec<Self>, masses: Masses) -> Lists {
        let mut lists = Lists { offsets: vec![0], masses, ..Lists::default() };
        for length in parts.iter().flat_map(|part| &part.lengths) {
            lists.offsets.push(lists.offsets[lists.offsets.len() - 1] + length);
        }
        let edges = lists.offsets[lists.offsets.len() - 1] as usize;
        let largest = parts.par_iter().flat_map_iter(|part| part.weights.iter().copied()).max().unwrap_or(0);
        lists.neighbours.reserve_exact(edges);
        let narrow = u32::try_from(largest).is_ok();
        let (mut short, mut long) = (Vec::new(), Vec::new());
        if narrow {
            short.reserve_exact(edges)
        } else {
            long.reserve_exact(edges)
        }
        for part in parts {
            lists.neighbours.extend_from_slice(&part.neighbours);
            if narrow {
                short.extend(part.weights.iter().map(|&weight| weight as u32));
            } else {
                long.extend_from_slice(&part.weights);
            }
        }
        lists.weights = if narrow { Weights::Narrow(short) } else { Weights::Wide(long) };
        lists
    }
}

/// The vertices of each group: where they start, and all of them.
fn members(group_of: &[u32], groups: u32) -> (Vec<u32>, Vec<u32>) {
    let next = zeroed::<AtomicU32>(u64::from(groups) + 1);
    group_of.par_iter().for_each(|&group| _ = next[group as usize].fetch_add(1, Relaxed));
    let (mut starts, mut sum) = (Vec::with_capacity(groups as usize + 1), 0);
    for count in &next {
        starts.push(sum);
        sum += count.swap(sum, Relaxed);
    }
    let members = zeroed::<AtomicU32>(group_of.len() as u64);
    group_of.par_iter().zip(0u32..group_of.len() as u32).for_each(|(&group, vertex)| {
        members[next[group as usize].fetch_add(1, Relaxed) as usize].store(vertex, Relaxed);
    });
    (starts, members.into_iter().map(AtomicU32::into_inner).collect())
}

/// Numbers the groups of a partition from 0, in the order of their labels, which are numbers of vertices. Returns the
/// new labels' number.
pub fn renumber(labels: &mut [u32]) -> u32 {
    let present = Bits::new(labels.len() as u64);
    labels.par_iter().for_each(|&label| _ = present.insert(label));
    let (mut ranks, mut count) = (vec![0u32; labels.len()], 0);
    if let Some(last) = labels.len().checked_sub(1) {
        present.for_each_in(0..=last as u32, false, |label| {
            ranks[label as usize] = count;
            count += 1;
        });
    }
    labels.par_iter_mut().for_each(|label| *label = ranks[*label as usize]);
    count
}
