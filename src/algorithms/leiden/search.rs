//! The levels of a run: vertices move, communities are refined into groups, groups become vertices.
//!
//! ```text
//!  lists ─▶ moving ─▶ communities ─▶ refining ─▶ groups ─▶ lists of groups ─▶ moving … until no two share a community
//!             ▲                                                │
//!             └── communities of the vertices that groups are ◀┘
//! ```

use super::clock::{Count, Part};
use super::gpu::{OnGpu, Searcher};
use super::graph::Graph;
use super::hierarchy::{Hierarchy, Places};
use super::level::{Level, Watch};
use super::moving::{self, Moving};
use super::objective::Pull;
use super::refining::{self, Refining};
use super::turns::{Turns, seed_of};
use crate::error::Result;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::zeroed;

/// How communities are looked for, by one resolution.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// What draws vertices to communities.
    pub pull: Pull,
    /// Whether communities are refined: Leiden's difference from Louvain.
    pub refines: bool,
    /// What ties and orders depend on.
    pub seed: u64,
    /// Whether the groups of all levels are kept.
    pub keeps_levels: bool,
    /// The GPU for levels that fit.
    pub gpu: Option<&'a Searcher>,
}

/// What an iteration has found.
pub struct Found {
    /// The community of each vertex: labels are below the number of vertices.
    pub communities: Vec<u32>,
    /// Whether any vertex has moved.
    pub moved: bool,
    /// The levels, if they are kept.
    pub levels: Hierarchy,
}

/// What comes of a level.
struct Outcome {
    /// Whether any vertex has moved.
    moved: bool,
    next: Next,
}

/// What follows a level.
enum Next {
    /// Nothing, since no two vertices share a community. The communities of its vertices.
    Nothing(Vec<u32>),
    /// Its communities, numbered from 0, which are to become groups.
    Communities(Vec<u32>, u32),
    /// The next level.
    Groups(Groups),
}

/// The vertices of the next level.
struct Groups {
    /// The group of each vertex of the level, or the number of groups for those without neighbours.
    of: Vec<u32>,
    count: u32,
    /// The communities that groups begin with.
    communities: Vec<u32>,
}

