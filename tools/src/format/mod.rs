//! The formatter: any stream of edges becomes a store, in bounded memory.
//!
//! ```text
//!  EdgeSource ─▶ ingest: loops, mirror ─▶ Sorter ─▶ sorted by source, dest ─┬─▶ (shards: by dest) ─▶ out-lists
//!                  └─ which ids occur ─▶ IdMap                              └─▶ reversed, sorted ─▶ in-lists
//! ```
//!
//! With another order than the natural one the sorter only collects; edges are sorted as vertices are renumbered
//! (`reorder`).
//!
//! Stages run one after another, so each has the whole budget. Graphs that a seed generates are not collected: their
//! edges are sorted by ranges of sources while lists are packed (`seeded`).

mod balance;
mod batches;
mod blocks;
mod breadth_first;
mod distinct;
mod distribute;
mod id_map;
mod ingest;
mod listed;
mod memory;
mod options;
mod order;
mod part;
mod partition;
mod plan;
mod ranges;
mod record;
mod reorder;
mod reverses;
mod runs;
mod sample;
mod seeded;
mod shards;
mod sorter;
mod spilt;
mod spool;
mod survey;
mod tally;

pub use balance::Balance;
pub use options::{FormatOptions, FormatReport, IdPolicy, OrderFrom};
pub use survey::{Seen, Undirected};

