//! The making of levels: the edges between groups become a store.
//!
//! ```text
//!  lists on disk ─▶ edges between groups ─▶ formatter ─▶ a store ─┬─▶ the next level, on disk
//!                                                                 └─▶ in memory, if it fits
//! ```

use super::paged::{Edges, PagedLists};
use super::scratch::MAKING_BYTES;
use crate::error::{Error, Result};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::durable::TemporaryFolder;
use topostream_formats::edge::{CHUNK_EDGES, Edge, EdgeSource, IdSpace, SourceInfo, WeightType};
use topostream_formats::{Error as StoreError, Result as StoreResult, Topology};
use topostream_tools::format::{FormatOptions, OpenSource, Repeated, format, needed_bytes};
use topostream_tools::progress::Quiet;

/// Edges between the same two groups are merged if groups have at least so many edges on average. With fewer edges, few
/// pairs of groups meet again, and repeated edges without weights are packed into less room than pairs with weights.
const MERGED_DEGREE: u64 = 1000;

/// The graph of groups, and the groups again: a store, or in memory if it fits.
///
/// # Errors
/// Those of reading and writing pages.
pub fn coarse(lists: &Arc<PagedLists>, group_of: Vec<u32>, groups: u32) -> Result<(Edges, Vec<u32>)> {
    let scratch = lists.scratch();
    let merges = lists.entries() / u64::from(groups.max(1)) >= MERGED_DEGREE;
    let weights = (merges || lists.is_weighted()).then_some(WeightType::U64);
    let group_of = Arc::new(group_of);
    let folder = TemporaryFolder::create(&scratch.parent, "leiden").map_err(unwritable(&scratch.parent))?;
    let path = folder.path().join("level");
    let held_bytes = MAKING_BYTES * u64::from(lists.vertices());
    let options = FormatOptions {
        repeated: merges.then_some(Repeated::Sum),
        memory_bytes: scratch.budget_bytes.saturating_sub(held_bytes),
        temporary: Some(folder.path().to_owned()),
        ..packed_in_order()
    };
    let open: &mut OpenSource<'_> =
        &mut || Ok(Box::new(GroupEdges::new(Arc::clone(lists), Arc::clone(&group_of), groups, (weights, merges))));
    format(open, &path, &options, &Quiet, &Arc::clone(&scratch.cancel).into())?;
    lists.forget();
    let made = PagedLists::of_level(&path, folder, weights, scratch.clone())?;
    let edges = if made.fits() {
        Edges::Memory(made.load()?)
    } else {
        scratch.levels.fetch_add(1, Relaxed);
        Edges::Disk(Arc::new(made))
    };
    Ok((edges, Arc::try_unwrap(group_of).unwrap_or_else(|shared| shared.to_vec())))
}

/// The main memory that making a level of at most so many vertices needs, from a graph with these pages, in bytes.
pub fn making_bytes(vertices: u64, topology: &Topology) -> u64 {
    let info = group_info(vertices, Some(WeightType::U64));
    let options = FormatOptions { repeated: Some(Repeated::Sum), ..packed_in_order() };
    let most = topology.directory().entries().iter().map(|entry| u64::from(entry.edge_count)).max().unwrap_or(0);
    let largest = vertices.saturating_sub(1);
    needed_bytes(&info, reading_bytes(most, true), vertices, largest, &options)
}

/// Packed pages, whose vertices are groups in order.
fn packed_in_order() -> FormatOptions {
    FormatOptions { order_from: None, ..FormatOptions::default() }
}

/// What is known of the edges between groups.
fn group_info(groups: u64, weights: Option<WeightType>) -> SourceInfo {
    SourceInfo {
        name: "groups".into(),
        ids: IdSpace::Range { first: 0, count: groups },
        mirror: false,
        directed: true,
        weights,
        edges: None,
        bytes: None,
    }
}

/// Main memory of edges that are read, of blocks with at most so many; vectors may double as they grow.
fn reading_bytes(most: u64, weighted: bool) -> u64 {
    2 * (READ_EDGES as u64).max(most) * if weighted { 12 } else { 4 }
}

/// The error of a folder in which no level can be put.
fn unwritable(folder: &Path) -> impl FnOnce(io::Error) -> Error {
    let folder = folder.to_owned();
    move |error| {
        Error::Parameter(format!(
            "{}: a level does not fit in memory, and no folder for it can be made here: {error}; choose another with \
             --temporary",
            folder.display()
        ))
    }
}

