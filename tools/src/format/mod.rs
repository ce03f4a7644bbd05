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
mod combine;
mod distinct;
mod distribute;
mod formatter;
mod id_map;
mod ingest;
mod intake;
mod listed;
mod memory;
mod naming;
mod options;
mod order;
mod pairs;
mod part;
mod plan;
mod ranges;
mod reorder;
mod repeated;
mod reverses;
mod sample;
mod seeded;
mod shards;
mod source;
mod spilt;
mod spool;
mod state;
mod survey;
mod taken;
mod tally;

pub use balance::Balance;
pub use memory::may_look;
pub use options::{FormatOptions, FormatReport, IdPolicy, OrderFrom, Repeated};
pub use source::OpenSource;
pub(crate) use source::{at, too_many_vertices};
pub use survey::{Seen, Undirected};

use crate::mirrors::make_mirrors;
use crate::names::Dictionary;
use crate::progress::{Cancel, Progress};
use crate::sorting::record::{Plain, Weighted, Wide};
use memory::Budget;
use options::BASE_BYTES;
use state::{Formatter, NamesFrom};
use std::path::Path;
use topostream_formats::memory as system_memory;
use topostream_formats::names::StoredNames;
use topostream_formats::packed::UNIT;
use topostream_formats::write::StoreWriter;
use topostream_formats::{EdgeSource, Encoding, Error, OpenOptions, Result, SourceInfo, Store, VertexOrder, threads};
use topostream_readers::VertexList;

/// A larger budget is treated as unlimited: no machine has that much memory, and address spaces may be smaller.
const PROBED_BYTES_MAX: u64 = 1 << 40;

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
/// The errors of [`format()`].
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
    let needed_bytes = BASE_BYTES + names.writing_bytes(is_ordered);
    if needed_bytes > options.memory_bytes {
        let parts = format!("program {}, the order of {} names", BASE_BYTES, names.count());
        let budget_bytes = options.memory_bytes;
        return Err(Error::Memory { what: "formatting names".into(), needed_bytes, budget_bytes, parts });
    }
    format_with(open, Some(NamesFrom::Dictionary(names)), path, options, progress, cancel)
}

/// Makes a store in `path` with the names of another store: the source has the numbers of its vertices for ids.
///
/// # Errors
/// The errors of [`format()`].
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
    let list = listed::open(options)?;
    let source = open()?;
    let options = adapted(options, source.info());
    repeated::check(&options, &source.place())?;
    let reserved_bytes = list.as_ref().map_or(reserved_bytes(&options), VertexList::memory_bytes);
    let budget_bytes = options.memory_bytes;
    let options = FormatOptions { memory_bytes: options.memory_bytes.saturating_sub(reserved_bytes), ..options };
    let report = match options.layout.weights {
        Some(of) if of.is_wide() => {
            Formatter::<Wide>::run(source, open, (list, names), path, &options, progress, cancel)
        }
        Some(_) => Formatter::<Weighted>::run(source, open, (list, names), path, &options, progress, cancel),
        None => Formatter::<Plain>::run(source, open, (list, names), path, &options, progress, cancel),
    };
    let report = report.map_err(|error| with_reserved(error, reserved_bytes, budget_bytes))?;
    if options.mirrors {
        let store = Store::open_with(path, &OpenOptions::default().with_parts())?;
        make_mirrors(&store, budget_bytes, progress, cancel)?;
    }
    Ok(report)
}

/// Memory in addition to the memory of the stages, in bytes: for a sample, or for reading the order, which may need
/// more if it is compressed.
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
    // Once they are combined, no edge is repeated.
    options.remove_duplicates |= options.repeated.is_some();
    // The out-lists of an undirected graph serve as its in-lists, but not the out-lists of one of several parts.
    options.in_edges &= info.directed && !options.symmetrize || options.part.is_some() && options.shards > 1;
    if let Encoding::Packed { edges_max, step, .. } = &mut options.layout.encoding {
        // Without repeated edges, lists ascend strictly.
        *step |= options.remove_duplicates;
        // Pages of weights have a size that depends on this only: at most twice a page's.
        if let Some(of) = options.layout.weights.filter(|of| !of.is_packable()) {
            let page = options.layout.page_bytes * 2 / of.bytes() as u32;
            *edges_max = (*edges_max).min(page - UNIT as u32);
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
