//! The graph of a level in memory: each edge in the lists of both of its ends, without loops.
//!
//! A loop moves with its vertex: it counts in the vertex's mass and nowhere else. Several edges between two vertices
//! are as good as one that has their weight: which of the two a level has changes no answer, so the next level is
//! written in the way that takes less time.

use super::starts::starts;
use super::tally::Tally;
use crate::model::prefetch::line_of;
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::{plain, zeroed};

/// The lists of a level.
#[derive(Debug, Default)]
pub struct Lists {
    /// Where each vertex's list begins; one more than there are vertices.
    pub starts: Vec<u64>,
    /// The lengths of lists, if they do not go on to where the next one begins.
    pub lengths: Vec<u64>,
    /// The neighbours of all vertices.
    pub neighbours: Vec<u32>,
    /// The weights of their edges.
    pub weights: Weights,
}

/// A vertex's list.
pub struct List<'a> {
    neighbours: &'a [u32],
    weights: ListWeights<'a>,
}

/// The weights of a list.
pub enum ListWeights<'a> {
    /// All 1.
    Ones,
    /// Of 32 bits.
    Narrow(&'a [u32]),
    /// Of 64 bits.
    Wide(&'a [u64]),
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

/// Neighbours ahead of the one that is taken whose values are fetched.
const AHEAD: usize = 16;
/// Lists of more neighbours are cut into parts, for several threads.
const LONG: usize = 1 << 16;
const PART: usize = 1 << 14;
/// Edges that a thread decides about at a time, or one list.
const SHARE: usize = 1 << 12;
/// Edges, vertices and groups that a thread takes at a time.
const CHUNK: usize = 1 << 14;
/// Of so many groups, one says how many edges would be left if equal ones became one, unless its list is long.
pub const SAMPLE: usize = 64;
pub const SAMPLED_MAX: u64 = 1 << 14;
/// Equal edges become one if at most this part of all are left then: it takes as long as several passes over all.
pub const LEFT_MAX: f64 = 0.7;

impl<'a> List<'a> {
    /// Of these neighbours, and the weights of the edges to them.
    pub fn new(neighbours: &'a [u32], weights: ListWeights<'a>) -> Self {
        Self { neighbours, weights }
    }

    /// The number of neighbours.
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Sums the weights of edges by the key of the neighbour, below `end`, if it has one: a long list by all threads.
    /// `meet` is called with keys, once or more often. The values of neighbours are fetched ahead.
    #[inline(always)]
    pub fn sum_by<T: Sync>(
        &self,
        values: &[T],
        (tally, end): (&mut Tally, u32),
        key: impl Fn(u32) -> Option<u32> + Sync,
        meet: impl Fn(u32) + Sync,
    ) {
        let add = |list: &Self, tally: &mut Tally| {
            tally.begin(list.len(), end);
            list.each(values, |neighbour, weight| {
                if let Some(key) = key(neighbour)
                    && tally.add(key, weight)
                {
                    meet(key);
                }
            });
        };
        if self.len() <= LONG {
            return add(self, tally);
        }
        let of_part = |first: usize| {
            let part = self.part(first..(first + PART).min(self.len()));
            Tally::borrow(|tally| {
                add(&part, tally);
                let mut sums = Vec::new();
                tally.drain(|key, sum| sums.push((key, sum)));
                sums
            })
        };
        let parts: Vec<Vec<(u32, u64)>> = (0..self.len()).into_par_iter().step_by(PART).map(of_part).collect();
        // Long lists have the same keys many times: no table for all neighbours.
        tally.begin(parts.iter().map(Vec::len).sum(), end);
        parts.iter().flatten().for_each(|&(key, sum)| _ = tally.add(key, sum));
    }

    /// Some of the list.
    fn part(&self, range: Range<usize>) -> List<'a> {
        let weights = match self.weights {
            ListWeights::Ones => ListWeights::Ones,
            ListWeights::Narrow(of) => ListWeights::Narrow(&of[range.clone()]),
            ListWeights::Wide(of) => ListWeights::Wide(&of[range.clone()]),
        };
        List { neighbours: &self.neighbours[range], weights }
    }

    /// Passes the neighbours, of a long list on all threads.
    #[inline(always)]
    pub fn for_neighbours(&self, take: impl Fn(u32) + Sync) {
        match self.len() > LONG {
            true => self.neighbours.par_chunks(PART).flatten_iter().for_each(|&neighbour| take(neighbour)),
            false => self.neighbours.iter().for_each(|&neighbour| take(neighbour)),
        }
    }

    /// Passes the neighbours, with the weights of the edges; the values of neighbours are fetched ahead.
    #[inline(always)]
    pub fn each<T>(&self, values: &[T], mut take: impl FnMut(u32, u64)) {
        let ahead = |at: usize| {
            if let Some(&neighbour) = self.neighbours.get(at + AHEAD) {
                line_of(values, neighbour as usize);
            }
        };
        let each = self.neighbours.iter().enumerate().map(|(at, &neighbour)| {
            ahead(at);
            neighbour
        });
        match self.weights {
            ListWeights::Ones => each.for_each(|neighbour| take(neighbour, 1)),
            ListWeights::Narrow(of) => each.zip(of).for_each(|(neighbour, &weight)| take(neighbour, weight.into())),
            ListWeights::Wide(of) => each.zip(of).for_each(|(neighbour, &weight)| take(neighbour, weight)),
        }
    }
}

impl Lists {
    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    #[inline(always)]
    fn range(&self, vertex: u32) -> Range<usize> {
        let (start, next) = (self.starts[vertex as usize], self.starts[vertex as usize + 1]);
        let end = self.lengths.get(vertex as usize).map_or(next, |length| start + length);
        start as usize..end as usize
    }

    /// The length of a vertex's list.
    #[inline(always)]
    pub fn degree(&self, vertex: u32) -> usize {
        self.range(vertex).len()
    }

    /// A vertex's list.
    #[inline(always)]
    pub fn list(&self, vertex: u32) -> List<'_> {
        let range = self.range(vertex);
        let weights = match &self.weights {
            Weights::Ones => ListWeights::Ones,
            Weights::Narrow(all) => ListWeights::Narrow(&all[range.clone()]),
            Weights::Wide(all) => ListWeights::Wide(&all[range.clone()]),
        };
        List { neighbours: &self.neighbours[range], weights }
    }

    /// Ranges of some vertices with about as many edges each, or one vertex; those with a long list come first.
    pub fn shares(&self, vertices: &[u32]) -> Vec<Range<usize>> {
        let of_chunk = |(chunk, vertices): (usize, &[u32])| {
            let (mut long, mut shares) = (Vec::new(), Vec::new());
            let (mut first, mut size, end) = (chunk * CHUNK, 0, chunk * CHUNK + vertices.len());
            for (at, &vertex) in (first..).zip(vertices) {
                let degree = self.degree(vertex);
                if degree >= SHARE {
                    shares.push(first..at);
                    long.push(at..at + 1);
                    (first, size) = (at + 1, 0);
                } else {
                    size += degree + 1;
                    if size >= SHARE {
                        shares.push(first..at + 1);
                        (first, size) = (at + 1, 0);
                    }
                }
            }
            shares.push(first..end);
            (long, shares)
        };
        let (long, shares): (Vec<_>, Vec<_>) = vertices.par_chunks(CHUNK).enumerate().map(of_chunk).unzip();
        long.into_iter().chain(shares).flatten().collect()
    }

    /// The graph of groups. `group_of` has the group of each vertex, below `groups`, or that number for those that do
    /// not go on.
    pub fn coarse(&self, group_of: &[u32], groups: u32) -> Self {
        let members = Members::of(group_of, groups, |vertex| self.degree(vertex) as u64);
        if self.left(&members, group_of) <= LEFT_MAX {
            self.joined(&members, group_of)
        } else {
            self.renamed(&members, group_of)
        }
    }

    /// The part of the edges between groups that would be left if equal ones became one, by a sample.
    fn left(&self, members: &Members, group_of: &[u32]) -> f64 {
        let some = (0..members.groups()).into_par_iter().step_by(SAMPLE);
        let short = some.filter(|&group| members.rooms[group + 1] - members.rooms[group] <= SAMPLED_MAX);
        let of_group = |tally: &mut Tally, group: usize| {
            let (all, mut left) = (self.tally(members, group_of, group, tally), 0usize);
            tally.drain(|_, _| left += 1);
            (all, left)
        };
        let sum = |one: (usize, usize), other: (usize, usize)| (one.0 + other.0, one.1 + other.1);
        let (all, left) = short.map_init(Tally::default, of_group).reduce(|| (0, 0), sum);
        left as f64 / all.max(1) as f64
    }

    /// Sums the weights of a group's edges to each other group; returns the number of edges.
    fn tally(&self, members: &Members, group_of: &[u32], group: usize, tally: &mut Tally) -> usize {
        let mut count = 0;
        let most = (members.rooms[group + 1] - members.rooms[group]) as usize;
        tally.begin(most, members.groups() as u32);
        for &vertex in members.each(group) {
            self.list(vertex).each(group_of, |neighbour, weight| {
                let other = group_of[neighbour as usize];
                if other as usize != group {
                    _ = tally.add(other, weight);
                    count += 1;
                }
            });
        }
        count
    }

    /// The edges between groups, one for each pair.
    fn joined(&self, members: &Members, group_of: &[u32]) -> Self {
        let of_chunk = |tally: &mut Tally, groups: Range<usize>| {
            let mut made = Made::default();
            for group in groups {
                let before = made.neighbours.len();
                self.tally(members, group_of, group, tally);
                tally.drain(|other, weight| {
                    made.neighbours.push(other);
                    made.weights.push(weight);
                });
                made.lengths.push((made.neighbours.len() - before) as u64);
            }
            made
        };
        let chunks = members.chunks().into_par_iter();
        Made::together(chunks.map_init(Tally::default, of_chunk).collect())
    }

    /// The same edges, without those within groups, and without those of weight 0, as sums have none.
    fn renamed(&self, members: &Members, group_of: &[u32]) -> Self {
        let mut lists = Self { starts: members.rooms.clone(), ..Self::default() };
        let edges = lists.starts[members.groups()];
        lists.lengths = vec![0; members.groups()];
        lists.neighbours = zeroed(edges);
        match &self.weights {
            Weights::Ones => self.rename((members, group_of), &mut lists, &mut [], |_| Some(())),
            Weights::Narrow(of) => {
                let mut weights = zeroed(edges);
                self.rename((members, group_of), &mut lists, &mut weights, |at| {
                    Some(of[at]).filter(|&weight| weight > 0)
                });
                lists.weights = Weights::Narrow(weights);
            }
            Weights::Wide(of) => {
                let mut weights = zeroed(edges);
                self.rename((members, group_of), &mut lists, &mut weights, |at| {
                    Some(of[at]).filter(|&weight| weight > 0)
                });
                lists.weights = Weights::Wide(weights);
            }
        }
        lists
    }

    fn rename<W: Copy + Send>(
        &self,
        (members, group_of): (&Members, &[u32]),
        lists: &mut Self,
        weights: &mut [W],
        weight_at: impl Fn(usize) -> Option<W> + Sync,
    ) {
        let mut chunks = Vec::new();
        let (mut neighbours, mut lengths) = (&mut lists.neighbours[..], &mut lists.lengths[..]);
        let mut weights = weights;
        for Range { start: first, end } in members.chunks() {
            let room = (lists.starts[end] - lists.starts[first]) as usize;
            let (some, rest) = neighbours.split_at_mut(room);
            let (their_weights, other_weights) = weights.split_at_mut(room.min(weights.len()));
            let (their_lengths, other_lengths) = lengths.split_at_mut(end - first);
            chunks.push((first, some, their_weights, their_lengths));
            (neighbours, weights, lengths) = (rest, other_weights, other_lengths);
        }
        let starts = &lists.starts;
        chunks.into_par_iter().for_each(|(first, neighbours, weights, lengths)| {
            for (group, length) in (first..).zip(lengths) {
                let start = (starts[group] - starts[first]) as usize;
                let mut at = start;
                for &vertex in members.each(group) {
                    for from in self.range(vertex) {
                        let other = group_of[self.neighbours[from] as usize];
                        if other as usize != group
                            && let Some(weight) = weight_at(from)
                        {
                            neighbours[at] = other;
                            if let Some(place) = weights.get_mut(at) {
                                *place = weight;
                            }
                            at += 1;
                        }
                    }
                }
                *length = (at - start) as u64;
            }
        });
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
    fn together(parts: Vec<Self>) -> Lists {
        let lengths: Vec<u64> = parts.iter().flat_map(|part| &part.lengths).copied().collect();
        let starts = starts(lengths.len(), |group| lengths[group]);
        let largest = parts.par_iter().flat_map_iter(|part| part.weights.iter().copied()).max().unwrap_or(0);
        let weights: Vec<&[u64]> = parts.iter().map(|part| &part.weights[..]).collect();
        let weights = match u32::try_from(largest) {
            Ok(_) => Weights::Narrow(joined(&weights, |weight| weight as u32)),
            Err(_) => Weights::Wide(joined(&weights, |weight| weight)),
        };
        let neighbours: Vec<&[u32]> = parts.iter().map(|part| &part.neighbours[..]).collect();
        Lists { starts, neighbours: joined(&neighbours, |neighbour| neighbour), weights, ..Lists::default() }
    }
}

/// Some arrays, one after another.
fn joined<T: Copy + Sync, U: Zeroable + Send>(parts: &[&[T]], of: impl Fn(T) -> U + Sync) -> Vec<U> {
    let mut all = zeroed(parts.iter().map(|part| part.len() as u64).sum());
    let mut rest = &mut all[..];
    let room = |part: &&[T]| rest.split_off_mut(..part.len()).expect("there is room for all");
    let rooms: Vec<&mut [U]> = parts.iter().map(room).collect();
    rooms.into_par_iter().zip(parts).for_each(|(room, part)| {
        room.iter_mut().zip(*part).for_each(|(place, &value)| *place = of(value));
    });
    all
}

/// The vertices of each group.
struct Members {
    starts: Vec<u64>,
    vertices: Vec<u32>,
    /// The lengths of their lists, summed up to each group.
    rooms: Vec<u64>,
}

impl Members {
    fn of(group_of: &[u32], groups: u32, degree: impl Fn(u32) -> u64 + Sync) -> Self {
        let next = zeroed::<AtomicU32>(groups.into());
        let go_on = || group_of.par_iter().zip(0u32..group_of.len() as u32).filter(|(group, _)| **group < groups);
        go_on().for_each(|(&group, _)| _ = next[group as usize].fetch_add(1, Relaxed));
        let starts = starts(groups as usize, |group| next[group].load(Relaxed).into());
        // From the end of a group's room to its start.
        let vertices = zeroed::<AtomicU32>(starts[groups as usize]);
        go_on().for_each(|(&group, vertex)| {
            let left = next[group as usize].fetch_sub(1, Relaxed) - 1;
            vertices[starts[group as usize] as usize + left as usize].store(vertex, Relaxed);
        });
        let vertices = plain(vertices);
        let mut members = Self { starts, vertices, rooms: Vec::new() };
        let rooms = members.sums(degree);
        members.rooms = super::starts::starts(rooms.len(), |group| rooms[group]);
        members
    }

    /// Ranges of groups with about as many edges each, or one group.
    fn chunks(&self) -> Vec<Range<usize>> {
        let (mut chunks, mut first) = (Vec::new(), 0);
        for group in 0..self.groups() {
            let size = self.rooms[group + 1] - self.rooms[first] + (group - first) as u64;
            if size >= CHUNK as u64 || group + 1 == self.groups() {
                chunks.push(first..group + 1);
                first = group + 1;
            }
        }
        chunks
    }

    fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    fn each(&self, group: usize) -> std::slice::Iter<'_, u32> {
        self.vertices[self.starts[group] as usize..self.starts[group + 1] as usize].iter()
    }

    fn sums(&self, value: impl Fn(u32) -> u64 + Sync) -> Vec<u64> {
        let sum = |group: usize| self.each(group).map(|&vertex| value(vertex)).sum();
        (0..self.groups()).into_par_iter().map(sum).collect()
    }
}
