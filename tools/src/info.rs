//! A summary of a store for people: its contents, and the distribution of degrees.
//!
//! What the bytes of packed pages are used for is in the pages only: some of them are read.

mod orders;

pub use orders::OrderSizes;

use serde::Serialize;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::manifest::Feature;
use topostream_formats::mirrors::Mirrors;
use topostream_formats::packed::{PackedPage, PackedParts};
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Manifest, PageId, Result, Shard, Store, Topology};

/// The summary of a store.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The manifest.
    pub manifest: Manifest,
    /// What the store has that a reader must know, by name.
    pub features: Vec<&'static str>,
    /// Bytes of all files.
    pub disk_bytes: u64,
    /// The sections of its mirrors, if it has any; they are not among these bytes.
    pub mirrors: Option<usize>,
    /// Bytes of the pages of out-lists, per edge.
    pub bytes_per_edge: f64,
    /// Bits of the weights of out-lists on disk, per edge, if there are weights.
    pub weight_bits_per_edge: Option<f64>,
    /// How full the pages are: bytes of headers, neighbours and slots over bytes of pages. Of packed pages, as far as
    /// they have been read.
    pub fill: f64,
    /// What the bytes of the pages of out-lists are used for, if they are packed.
    pub packed: Option<PackedSummary>,
    /// The size in other orders of vertices, if the pages are packed and the degrees of all vertices are known.
    pub orders: Option<OrderSizes>,
    /// The shards, if the out-lists are grouped.
    pub shards: Option<ShardSummary>,
    /// Out-degrees, and in-degrees if there are in-lists.
    pub degrees: Vec<DegreeSummary>,
}

/// What the bytes of packed pages are used for: bits per edge, over some pages that are spread evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PackedSummary {
    /// The number of pages that were read.
    pub pages: u64,
    /// Packed gaps.
    pub gaps: f64,
    /// Exceptions: gaps with more bits than others of their block.
    pub exceptions: f64,
    /// Packed degrees, with the entries of their blocks.
    pub degrees: f64,
    /// Headers, and the entries of blocks and units.
    pub headers: f64,
    /// Unused bytes at the end of pages.
    pub unused: f64,
}

/// How evenly a graph is divided into shards, and the cost of that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShardSummary {
    /// The number of shards.
    pub count: u64,
    /// The largest share of the vertices that are one shard's destinations.
    pub vertices_share_max: f64,
    /// The largest share of the edges in one shard.
    pub edges_share_max: f64,
    /// Bytes of slots beyond those of ungrouped lists: every vertex has a slot in each shard.
    pub extra_slot_bytes: u64,
}

/// The distribution of the lengths of lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DegreeSummary {
    /// The direction of the lists.
    pub direction: Direction,
    /// Edges over vertices.
    pub mean: f64,
    /// The median degree.
    pub median: u32,
    /// The 99th percentile of degrees.
    pub percentile_99: u32,
    /// The longest list.
    pub max: u32,
    /// Vertices with an empty list.
    pub empty: u64,
    /// The number of vertices with a degree of 0, 1, 2 to 3, 4 to 7, and so on.
    pub histogram: Vec<u64>,
}

/// The maximum number of packed pages that are read.
const PAGES_READ_MAX: u32 = 64;

/// Summarises a store; reads its degrees; and, if they are packed, some pages and `ids.bin`.
///
/// # Errors
/// The errors of [`Topology::degrees`](topostream_formats::Topology::degrees); errors from reading and checking a page.
pub fn summarise(store: &Store) -> Result<Summary> {
    let manifest = store.manifest().clone();
    let out = store.topology(Direction::Out).expect("every store has out-lists");
    let page_bytes = out.summary().pages * u64::from(manifest.page_bytes);
    let width = manifest.encoding.width_bytes() as u64;
    let used: u64 = out.directory().entries().iter().map(|entry| used_bytes(entry, width)).sum();
    let packed = if manifest.encoding.is_packed() { packed_parts(store, out)? } else { None };
    let fill = match &packed {
        Some((parts, _)) => ratio(parts.sum_bytes() - parts.unused_bytes, parts.sum_bytes()),
        None => ratio(used, page_bytes),
    };
    let degrees = store.topologies().map(|topology| {
        let degrees = topology.degrees(manifest.vertices)?;
        Ok(degree_summary(topology.direction(), degrees.values()))
    });
    Ok(Summary {
        disk_bytes: store.disk_bytes(),
        mirrors: Mirrors::open(store)?.map(|mirrors| mirrors.sections().ends().len()),
        bytes_per_edge: ratio(page_bytes, manifest.edges),
        weight_bits_per_edge: manifest.weights.map(|_| ratio(8 * out.weights_file_bytes(), manifest.edges)),
        fill,
        packed: packed.map(|(_, summary)| summary),
        orders: orders::estimate(store)?,
        shards: (out.shards().len() > 1).then(|| shard_summary(out, &manifest)),
        degrees: degrees.collect::<Result<_>>()?,
        features: manifest.features().into_iter().map(Feature::name).collect(),
        manifest,
    })
}

