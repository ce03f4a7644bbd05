//! The tree of shortest paths: a parent for every reached vertex, found after the distances.
//!
//! ```text
//!  distances ─▶ all lists once: nearer vertices whose edge leads to the distance, to the bit ─▶ the smallest of them
//!                  │ vertices that have none
//!                  └▶ hop by hop over edges that add nothing, from the vertices that have one
//! ```
//!
//! An edge is *tight* if the distance of its source, extended by its weight in the arithmetic of the run, is the
//! distance of its destination. The parent of a vertex is the smallest vertex of the store that is nearer and has a
//! tight edge to it. There is none if all vertices before it have the same distance: their edges have weight 0, or one
//! that rounding loses. Such vertices are reached from vertices of the same distance that have a parent, in as few
//! tight edges as possible; the parent is the smallest vertex that is one edge closer to these. So parents form a tree,
//! and depend on nothing but the store: not on devices, threads or buckets.
//!
//! The distances are final, so every reached vertex has a parent. The offer that set its distance came from a vertex
//! that was as near as it is now, and settled earlier, or has become nearer since; then it is nearer than the vertex,
//! as no edge is shorter than 0.

use super::nearest::{UNREACHED, double_sum, float_sum, whole_sum};
use super::{DeltaStepping, Numbers, Sssp};
use crate::algorithms::parents::{self, NONE, code_of, parent_of};
use crate::algorithms::relaxation::VALUE;
use crate::algorithms::weights::INFINITY;
use crate::engine::{Engine, Observer, Run};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Answer, State, declaration_of};
use crate::model::bits::Bits;
use crate::pages::memory::{PROGRAM_BYTES, answer_bytes, directory_bytes};
use crate::pages::scan::{TakeWeighted, weighted_lists, weighted_memory_bytes};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use topostream_formats::huge::zeroed;
use topostream_formats::page::PageWeights;
use topostream_formats::{Direction, PageId, Store, Topology};

/// An algorithm with the distances of [`Sssp`].
pub trait ShortestPaths: Algorithm {
    /// The source, the weights and the arithmetic.
    fn paths(&self) -> &Sssp;
}

impl ShortestPaths for Sssp {
    fn paths(&self) -> &Sssp {
        self
    }
}

impl ShortestPaths for DeltaStepping {
    fn paths(&self) -> &Sssp {
        &self.paths
    }
}

/// Distances, and the tree of shortest paths.
pub struct ShortestPathTree<A> {
    /// The run that has found the distances.
    pub run: Run<A>,
    /// As [codes](parents).
    parents: Vec<AtomicU32>,
    /// The number of pages that were read for parents, and of passes over them.
    read: (u64, u32),
}

impl<A: ShortestPaths> ShortestPathTree<A> {
    /// Finds distances, then parents: by a pass over all out-lists on the CPU, and further ones over the lists of
    /// vertices that edges of length 0 leave. It takes 4 bytes and 3 bits a vertex, in addition to distances and
    /// degrees.
    ///
    /// # Errors
    /// The errors of [`Engine::run`]; [`Error::Parameter`] for a store that is one of several parts.
    pub fn run(engine: &Engine, algorithm: A, observer: &mut Observer<'_>) -> Result<Self> {
        let needed_bytes = Self::check(engine, &algorithm)?;
        let run = engine.run_observed(algorithm, observer)?;
        engine.make_room(needed_bytes);
        // Ranks do not stop here: each would by itself.
        let (never, options) = (AtomicBool::new(false), engine.options());
        let cancel = if options.ranks().is_some() { &never } else { &*options.cancel };
        let search = Search::new(engine.store(), run.algorithm().paths(), cancel);
        let (parents, read) = search.parents(run.state())?;
        Ok(Self { run, parents, read })
    }

