//! Main memory of formatting by stage: the same computation is used for plans, refusals and the work itself.
//!
//! ```text
//!  ingest      program · reading · ids that occur (a third) · the sort
//!  renumber    program · ids · degrees, numbers (· adjacency, if an order needs it) · edges, or a run of them
//!              · buckets, by which they are sorted in place
//!  shards      program · ids · sorted edges · the edges of each shard · pages, directory
//!  out-lists   program · ids · sorted edges · pages, directory
//!  in-lists    program · ids · sorted edges · the sort of reversed edges; then pages, directory
//! ```
//!
//! Sorted edges take the memory that a stage does not need: they move to the temporary file if that is too little. The
//! minimum therefore depends only on the number of vertices and on their ids. Both may be known only after all edges
//! have been read; a refusal then states the needs of all stages. A refusal before reading is based on the first edges.

use super::distinct::Distinct;
use super::options::{BASE_BYTES, FormatOptions};
use super::source;
use super::{breadth_first, id_map, order, sample};
use topostream_formats::chunks;
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::write::TopologyWriter;
use topostream_formats::{EdgeSource, Error, IdSpace, Result, SourceInfo, VertexOrder};

/// The minimum for a sort.
const SORT_BYTES_MIN: u64 = 4 << 20;
/// Counts of destinations, which determine the shards.
const HISTOGRAM_BYTES: u64 = 512 << 10;
/// Memory for each written page: its entry, its checksums, with room to grow.
const PAGE_ENTRY_BYTES: u64 = 64;
/// The number of edges that are examined to explain a refusal before any have been read.
const LOOK_EDGES_MAX: u64 = 4 << 20;
/// A source that takes more than the budget is looked at only up to this much, in bytes.
const LOOK_BYTES_MAX: u64 = 44 << 20;
/// The memory of blocks of edges that are read from unsorted runs.
pub const READ_BYTES: u64 = 8 << 20;

/// What is known about the vertices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    pub vertices: u64,
    /// The map from ids to vertices, if there is one.
    pub map_bytes: u64,
    /// Whether original ids are listed individually.
    pub listed: bool,
    pub records: u64,
}

/// The budget for making a store from a source.
#[derive(Clone, Debug)]
pub struct Budget {
    memory_bytes: u64,
    reading_bytes: u64,
    pages_bytes: u64,
    page_bytes: u64,
    /// Whether pages are packed.
    packed: bool,
    collects_ids: bool,
    ordered: bool,
    /// Whether edges are sorted once, in place if they fit in memory.
    sorts_once: bool,
    /// The tables of an order, if the number of vertices is declared.
    order_bytes: Option<u64>,
    shards: u64,
    in_edges: bool,
    /// Of an order that has the neighbours of all vertices in memory, whether lists have both ends of a record.
    searches: Option<bool>,
}

impl Budget {
    /// Returns the budget for a source, and checks that it suffices for reading and sorting.
    ///
    /// # Errors
    /// [`Error::Memory`] with the needs of all stages, as far as they are known; [`Error::Limit`] for more vertices
    /// than a store can have.
    pub fn new(source: &mut dyn EdgeSource, options: &FormatOptions) -> Result<Self> {
        source::check_declared(source, options)?;
        let budget = Self::of(source.info(), source.memory_bytes(), options);
        let least = budget.least_bytes();
        let declared = match source::id_space(source.info(), options) {
            IdSpace::Range { count, .. } => Some(Known { vertices: count.min(VERTICES_MAX), ..Known::default() }),
            _ => None,
        };
        let fits = |known: &Known| least.max(budget.later_bytes(known)) <= budget.memory_bytes;
        if least <= budget.memory_bytes && declared.as_ref().is_none_or(fits) {
            return Ok(budget);
        }
        let info = source.info();
        let records = records_of(info, info.edges.unwrap_or(0), options.symmetrize);
        let declared = declared.map(|known| (Known { records, ..known }, 0));
        let known =
            declared.or_else(|| may_look(budget.reading_bytes, options.memory_bytes).then(|| look(source, options)));
        let (known, ids_bytes) = known.unwrap_or_default();
        let needed = least.max(budget.later_bytes(&known)).max(id_map::budget_for(ids_bytes));
        Err(budget.refusal(needed, &known))
    }

    fn of(info: &SourceInfo, reading_bytes: u64, options: &FormatOptions) -> Self {
        Self {
            memory_bytes: options.memory_bytes,
            reading_bytes,
            pages_bytes: match sample::is_taken(options) {
                true => TopologyWriter::memory_bytes(&sample::widest(&options.layout)),
                false => TopologyWriter::memory_bytes(&options.layout),
            },
            page_bytes: options.layout.page_bytes.into(),
            packed: options.layout.encoding.is_packed(),
            collects_ids: source::needs_id_map(info, options),
            ordered: options.order != VertexOrder::Natural,
            sorts_once: order::is_before_sorting(options) && !options.in_edges && options.shards == 1,
            order_bytes: match source::id_space(info, options) {
                IdSpace::Range { count, .. } => Some(order::memory_bytes(count.min(VERTICES_MAX), false)),
                _ => None,
            },
            // A part is not grouped.
            shards: if options.part.is_some() { 1 } else { options.shards.into() },
            in_edges: options.in_edges,
            searches: (options.order == VertexOrder::Bfs).then_some(!info.mirror && !options.symmetrize),
        }
    }

