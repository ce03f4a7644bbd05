//! Makes the mirrors of a store: for each vertex, the sections of the graph that its out-edges lead to.

use crate::progress::{Cancel, Progress, Unit};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::huge::plain;
use topostream_formats::mirrors::{MIRRORS, Mirrors, Sections};
use topostream_formats::packed::PackedPage;
use topostream_formats::page::{Neighbours, Page};
use topostream_formats::part::PARTS_MAX;
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Error, PageId, Result, Store, Topology, memory, threads, with_neighbours};

/// How many vertices have mirrors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirrorsReport {
    /// Vertices of the graph.
    pub vertices: u64,
    /// Sections of the graph.
    pub sections: usize,
    /// Vertices with edges into sections other than their own.
    pub outside: u64,
    /// For all of them together, the number of such sections.
    pub mirrors: u64,
}

impl MirrorsReport {
    fn new(sections: &Sections, masks: &[u32]) -> Self {
        let ranges = sections.ranges();
        let numbers = ranges.iter().zip(0u32..).map(|(range, number)| {
            let own = masks[range.start as usize..range.end as usize].par_iter();
            let others = own.map(|mask| u64::from((mask & !(1 << number)).count_ones()));
            others.map(|count| (u64::from(count > 0), count)).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        });
        let (outside, mirrors) = numbers.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        Self { vertices: masks.len() as u64, sections: ranges.len(), outside, mirrors }
    }
}

/// Code and stacks.
const BASE_BYTES: u64 = 32 << 20;

/// What a thread reads and decodes a page into.
#[derive(Default)]
struct Buffers {
    page: AlignedBuffer,
    image: AlignedBuffer,
}

/// Reads the out-lists of a store, and writes its [`Mirrors`] to the same folder, in place of older ones. Pages are
/// checked as a run checks them. Takes 4 bytes a vertex, and two pages for each thread.
///
/// # Errors
/// [`Error::Invalid`] for more parts or shards than there can be sections; [`Error::Memory`]; [`Error::Page`] and
/// [`Error::Io`]; [`Error::Interrupted`]. After an error, the older mirrors are still there.
pub fn make_mirrors(
    store: &Store,
    memory_bytes: u64,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<MirrorsReport> {
    let Some(sections) = Sections::of(store) else {
        let found = store.part().map_or("shards", |_| "parts");
        return Err(Error::Invalid(format!(
            "{}: mirrors are of at most 32 {found}, and there may be up to {PARTS_MAX}",
            store.path().display()
        )));
    };
    threads::start_shared_pool()?;
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    check_memory(store, topology, memory_bytes)?;
    progress.begin("make mirrors", Some(topology.page_count().into()), Unit::Pages);
    let masks = masks(store, topology, &sections, progress, cancel)?;
    progress.end();
    cancel.check()?;
    Mirrors::write(store, &sections, &masks)?;
    Ok(MirrorsReport::new(&sections, &masks))
}

/// Checks the mirrors of a store, if it has any, against its out-lists.
///
/// # Errors
/// [`Error::File`] with the first vertex whose mask is wrong; the errors of [`make_mirrors`].
pub fn check_mirrors(store: &Store, memory_bytes: u64, progress: &dyn Progress, cancel: &Cancel) -> Result<()> {
    let Some(mirrors) = Mirrors::open(store)? else { return Ok(()) };
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    // The masks of the file, and the masks of the lists.
    check_memory(store, topology, memory_bytes.saturating_sub(4 * store.vertices()))?;
    progress.begin("verify mirrors", Some(topology.page_count().into()), Unit::Pages);
    let expected = masks(store, topology, mirrors.sections(), progress, cancel)?;
    progress.end();
    let known = mirrors.known();
    let wrong = |(expected, found): (&u32, &u32)| expected & known != *found;
    match expected.iter().zip(mirrors.masks()).position(wrong) {
        Some(vertex) => {
            let mask = expected[vertex] & known;
            let (expected, found) = (format!("mask {mask:08x} of vertex {vertex}"), mirrors.masks()[vertex]);
            Err(Error::file(store.path().join(MIRRORS), expected, format!("{found:08x}")))
        }
        None => Ok(()),
    }
}

/// The mask of each vertex.
fn masks(
    store: &Store,
    topology: &Topology,
    sections: &Sections,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Vec<u32>> {
    let (reader, done) = (PageReader::open(topology)?, AtomicU64::new(0));
    // A list may be on several pages, and in several shards.
    let masks: Vec<AtomicU32> = (0..store.vertices()).map(|_| AtomicU32::new(0)).collect();
    let one_page = |buffers: &mut Buffers, number: u32| -> Result<()> {
        cancel.check()?;
        add_page((store, topology, &reader), PageId(number), buffers, sections, &masks)?;
        progress.position(1 + done.fetch_add(1, Ordering::Relaxed));
        Ok(())
    };
    // Of several defects, the one in the first page is reported, whichever thread is faster.
    let results: Vec<Result<()>> =
        (0..topology.page_count()).into_par_iter().map_init(Buffers::default, one_page).collect();
    results.into_iter().collect::<Result<()>>()?;
    Ok(plain(masks))
}

/// Adds the lists of a page.
fn add_page(
    (store, topology, reader): (&Store, &Topology, &PageReader<'_>),
    number: PageId,
    buffers: &mut Buffers,
    sections: &Sections,
    masks: &[AtomicU32],
) -> Result<()> {
    let Buffers { page: bytes, image } = buffers;
    if bytes.is_empty() {
        *bytes = AlignedBuffer::try_new("a page", topology.page_bytes().into())?;
        *image = AlignedBuffer::try_new("a decoded page", topology.image_bytes())?;
    }
    reader.read(number, bytes, &mut [])?;
    let context = store.page_context(topology);
    topology.check(number, bytes, None, &context)?;
    let opened = match context.encoding.is_packed() {
        false => Page::open(bytes, context.encoding),
        true => PackedPage::open(bytes, context.encoding, context.destinations(number.0)).and_then(|packed| {
            packed.inflate(image)?;
            Page::open(image, context.encoding.plain())
        }),
    };
    let page = opened.map_err(|defect| topology.page_error(number, false, defect))?;
    let starts = topology.directory().starts();
    with_neighbours!(&page, context.encoding, starts, |neighbours| {
        for slot in 0..page.header().slot_count {
            let vertex = page.header().start_vertex + slot;
            let mask = sections.mask(page.record(slot).map(|edge| neighbours.vertex(edge)));
            if mask != 0 {
                masks[vertex as usize].fetch_or(mask, Ordering::Relaxed);
            }
        }
    });
    Ok(())
}

fn check_memory(store: &Store, topology: &Topology, memory_bytes: u64) -> Result<()> {
    let a_thread = u64::from(topology.page_bytes()) + topology.image_bytes();
    let (masks, threads) = (4 * store.vertices(), rayon::current_num_threads() as u64);
    let needed_bytes = BASE_BYTES + masks + threads * a_thread;
    if needed_bytes <= memory_bytes {
        return memory::probe("making mirrors", needed_bytes);
    }
    let parts = format!("program {BASE_BYTES}, masks {masks}, pages of {a_thread} bytes for each of {threads} threads");
    Err(Error::Memory { what: "making mirrors".into(), needed_bytes, budget_bytes: memory_bytes, parts })
}
