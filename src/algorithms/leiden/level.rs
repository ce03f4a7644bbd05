//! The levels of a run: vertices move, communities are refined into groups, groups become vertices.
//!
//! ```text
//!  lists ─▶ moving ─▶ communities ─▶ refining ─▶ groups ─▶ lists of groups ─▶ moving … until no two share a community
//!             ▲                                                │
//!             └── communities of the vertices that groups are ◀┘
//! ```

use super::lists::{Lists, renumber};
use super::moving::Moving;
use super::objective::Pull;
use super::refining::Refining;
use super::turns::{Turns, seed_of};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// A level in progress.
pub struct Level<'a> {
    /// Its graph.
    pub lists: &'a Lists,
    /// What draws vertices to communities.
    pub pull: Pull,
    /// Whether the user has asked to stop.
    pub cancel: &'a AtomicBool,
}

impl Level<'_> {
    /// # Errors
    /// [`Error::Interrupted`] after cancellation.
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// How communities are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// What draws vertices to communities.
    pub pull: Pull,
    /// Whether communities are refined: Leiden's difference from Louvain.
    pub refines: bool,
    /// What ties and orders depend on.
    pub seed: u64,
}

impl Search {
    /// One iteration over all levels: improves the communities of the vertices of `lists`, whose labels are below the
    /// number of vertices. Returns them, and whether any vertex has moved.
    ///
    /// # Errors
    /// After cancellation.
    pub fn iteration(&self, lists: &Lists, communities: Vec<u32>, cancel: &AtomicBool) -> Result<(Vec<u32>, bool)> {
        let (mut coarse, mut communities) = (None::<Lists>, communities);
        // The vertex of the level that each vertex of the graph has become.
        let mut places: Option<Vec<u32>> = None;
        let mut any = false;
        for number in 0.. {
            let level = Level { lists: coarse.as_ref().unwrap_or(lists), pull: self.pull, cancel };
            let (vertices, seed) = (level.lists.vertices(), seed_of(self.seed, number));
            let turns = Turns::of(level.lists, seed);
            let (mut found, moved) = Moving::from(&level, &communities, seed).run(&turns)?;
            any |= moved;
            let count = renumber(&mut found);
            communities = found;
            if count == vertices {
                break;
            }
            let (groups, group_count) = self.groups(&level, &communities, count, &turns)?;
            let next = level.lists.coarse(&groups, group_count);
            communities = lifted(&communities, &groups, group_count);
            match &mut places {
                Some(places) => places.par_iter_mut().for_each(|place| *place = groups[*place as usize]),
                None => places = Some(groups),
            }
            coarse = Some(next);
        }
        let communities = places.map_or_else(
            || communities.clone(),
            |places| places.par_iter().map(|&place| communities[place as usize]).collect(),
        );
        Ok((communities, any))
    }

    /// The groups that become the vertices of the next level, and their number: fewer than there are vertices.
    fn groups(&self, level: &Level<'_>, communities: &[u32], count: u32, turns: &Turns) -> Result<(Vec<u32>, u32)> {
        if self.refines {
            let mut groups = Refining::of(level, communities, self.seed).run(turns)?;
            let group_count = renumber(&mut groups);
            if group_count < level.lists.vertices() {
                return Ok((groups, group_count));
            }
        }
        Ok((communities.to_vec(), count))
    }
}

/// The communities of groups, each labelled by its first group.
fn lifted(communities: &[u32], groups: &[u32], group_count: u32) -> Vec<u32> {
    let first: Vec<AtomicU32> = (0..communities.len()).map(|_| AtomicU32::new(u32::MAX)).collect();
    let community_of: Vec<AtomicU32> = (0..group_count).map(|_| AtomicU32::new(0)).collect();
    communities.par_iter().zip(groups).for_each(|(&community, &group)| {
        first[community as usize].fetch_min(group, Relaxed);
        community_of[group as usize].store(community, Relaxed);
    });
    let label = |community: AtomicU32| first[community.into_inner() as usize].load(Relaxed);
    community_of.into_iter().map(label).collect()
}