use crate::names::{Dictionary, Spool, copy_names, note_numbers};
use crate::progress::{Cancel, Progress, Unit};
use ingest::{Ingested, Naming, ingest};
use memory::{Budget, Known};
use record::{Plain, Record, Weighted, unsortable};
use reorder::Order;
use seeded::Seeded;
use sorter::{Collected, Sorter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use topostream_formats::manifest::{Ids, TopologyManifest};
use topostream_formats::names::StoredNames;
use topostream_formats::packed::{PackedParameters, UNIT, edges_max_of};
use topostream_formats::part::PartManifest;
use topostream_formats::readers::VertexList;
use topostream_formats::write::{StoreWriter, Targets, TopologyWriter};
use topostream_formats::{
    Direction, EdgeSource, Encoding, Error, Manifest, Result, SourceInfo, VertexOrder, WeightType,
    memory as system_memory, threads,
};

/// What sorts in bounded memory, for the numbering of names.
pub(crate) mod sorting {
    pub use super::record::{Plain, Record, Weighted};
    pub use super::sorter::Sorter;
}

/// Where names of vertices come from.
#[derive(Clone, Copy)]
enum NamesFrom<'a> {
    /// By number: original ids are numbers of names, without gaps.
    Dictionary(&'a Dictionary),
    /// By vertex of another store: original ids are vertices of that store.
    Store(&'a StoredNames),
}

/// Opens the source. Called twice if ids do not fit in 32 bits, to collect them first.
pub type OpenSource<'a> = dyn FnMut() -> Result<Box<dyn EdgeSource>> + 'a;

/// Makes a store in `path` from the edges of a source.
///
/// # Errors
/// Any defect of the input; [`Error::Memory`] if the budget is too small; [`Error::Allocation`] and [`Error::Threads`]
/// if the system grants no memory or threads; [`Error::Limit`] if ids or pages exceed their widths; [`Error::Io`];
/// [`Error::Interrupted`]. After an error, nothing is left that could be opened as a store.
pub fn format(
    open: &mut OpenSource<'_>,
    path: &Path,
    options: &FormatOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<FormatReport> {
    format_with(open, None, path, options, progress, cancel)
}

/// Makes a store in `path` whose original ids are names: the source has their numbers in a dictionary for ids.
///
/// # Errors
/// Those of [`format()`].
pub fn format_names(
    open: &mut OpenSource<'_>,
    names: &Dictionary,
    path: &Path,
    options: &FormatOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<FormatReport> {
    if options.ids != IdPolicy::Auto {
        return Err(Error::Invalid("ids that are names are numbered: no other rule applies to them".into()));
    }
    if matches!(options.order_from, Some(OrderFrom::File(_))) {
        return Err(Error::Invalid(
            "--order-file: names have vertices only in a store; format without it, then reformat the store with it"
                .into(),
        ));
    }
    let is_ordered = options.order != VertexOrder::Natural || options.order_from.is_some();
    let needed_bytes = memory::BASE_BYTES + names.writing_bytes(is_ordered);
    if needed_bytes > options.memory_bytes {
        let parts = format!("program {}, the order of {} names", memory::BASE_BYTES, names.count());
        let budget_bytes = options.memory_bytes;
        return Err(Error::Memory { what: "formatting names".into(), needed_bytes, budget_bytes, parts });
    }
    format_with(open, Some(NamesFrom::Dictionary(names)), path, options, progress, cancel)
}

/// Makes a store in `path` with the names of another store: the source has the numbers of its vertices for ids.
///
/// # Errors
/// Those of [`format()`].
pub fn format_with_names_of(
    open: &mut OpenSource<'_>,
    names: &StoredNames,
    path: &Path,
    options: &FormatOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<FormatReport> {
    format_with(open, Some(NamesFrom::Store(names)), path, options, progress, cancel)
}

fn format_with(
    open: &mut OpenSource<'_>,
    names: Option<NamesFrom<'_>>,
    path: &Path,
    options: &FormatOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<FormatReport> {
    options.check_shards()?;
    threads::start_shared_pool()?;
    system_memory::probe("formatting", options.memory_bytes.min(PROBED_BYTES_MAX))?;
    // Checked before reading the input, which may take long and, from a pipe, is possible only once.
    StoreWriter::check(path, &options.layout)?;
    let list = open_list(options)?;
    let source = open()?;
    let options = adapted(options, source.info());
    let reserved_bytes = list.as_ref().map_or(reserved_bytes(&options), VertexList::memory_bytes);
    let budget_bytes = options.memory_bytes;
    let options = FormatOptions { memory_bytes: options.memory_bytes.saturating_sub(reserved_bytes), ..options };
    let report = match options.layout.weights {
        Some(_) => Formatter::<Weighted>::run(source, open, (list, names), path, &options, progress, cancel),
        None => Formatter::<Plain>::run(source, open, (list, names), path, &options, progress, cancel),
    };
    report.map_err(|error| with_reserved(error, reserved_bytes, budget_bytes))
}

/// Opens the file of the order, if there is one.
fn open_list(options: &FormatOptions) -> Result<Option<VertexList>> {
    match &options.order_from {
        Some(OrderFrom::File(path)) => VertexList::open(path, listed::READING_BYTES).map(Some),
        None if options.order == VertexOrder::Listed => {
            Err(Error::Invalid("the order `listed` needs a file that lists the vertices".into()))
        }
        Some(OrderFrom::Sample) | None => Ok(None),
    }
}

/// Memory beside that of the stages, in bytes: for a sample, or for reading the order, which may need more if it is
/// compressed.
fn reserved_bytes(options: &FormatOptions) -> u64 {
    match options.order_from {
        Some(OrderFrom::File(_)) => listed::READING_BYTES,
        _ if sample::is_taken(options) => sample::MEMORY_BYTES,
        _ => 0,
    }
}

/// The error of a budget without the reserved memory, as one of the whole budget.
fn with_reserved(error: Error, reserved_bytes: u64, budget_bytes: u64) -> Error {
    match error {
        Error::Memory { what, needed_bytes, parts, .. } if reserved_bytes > 0 => Error::Memory {
            what,
            needed_bytes: needed_bytes.saturating_add(reserved_bytes),
            budget_bytes,
            parts: format!("{parts}, the order of vertices {reserved_bytes}"),
        },
        other => other,
    }
}

/// Checks whether a store could be made from a source in the memory that the options allow, as far as that is known
/// before the work. Reads no more of the source than that needs.
///
/// # Errors
/// [`Error::Memory`].
pub fn check_memory(source: &mut dyn EdgeSource, options: &FormatOptions) -> Result<()> {
    let mut options = adapted(options, source.info());
    let (reserved_bytes, budget_bytes) = (reserved_bytes(&options), options.memory_bytes);
    options.memory_bytes = budget_bytes.saturating_sub(reserved_bytes);
    Budget::new(source, &options).map(drop).map_err(|error| with_reserved(error, reserved_bytes, budget_bytes))
}

/// Returns the minimum memory budget for making a store, in bytes, from a source that takes `reading_bytes` and whose
/// vertices are the ids that occur: `vertices` of them, none larger than `largest`.
pub fn needed_bytes(
    info: &SourceInfo,
    reading_bytes: u64,
    vertices: u64,
    largest: u64,
    options: &FormatOptions,
) -> u64 {
    let options = adapted(options, info);
    let needed_bytes = Budget::needed_bytes(info, reading_bytes, (vertices, largest), &options);
    needed_bytes.saturating_add(reserved_bytes(&options))
}

/// Resolves options against the source: weights only if it has them, in-lists only if they differ from the out-lists;
/// and the order by what decides about it.
fn adapted(options: &FormatOptions, info: &SourceInfo) -> FormatOptions {
    let mut options = options.clone();
    options.layout.weights = info.weights.filter(|_| options.keep_weights);
    // The out-lists of an undirected graph serve as its in-lists, but not those of one of several parts.
    options.in_edges &= info.directed && !options.symmetrize || options.part.is_some() && options.shards > 1;
    if let Encoding::Packed { edges_max, step, .. } = &mut options.layout.encoding {
        // Without repeated edges, lists ascend strictly.
        *step |= options.remove_duplicates;
        if options.layout.weights == Some(WeightType::F32) {
            *edges_max = (*edges_max).min(options.layout.page_bytes / 2 - UNIT as u32);
        }
    }
    match options.order_from {
        Some(OrderFrom::File(_)) => options.order = VertexOrder::Listed,
        Some(OrderFrom::Sample) if options.layout.encoding.is_packed() => options.order = VertexOrder::DegreeGroups,
        Some(OrderFrom::Sample) => (options.order, options.order_from) = (VertexOrder::Natural, None),
        None => {}
    }
    options
}

/// Lists that pages refer to take at most one part in this many of the memory. Otherwise pages copy them.
const BATCHES_PART: u64 = 4;
/// A larger budget is treated as unlimited: no machine has that much memory, and address spaces may be smaller.
const PROBED_BYTES_MAX: u64 = 1 << 40;

/// What has been written.
struct Made {
    order: VertexOrder,
    ids: Ids,
    out: TopologyManifest,
    in_lists: Option<TopologyManifest>,
    part: Option<PartManifest>,
    vertices: u64,
    edges: u64,
    input_edges: u64,
    self_loops_removed: u64,
    seen: Seen,
}

struct Formatter<'a, R> {
    options: &'a FormatOptions,
    writer: StoreWriter,
    folder: PathBuf,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
    budget: Budget,
    edges: Collected<R>,
    naming: Naming,
    /// The file of the order, if there is one, until the vertices are numbered.
    list: Option<VertexList>,
    /// The names of the vertices, if original ids are names.
    names: Option<NamesFrom<'a>>,
    /// The number of each vertex among them, if the order is another one.
    order_of_names: Option<Spool>,
    duplicates_removed: u64,
    /// Edges with the same ends as the one before them, if all were passed in order.
    repeated: u64,
    /// Whether every edge is there in both directions.
    mirrored: bool,
    /// The smallest `edges_max` of a packed encoding that holds all pages so far.
    edges_max: u32,
}

impl<'a, R: Record> Formatter<'a, R> {
    fn run(
        mut source: Box<dyn EdgeSource>,
        open: &mut OpenSource<'_>,
        (list, names): (Option<VertexList>, Option<NamesFrom<'a>>),
        path: &Path,
        options: &'a FormatOptions,
        progress: &'a dyn Progress,
        cancel: &'a Cancel,
    ) -> Result<FormatReport> {
        let info = source.info().clone();
        let budget = Budget::new(&mut *source, options)?;
        let tag = part::tag(&info, options);
        let writer = StoreWriter::create(path, options.layout.clone(), tag)?;
        let folder = options.temporary.clone().unwrap_or_else(|| writer.temporary().to_owned());
        let (edges, naming) = (Collected::Memory(Vec::new()), Naming::vertices_below(0));
        let (duplicates_removed, repeated, edges_max) = (0, 0, 0);
        let mirrored = !info.directed || info.mirror || options.symmetrize;
        let mut formatter = Self {
            options,
            writer,
            folder,
            progress,
            cancel,
            budget,
            edges,
            naming,
            list,
            names,
            order_of_names: None,
            duplicates_removed,
            repeated,
            mirrored,
            edges_max,
        };
        formatter.check_adjacency(&info)?;
        let made = match Seeded::of(&*source, options) {
            Some(seeded) => formatter.make_seeded(&seeded)?,
            None => None,
        };
        let made = match made {
            Some(made) => made,
            None => formatter.make_sorted(source, open)?,
        };
        let made = formatter.with_names(made)?;
        let duplicates_removed = formatter.duplicates_removed;
        let repeated = formatter.repeated.max(duplicates_removed);
        let manifest = Manifest {
            tag,
            created_by: concat!("topostream ", env!("CARGO_PKG_VERSION")).into(),
            origin: info.name,
            vertices: made.vertices,
            edges: made.edges,
            input_edges: made.input_edges,
            directed: info.directed && !options.symmetrize,
            weights: options.layout.weights,
            encoding: formatter.encoding(),
            page_bytes: options.layout.page_bytes,
            order: made.order,
            ids: made.ids,
            stripes: options.layout.stripes.clone(),
            out: made.out,
            in_lists: made.in_lists,
            part: made.part,
        };
        cancel.check()?;
        formatter.writer.finish(&manifest)?;
        let (self_loops_removed, seen) = (made.self_loops_removed, made.seen);
        Ok(FormatReport { manifest, self_loops_removed, duplicates_removed, repeated, seen })
    }

    /// Writes the names of the vertices, if they have names: at last, when no edges are in memory.
    fn with_names(&mut self, made: Made) -> Result<Made> {
        let Some(names) = self.names else { return Ok(made) };
        self.edges = Collected::Memory(Vec::new());
        self.progress.begin("write names", None, Unit::Edges);
        let (order, memory_bytes) = (self.order_of_names.take(), self.budget.left(0));
        let ids = match names {
            NamesFrom::Dictionary(names) => names.write(&mut self.writer, order.as_ref(), memory_bytes, self.cancel)?,
            NamesFrom::Store(names) => {
                let order = order.expect("numbers have been noted");
                copy_names(names, &order, &mut self.writer, (&self.folder, memory_bytes), self.cancel)?
            }
        };
        self.progress.end();
        Ok(Made { ids, ..made })
    }

    /// Collects all edges, sorts them, and writes their lists.
    fn make_sorted(&mut self, source: Box<dyn EdgeSource>, open: &mut OpenSource<'_>) -> Result<Made> {
        let sorter = Sorter::new(&self.folder, self.budget.sort_bytes(), self.cancel.clone());
        let sorter = if order::is_before_sorting(self.options) { sorter.unsorted() } else { sorter };
        let Ingested { edges, naming, input_edges, self_loops_removed, seen } =
            ingest::<R>(source, open, self.options, sorter, self.progress, self.cancel)?;
        let vertices = naming.vertices();
        (self.edges, self.naming) = (edges, naming);
        self.budget.check(&self.known())?;
        let (order, ids) = self.number_vertices()?;
        let mut part = None;
        let (out, edges) = match self.options.part {
            Some(number) => {
                let made = self.write_part(number)?;
                part = Some(made.part);
                (made.out, made.edges)
            }
            None if self.options.shards > 1 => self.write_shards()?,
            None => self.write_lists(Direction::Out)?,
        };
        let own = self.destinations(part.as_ref());
        let in_lists = if self.options.in_edges { Some(self.write_in_lists(edges, &own)?) } else { None };
        Ok(Made { order, ids, out, in_lists, part, vertices, edges, input_edges, self_loops_removed, seen })
    }

    /// Renumbers the vertices if an order was requested, and writes the file of ids if one is needed.
    fn number_vertices(&mut self) -> Result<(VertexOrder, Ids)> {
        if self.options.order == VertexOrder::Natural {
            return Ok((VertexOrder::Natural, self.natural_ids()?));
        }
        let order = self.reorder()?;
        if let Some(encoding) = order.encoding {
            self.writer.set_encoding(encoding);
        }
        let ids = if order.kind == VertexOrder::Natural { self.natural_ids()? } else { self.ids_in(&order)? };
        // From here on the edges carry vertex numbers.
        self.naming = Naming::vertices_below(self.naming.vertices());
        Ok((order.kind, ids))
    }

    fn natural_ids(&mut self) -> Result<Ids> {
        match self.names {
            Some(NamesFrom::Dictionary(_)) => return Ok(Ids::Range { first: 0 }),
            Some(NamesFrom::Store(_)) => {
                self.order_of_names = Some(note_numbers(&self.folder, self.naming.originals())?);
                return Ok(Ids::Range { first: 0 });
            }
            None => {}
        }
        match self.naming.first() {
            Some(first) => Ok(Ids::Range { first }),
            None => Ok(self.writer.write_ids(|| self.naming.originals())?),
        }
    }

    fn ids_in(&mut self, order: &Order) -> Result<Ids> {
        let originals: Vec<u64> = match self.naming.first() {
            None if !order.by_id => self.naming.originals().collect(),
            _ => Vec::new(),
        };
        let original = |&vertex: &u32| match self.naming.first() {
            _ if order.by_id => u64::from(vertex),
            Some(first) => first + u64::from(vertex),
            None => originals[vertex as usize],
        };
        if self.names.is_some() {
            self.order_of_names = Some(note_numbers(&self.folder, order.vertices.iter().map(original))?);
            return Ok(Ids::Range { first: 0 });
        }
        self.writer.write_ids(|| order.vertices.iter().map(original))
    }

    /// What is known about the vertices and edges at this point.
    fn known(&self) -> Known {
        let (vertices, records) = (self.naming.vertices(), self.edges.records());
        Known { vertices, map_bytes: self.naming.memory_bytes(), listed: self.naming.first().is_none(), records }
    }

    /// The memory for a second set of edges beside the sorted ones and `other_bytes`. Moves the sorted ones to disk if
    /// necessary.
    fn sort_beside(&mut self, other_bytes: u64) -> Result<u64> {
        let left = self.budget.left(self.naming.memory_bytes() + other_bytes);
        let rest = left.saturating_sub(self.edges.memory_bytes());
        if rest >= left / 4 {
            return Ok(rest);
        }
        self.shrink_edges(left / 2)?;
        Ok(left / 2)
    }

    /// Limits the memory of the sorted edges.
    fn shrink_edges(&mut self, memory_bytes: u64) -> Result<()> {
        let edges = std::mem::replace(&mut self.edges, Collected::Memory(Vec::new()));
        self.edges = edges.shrink(memory_bytes, &self.folder, self.cancel)?;
        Ok(())
    }

    /// Passes every edge once, as vertices, in order, without duplicates if those are dropped. Returns their number.
    fn each_edge(&mut self, stage: &str, mut take: impl FnMut(u32, u32, u32) -> Result<()>) -> Result<u64> {
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
    fn count_repeated(&mut self, repeated: u64) {
        self.repeated = self.repeated.max(repeated);
        if self.options.remove_duplicates {
            self.duplicates_removed = self.duplicates_removed.max(repeated);
        }
    }

    /// Writes the sorted edges as the lists of a direction. Also returns their number.
    fn write_lists(&mut self, direction: Direction) -> Result<(TopologyManifest, u64)> {
        let vertices = self.naming.vertices();
        let known = self.known();
        let left = self.budget.left(known.map_bytes + self.budget.writing_bytes(&known));
        let batches_bytes = batches::memory_bytes(self.writer.layout()).filter(|&bytes| bytes <= left / BATCHES_PART);
        self.shrink_edges(left - batches_bytes.unwrap_or(0))?;
        let mut targets = None;
        if let Encoding::RecordId { .. } = self.options.layout.encoding {
            let mut layout = TopologyWriter::layout_only(self.options.layout.clone());
            self.each_edge("lay out pages", |source, dest, weight| layout.push(source, dest, weight))?;
            targets = Some(Targets::new(&layout.finish(vertices)?.1, vertices));
        }
        let stage = if direction == Direction::Out { "write out-lists" } else { "write in-lists" };
        let mut lists = self.writer.topology(direction, targets)?;
        let weights = self.options.layout.weights.unwrap_or(WeightType::U32);
        let edges = match PackedParameters::of(self.writer.layout().encoding).filter(|_| batches_bytes.is_some()) {
            Some(parameters) => self.write_batches(stage, parameters, &mut lists)?,
            None => {
                self.each_edge(stage, |source, dest, weight| lists.push(source, dest, unsortable(weight, weights)))?
            }
        };
        Ok((self.end_lists(lists, self.naming.vertices())?, edges))
    }

    /// Ends a topology.
    fn end_lists(&mut self, lists: TopologyWriter, vertices: u64) -> Result<TopologyManifest> {
        let (summary, pages) = lists.finish(vertices)?;
        self.edges_max = self.edges_max.max(edges_max_of(&pages));
        Ok(summary)
    }

    /// The encoding of the pages. Plain images are as small as they can be; but pages of weights that are not packed
    /// have been written with the size of the images that were foreseen.
    fn encoding(&self) -> Encoding {
        match self.writer.layout().encoding {
            Encoding::Packed { step, own, .. } if self.options.layout.weights != Some(WeightType::F32) => {
                Encoding::Packed { edges_max: self.edges_max, step, own }
            }
            foreseen => foreseen,
        }
    }

    /// Reverses the edges to these destinations, sorts them again and writes them.
    fn write_in_lists(&mut self, edges: u64, dests: &Range<u64>) -> Result<TopologyManifest> {
        let sort_bytes = self.sort_beside(0)?;
        let mut sorter = Sorter::new(&self.folder, sort_bytes, self.cancel.clone());
        self.each_edge("sort in-edges", |source, dest, weight| match dests.contains(&dest.into()) {
            true => sorter.push(R::new(dest, source, weight)),
            false => Ok(()),
        })?;
        self.edges = sorter.finish()?;
        self.naming = Naming::vertices_below(self.naming.vertices());
        let (summary, written) = self.write_lists(Direction::In)?;
        assert_eq!(written, edges, "as many edges go in as go out");
        Ok(summary)
    }
}