/// The edges between groups, in the order of the vertices of a level.
struct GroupEdges {
    lists: Arc<PagedLists>,
    group_of: Arc<Vec<u32>>,
    groups: u32,
    info: SourceInfo,
    merges: bool,
    /// The next block.
    block: usize,
    ready: Vec<Ready>,
}

/// The edges of a block, list by list.
#[derive(Default)]
struct Ready {
    /// The group of a list, and the number of edges up to its end.
    lists: Vec<(u32, usize)>,
    dests: Vec<u32>,
    /// Empty if edges have none.
    weights: Vec<u64>,
}

impl Ready {
    /// Moves the last edges to the chunk, as many as it has room for.
    fn give(&mut self, chunk: &mut Vec<Edge>) {
        while let Some(&(group, _)) = self.lists.last()
            && chunk.len() < CHUNK_EDGES
        {
            let begin = self.lists.iter().rev().nth(1).map_or(0, |list| list.1);
            let from = begin.max(self.dests.len().saturating_sub(CHUNK_EDGES - chunk.len()));
            let weight_at = |at: usize| self.weights.get(at).copied().unwrap_or(0);
            let edge =
                |(at, &dest): (usize, &u32)| Edge { source: group.into(), dest: dest.into(), weight: weight_at(at) };
            chunk.extend((from..).zip(&self.dests[from..]).map(edge));
            self.dests.truncate(from);
            self.weights.truncate(from);
            if from == begin {
                self.lists.pop();
            }
        }
    }
}

/// Edges that are read at once, or one block.
const READ_EDGES: usize = 1 << 20;

impl GroupEdges {
    fn new(
        lists: Arc<PagedLists>,
        group_of: Arc<Vec<u32>>,
        groups: u32,
        (weights, merges): (Option<WeightType>, bool),
    ) -> Self {
        let info = group_info(groups.into(), weights);
        Self { lists, group_of, groups, info, merges, block: 0, ready: Vec::new() }
    }

    /// Reads some blocks; returns whether there were any.
    fn load(&mut self) -> Result<bool> {
        let Self { lists, group_of, merges, .. } = &*self;
        let groups = self.groups;
        let (mut block, mut edges, mut vertices) = (self.block, 0, Vec::new());
        while block < lists.blocks() && edges < READ_EDGES {
            let of_block = lists.block(block);
            vertices.extend(of_block.filter(|&vertex| lists.degree(vertex) > 0).inspect(|&vertex| {
                edges += lists.degree(vertex);
            }));
            block += 1;
        }
        if self.block == block {
            return Ok(false);
        }
        let weighted = self.info.weights.is_some();
        let found = lists.visit(&vertices, |ready: &mut Ready, tally, _, vertex, list| {
            let group = group_of[vertex as usize];
            let between = |neighbour: u32| Some(group_of[neighbour as usize]).filter(|&other| other != group);
            let mut add = |other: u32, weight| {
                ready.dests.push(other);
                if weighted {
                    ready.weights.push(weight);
                }
            };
            if *merges {
                list.sum_by(group_of, (tally, groups), between, |_| ());
                tally.drain(add);
            } else {
                list.each(group_of, |neighbour, weight| {
                    if let Some(other) = between(neighbour) {
                        add(other, weight);
                    }
                });
            }
            ready.lists.push((group, ready.dests.len()));
        })?;
        (self.block, self.ready) = (block, found);
        Ok(true)
    }
}

impl EdgeSource for GroupEdges {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, chunk: &mut Vec<Edge>) -> StoreResult<()> {
        chunk.clear();
        while chunk.is_empty() {
            let Some(last) = self.ready.last_mut() else {
                let more = self.load().map_err(|error| match error {
                    Error::Store(error) => error,
                    Error::Interrupted => StoreError::Interrupted,
                    other => StoreError::Invalid(other.to_string()),
                });
                if !more? {
                    return Ok(());
                }
                continue;
            };
            last.give(chunk);
            if last.lists.is_empty() {
                self.ready.pop();
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> u64 {
        reading_bytes(self.lists.largest_block() as u64, self.info.weights.is_some())
    }
}