/// What the bytes of some packed pages are used for, of all if there are few; none if there are no pages.
fn packed_parts(store: &Store, out: &Topology) -> Result<Option<(PackedParts, PackedSummary)>> {
    let (context, reader) = (store.page_context(out), PageReader::open(out)?);
    let mut bytes = AlignedBuffer::try_new("a page to examine", out.page_bytes().into())?;
    let (mut parts, mut edges) = (PackedParts::default(), 0u64);
    let pages = out.page_count().min(PAGES_READ_MAX);
    for number in 0..pages {
        let number = PageId((u64::from(number) * u64::from(out.page_count()) / u64::from(pages)) as u32);
        reader.read(number, &mut bytes, &mut [])?;
        out.check(number, &bytes, None, &context)?;
        let page = PackedPage::open(&bytes, context.encoding, context.destinations(number.0));
        let page = page.map_err(|defect| out.page_error(number, false, defect))?;
        parts += page.parts();
        edges += u64::from(page.header().edge_count);
    }
    let bits = |bytes: u64| ratio(8 * bytes, edges);
    let summary = PackedSummary {
        pages: pages.into(),
        gaps: bits(parts.gap_bytes),
        exceptions: bits(parts.exception_bytes),
        degrees: bits(parts.degree_bytes),
        headers: bits(parts.header_bytes),
        unused: bits(parts.unused_bytes),
    };
    Ok((pages > 0).then_some((parts, summary)))
}

fn shard_summary(out: &Topology, manifest: &Manifest) -> ShardSummary {
    let entries = out.directory().entries();
    let vertices = |shard: &Shard| shard.destinations.end - shard.destinations.start;
    let edges = |shard: &Shard| {
        let pages = &entries[shard.pages.start as usize..shard.pages.end as usize];
        pages.iter().map(|entry| u64::from(entry.edge_count)).sum::<u64>()
    };
    let count = out.shards().len() as u64;
    ShardSummary {
        count,
        vertices_share_max: ratio(out.shards().iter().map(vertices).max().unwrap_or(0), manifest.vertices),
        edges_share_max: ratio(out.shards().iter().map(edges).max().unwrap_or(0), manifest.edges),
        // Packed degrees of empty records take next to nothing.
        extra_slot_bytes: if manifest.encoding.is_packed() { 0 } else { 4 * manifest.vertices * (count - 1) },
    }
}

fn used_bytes(entry: &topostream_formats::directory::DirectoryEntry, width: u64) -> u64 {
    topostream_formats::page::HEADER_BYTES as u64
        + u64::from(entry.edge_count) * width
        + 4 * (u64::from(entry.slot_count) + 1)
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Summarises degrees: percentiles are exact below degree 65,536 and lower bounds above.
pub fn degree_summary(direction: Direction, degrees: &[u32]) -> DegreeSummary {
    const EXACT: usize = 1 << 16;
    let mut counts = vec![0u64; EXACT + 1];
    let mut histogram = vec![0u64; 33];
    let mut total = 0u64;
    for &degree in degrees {
        counts[(degree as usize).min(EXACT)] += 1;
        histogram[(32 - degree.leading_zeros()) as usize] += 1;
        total += u64::from(degree);
    }
    while histogram.len() > 1 && histogram.last() == Some(&0) {
        histogram.pop();
    }
    let at = |share: f64| {
        let rank = (share * degrees.len() as f64) as u64;
        let mut seen = 0;
        counts
            .iter()
            .position(|&count| {
                seen += count;
                seen > rank
            })
            .unwrap_or(0) as u32
    };
    DegreeSummary {
        direction,
        mean: ratio(total, degrees.len() as u64),
        median: at(0.5),
        percentile_99: at(0.99),
        max: degrees.iter().copied().max().unwrap_or(0),
        empty: counts[0],
        histogram,
    }
}
