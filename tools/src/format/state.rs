//! A store that is being made: options, the edges and vertices so far, and what every stage does with them.

use super::memory::{Budget, Known};
use super::naming::Naming;
use super::options::FormatOptions;
use super::survey::Seen;
use crate::names::{Dictionary, Spool};
use crate::progress::{Cancel, Progress, Unit};
use crate::sorting::record::Record;
use crate::sorting::sorter::Collected;
use std::path::PathBuf;
use topostream_formats::manifest::{Ids, TopologyManifest};
use topostream_formats::names::StoredNames;
use topostream_formats::packed::edges_max_of;
use topostream_formats::part::PartManifest;
use topostream_formats::write::{StoreWriter, TopologyWriter};
use topostream_formats::{Result, Rounding, VertexOrder};
use topostream_readers::VertexList;

/// Where names of vertices come from.
#[derive(Clone, Copy)]
pub(super) enum NamesFrom<'a> {
    /// By number: original ids are numbers of names, without gaps.
    Dictionary(&'a Dictionary),
    /// By vertex of another store: original ids are vertices of that store.
    Store(&'a StoredNames),
}

/// What has been written.
pub(super) struct Made {
    pub(super) order: VertexOrder,
    pub(super) ids: Ids,
    pub(super) out: TopologyManifest,
    pub(super) in_lists: Option<TopologyManifest>,
    pub(super) part: Option<PartManifest>,
    pub(super) vertices: u64,
    pub(super) edges: u64,
    pub(super) input_edges: u64,
    pub(super) self_loops_removed: u64,
    pub(super) seen: Seen,
    pub(super) rounding: Rounding,
}

/// A store that is being made: what all stages share.
pub(super) struct Formatter<'a, R> {
    pub(super) options: &'a FormatOptions,
    pub(super) writer: StoreWriter,
    pub(super) folder: PathBuf,
    pub(super) progress: &'a dyn Progress,
    pub(super) cancel: &'a Cancel,
    pub(super) budget: Budget,
    pub(super) edges: Collected<R>,
    pub(super) naming: Naming,
    /// The file of the order, if there is one, until the vertices are numbered.
    pub(super) list: Option<VertexList>,
    /// The names of the vertices, if original ids are names.
    pub(super) names: Option<NamesFrom<'a>>,
    /// The number of each vertex among them, if the order is another one.
    pub(super) order_of_names: Option<Spool>,
    pub(super) duplicates_removed: u64,
    /// Edges that were combined with others of the same ends, before any were removed.
    pub(super) combined: u64,
    /// Edges with the same ends as the one before them, if all were passed in order.
    pub(super) repeated: u64,
    /// Whether every edge is there in both directions.
    pub(super) mirrored: bool,
    /// The smallest `edges_max` of a packed encoding that holds all pages so far.
    pub(super) edges_max: u32,
}

impl<R: Record> Formatter<'_, R> {
    /// What is known about the vertices and edges at this point.
    pub(super) fn known(&self) -> Known {
        let (vertices, records) = (self.naming.vertices(), self.edges.records());
        Known { vertices, map_bytes: self.naming.memory_bytes(), listed: self.naming.first().is_none(), records }
    }

    /// The memory for a second set of edges in addition to the sorted ones and `other_bytes`. Moves the sorted ones to
    /// disk if necessary.
    pub(super) fn sort_beside(&mut self, other_bytes: u64) -> Result<u64> {
        let left = self.budget.left(self.naming.memory_bytes() + other_bytes);
        let rest = left.saturating_sub(self.edges.memory_bytes());
        if rest >= left / 4 {
            return Ok(rest);
        }
        self.shrink_edges(left / 2)?;
        Ok(left / 2)
    }

    /// Limits the memory of the sorted edges.
    pub(super) fn shrink_edges(&mut self, memory_bytes: u64) -> Result<()> {
        let edges = std::mem::replace(&mut self.edges, Collected::Memory(Vec::new()));
        self.edges = edges.shrink(memory_bytes, &self.folder, self.cancel)?;
        Ok(())
    }

    /// Passes every edge once, as vertices, in order, without duplicates if those are dropped. Returns their number.
    pub(super) fn each_edge(&mut self, stage: &str, mut take: impl FnMut(u32, u32, u64) -> Result<()>) -> Result<u64> {
        self.progress.begin(stage, Some(self.edges.records()), Unit::Edges);
        let (naming, unique) = (&self.naming, self.options.remove_duplicates);
        let (mut last, mut last_source, mut passed, mut repeated) = (None, None, 0u64, 0u64);
        let cancel = self.cancel;
        self.edges.for_each(|records| {
            cancel.check()?;
            for record in records {
                let (source, dest, weight) = record.parts();
                if last == Some((source, dest)) {
                    repeated += 1;
                    if unique {
                        continue;
                    }
                }
                last = Some((source, dest));
                passed += 1;
                let vertex = match last_source {
                    Some((raw, vertex)) if raw == source => vertex,
                    _ => naming.vertex(source),
                };
                last_source = Some((source, vertex));
                take(vertex, naming.vertex(dest), weight)?;
            }
            self.progress.position(passed + if unique { repeated } else { 0 });
            Ok(())
        })?;
        self.progress.end();
        self.count_repeated(repeated);
        Ok(passed)
    }

    /// Notes how many edges had the same ends as the one before them, in a pass over all edges.
    pub(super) fn count_repeated(&mut self, repeated: u64) {
        self.repeated = self.repeated.max(repeated);
        if self.options.remove_duplicates {
            self.duplicates_removed = self.duplicates_removed.max(repeated);
        }
    }

    /// Ends a topology.
    pub(super) fn end_lists(&mut self, lists: TopologyWriter, vertices: u64) -> Result<TopologyManifest> {
        let (summary, pages) = lists.finish(vertices)?;
        self.edges_max = self.edges_max.max(edges_max_of(&pages));
        Ok(summary)
    }
}
