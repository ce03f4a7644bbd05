//! Connected components of a stream of edges: without a store, in one pass.
//!
//! ```text
//!  source ─▶ chunk of edges ─▶ places of the ends ─▶ union-find, on all threads ─▶ labels, by ascending id
//!                 └ meanwhile the next chunk is read
//! ```
//!
//! 4 bytes a vertex and threshold, as long as the largest id is not much larger than the memory has room for; from
//! there on ids are in a hash table, for 8 bytes and the load of the table more. The label of a component is its
//! smallest id, so that the answer depends neither on the order of the edges nor on threads.
//!
//! With thresholds, an edge is linked in the forest of the largest threshold that it meets. At the end each forest is
//! linked into the forest of the next smaller threshold: as if every edge had been linked in all of them.

mod graph;
mod places;
mod vertices;

pub use graph::Components;
pub use vertices::{Ids, Vertices};

use crate::progress::{Cancel, Progress, Unit};
use graph::Graph;
use rayon::prelude::*;
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, WeightType};

/// Code, stacks, and the chunks that are read and linked.
const BASE_BYTES: u64 = 48 << 20;

/// Links edges as they come.
pub struct Linker {
    /// Ascending; empty if weights do not count.
    thresholds: Vec<f64>,
    memory_bytes: u64,
    graph: Option<Graph>,
    edges: u64,
    /// Ranges of ids that exist whether or not an edge names them: the first, and their number.
    ranges: Vec<(u64, u64)>,
}

/// Which ends the edges of a source may have.
struct Ends {
    /// The first of a range, and its number.
    range: Option<(u64, u64)>,
    /// Whether the source has declared its vertices.
    declared: bool,
}

impl Linker {
    /// No edges so far. An edge meets a threshold if its weight is at least that. `memory_bytes` are for everything,
    /// with the source and the answer.
    pub fn new(mut thresholds: Vec<f64>, memory_bytes: u64) -> Self {
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        Self { thresholds, memory_bytes, graph: None, edges: 0, ranges: Vec::new() }
    }

    /// The least main memory for so many labels, with a source that takes `reading_bytes`, in bytes.
    pub fn least_bytes(labels: usize, reading_bytes: u64) -> u64 {
        BASE_BYTES.saturating_add(reading_bytes).saturating_add(Graph::least_bytes(labels))
    }

    /// The thresholds, ascending: the order of [`Components::labels`]. Without thresholds there is one label.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// Links the edges of a source, each for the thresholds that its weight meets. May be called again with another
    /// source.
    ///
    /// # Errors
    /// Errors of the source; [`Error::Memory`], [`Error::Allocation`] or [`Error::Limit`] for more ids than there is
    /// room for; [`Error::Invalid`] if thresholds need weights; [`Error::Interrupted`].
    pub fn link(&mut self, source: &mut dyn EdgeSource, progress: &dyn Progress, cancel: &Cancel) -> Result<()> {
        if self.thresholds.is_empty() {
            return self.link_all(source, |_| Some(0), progress, cancel);
        }
        let Some(of) = source.info().weights else {
            let message = "thresholds are for weights, and these edges have none; --weight names their column";
            return Err(Error::Invalid(format!("{}: {message}", source.place())));
        };
        let thresholds = self.thresholds.clone();
        let met = |edge: &Edge| thresholds.iter().rposition(|&threshold| meets(edge.weight, of, threshold));
        self.link_all(source, met, progress, cancel)
    }

