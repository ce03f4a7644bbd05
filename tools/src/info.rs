//! A summary of a store for people: its contents, and the distribution of degrees.

use serde::Serialize;
use topostream_formats::{Direction, Manifest, Result, Shard, Store, Topology};

/// The summary of a store.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The manifest.
    pub manifest: Manifest,
    /// Bytes of all files.
    pub disk_bytes: u64,
    /// Bytes of the pages of out-lists, per edge.
    pub bytes_per_edge: f64,
    /// How full the pages are: bytes of headers, neighbours and slots over bytes of pages.
    pub fill: f64,
    /// The shards, if the out-lists are grouped.
    pub shards: Option<ShardSummary>,
    /// Out-degrees, and in-degrees if there are in-lists.
    pub degrees: Vec<DegreeSummary>,
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

/// Summarises a store; reads `degrees.bin` but no page.
///
/// # Errors
/// The errors of [`Topology::degrees`](topostream_formats::Topology::degrees).
pub fn summarise(store: &Store) -> Result<Summary> {
    let manifest = store.manifest().clone();
    let out = store.topology(Direction::Out).expect("every store has out-lists");
    let page_bytes = out.summary().pages * u64::from(manifest.page_bytes);
    let width = manifest.encoding.width_bytes() as u64;
    let used: u64 = out.directory().entries().iter().map(|entry| used_bytes(entry, width)).sum();
    let degrees = store.topologies().map(|topology| {
        let degrees = topology.degrees(manifest.vertices)?;
        Ok(degree_summary(topology.direction(), degrees.values()))
    });
    Ok(Summary {
        disk_bytes: store.disk_bytes(),
        bytes_per_edge: ratio(page_bytes, manifest.edges),
        fill: ratio(used, page_bytes),
        shards: out.is_grouped().then(|| shard_summary(out, &manifest)),
        degrees: degrees.collect::<Result<_>>()?,
        manifest,
    })
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
        extra_slot_bytes: 4 * manifest.vertices * (count - 1),
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
