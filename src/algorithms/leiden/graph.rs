//! The graph of a level: its lists, in memory or on disk, and what its vertices weigh.

use super::gpu::DeviceCopy;
use super::lists::List;
use super::making;
use super::objective::Masses;
use super::paged::Edges;
use super::tally::Tally;
use crate::error::Result;
use crate::model::bits::{Bits, Ranks};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use topostream_formats::huge::{plain, zeroed};

/// The graph of a level.
pub struct Graph {
    /// Its edges.
    pub edges: Edges,
    /// The masses of vertices, loops included.
    pub masses: Masses,
    /// The lengths of the lists of the graph's vertices that each has become; at the first level those are its own.
    pub reach: Vec<u64>,
    /// Its copy in device memory, once there is one.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "only GPUs read it"))]
    pub copy: DeviceCopy,
}

impl Graph {
    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        match &self.edges {
            Edges::Memory(lists) => lists.vertices(),
            Edges::Disk(lists) => lists.vertices(),
            Edges::Device(lists) => lists.vertices(),
        }
    }

    /// The length of a vertex's list.
    #[inline(always)]
    pub fn degree(&self, vertex: u32) -> usize {
        match &self.edges {
            Edges::Memory(lists) => lists.degree(vertex),
            Edges::Disk(lists) => lists.degree(vertex),
            Edges::Device(lists) => lists.degree(vertex),
        }
    }

    /// The sum of the lengths of the lists of the graph's vertices that a vertex has become.
    pub fn reach(&self, vertex: u32) -> u64 {
        self.reach.get(vertex as usize).map_or_else(|| self.degree(vertex) as u64, |&reach| reach)
    }

    /// The number of vertices that have neighbours.
    pub fn linked(&self) -> u32 {
        (0..self.vertices()).into_par_iter().filter(|&vertex| self.degree(vertex) > 0).count() as u32
    }

    /// Passes the lists of vertices in ascending order, on all threads, each with its index in `vertices`.
    ///
    /// # Errors
    /// Errors from reading pages, and of the device.
    pub fn visit(&self, vertices: &[u32], take: impl Fn(&mut Tally, usize, u32, &List<'_>) + Sync) -> Result<()> {
        let lists = match &self.edges {
            Edges::Disk(lists) => {
                lists.visit(vertices, |(), tally, at, vertex, list| take(tally, at, vertex, list))?;
                return Ok(());
            }
            Edges::Memory(lists) => lists,
            Edges::Device(lists) => lists.fetched()?,
        };
        lists.shares(vertices).into_par_iter().with_max_len(1).for_each(|share| {
            Tally::borrow(|tally| {
                share.for_each(|at| take(tally, at, vertices[at], &lists.list(vertices[at])));
            });
        });
        Ok(())
    }

    /// Passes the lists of vertices one after another, in the order given: of a graph in memory, as small ones are.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn visit_in_turn(&self, vertices: &[u32], mut take: impl FnMut(&mut Tally, u32, &List<'_>)) -> Result<()> {
        let lists = match &self.edges {
            Edges::Memory(lists) => lists,
            Edges::Device(lists) => lists.fetched()?,
            Edges::Disk(_) => unreachable!("graphs of few edges are in memory"),
        };
        let mut tally = Tally::default();
        vertices.iter().for_each(|&vertex| take(&mut tally, vertex, &lists.list(vertex)));
        Ok(())
    }

    /// Numbers the groups of vertices that have neighbours from 0, in the order of their labels, which are numbers of
    /// vertices; other vertices get the number of groups. Returns the number of groups too.
    pub fn numbered(&self, labels: &[u32]) -> (Vec<u32>, u32) {
        let present = Bits::new(labels.len() as u64);
        let all = || labels.par_iter().zip(0..self.vertices());
        all().filter(|(_, vertex)| self.degree(*vertex) > 0).for_each(|(&label, _)| _ = present.insert(label));
        let ranks = Ranks::of(&present);
        let count = ranks.count() as u32;
        let number = |(&label, vertex)| if self.degree(vertex) > 0 { ranks.rank(label) } else { count };
        (all().map(number).collect(), count)
    }

    /// The graph of groups. `group_of` has the group of each vertex, below `groups`, or that number for those that do
    /// not go on; it comes back.
    ///
    /// # Errors
    /// Errors from reading and writing pages, and of the device.
    pub fn coarse(&self, group_of: Vec<u32>, groups: u32) -> Result<(Self, Vec<u32>)> {
        let (edges, group_of) = match &self.edges {
            Edges::Memory(lists) => (Edges::Memory(lists.coarse(&group_of, groups)), group_of),
            Edges::Device(lists) => (Edges::Memory(lists.fetched()?.coarse(&group_of, groups)), group_of),
            Edges::Disk(lists) => making::coarse(lists, group_of, groups)?,
        };
        let (masses, reach) = self.weighed(&group_of, groups);
        Ok((Self { edges, masses, reach, copy: DeviceCopy::default() }, group_of))
    }

    /// The masses and the reach of groups.
    pub fn weighed(&self, group_of: &[u32], groups: u32) -> (Masses, Vec<u64>) {
        let sums = |values: &[u64]| match values {
            [] => Vec::new(),
            _ => sums_of(group_of, groups, |at| values[at]),
        };
        let masses = Masses { out: sums(&self.masses.out), into: sums(&self.masses.into) };
        (masses, sums_of(group_of, groups, |at| self.reach(at as u32)))
    }
}

/// The sums of values of the vertices of each group.
fn sums_of(group_of: &[u32], groups: u32, value: impl Fn(usize) -> u64 + Sync) -> Vec<u64> {
    let sums = zeroed::<AtomicU64>(u64::from(groups));
    group_of.par_iter().enumerate().for_each(|(at, &group)| {
        if let Some(sum) = sums.get(group as usize) {
            sum.fetch_add(value(at), Relaxed);
        }
    });
    plain(sums)
}