    /// Links the rows of an earlier answer, each a vertex and its label, for one threshold, by its place, and all
    /// smaller ones. They do not count as edges.
    ///
    /// # Errors
    /// The errors of [`link`](Self::link).
    pub fn link_labels(
        &mut self,
        labels: &mut dyn EdgeSource,
        threshold: usize,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<()> {
        let edges = self.edges;
        self.link_all(labels, |_| Some(threshold), progress, cancel)?;
        self.edges = edges;
        Ok(())
    }

    fn link_all(
        &mut self,
        source: &mut dyn EdgeSource,
        class: impl Fn(&Edge) -> Option<usize> + Sync,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<()> {
        let info = source.info().clone();
        let room = self.room(source.memory_bytes())?;
        let mut graph = match self.graph.take() {
            Some(graph) => graph,
            None => Graph::new(self.thresholds.len().max(1), room.0)?,
        };
        let range = match info.ids {
            IdSpace::Range { first, count } => Some((first, count)),
            IdSpace::UpToLargest | IdSpace::Named => None,
        };
        self.add_range(&mut graph, range, room).map_err(|error| at(source, error))?;
        let declared = source.declared_vertices(&mut |ids| {
            cancel.check()?;
            add(&mut graph, ids, room)
        })?;
        let ends = Ends { range, declared };
        let unit = if info.bytes.is_some() { Unit::Bytes } else { Unit::Edges };
        progress.begin("link edges", info.bytes.or(info.edges), unit);
        let (mut chunk, mut next, mut largest) = (Vec::new(), Vec::new(), None);
        source.read(&mut chunk)?;
        while !chunk.is_empty() {
            cancel.check()?;
            if (ends.range.is_some() || ends.declared)
                && let Some(index) = chunk.par_iter().position_first(|edge| !ends.allow(edge, &graph))
            {
                return Err(ends.error(source.place_of(index, &chunk[index]), &chunk[index], &graph));
            }
            let of_chunk = chunk.par_iter().map(|edge| edge.source.max(edge.dest)).reduce_with(u64::max);
            largest = largest.max(of_chunk);
            let more = 2 * chunk.len() as u64;
            graph.make_room(of_chunk.unwrap_or(0), more, room).map_err(|error| at(source, error))?;
            self.edges += chunk.len() as u64;
            let ((), read) = rayon::join(|| graph.link(&chunk, &class), || source.read(&mut next));
            read?;
            std::mem::swap(&mut chunk, &mut next);
            progress.position(if info.bytes.is_some() { source.bytes_read() } else { self.edges });
        }
        progress.end();
        let mut extra = Vec::new();
        source.extra_vertices(&mut extra)?;
        add(&mut graph, &extra, room)?;
        if let (IdSpace::UpToLargest, Some(largest)) = (info.ids, largest) {
            self.add_range(&mut graph, Some((0, largest.saturating_add(1))), room)
                .map_err(|error| at(source, error))?;
        }
        self.graph = Some(graph);
        Ok(())
    }

    /// Makes room for a range of ids, all of which exist.
    fn add_range(&mut self, graph: &mut Graph, range: Option<(u64, u64)>, room: (u64, u64)) -> Result<()> {
        let Some((first, count)) = range.filter(|(_, count)| *count > 0) else { return Ok(()) };
        if count > VERTICES_MAX {
            return Err(crate::format::too_many_vertices(count));
        }
        graph.make_room(first.saturating_add(count - 1), count, room)?;
        self.ranges.push((first, count));
        Ok(())
    }

    /// Memory for the graph and the answer, and for everything else, in bytes.
    fn room(&self, reading_bytes: u64) -> Result<(u64, u64)> {
        let held_bytes = BASE_BYTES.saturating_add(reading_bytes);
        let needed_bytes = Self::least_bytes(self.thresholds.len().max(1), reading_bytes);
        if needed_bytes > self.memory_bytes {
            return Err(Error::Memory {
                what: "linking edges".into(),
                needed_bytes,
                budget_bytes: self.memory_bytes,
                parts: format!("program {BASE_BYTES}, reading {reading_bytes}, and some vertices"),
            });
        }
        Ok((self.memory_bytes - held_bytes, held_bytes))
    }

    /// The components.
    ///
    /// # Errors
    /// [`Error::Limit`] for more vertices than a graph can have; [`Error::Allocation`]; [`Error::Interrupted`].
    pub fn finish(self, cancel: &Cancel) -> Result<Components> {
        let graph = self.graph.map_or_else(|| Graph::new(self.thresholds.len().max(1), 0), Ok)?;
        for (first, count) in self.ranges {
            // The last id of a range has 64 bits, its end may not.
            graph.insert((0..count).into_par_iter().map(|at| first + at));
        }
        graph.finish(self.edges, cancel)
    }
}

/// Adds ids to a graph.
fn add(graph: &mut Graph, ids: &[u64], room: (u64, u64)) -> Result<()> {
    if let Some(&largest) = ids.iter().max() {
        graph.make_room(largest, ids.len() as u64, room)?;
        graph.insert(ids.par_iter().copied());
    }
    Ok(())
}

/// Whether a weight is at least a threshold. Weights of single precision are compared with what the threshold is then.
fn meets(weight: u64, of: WeightType, threshold: f64) -> bool {
    match of {
        WeightType::U32 | WeightType::U64 => threshold <= 0.0 || u128::from(weight) >= threshold.ceil() as u128,
        WeightType::F32 => f32::from_bits(weight as u32) >= threshold as f32,
        WeightType::F64 => f64::from_bits(weight) >= threshold,
    }
}

impl Ends {
    fn is_within(&self, id: u64) -> bool {
        self.range.is_none_or(|(first, count)| id.checked_sub(first).is_some_and(|at| at < count))
    }

    fn allow(&self, edge: &Edge, graph: &Graph) -> bool {
        [edge.source, edge.dest].into_iter().all(|id| self.is_within(id) && (!self.declared || graph.has(id)))
    }

    /// The error of an edge that is not allowed.
    fn error(&self, place: String, edge: &Edge, graph: &Graph) -> Error {
        let ids = [edge.source, edge.dest];
        Error::Invalid(match (self.range, ids.into_iter().find(|&id| !self.is_within(id))) {
            (Some((_, 0)), Some(id)) => format!("{place}: vertex id {id}: the graph has no vertices"),
            (Some((first, count)), Some(id)) => {
                format!("{place}: vertex id {id}: expected {first} to {}", first + (count - 1))
            }
            _ => {
                let id = ids.into_iter().find(|&id| !graph.has(id)).unwrap_or(edge.source);
                format!("{place}: vertex id {id}: no such vertex is declared")
            }
        })
    }
}

/// Adds the input to an error that has no place.
fn at(source: &mut dyn EdgeSource, error: Error) -> Error {
    crate::format::at(source.place(), error)
}

#[cfg(test)]
mod tests;
