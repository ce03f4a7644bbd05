//! Verification of a store: every byte, and the consistency of its files.

use crate::mirrors::check_mirrors;
use crate::progress::{Cancel, Progress, Unit};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::huge::plain;
use topostream_formats::manifest::Ids;
use topostream_formats::names::check_names;
use topostream_formats::packed::PackedPage;
use topostream_formats::page::{Neighbours, Page, PageContext, PageDefect, PageWeights};
use topostream_formats::part::{EdgesHash, PartManifest, edge_hash};
use topostream_formats::store::PageReader;
use topostream_formats::text::plural;
use topostream_formats::with_neighbours;
use topostream_formats::{Direction, Error, PageId, Result, Store, Topology, VertexId, memory, threads};

/// The result of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// The number of pages that were read and found valid, over all topologies.
    pub pages: u64,
    /// The number of neighbours in them.
    pub edges: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// The contents of a page: its sums, and where its list begins and ends if it is a large page.
#[derive(Clone, Copy, Debug, Default)]
struct Checked {
    sums: Sums,
    first: u32,
    last: u32,
    /// The neighbour before the first, as far as the page has it.
    before: Option<u32>,
}

/// The sums over pages. Sums of hashes do not depend on the order of edges, so in-lists can be compared with out-lists
/// without sorting.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    along: u64,
    against: u64,
}

/// The lengths of lists, which must equal the degrees in `degrees.bin`.
enum Lengths<'a> {
    /// Each list is in one place, where it can be checked.
    Whole(&'a [u32]),
    /// Each list has a part in each shard: the parts are added up and checked at the end.
    Parts(Vec<AtomicU32>),
}

/// Reads every page of a store and checks: checksums (also of chunks), ids, slots, neighbours (all of them decoded,
/// within the range of their shard and in ascending order), degrees as in `degrees.bin`, and that in-lists (or the
/// out-lists themselves, in an undirected graph) contain the reversed edges; in a part of a graph, also the hash of its
/// edges; and, if the store has mirrors, that they match its out-lists. Opening the store has already checked the
/// manifest, the directories and the lengths of files.
///
/// # Errors
/// The first defect, by file and page; [`Error::Interrupted`].
pub fn verify(store: &Store, memory_bytes: u64, progress: &dyn Progress, cancel: &Cancel) -> Result<VerifyReport> {
    threads::start_shared_pool()?;
    check_memory(store, memory_bytes)?;
    check_ids(store)?;
    let mut report = VerifyReport::default();
    let mut sums = Vec::new();
    for topology in store.topologies() {
        let direction = topology.direction();
        let stage = if direction == Direction::Out { "verify out-lists" } else { "verify in-lists" };
        progress.begin(stage, Some(topology.page_count().into()), Unit::Pages);
        sums.push(verify_topology(store, topology, progress, cancel)?);
        progress.end();
        report.pages += u64::from(topology.page_count());
        report.edges += store.edges();
        report.bytes += u64::from(topology.page_count()) * u64::from(topology.page_bytes());
        report.bytes += topology.weights_file_bytes();
    }
    if let Some(part) = store.part()
        && part.edges_hash.0 != sums[0].along
    {
        let (expected, found) = (format!("edges with hash {}", part.edges_hash), EdgesHash(sums[0].along));
        return Err(Error::file(store.path(), expected, found.to_string()));
    }
    let has_both = sums.len() == 2;
    let agree = match sums[..] {
        [out, in_lists] => out.along == in_lists.against,
        // A part has the reverse of an edge only if it owns both ends.
        [out] if !store.manifest().directed && !store.is_partial() => out.along == out.against,
        _ => true,
    };
    if agree {
        check_mirrors(store, memory_bytes, progress, cancel)?;
        return Ok(report);
    }
    let expected = if has_both { "in-lists with the edges of the out-lists" } else { "every edge both ways" };
    Err(Error::file(store.path(), expected, "edges without their counterpart"))
}

/// Ids below this many times the number of vertices are dense: a bit for each takes less memory than a sorted list.
const ID_BITS: u64 = 32;
/// Code, stacks, and the results of pages before they are added up.
const BASE_BYTES: u64 = 32 << 20;

/// The result of a page until all are added up.
const PAGE_BYTES: u64 = 36 + size_of::<Result<Checked>>() as u64;

