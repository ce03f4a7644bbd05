//! Where vertices go from level to level.

use super::starts::starts;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Vertices that a thread takes at a time.
const CHUNK: usize = 1 << 14;

/// The groups of all levels: each is made of whole groups of the level before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// The group of each vertex of a level, or the number of groups for those without neighbours; and that number.
    pub(super) levels: Vec<(Vec<u32>, u32)>,
}

impl Hierarchy {
    /// Adds the groups of the last level's vertices.
    pub(super) fn add(&mut self, groups: &[u32], count: u32) {
        self.levels.push((groups.to_vec(), count));
    }

    /// Passes, for each level from the smallest groups on, a vertex of the graph for each vertex: the first one of its
    /// group.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn each<E>(&self, mut take: impl FnMut(usize, Vec<AtomicU32>) -> Result<(), E>) -> Result<(), E> {
        let Some((first, _)) = self.levels.first() else { return Ok(()) };
        let mut places = Places::of(first.len() as u32);
        for (level, (groups, count)) in self.levels.iter().enumerate() {
            places.follow(groups.clone(), *count);
            take(level, places.first_vertices())?;
        }
        Ok(())
    }
}

/// The vertex of a level that each vertex of the graph has become. Those that have no neighbours there do not go on:
/// their labels count down from the number of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    pub(super) of: Option<Vec<u32>>,
    pub(super) vertices: u32,
    pub(super) settled: u32,
}

impl Places {
    /// At the first level.
    pub fn of(vertices: u32) -> Self {
        Self { of: None, vertices, settled: 0 }
    }

    /// Follows the vertices of a level to their groups.
    pub fn follow(&mut self, mut groups: Vec<u32>, group_count: u32) {
        let settle = |group: &u32| *group == group_count;
        let counts = groups.par_chunks(CHUNK).map(|groups| groups.iter().filter(|group| settle(group)).count() as u32);
        let counts: Vec<u32> = counts.collect();
        let before = starts(counts.len(), |chunk| counts[chunk].into());
        let unsettled = self.vertices - self.settled;
        groups.par_chunks_mut(CHUNK).zip(&before).for_each(|(groups, &before)| {
            let labels = (0..unsettled - before as u32).rev();
            groups.iter_mut().filter(|group| settle(group)).zip(labels).for_each(|(group, label)| *group = label);
        });
        self.settled += before[counts.len()] as u32;
        match &mut self.of {
            Some(of) => of.par_iter_mut().for_each(|place| *place = *groups.get(*place as usize).unwrap_or(place)),
            None => self.of = Some(groups),
        }
    }

    /// The vertex of a level with so many vertices that each vertex of the graph has become, or that number if it has
    /// settled.
    pub fn groups(&self, count: u32) -> Vec<u32> {
        self.of.iter().flatten().map(|&place| place.min(count)).collect()
    }

    /// For each vertex, the first vertex of the graph that has become the same vertex of the level.
    fn first_vertices(&self) -> Vec<AtomicU32> {
        let of = self.of.as_deref().unwrap_or_default();
        let first: Vec<AtomicU32> = (0..of.len()).into_par_iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        of.par_iter().zip(0..self.vertices).for_each(|(&place, vertex)| {
            first[place as usize].fetch_min(vertex, Relaxed);
        });
        of.par_iter().map(|&place| AtomicU32::new(first[place as usize].load(Relaxed))).collect()
    }

    /// The label of each vertex of the graph, by the labels of the vertices of the last level.
    pub fn labels(self, last: &[u32]) -> Vec<u32> {
        let of = |of: Vec<u32>| of.into_par_iter().map(|place| *last.get(place as usize).unwrap_or(&place)).collect();
        self.of.map_or_else(|| last.to_vec(), of)
    }
}