    /// Checks before the run whether the parents can be found after it. Returns the memory that this takes, in bytes.
    pub(super) fn check(engine: &Engine, algorithm: &A) -> Result<u64> {
        let declaration = declaration_of(algorithm, engine.store());
        let name = declaration.name;
        if engine.store().is_partial() {
            let message = format!("{name} with --parents runs on whole graphs only");
            return Err(Error::Parameter(message));
        }
        let weights = algorithm.paths().weights;
        if weights.is_wide() {
            return Err(Error::Parameter(format!(
                "{name} with --parents reads weights of 32 bits, but the store has {}: make a store of these with \
                 `topostream reformat --weight-type`",
                weights.name()
            )));
        }
        let (store, budget_bytes) = (engine.store(), engine.usable_bytes());
        // The distances and the degrees stay.
        let kept_bytes = answer_bytes(&declaration, store) + 4 * store.vertices();
        let parents_bytes = 4 * store.vertices() + 3 * Bits::memory_bytes(store.vertices());
        let scan_bytes = weighted_memory_bytes(out_lists(store));
        let needed_bytes = PROGRAM_BYTES + directory_bytes(store) + kept_bytes + parents_bytes + scan_bytes;
        if needed_bytes > budget_bytes {
            // The run comes before.
            let needed_bytes = needed_bytes.max(engine.needed_bytes(algorithm)?);
            let what = format!("{name} with --parents");
            let parts =
                format!("{kept_bytes} for distances and degrees, {parents_bytes} for parents, the rest for reading");
            return Err(Error::Memory { what, needed_bytes, budget_bytes, parts });
        }
        Ok(needed_bytes)
    }

    /// The results: the run's, then the parents. The source is its own parent.
    pub fn answers(&self) -> Vec<Answer<'_>> {
        let source = self.run.algorithm().paths().source.0;
        let parent = move |vertex: u32| match self.parents[vertex as usize].load(Relaxed) {
            NONE => None,
            _ if vertex == source => Some(source),
            code => Some(parent_of(vertex, code)),
        };
        let mut answers = self.run.answers();
        answers.push(Answer::vertex("parent", parent));
        answers
    }

    /// The pages that were read for parents, and the number of passes.
    pub fn read(&self) -> (u64, u32) {
        self.read
    }
}

/// Makes a vertex the parent of another, unless that has a smaller one.
#[inline(always)]
fn offer(parents: &[AtomicU32], dest: u32, parent: u32) {
    let (least, code) = (&parents[dest as usize], code_of(dest, parent));
    if code < least.load(Relaxed) {
        least.fetch_min(code, Relaxed);
    }
}

fn out_lists(store: &Store) -> &Topology {
    store.topology(Direction::Out).expect("every store has out-lists")
}

/// The search for parents.
struct Search<'a> {
    store: &'a Store,
    paths: &'a Sssp,
    cancel: &'a AtomicBool,
}

impl<'a> Search<'a> {
    fn new(store: &'a Store, paths: &'a Sssp, cancel: &'a AtomicBool) -> Self {
        Self { store, paths, cancel }
    }

    /// The codes of parents, in the arithmetic of the run.
    fn parents(&self, state: &State) -> Result<(Vec<AtomicU32>, (u64, u32))> {
        let attributes = &state.attributes;
        match self.paths.numbers() {
            Numbers::Whole => {
                let dist = attributes.u32(VALUE);
                let value =
                    |vertex| Some(dist.get(vertex)).filter(|&dist| dist != u32::MAX).map_or(UNREACHED, u64::from);
                self.among(value, |dist, weight| whole_sum(dist as u32, weight).into())
            }
            Numbers::Single => {
                let dist = attributes.u32(VALUE);
                let value =
                    |vertex| Some(dist.get(vertex)).filter(|&dist| dist != INFINITY).map_or(UNREACHED, u64::from);
                self.among(value, |dist, weight| float_sum(dist as u32, weight).map_or(UNREACHED, u64::from))
            }
            // Not of integers of 64 bits: checked before the run.
            Numbers::Long | Numbers::Double => {
                let dist = attributes.u64(VALUE);
                let sum = |dist, weight| double_sum(dist, f64::from(f32::from_bits(weight)));
                self.among(|vertex| dist.get(vertex), |dist, weight| sum(dist, weight).unwrap_or(UNREACHED))
            }
        }
    }