/// Per thread one buffer; also the degrees and the result of each page. Before that the original ids, sorted if they do
/// not ascend.
fn check_memory(store: &Store, memory_bytes: u64) -> Result<()> {
    let topology = store.topologies().next().expect("every store has out-lists");
    let a_thread =
        u64::from(topology.page_bytes()) + u64::from(topology.weight_page_bytes()) + image_bytes(store, topology);
    let parts = if topology.is_grouped() { 4 * store.vertices() } else { 0 };
    let pages: u64 = store.topologies().map(|topology| u64::from(topology.page_count())).sum();
    let (degrees, found) = (4 * store.vertices() + parts, PAGE_BYTES * pages);
    let ids = &store.manifest().ids;
    let sorted = if ids.is_ascending() { 0 } else { (8 + ID_BITS / 8) * store.vertices() };
    let ids = ids.memory_bytes(store.vertices()) + sorted;
    let threads = rayon::current_num_threads();
    let needed_bytes = BASE_BYTES + ids.max(threads as u64 * a_thread + degrees + found);
    if needed_bytes <= memory_bytes {
        return memory::probe("verifying", needed_bytes);
    }
    let parts = format!(
        "program {BASE_BYTES}, original ids {ids}; or a page of {a_thread} bytes for each of {threads} threads, \
         degrees {degrees}, what is found of pages {found}"
    );
    Err(Error::Memory { what: "verifying".into(), needed_bytes, budget_bytes: memory_bytes, parts })
}

/// Bytes of the plain image of a page, if it is not the page itself.
fn image_bytes(store: &Store, topology: &Topology) -> u64 {
    let encoding = store.manifest().encoding;
    if encoding.is_packed() { encoding.plain_bytes(topology.page_bytes()) } else { 0 }
}

/// What a thread reads and decodes a page into. Allocated with the first page, so that a refusal by the system is an
/// error.
#[derive(Default)]
struct Buffers {
    page: AlignedBuffer,
    weights: AlignedBuffer,
    image: AlignedBuffer,
}

impl Buffers {
    fn allocate(&mut self, store: &Store, topology: &Topology) -> Result<()> {
        if self.page.is_empty() {
            self.page = AlignedBuffer::try_new("a page to verify", topology.page_bytes().into())?;
            self.weights = AlignedBuffer::try_new("a page of weights to verify", topology.weight_page_bytes().into())?;
            self.image = AlignedBuffer::try_new("a decoded page to verify", image_bytes(store, topology))?;
        }
        Ok(())
    }
}

/// Reads the weights of a page, and checks what only verifiers check of packed ones.
fn read_weights(reader: &PageReader<'_>, topology: &Topology, number: PageId, buffers: &mut Buffers) -> Result<()> {
    let Buffers { weights, image, .. } = buffers;
    if weights.is_empty() {
        return Ok(());
    }
    reader.read_weights(number, weights)?;
    if topology.weight_places().is_none() {
        return Ok(());
    }
    let bytes = topology.place(number).weights_bytes;
    image[..bytes].copy_from_slice(&weights[weights.len() - bytes..]);
    topology.unpack_weights(number, weights)?;
    topology.check_packed_weights(number, &image[..bytes])
}

fn verify_topology(store: &Store, topology: &Topology, progress: &dyn Progress, cancel: &Cancel) -> Result<Sums> {
    let reader = PageReader::open(topology)?;
    let degrees = topology.degrees(store.vertices())?;
    let lengths = match topology.is_grouped() {
        true => Lengths::Parts((0..store.vertices()).map(|_| AtomicU32::new(0)).collect()),
        false => Lengths::Whole(degrees.values()),
    };
    let done = AtomicU64::new(0);
    let buffers = Buffers::default;
    let one_page = |buffers: &mut Buffers, number: u32| -> Result<Checked> {
        cancel.check()?;
        buffers.allocate(store, topology)?;
        reader.read(PageId(number), &mut buffers.page, &mut [])?;
        read_weights(&reader, topology, PageId(number), buffers)?;
        let checked = verify_page(store, topology, PageId(number), buffers, &lengths)?;
        progress.position(1 + done.fetch_add(1, Ordering::Relaxed));
        Ok(checked)
    };
    // Of several defects, the one in the first page is reported, whichever thread is faster.
    let results: Vec<Result<Checked>> =
        (0..topology.page_count()).into_par_iter().map_init(buffers, one_page).collect();
    let sums = add_up(topology, results)?;
    match (lengths, store.part()) {
        (Lengths::Parts(lengths), Some(part)) => {
            let lengths: Vec<u32> = plain(lengths);
            check_part_lengths(store, part, &lengths, degrees.values())?;
            check_summary(topology, &lengths)?;
        }
        (lengths, _) => {
            if let Lengths::Parts(lengths) = lengths {
                check_lengths(store, &lengths, degrees.values())?;
            }
            check_summary(topology, degrees.values())?;
        }
    }
    Ok(sums)
}

