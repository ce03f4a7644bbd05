//! Stores as plain arrays, for the oracles: one thread over arrays in memory (COST: McSherry, Isard and Murray, HotOS
//! 2015).

use crate::error::Result;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::page::{self, Neighbours, Page, VertexIds};
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Encoding, PageId, Store, Topology, WeightType};
use topostream_oracles::{Csr, Graph, Weights};

/// Reads a store.
///
/// # Errors
/// If a page is corrupt.
pub fn graph(store: &Store) -> Result<Graph> {
    let manifest = store.manifest();
    let weights = match manifest.weights {
        None => None,
        Some(WeightType::U32) => Some(Weights::U32),
        Some(WeightType::F32) => Some(Weights::F32),
        Some(of) => return Err(format!("weights of 32 bits, not {}", of.name()).into()),
    };
    let read = |direction| read_all(store, direction, manifest.weights.is_some());
    let against = store.topology(Direction::In).map(|_| read(Direction::In)).transpose()?;
    Ok(Graph::new(read(Direction::Out)?, against, manifest.directed, weights))
}

/// Reads all lists of a direction, without weights.
///
/// # Errors
/// If the store has none, or a page is corrupt.
pub fn lists(store: &Store, direction: Direction) -> Result<Csr> {
    read_all(store, direction, false)
}

/// Reads all lists of a direction, with or without weights.
fn read_all(store: &Store, direction: Direction, weighted: bool) -> Result<Csr> {
    let topology = store.topology(direction).ok_or("the store has no in-lists")?;
    let mut offsets = vec![0];
    for &degree in topology.degrees(store.vertices())?.values() {
        offsets.push(offsets[offsets.len() - 1] + u64::from(degree));
    }
    // If lists are grouped for shards, a list has several parts.
    let (mut next, mut all) = (offsets.clone(), vec![0; store.edges() as usize]);
    let mut all_weights = vec![0; if weighted { all.len() } else { 0 }];
    each_weighted_page(store, topology, weighted, |page, neighbours, weights| {
        for slot in 0..page.header().slot_count {
            let next = &mut next[(page.header().start_vertex + slot) as usize];
            for edge in page.record(slot) {
                all[*next as usize] = neighbours.vertex(edge);
                if weighted {
                    all_weights[*next as usize] = weights[edge];
                }
                *next += 1;
            }
        }
    })?;
    Ok(Csr::new(offsets, all, all_weights))
}

/// Reads a topology page by page, in order.
///
/// # Errors
/// If a page cannot be read or is corrupt.
pub fn each_page(store: &Store, topology: &Topology, mut take: impl FnMut(&Page<'_>, VertexIds<'_>)) -> Result<()> {
    each_weighted_page(store, topology, false, |page, neighbours, _| take(page, neighbours))
}

/// Reads a topology page by page, in order, with or without weights.
fn each_weighted_page(
    store: &Store,
    topology: &Topology,
    weighted: bool,
    mut take: impl FnMut(&Page<'_>, VertexIds<'_>, &[u32]),
) -> Result<()> {
    let (reader, context) = (PageReader::open(topology)?, store.page_context(topology));
    if context.encoding.plain() != Encoding::VertexId {
        return Err(format!(
            "{}: {}; expected vertex-id or packed: reformat it",
            store.path().display(),
            context.encoding
        )
        .into());
    }
    let mut bytes = AlignedBuffer::new(topology.page_bytes() as usize);
    let packed = context.encoding.is_packed();
    let image_bytes = if packed { context.encoding.plain_bytes(topology.page_bytes()) as usize } else { 0 };
    let mut image = AlignedBuffer::new(image_bytes);
    let mut weights = weighted.then(|| AlignedBuffer::new(topology.weight_page_bytes() as usize));
    for number in (0..topology.page_count()).map(PageId) {
        reader.read(number, &mut bytes, weights.as_deref_mut().unwrap_or_default())?;
        topology.check(number, &bytes, weights.as_deref(), &context)?;
        let page = context.open_plain(&bytes, number.0, &mut image);
        let page = page.map_err(|defect| topology.page_error(number, false, defect))?;
        let edges = page.header().edge_count;
        take(&page, VertexIds::new(&page), weights.as_ref().map_or(&[], |weights| page::weights(weights, edges)));
    }
    Ok(())
}
