//! Makes the edges of the next level from the edges of a level in device memory.
//!
//! ```text
//!  edges ─▶ count, by group ─▶ starts ─┬────────────────────────────▶ place: the same edges under new names
//!                                      └▶ insert, a table a group ─▶ count ─▶ place: one edge for each pair
//! ```
//!
//! A thread takes a place of an edge, whose vertex it looks for among the starts of lists: so lists of any length are
//! divided evenly. Equal edges become one as on the CPU: if a sample of groups says that enough fewer would be left.

use super::away::{Away, DeviceCopy};
use super::card::{Card, Held};
use super::modules::{EDGES, HUB_TABLE, LEVEL, PLACES_MAX, Shape, THREADS, file};
use super::resident::Resident;
use crate::algorithms::leiden::graph::Graph;
use crate::algorithms::leiden::lists::{LEFT_MAX, SAMPLE, SAMPLED_MAX};
use crate::algorithms::leiden::objective::Masses;
use crate::algorithms::leiden::paged::Edges;
use crate::algorithms::leiden::starts::starts;
use crate::device::gpu::compose::Module;
use crate::device::gpu::compose::plain::{File, Parts, U64, plain};
use crate::device::gpu::compute::{Command, Compute, Memory};
use crate::error::Result;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Counts the edges of each group.
    Count,
    /// Writes them.
    Place,
    /// Sums the edges of each pair of groups in tables.
    Insert,
    /// Counts the pairs of each group.
    CountPairs,
    /// Writes them.
    PlacePairs,
}

const ALL: [Step; 5] = [Step::Count, Step::Place, Step::Insert, Step::CountPairs, Step::PlacePairs];

/// The modules of all kernels, for edges of each kind.
pub fn modules() -> impl Iterator<Item = Module> {
    let shape =
        |number: u32| Shape { is_wide: number % 2 == 1, is_directed: false, weight_words: number / 2, slots: 1024 };
    (0..6).flat_map(move |number| ALL.map(|step| step.module(shape(number))))
}

impl Step {
    /// What the next level's kernels depend on, if this level's kernels have this shape.
    fn made(self, shape: Shape) -> Shape {
        let is_pairs = matches!(self, Self::CountPairs | Self::PlacePairs);
        Shape { weight_words: if is_pairs { 1 + u32::from(shape.is_wide) } else { shape.weight_words }, ..shape }
    }

    fn module(self, shape: Shape) -> Module {
        let made = self.made(shape);
        let (label, of): (_, &[File]) = match self {
            Self::Count => ("leiden count", &[EDGES, COARSE_EDGES, COARSE_PLACE]),
            Self::Place => ("leiden place", &[EDGES, COARSE_EDGES, COARSE_PLACE]),
            Self::Insert => ("leiden insert", &[EDGES, COARSE_EDGES, HUB_TABLE, COARSE_INSERT]),
            Self::CountPairs => ("leiden count pairs", &[COARSE_TABLES, COARSE_PLACE]),
            Self::PlacePairs => ("leiden place pairs", &[COARSE_TABLES, COARSE_PLACE]),
        };
        plain(&Parts {
            label,
            files: &[&[U64, LEVEL, COARSE], of].concat(),
            switches: &[
                ("WIDE", shape.is_wide),
                ("WEIGHTED", shape.weight_words > 0),
                ("WIDE_WEIGHTS", shape.weight_words > 1),
                ("MADE_WEIGHTED", made.weight_words > 0),
                ("MADE_WIDE", made.weight_words > 1),
                ("PLACES", matches!(self, Self::Place | Self::PlacePairs)),
            ],
            constants: &[("THREADS", THREADS)],
        })
    }
}

const COARSE: File = file!("coarse.wgsl");
const COARSE_EDGES: File = file!("coarse_edges.wgsl");
const COARSE_TABLES: File = file!("coarse_tables.wgsl");
const COARSE_PLACE: File = file!("coarse_place.wgsl");
const COARSE_INSERT: File = file!("coarse_insert.wgsl");