    /// The needs of all stages for a source of this many vertices, whose ids occur and go up to `largest`.
    pub fn needed_bytes(
        info: &SourceInfo,
        reading_bytes: u64,
        (vertices, largest): (u64, u64),
        options: &FormatOptions,
    ) -> u64 {
        let budget = Self::of(info, reading_bytes, options);
        let known = Known { vertices, map_bytes: id_map::map_bytes(vertices, largest), listed: true, records: 0 };
        let ids_bytes = id_map::collecting_bytes(vertices, 0, largest);
        let records = records_of(info, info.edges.unwrap_or(0), options.symmetrize);
        let lists = Known { records, ..known };
        let searching_bytes = budget.searching_bytes(&lists);
        budget.least_bytes().max(budget.later_bytes(&known)).max(id_map::budget_for(ids_bytes)).max(searching_bytes)
    }

    /// The minimum for reading and sorting.
    fn least_bytes(&self) -> u64 {
        self.fixed_bytes() + self.shares() * SORT_BYTES_MIN
    }

    fn fixed_bytes(&self) -> u64 {
        BASE_BYTES + self.reading_bytes + self.pages_bytes
    }

    /// The number of sorts that share the memory: a second sort, or grouping, needs the result of the first.
    fn shares(&self) -> u64 {
        1 + u64::from(self.in_edges || self.ordered || self.shards > 1) + u64::from(self.collects_ids)
    }

    /// The memory of the first sort.
    pub fn sort_bytes(&self) -> u64 {
        let bytes = self.memory_bytes.saturating_sub(self.fixed_bytes());
        let share = bytes / self.shares();
        if !self.sorts_once {
            return share;
        }
        // The tables of the order come in addition to these edges, and no second set of edges does.
        let beside_tables = self.order_bytes.map_or(bytes / 4 * 3, |tables| bytes.saturating_sub(tables));
        share.max(beside_tables / (1 + u64::from(self.collects_ids)))
    }

    /// The memory of edges that are to be symmetrized, if they are kept as they are: their reverses are made later, a
    /// range of sources at a time, in the rest.
    pub fn once_bytes(&self) -> u64 {
        let bytes = self.memory_bytes.saturating_sub(self.fixed_bytes());
        let other_bytes = if self.collects_ids { id_map::share_of(self.memory_bytes) } else { bytes / 4 };
        bytes.saturating_sub(other_bytes)
    }

    /// The memory left by the program and `other_bytes`.
    pub fn left(&self, other_bytes: u64) -> u64 {
        self.memory_bytes.saturating_sub(BASE_BYTES + other_bytes)
    }

    /// The refusal if the adjacency lists of an order take this much, in addition to `other_bytes`; none if they fit.
    pub fn check_adjacency(&self, lists_bytes: u64, other_bytes: u64) -> Result<()> {
        let needed_bytes = lists_bytes.saturating_add(BASE_BYTES + other_bytes);
        if needed_bytes <= self.memory_bytes {
            return Ok(());
        }
        let parts = format!(
            "program {BASE_BYTES}, numbering vertices and reading edges {other_bytes}, the neighbours of all vertices \
             {lists_bytes}: `--order bfs` has them in memory; raise `--memory`, or choose another `--order`"
        );
        Err(Error::Memory { what: "formatting".into(), needed_bytes, budget_bytes: self.memory_bytes, parts })
    }

    /// The memory for writing lists: page buffers, page entries, and the chunks of packed pages.
    pub fn writing_bytes(&self, known: &Known) -> u64 {
        // A neighbour has at most 4 bytes, and pages are rarely less than a quarter full.
        let lists_bytes = known.records.saturating_mul(8).saturating_add(4 * self.shards * known.vertices);
        let pages = lists_bytes.saturating_mul(2) / self.page_bytes + 2;
        let chunks_bytes = match self.packed {
            true => 2 * chunks::memory_bytes(pages, known.records, self.page_bytes as u32),
            false => 0,
        };
        self.pages_bytes + PAGE_ENTRY_BYTES * pages + chunks_bytes
    }

    /// The memory of grouping without two sets of edges.
    pub fn grouping_bytes(&self, known: &Known) -> u64 {
        HISTOGRAM_BYTES + self.writing_bytes(known)
    }

    /// Checks that the budget suffices for all later stages, once the vertices are known.
    ///
    /// # Errors
    /// [`Error::Memory`] with their needs.
    pub fn check(&self, known: &Known) -> Result<()> {
        let needed = self.later_bytes(known);
        if needed <= self.memory_bytes { Ok(()) } else { Err(self.refusal(needed, known)) }
    }

