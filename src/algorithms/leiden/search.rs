//! The levels of a run: vertices move, communities are refined into groups, groups become vertices.
//!
//! ```text
//!  lists ─▶ moving ─▶ communities ─▶ refining ─▶ groups ─▶ lists of groups ─▶ moving … until no two share a community
//!             ▲                                                │
//!             └── communities of the vertices that groups are ◀┘
//! ```

use super::clock::{Clock, Part};
use super::gpu::{OnGpu, Searcher};
use super::graph::Graph;
use super::level::Level;
use super::moving::Moving;
use super::objective::Pull;
use super::refining::Refining;
use super::turns::{Turns, seed_of};
use crate::error::Result;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// How communities are looked for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// What draws vertices to communities.
    pub pull: Pull,
    /// Whether communities are refined: Leiden's difference from Louvain.
    pub refines: bool,
    /// What ties and orders depend on.
    pub seed: u64,
    /// The GPU for levels that fit.
    pub gpu: Option<&'a Searcher>,
    /// The times of parts.
    pub clock: &'a Clock,
}

impl Search<'_> {
    /// One iteration over all levels: improves the communities of the vertices of `graph`, whose labels are below the
    /// number of vertices. Returns them, and whether any vertex has moved.
    ///
    /// # Errors
    /// After cancellation; those of reading and writing pages.
    pub fn iteration(&self, graph: &Graph, communities: Vec<u32>, cancel: &AtomicBool) -> Result<(Vec<u32>, bool)> {
        let (mut coarse, mut communities) = (None::<Graph>, communities);
        let (mut places, mut any) = (Places::of(graph.vertices()), false);
        for number in 0.. {
            let level = Level { graph: coarse.as_ref().unwrap_or(graph), pull: self.pull, cancel };
            let seed = seed_of(self.seed, number);
            let turns = Turns::of(level.graph, seed);
            let on_gpu = match self.gpu {
                Some(gpu) => gpu.level(&level, &turns, (coarse.is_none(), self.refines), self.clock)?,
                None => None,
            };
            let moved;
            (communities, moved) = self.clock.time(Part::Moving, || match &on_gpu {
                Some(on_gpu) => on_gpu.moved(&communities, seed),
                None => Moving::from(&level, &communities, seed).run(&turns),
            })?;
            any |= moved;
            let linked = level.graph.linked();
            let (numbers, count) = level.graph.numbered(&communities);
            if count == linked {
                break;
            }
            let (groups, group_count) = self.groups((&level, on_gpu.as_ref()), &numbers, (count, linked), &turns)?;
            communities = lifted(&numbers, &groups, group_count);
            drop(numbers);
            let (next, groups) = self.clock.time(Part::Making, || level.graph.coarse(groups, group_count))?;
            places.follow(groups, group_count);
            coarse = Some(next);
        }
        Ok((places.labels(&communities), any))
    }

    /// The groups that become the vertices of the next level, and their number: fewer than there are vertices with
    /// neighbours. Vertices without have that number as their group.
    fn groups(
        &self,
        (level, on_gpu): (&Level<'_>, Option<&OnGpu<'_>>),
        communities: &[u32],
        (count, linked): (u32, u32),
        turns: &Turns,
    ) -> Result<(Vec<u32>, u32)> {
        if self.refines {
            let groups = self.clock.time(Part::Refining, || match on_gpu {
                Some(on_gpu) => on_gpu.refined(communities, self.seed),
                None => Refining::of(level, communities, self.seed).run(turns),
            })?;
            let (groups, group_count) = level.graph.numbered(&groups);
            if group_count < linked {
                return Ok((groups, group_count));
            }
        }
        Ok((communities.to_vec(), count))
    }
}

/// The vertex of a level that each vertex of the graph has become. Those that have no neighbours there do not go on:
/// their labels count down from the number of vertices.
struct Places {
    of: Option<Vec<u32>>,
    vertices: u32,
    settled: u32,
}

impl Places {
    /// At the first level.
    fn of(vertices: u32) -> Self {
        Self { of: None, vertices, settled: 0 }
    }

    /// Follows the vertices of a level to their groups.
    fn follow(&mut self, mut groups: Vec<u32>, group_count: u32) {
        for group in groups.iter_mut().filter(|group| **group == group_count) {
            self.settled += 1;
            *group = self.vertices - self.settled;
        }
        match &mut self.of {
            Some(of) => of.par_iter_mut().for_each(|place| *place = *groups.get(*place as usize).unwrap_or(place)),
            None => self.of = Some(groups),
        }
    }

    /// The label of each vertex of the graph, by the labels of the vertices of the last level.
    fn labels(self, last: &[u32]) -> Vec<u32> {
        let of = |of: Vec<u32>| of.into_par_iter().map(|place| *last.get(place as usize).unwrap_or(&place)).collect();
        self.of.map_or_else(|| last.to_vec(), of)
    }
}

/// The communities of groups, each labelled by its first group.
fn lifted(communities: &[u32], groups: &[u32], group_count: u32) -> Vec<u32> {
    let first: Vec<AtomicU32> = (0..=communities.len()).map(|_| AtomicU32::new(u32::MAX)).collect();
    let community_of: Vec<AtomicU32> = (0..group_count).map(|_| AtomicU32::new(0)).collect();
    communities.par_iter().zip(groups).filter(|(_, group)| **group < group_count).for_each(|(&community, &group)| {
        first[community as usize].fetch_min(group, Relaxed);
        community_of[group as usize].store(community, Relaxed);
    });
    let label = |community: AtomicU32| first[community.into_inner() as usize].load(Relaxed);
    community_of.into_iter().map(label).collect()
}