/// Compiles the kernels for levels of a shape, on all threads.
///
/// # Errors
/// Errors of the device.
pub fn compile(compute: &Compute, shape: Shape) -> Result<()> {
    ALL.into_par_iter().with_max_len(1).try_for_each(|step| compute.kernel(&step.module(shape)).map(drop))
}

/// A level in the making.
struct Making<'a> {
    card: &'a Card,
    parent: &'a Resident,
    labels: Memory,
    cursors: Memory,
    groups: u32,
    _held: Held,
}

/// A hash table for each group, or for some.
struct Tables {
    ranges: Memory,
    keys: Memory,
    sums: Memory,
    slots: u32,
    _held: Held,
}

/// Where edges are written.
struct Written {
    neighbours: Memory,
    weights: Memory,
}

/// The graph of groups, if the graph is on the device and there is room: `group_of` has the group of each vertex, or
/// the number of groups.
///
/// # Errors
/// Errors of the device.
pub fn made(card: &Card, graph: &Graph, (group_of, groups): (&[u32], u32)) -> Result<Option<Graph>> {
    let Some(parent) = graph.copy.0.get().filter(|_| !is_fetched(graph)) else { return Ok(None) };
    let bytes = [4 * u64::from(parent.vertices), 4 * u64::from(groups)];
    let Some(held) = card.hold(&bytes) else { return Ok(None) };
    let memory = |label: &str, bytes: u64| card.compute.memory(label, bytes);
    let (labels, cursors) = (memory("leiden groups", bytes[0])?, memory("leiden cursors", bytes[1])?);
    card.compute.write(&labels, bytemuck::cast_slice(group_of))?;
    let making = Making { card, parent, labels, cursors, groups, _held: held };
    let rooms = making.count(None)?;
    let tables = if making.merges(&rooms)? { making.tables(&rooms, |_| true)? } else { None };
    let lengths = match &tables {
        Some(tables) => making.count(Some(tables))?,
        None => rooms,
    };
    let (masses, reach) = graph.weighed(group_of, groups);
    let Some((resident, starts)) = making.place(tables.as_ref(), &lengths, &masses)? else { return Ok(None) };
    let resident = Arc::new(resident);
    let copy = DeviceCopy::of(Arc::clone(&resident));
    let away = Away { compute: Arc::clone(&card.compute), resident, starts, lists: OnceLock::new() };
    Ok(Some(Graph { edges: Edges::Device(away), masses, reach, copy }))
}

/// Whether the CPU has taken over, and has the lists of a graph that a GPU has made.
fn is_fetched(graph: &Graph) -> bool {
    matches!(&graph.edges, Edges::Device(lists) if lists.is_fetched())
}