    /// The minimum for the later stages.
    fn later_bytes(&self, known: &Known) -> u64 {
        let map = if self.ordered { 0 } else { known.map_bytes };
        let mut stages = vec![map + self.writing_bytes(known) + SORT_BYTES_MIN];
        if self.ordered {
            stages.push(known.map_bytes + order::memory_bytes(known.vertices, known.listed) + 2 * SORT_BYTES_MIN);
        }
        if self.shards > 1 {
            stages.push(map + self.grouping_bytes(known) + 2 * SORT_BYTES_MIN);
        }
        if self.in_edges {
            stages.push(map + 2 * SORT_BYTES_MIN);
        }
        BASE_BYTES + stages.into_iter().max().unwrap_or(0)
    }

    /// The needs of an order that has the neighbours of all vertices in memory; 0 for others.
    fn searching_bytes(&self, known: &Known) -> u64 {
        let Some(both) = self.searches else { return 0 };
        let tables_bytes = known.map_bytes + order::memory_bytes(known.vertices, known.listed);
        // Tables by id have up to 5/2 times as many places as there are vertices.
        let slots = known.vertices.saturating_mul(5) / 2;
        let lists_bytes = breadth_first::memory_bytes(slots, known.records, both);
        lists_bytes.saturating_add(BASE_BYTES + tables_bytes + READ_BYTES)
    }

    /// A refusal, with the needs of all stages as far as they are known.
    fn refusal(&self, needed_bytes: u64, known: &Known) -> Error {
        let searching_bytes = self.searching_bytes(known);
        let mut parts = format!(
            "program {BASE_BYTES}, reading {}, pages {}, sorting at least {}",
            self.reading_bytes,
            self.writing_bytes(known),
            self.shares() * SORT_BYTES_MIN
        );
        if known.map_bytes > 0 {
            parts += &format!(", ids that occur {}", known.map_bytes);
        }
        if self.ordered && known.vertices > 0 {
            let bytes = order::memory_bytes(known.vertices, known.listed);
            let is_most = bytes > needed_bytes / 2;
            let otherwise = if is_most { ", which `--order natural` does not need" } else { "" };
            parts += &format!(", renumbering {} vertices {bytes}{otherwise}", known.vertices);
        }
        if searching_bytes > 0 {
            parts += &format!(", the order with the neighbours of all vertices {searching_bytes} in all");
        }
        let needed_bytes = needed_bytes.max(searching_bytes);
        Error::Memory { what: "formatting".into(), needed_bytes, budget_bytes: self.memory_bytes, parts }
    }
}

/// The records of this many edges: two of each if reverses are added. A header may state any number.
fn records_of(info: &SourceInfo, edges: u64, symmetrize: bool) -> u64 {
    edges.saturating_mul(1 + u64::from(info.mirror || symmetrize))
}

/// Whether a source that takes `reading_bytes` is read to explain a refusal.
pub fn may_look(reading_bytes: u64, memory_bytes: u64) -> bool {
    reading_bytes <= memory_bytes.saturating_sub(BASE_BYTES).max(LOOK_BYTES_MAX)
}

/// Returns the vertices in the first edges of a source, and the memory for collecting their ids. Defects of the input
/// are ignored here; reading reports them.
fn look(source: &mut dyn EdgeSource, options: &FormatOptions) -> (Known, u64) {
    let (mut ids, mut largest, mut least, mut seen) = (Distinct::default(), 0, u64::MAX, 0);
    let mut chunk = Vec::new();
    while seen < LOOK_EDGES_MAX && source.read(&mut chunk).is_ok() && !chunk.is_empty() {
        for id in chunk.iter().flat_map(|edge| [edge.source, edge.dest]) {
            ids.insert(id);
            (largest, least) = (largest.max(id), least.min(id));
        }
        seen += chunk.len() as u64;
    }
    if seen == 0 {
        return (Known::default(), 0);
    }
    let records = records_of(source.info(), seen.max(whole(source, seen)), options.symmetrize);
    if source::id_space(source.info(), options) == IdSpace::UpToLargest {
        return (Known { vertices: largest.saturating_add(1).min(1 << 32), records, ..Known::default() }, 0);
    }
    let vertices = ids.at_most();
    let map_bytes = id_map::map_bytes(vertices, largest);
    (Known { vertices, map_bytes, listed: true, records }, id_map::collecting_bytes(vertices, least, largest))
}

/// The number of edges of a source, by the bytes of the edges that were read.
fn whole(source: &dyn EdgeSource, seen: u64) -> u64 {
    let Some(bytes) = source.info().bytes.filter(|_| source.info().edges.is_none()) else {
        return source.info().edges.unwrap_or(0);
    };
    (seen as f64 * bytes as f64 / source.bytes_read().max(1) as f64).ceil() as u64
}