    /// The codes of parents by distances, which order as integers, and the distance at the end of an edge.
    fn among(
        &self,
        value: impl Fn(u32) -> u64 + Sync,
        sum: impl Fn(u64, u32) -> u64 + Sync,
    ) -> Result<(Vec<AtomicU32>, (u64, u32))> {
        let parents = zeroed::<AtomicU32>(self.store.vertices());
        parents.par_iter().for_each(|parent| parent.store(NONE, Relaxed));
        parents[self.paths.source.index()].store(parents::SOURCE, Relaxed);
        let all: Vec<PageId> = (0..out_lists(self.store).page_count()).map(PageId).collect();
        self.scan(&all, &|vertex, neighbours, weights| {
            let from = value(vertex);
            if from == UNREACHED {
                return;
            }
            for (&dest, &weight) in neighbours.iter().zip(weights) {
                let to = value(dest);
                if from < to && to != UNREACHED && sum(from, weight) == to {
                    offer(&parents, dest, vertex);
                }
            }
        })?;
        let pages = all.len() as u64;
        drop(all);
        let (more, passes) = self.among_equals(&parents, value, sum)?;
        Ok((parents, (pages + more, 1 + passes)))
    }

    /// Finds the parents of vertices that no nearer vertex has a tight edge to. Returns the pages read, and the passes.
    fn among_equals(
        &self,
        parents: &[AtomicU32],
        value: impl Fn(u32) -> u64 + Sync,
        sum: impl Fn(u64, u32) -> u64 + Sync,
    ) -> Result<(u64, u32)> {
        let vertices = self.store.vertices();
        let reached = (0..vertices).into_par_iter().map(|vertex| vertex as u32);
        let reached = reached.filter(|&vertex| value(vertex) != UNREACHED);
        let has_parent = |vertex: u32| parents[vertex as usize].load(Relaxed) != NONE;
        let mut missing = reached.clone().filter(|&vertex| !has_parent(vertex)).count() as u64;
        if missing == 0 {
            return Ok((0, 0));
        }
        // Vertices with a parent; vertices that get one in a pass; and vertices that got one in the pass before.
        let (settled, found, last) = (Bits::new(vertices), Bits::new(vertices), Bits::new(vertices));
        let (mut pages_read, mut passes) = (0, 0);
        reached.filter(|&vertex| has_parent(vertex)).for_each(|vertex| _ = settled.insert(vertex));
        last.learn_all(&settled);
        while missing > 0 {
            let (pages, count) = (pages_with(out_lists(self.store), &last), AtomicU64::new(0));
            self.scan(&pages, &|vertex, neighbours, weights| {
                if !last.contains(vertex) {
                    return;
                }
                let from = value(vertex);
                for (&dest, &weight) in neighbours.iter().zip(weights) {
                    if value(dest) == from && !settled.contains(dest) && sum(from, weight) == from {
                        offer(parents, dest, vertex);
                        count.fetch_add(found.insert(dest).into(), Relaxed);
                    }
                }
            })?;
            (pages_read, passes) = (pages_read + pages.len() as u64, passes + 1);
            let count = count.into_inner();
            if count == 0 {
                return Err(Error::Parameter("parents: the store is not the one that distances were found in".into()));
            }
            missing -= count;
            settled.learn_all(&found);
            last.clear();
            last.learn_all(&found);
            found.clear();
        }
        Ok((pages_read, passes))
    }

    fn scan(&self, pages: &[PageId], take: &(impl Fn(u32, &[u32], &[u32]) + Sync)) -> Result<()> {
        let take: &TakeWeighted<'_> = &|vertex, neighbours, weights| match weights {
            PageWeights::Words(weights) => take(vertex, neighbours, weights),
            PageWeights::None | PageWeights::Longs(_) => unreachable!("weights have 32 bits"),
        };
        weighted_lists(self.store, out_lists(self.store), pages, self.cancel, take)
    }
}

/// The pages with lists of vertices in a set.
fn pages_with(topology: &Topology, set: &Bits) -> Vec<PageId> {
    // The first vertex of the set from `from` on. Pages ascend, or are several such sequences.
    let (mut from, mut next) = (0, set.next_set(0));
    let mut has = |first: u64, slots: u32| {
        if first < from || next.is_some_and(|next| next < first) {
            (from, next) = (first, set.next_set(first));
        }
        next.is_some_and(|next| next < first + u64::from(slots))
    };
    let pages = topology.directory().entries().iter().enumerate();
    pages
        .filter(|(_, page)| has(page.start_vertex.into(), page.slot_count))
        .map(|(page, _)| PageId(page as u32))
        .collect()
}