/// Adds up the pages in order, and checks that lists of several pages ascend from page to page.
fn add_up(topology: &Topology, results: Vec<Result<Checked>>) -> Result<Sums> {
    let (mut sums, mut before) = (Sums::default(), None);
    for (number, (result, entry)) in results.into_iter().zip(topology.directory().entries()).enumerate() {
        let checked = result?;
        if let Some((vertex, last)) = before
            && vertex == entry.start_vertex
            && (checked.first < last || checked.before.is_some_and(|before| before != last))
        {
            let found = checked.before.unwrap_or(checked.first).to_string();
            let expected = format!("the list of vertex {vertex} to go on from {last}");
            return Err(topology.page_error(PageId(number as u32), false, PageDefect { expected, found }));
        }
        before = (entry.run > 1).then_some((entry.start_vertex, checked.last));
        sums.along = sums.along.wrapping_add(checked.sums.along);
        sums.against = sums.against.wrapping_add(checked.sums.against);
    }
    Ok(sums)
}

/// Checks that the parts of every list add up to `degrees.bin`. Only out-lists have parts.
fn check_lengths(store: &Store, lengths: &[AtomicU32], degrees: &[u32]) -> Result<()> {
    let unequal = |(vertex, length): (usize, &AtomicU32)| {
        let length = length.load(Ordering::Relaxed);
        (length != degrees[vertex]).then_some((vertex, length))
    };
    let wrong = |expected, found: String| Err(Error::file(store.path().join("degrees.bin"), expected, found));
    if let Some((vertex, length)) = lengths.iter().enumerate().find_map(unequal) {
        let expected = format!("vertex {vertex} with degree {length}, the sum over its lists in all shards");
        return wrong(expected, degrees[vertex].to_string());
    }
    // Detects lengths that overflowed 32 bits.
    match degrees.iter().map(|&degree| u64::from(degree)).sum::<u64>() {
        sum if sum == store.edges() => Ok(()),
        sum => wrong(format!("degrees with a sum of {}", store.edges()), sum.to_string()),
    }
}

/// Checks the out-lists of a part against `degrees.bin`, which has the degrees of the whole graph.
fn check_part_lengths(store: &Store, part: &PartManifest, lengths: &[u32], degrees: &[u32]) -> Result<()> {
    let wrong = |expected, found: String| Err(Error::file(store.path().join("degrees.bin"), expected, found));
    if let Some(vertex) = (0..lengths.len()).find(|&vertex| lengths[vertex] > degrees[vertex]) {
        let expected = format!("vertex {vertex} with degree {} or more, the length of its list here", lengths[vertex]);
        return wrong(expected, degrees[vertex].to_string());
    }
    let figures = (degrees.iter().map(|&degree| u64::from(degree)).sum(), degrees.iter().copied().max().unwrap_or(0));
    let (edges, degree_max): (u64, u32) = figures;
    if (edges, degree_max) != (part.whole.edges, part.whole.degree_max) {
        let expected = format!("degrees with a sum of {} and a maximum of {}", part.whole.edges, part.whole.degree_max);
        return wrong(expected, format!("{edges} and {degree_max}"));
    }
    // Detects lengths that overflowed 32 bits.
    match lengths.iter().map(|&length| u64::from(length)).sum::<u64>() {
        sum if sum == store.edges() => Ok(()),
        sum => Err(Error::file(
            store.path(),
            format!("lists with {} {}", store.edges(), plural(store.edges(), "edge")),
            sum.to_string(),
        )),
    }
}

/// Checks figures of the manifest against counts.
fn check_summary(topology: &Topology, degrees: &[u32]) -> Result<()> {
    let large_pages = topology.directory().entries().iter().filter(|entry| entry.run > 0).count() as u64;
    let expected = (topology.summary().degree_max, topology.summary().large_pages);
    let found = (degrees.iter().copied().max().unwrap_or(0), large_pages);
    if found == expected {
        return Ok(());
    }
    let direction = topology.direction();
    Err(Error::Invalid(format!(
        "{direction:?}-lists: largest degree and large pages are {found:?}, the manifest has {expected:?}"
    )))
}

/// Checks that original ids are distinct, and ascending if the manifest says so.
fn check_ids(store: &Store) -> Result<()> {
    let ids = store.ids()?;
    if let (Some(names), Ids::Names { crc, index_crc, keys_crc, .. }) = (ids.names(), &store.manifest().ids) {
        return check_names(names, [*crc, *index_crc, *keys_crc]);
    }
    let all = (0..store.vertices()).map(|vertex| ids.original(VertexId(vertex as u32)));
    if !store.manifest().ids.is_file() {
        return Ok(());
    }
    let ascending = store.manifest().ids.is_ascending();
    let wrong =
        |found: String| Err(Error::file(store.path().join("ids.bin"), "every id once, in the manifest's order", found));
    if ascending {
        let mut pairs = all.clone().zip(all.skip(1));
        return match pairs.find(|(id, next)| id >= next) {
            Some((id, next)) => wrong(format!("{next} behind {id}")),
            None => Ok(()),
        };
    }
    let all: Vec<u64> = all.collect();
    match first_repeated(all, store.vertices()) {
        Some(id) => wrong(format!("{id} twice")),
        None => Ok(()),
    }
}