/// One iteration over all levels, for several resolutions that read the first level together: improves the communities
/// of the vertices of `graph`, whose labels are below the number of vertices. All searches have the same seed.
///
/// # Errors
/// After cancellation; errors from reading and writing pages.
pub fn iteration(
    searches: &[Search<'_>],
    graph: &Graph,
    communities: Vec<Vec<u32>>,
    watch: Watch<'_>,
    save: &mut Save<'_>,
) -> Result<Vec<Found>> {
    let outcomes = process(searches, graph, communities, 0, watch)?;
    searches.iter().zip(outcomes).map(|(search, outcome)| search.follow(graph, outcome, watch, save)).collect()
}

/// Moves the vertices of a level, and refines its communities.
fn process(
    searches: &[Search<'_>],
    graph: &Graph,
    communities: Vec<Vec<u32>>,
    number: u64,
    watch: Watch<'_>,
) -> Result<Vec<Outcome>> {
    let Some(&Search { refines, seed, gpu, .. }) = searches.first() else { return Ok(Vec::new()) };
    let level_seed = seed_of(seed, number);
    let (turns, linked) = (Turns::of(graph, level_seed), graph.linked());
    let levels: Vec<Level<'_>> =
        searches.iter().map(|search| Level { graph, pull: search.pull, number, watch }).collect();
    let on_gpu = |level| gpu.map_or(Ok(None), |gpu| gpu.level(level, &turns, refines));
    let on_gpu = levels.iter().map(on_gpu).collect::<Result<Option<Vec<OnGpu<'_>>>>>()?;
    let moved = watch.clock.time(Part::Moving, || match &on_gpu {
        Some(all) => all.iter().zip(communities).map(|(on_gpu, of)| on_gpu.moved(&of, level_seed)).collect(),
        None => {
            let all = levels.iter().zip(communities).map(|(level, of)| Moving::from(level, of, level_seed));
            moving::run(all.collect(), &turns)
        }
    })?;
    let next = |(of, moved): (Vec<u32>, bool)| match graph.numbered(&of) {
        (_, count) if count == linked => Outcome { moved, next: Next::Nothing(of) },
        (numbers, count) => Outcome { moved, next: Next::Communities(numbers, count) },
    };
    let mut outcomes: Vec<Outcome> = moved.into_iter().map(next).collect();
    let refined = if refines {
        let going = outcomes.iter().enumerate().filter_map(|(which, outcome)| match &outcome.next {
            Next::Communities(of, _) => Some((which, &of[..])),
            _ => None,
        });
        watch.clock.time(Part::Refining, || match &on_gpu {
            Some(all) => going.map(|(which, of)| all[which].refined(of, seed)).collect(),
            None => {
                let all = going.map(|(which, of)| Refining::of(&levels[which], of, seed));
                refining::run(all.collect(), &turns)
            }
        })?
    } else {
        Vec::new()
    };
    let mut refined = refined.into_iter().map(|groups| graph.numbered(&groups));
    for outcome in &mut outcomes {
        if let Next::Communities(of, count) = &mut outcome.next {
            let (of, count) = (std::mem::take(of), *count);
            outcome.next = Next::Groups(match refined.next() {
                // Fewer than before, so that levels come to an end.
                Some((groups, group_count)) if group_count < linked => {
                    Groups { communities: lifted(&of, &groups, group_count), of: groups, count: group_count }
                }
                _ => Groups { communities: (0..count).collect(), of, count },
            });
        }
    }
    Ok(outcomes)
}

/// A level that is to be processed, and what came of the levels before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Climb {
    /// The number of the level, from 1 on.
    pub number: u64,
    /// Where the vertices of the graph are on it.
    pub places: Places,
    /// The number of its vertices.
    pub count: u32,
    /// Their communities.
    pub communities: Vec<u32>,
    /// Whether any vertex has moved so far.
    pub moved: bool,
    /// The levels so far, if they are kept.
    pub levels: Hierarchy,
}

/// Is passed each level before it is processed, as it may be needed later, and returns it.
pub type Save<'a> = dyn FnMut(Climb) -> Result<Climb> + 'a;

impl Climb {
    /// Goes on to the next level; returns its graph.
    fn step(
        &mut self,
        graph: &Graph,
        Groups { of, count, communities }: Groups,
        (keeps, gpu, watch): (bool, Option<&Searcher>, Watch<'_>),
    ) -> Result<Graph> {
        let make = || match gpu.map_or(Ok(None), |gpu| gpu.coarse(graph, (&of, count)))? {
            Some(level) => {
                watch.clock.count(Count::Made);
                Ok((level, of))
            }
            None => graph.coarse(of, count),
        };
        let (level, of) = watch.clock.time(Part::Making, make)?;
        if keeps {
            self.levels.add(&of, count);
        }
        self.places.follow(of, count);
        (self.number, self.count, self.communities) = (self.number + 1, count, communities);
        Ok(level)
    }
}

impl Search<'_> {
    /// The levels after the first.
    fn follow(&self, graph: &Graph, first: Outcome, watch: Watch<'_>, save: &mut Save<'_>) -> Result<Found> {
        let places = Places::of(graph.vertices());
        let groups = match first.next {
            Next::Groups(groups) => groups,
            Next::Nothing(communities) | Next::Communities(communities, _) => {
                return Ok(Found { communities, moved: first.moved, levels: Hierarchy::default() });
            }
        };
        let (communities, levels) = (Vec::new(), Hierarchy::default());
        let mut climb = Climb { number: 0, places, count: 0, communities, moved: first.moved, levels };
        let level = climb.step(graph, groups, (self.keeps_levels, self.gpu, watch))?;
        self.climb(level, climb, watch, save)
    }

    /// Goes on from a level.
    ///
    /// # Errors
    /// The errors of [`iteration`].
    pub fn resume(&self, graph: &Graph, climb: Climb, watch: Watch<'_>, save: &mut Save<'_>) -> Result<Found> {
        let of = climb.places.groups(climb.count);
        let (level, _) = watch.clock.time(Part::Making, || graph.coarse(of, climb.count))?;
        self.climb(level, climb, watch, save)
    }

    fn climb(&self, mut level: Graph, mut climb: Climb, watch: Watch<'_>, save: &mut Save<'_>) -> Result<Found> {
        loop {
            climb = save(climb)?;
            let communities = vec![std::mem::take(&mut climb.communities)];
            let outcome = process(&[*self], &level, communities, climb.number, watch)?.remove(0);
            climb.moved |= outcome.moved;
            let groups = match outcome.next {
                Next::Groups(groups) => groups,
                Next::Nothing(communities) | Next::Communities(communities, _) => {
                    let Climb { places, moved, levels, .. } = climb;
                    return Ok(Found { communities: places.labels(&communities), moved, levels });
                }
            };
            level = climb.step(&level, groups, (self.keeps_levels, self.gpu, watch))?;
        }
    }
}

/// The communities of groups, each labelled by its first group.
fn lifted(communities: &[u32], groups: &[u32], group_count: u32) -> Vec<u32> {
    let first: Vec<AtomicU32> = (0..=communities.len()).into_par_iter().map(|_| AtomicU32::new(u32::MAX)).collect();
    let community_of: Vec<AtomicU32> = zeroed(group_count.into());
    communities.par_iter().zip(groups).filter(|(_, group)| **group < group_count).for_each(|(&community, &group)| {
        // Threads that only read share a line: many groups are in few communities.
        if first[community as usize].load(Relaxed) > group {
            first[community as usize].fetch_min(group, Relaxed);
        }
        if community_of[group as usize].load(Relaxed) != community {
            community_of[group as usize].store(community, Relaxed);
        }
    });
    let label = |community: AtomicU32| first[community.into_inner() as usize].load(Relaxed);
    community_of.into_par_iter().map(label).collect()
}