impl Making<'_> {
    /// Whether equal edges become one, by a sample of groups with these numbers of edges.
    fn merges(&self, rooms: &[u32]) -> Result<bool> {
        let is_sampled = |group: usize| group.is_multiple_of(SAMPLE) && u64::from(rooms[group]) <= SAMPLED_MAX;
        let Some(sample) = self.tables(rooms, is_sampled)? else { return Ok(false) };
        let left: u64 = self.count(Some(&sample))?.into_iter().map(u64::from).sum();
        let sampled = (0..rooms.len()).filter(|&group| is_sampled(group));
        let all: u64 = sampled.map(|group| u64::from(rooms[group])).sum();
        Ok(left as f64 <= LEFT_MAX * all as f64)
    }

    /// The tables of some groups with these numbers of edges, filled; none if they do not fit.
    fn tables(&self, rooms: &[u32], is_wanted: impl Fn(usize) -> bool + Sync) -> Result<Option<Tables>> {
        let compute = &self.card.compute;
        let slots = |group: usize| if is_wanted(group) { 2 * u64::from(rooms[group].min(self.groups)) } else { 0 };
        let starts = starts(rooms.len(), slots);
        let slots = starts[starts.len() - 1];
        let bytes = [8 * u64::from(self.groups), 4 * slots, 4 * slots * (1 + u64::from(self.parent.shape.is_wide))];
        let Some(held) = self.card.hold(&bytes).filter(|_| slots <= PLACES_MAX) else { return Ok(None) };
        let tables = Tables {
            ranges: compute.memory("leiden tables", bytes[0])?,
            keys: compute.memory("leiden table keys", bytes[1])?,
            sums: compute.memory("leiden table sums", bytes[2])?,
            slots: slots as u32,
            _held: held,
        };
        compute.write(&tables.ranges, bytemuck::cast_slice(&ranges_of(&starts)))?;
        self.run(Step::Insert, Some(&tables), None)?;
        Ok(Some(tables))
    }

    /// The number of edges of each group, or of those in tables.
    fn count(&self, tables: Option<&Tables>) -> Result<Vec<u32>> {
        let step = if tables.is_some() { Step::CountPairs } else { Step::Count };
        self.run(step, tables, None)?;
        self.card.compute.read(&self.cursors, self.groups.into())
    }

    /// Writes lists of these lengths.
    fn place(&self, tables: Option<&Tables>, lengths: &[u32], masses: &Masses) -> Result<Option<(Resident, Vec<u64>)>> {
        let compute = &self.card.compute;
        let step = if tables.is_some() { Step::PlacePairs } else { Step::Place };
        let (shape, starts) = (step.made(self.parent.shape), starts(lengths.len(), |group| lengths[group].into()));
        let places = starts[lengths.len()];
        let Some(bytes) = Resident::bytes((self.groups, places), shape) else { return Ok(None) };
        let Some(held) = self.card.hold(&bytes) else { return Ok(None) };
        let resident = Resident::new(compute, (masses, places as u32), shape, (bytes, held))?;
        let ranges = ranges_of(&starts);
        compute.write(&resident.lists, bytemuck::cast_slice(&ranges))?;
        let first: Vec<u32> = ranges.par_iter().map(|range| range[0]).collect();
        compute.write(&self.cursors, bytemuck::cast_slice(&first))?;
        let written = Written { neighbours: resident.neighbours.clone(), weights: resident.weights.clone() };
        self.run(step, tables, Some(&written))?;
        Ok(Some((resident, starts)))
    }

    /// Submits a kernel.
    fn run(&self, step: Step, tables: Option<&Tables>, written: Option<&Written>) -> Result<()> {
        let (compute, parent) = (&self.card.compute, self.parent);
        let reads = tables.filter(|_| step != Step::Insert);
        let (places, vertices) = match reads {
            Some(tables) => (tables.slots, self.groups),
            None => (parent.places, parent.vertices),
        };
        let kernel = compute.kernel(&step.module(parent.shape))?;
        let bound = compute.bind(&kernel, |name| match (name, tables, written) {
            ("lists", ..) => reads.map_or(&parent.lists, |tables| &tables.ranges),
            ("neighbours", ..) => &parent.neighbours,
            ("weights", ..) => &parent.weights,
            ("labels", ..) => &self.labels,
            ("cursors", ..) => &self.cursors,
            ("tables", Some(tables), _) => &tables.ranges,
            ("hub_keys", Some(tables), _) => &tables.keys,
            ("hub_sums", Some(tables), _) => &tables.sums,
            ("made_neighbours", _, Some(written)) => &written.neighbours,
            ("made_weights", _, Some(written)) => &written.weights,
            (other, ..) => unreachable!("no buffer is called {other}"),
        })?;
        let uniforms = compute.uniforms(&kernel, 1, 16)?;
        compute.set(&uniforms, bytemuck::cast_slice(&[places, vertices, 0, 0]));
        let counts = matches!(step, Step::Count | Step::CountPairs);
        let clear = counts.then(|| Command::Clear(self.cursors.clone(), 0, 4 * u64::from(self.groups)));
        let kernel = (places > 0).then(|| Command::Run(bound, 0, places.div_ceil(THREADS)));
        compute.submit(&clear.into_iter().chain(kernel).collect::<Vec<_>>(), &uniforms)
    }
}

/// Where each begins and ends.
fn ranges_of(starts: &[u64]) -> Vec<[u32; 2]> {
    starts.par_windows(2).map(|range| [range[0] as u32, range[1] as u32]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::gpu::compose::check;

    #[test]
    fn modules_are_valid() {
        modules().for_each(|module| _ = check(&module).unwrap_or_else(|error| panic!("{}: {error}", module.label)));
    }
}