/// The smallest id that occurs more than once: marked in bits if ids are dense, otherwise found by sorting.
fn first_repeated(mut ids: Vec<u64>, vertices: u64) -> Option<u64> {
    let largest = ids.par_iter().copied().max()?;
    if largest / ID_BITS >= vertices {
        ids.par_sort_unstable();
        return ids.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    }
    let seen: Vec<AtomicU64> = (0..=largest / 64).map(|_| AtomicU64::new(0)).collect();
    let is_repeated = |&id: &u64| seen[(id / 64) as usize].fetch_or(1 << (id % 64), Ordering::Relaxed) >> (id % 64) & 1;
    ids.par_iter().copied().filter(|id| is_repeated(id) != 0).min()
}

fn verify_page(
    store: &Store,
    topology: &Topology,
    number: PageId,
    buffers: &mut Buffers,
    lengths: &Lengths<'_>,
) -> Result<Checked> {
    let Buffers { page: bytes, weights: weight_bytes, image } = buffers;
    let context = store.page_context(topology);
    let weighted = (!weight_bytes.is_empty()).then_some(&weight_bytes[..]);
    topology.check(number, bytes, weighted, &context)?;
    let opened = match context.encoding.is_packed() {
        false => Page::open(bytes, context.encoding).map(|page| (page, None)),
        true => decode(bytes, image, number, &context),
    };
    let (page, before) = opened.map_err(|defect| topology.page_error(number, false, defect))?;
    let weights = topology.weights_of(weight_bytes, page.header().edge_count);
    let starts = topology.directory().starts();
    let sums = with_neighbours!(&page, context.encoding, starts, |neighbours| page_sums(&page, neighbours, weights));
    let wrong = |expected: String, found: String| topology.page_error(number, false, PageDefect { expected, found });
    let sums =
        sums.map_err(|vertex| wrong(format!("the list of vertex {vertex} in ascending order"), "another".into()))?;
    let header = page.header();
    for slot in 0..header.slot_count {
        let vertex = header.start_vertex + slot;
        let found = match header.large {
            0 => page.record(slot).len() as u64,
            _ if header.list_offset > 0 => continue,
            _ => topology.directory().run_degree(number),
        };
        let degrees = match lengths {
            Lengths::Whole(degrees) => degrees,
            Lengths::Parts(lengths) => {
                lengths[vertex as usize].fetch_add(found as u32, Ordering::Relaxed);
                continue;
            }
        };
        let expected = degrees[vertex as usize];
        if found != u64::from(expected) {
            return Err(wrong(format!("vertex {vertex} with degree {expected} as in degrees.bin"), found.to_string()));
        }
    }
    topology.check_chunks(number, bytes)?;
    Ok(Checked { before, ..sums })
}

/// Decodes a packed page and checks what decoding ignores. Also returns the neighbour before the first, if the page
/// continues a list.
fn decode<'a>(
    bytes: &[u8],
    image: &'a mut [u8],
    number: PageId,
    context: &PageContext<'_>,
) -> Result<(Page<'a>, Option<u32>), PageDefect> {
    let packed = PackedPage::open(bytes, context.encoding, context.destinations(number.0))?;
    packed.inflate(image)?;
    let page = Page::open(image, context.encoding.plain())?;
    packed.check_details(&page)?;
    Ok((page, packed.continued_from()))
}

/// Adds up the page's edges; `Err` names a vertex whose list does not ascend.
fn page_sums(page: &Page<'_>, neighbours: impl Neighbours, weights: PageWeights<'_>) -> Result<Checked, u32> {
    let mut sums = Sums::default();
    let edges = page.header().edge_count as usize;
    let ends = if edges == 0 { (0, 0) } else { (neighbours.vertex(0), neighbours.vertex(edges - 1)) };
    for slot in 0..page.header().slot_count {
        let vertex = page.header().start_vertex + slot;
        let mut last = 0;
        for edge in page.record(slot) {
            let neighbour = neighbours.vertex(edge);
            if neighbour < last {
                return Err(vertex);
            }
            last = neighbour;
            let weight = weights.get(edge);
            sums.along = sums.along.wrapping_add(edge_hash(vertex, neighbour, weight));
            sums.against = sums.against.wrapping_add(edge_hash(neighbour, vertex, weight));
        }
    }
    Ok(Checked { sums, first: ends.0, last: ends.1, before: None })
}
