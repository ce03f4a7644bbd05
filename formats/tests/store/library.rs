//! Writing and reading whole stores through the crate.

use super::spec_reader::{Graph, Part, Triple};
use std::ops::Range;
use std::path::Path;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::manifest::{Ids, Manifest, TopologyManifest};
use topostream_formats::names::StoredNames;
use topostream_formats::packed::{PackedPage, UNIT, UnitDecoder};
use topostream_formats::page::{Neighbours, Page, PageContext, PageWeights, RecordIds, VertexIds};
use topostream_formats::part::{EdgesHash, PartManifest, WholeFigures, ranges};
use topostream_formats::store::PageReader;
use topostream_formats::write::{Layout, StoreWriter, TopologyWriter};
use topostream_formats::{Direction, Encoding, OpenOptions, PageId, Result, Store, Topology, VertexId, VertexOrder};

/// A store to be written.
pub struct Plan<'a> {
    pub vertices: u64,
    /// In any order; weights are dropped if the layout has none.
    pub edges: &'a [Triple],
    pub layout: Layout,
    pub in_lists: bool,
    /// The ends of the shards by which out-lists are grouped; empty if they are not grouped.
    pub shard_ends: &'a [u64],
    /// Original ids, if they differ from the vertex numbers.
    pub ids: Option<&'a [u64]>,
    /// The order that the manifest names.
    pub order: VertexOrder,
    /// The part that is written of the graph, and the ends of all parts.
    pub part: Option<(u32, &'a [u64])>,
}

/// Writes a store. Its `created_by` does not depend on the version of the crate.
pub fn write(path: &Path, plan: &Plan<'_>) -> Result<Manifest> {
    const TAG: u32 = 0x7451_5057;
    let mut writer = StoreWriter::create(path, plan.layout.clone(), TAG)?;
    let mut lists: Vec<Triple> = plan.edges.to_vec();
    lists.sort_unstable();
    let part = plan.part.map(|(number, ends)| part_of(number, ends, &lists));
    let degrees = part.as_ref().map(|_| write_degrees(&mut writer, plan.vertices, &lists)).transpose()?;
    if let Some(part) = &part {
        lists.retain(|edge| part.own().contains(&edge.1));
    }
    let mut out = write_lists(&mut writer, plan, Direction::Out, &lists)?;
    out.degrees_crc = degrees.unwrap_or(out.degrees_crc);
    let mut turned: Vec<Triple> = lists.iter().map(|&(u, v, w)| (v, u, w)).collect();
    turned.sort_unstable();
    let in_lists = plan.in_lists.then(|| write_lists(&mut writer, plan, Direction::In, &turned)).transpose()?;
    let ids = match plan.ids {
        None => Ids::Range { first: 0 },
        Some(ids) => writer.write_ids(|| ids.iter().copied())?,
    };
    let manifest = Manifest {
        tag: TAG,
        created_by: "the tests of topostream-formats".into(),
        origin: "a graph of the tests".into(),
        vertices: plan.vertices,
        edges: lists.len() as u64,
        input_edges: plan.edges.len() as u64,
        directed: true,
        weights: plan.layout.weights,
        encoding: plan.layout.encoding,
        page_bytes: plan.layout.page_bytes,
        order: plan.order,
        ids,
        stripes: plan.layout.stripes.clone(),
        out,
        in_lists,
        part,
    };
    writer.finish(&manifest)?;
    Ok(manifest)
}

/// The manifest's member about a part of edges, of which those to its own vertices are the part's.
fn part_of(number: u32, ends: &[u64], edges: &[Triple]) -> PartManifest {
    let hash = |own: &Range<u64>| {
        let mut hash = EdgesHash::default();
        let of_part = edges.iter().filter(|edge| own.contains(&edge.1));
        of_part.for_each(|&(u, v, w)| hash.add(u as u32, v as u32, w));
        hash
    };
    let edges_hash = hash(&ranges(ends)[number as usize]);
    let degrees = edges.chunk_by(|a, b| a.0 == b.0).map(|list| list.len() as u32);
    let degree_max = degrees.max().unwrap_or(0);
    let whole = WholeFigures { edges: edges.len() as u64, edges_hash: hash(&(0..u64::MAX)), degree_max };
    PartManifest { number, ends: ends.to_vec(), edges_hash, whole }
}

/// Writes the degrees of a whole graph; returns their checksum.
fn write_degrees(writer: &mut StoreWriter, vertices: u64, edges: &[Triple]) -> Result<u32> {
    let mut degrees = writer.whole_degrees()?;
    edges.iter().try_for_each(|edge| degrees.count(edge.0 as u32))?;
    Ok(degrees.finish(vertices)?.crc)
}

fn write_lists(
    writer: &mut StoreWriter,
    plan: &Plan<'_>,
    direction: Direction,
    lists: &[Triple],
) -> Result<TopologyManifest> {
    let push_below = |topology: &mut TopologyWriter, from: u64, end: u64| {
        let mut some = lists.iter().filter(|edge| (from..end).contains(&edge.1));
        some.try_for_each(|&(u, v, w)| topology.push(u as u32, v as u32, w))
    };
    let ends = if direction == Direction::Out { plan.shard_ends } else { &[] };
    let mut topology = match plan.part {
        Some((number, ends)) if direction == Direction::Out => writer.part_lists(&ranges(ends)[number as usize])?,
        _ => writer.topology(direction)?,
    };
    if ends.is_empty() {
        push_below(&mut topology, 0, plan.vertices)?;
    }
    for (shard, &end) in ends.iter().enumerate() {
        push_below(&mut topology, if shard > 0 { ends[shard - 1] } else { 0 }, end)?;
        topology.end_shard(end, plan.vertices)?;
    }
    Ok(topology.finish(plan.vertices)?.0)
}

/// Reads a store through the crate, checking every page.
pub fn read(path: &Path) -> Result<Graph> {
    let store = Store::open_with(path, &OpenOptions::default().with_parts())?;
    let out = store.topology(Direction::Out).expect("every store has out-lists");
    let in_lists = store.topologies().find(|topology| topology.direction() == Direction::In);
    let turned = |topology| -> Result<Vec<Triple>> {
        Ok(lists(&store, topology)?.into_iter().map(|(v, u, w)| (u, v, w)).collect())
    };
    let ids = store.ids()?;
    Ok(Graph {
        vertices: store.vertices(),
        directed: store.manifest().directed,
        out: lists(&store, out)?,
        in_lists: in_lists.map(turned).transpose()?,
        ids: (0..store.vertices()).map(|vertex| ids.original(VertexId(vertex as u32))).collect(),
        names: ids.names().map_or_else(|| Ok(Vec::new()), |names| all_names(names, store.vertices()))?,
        pages: (out.page_count() as usize, out.summary().large_pages as usize),
        part: store.part().map(|part| Part {
            number: part.number as usize,
            ends: part.ends.clone(),
            edges_hash: part.edges_hash.0,
            whole_edges: part.whole.edges,
            whole_hash: part.whole.edges_hash.0,
            whole_degree_max: part.whole.degree_max.into(),
        }),
    })
}

fn all_names(names: &StoredNames, vertices: u64) -> Result<Vec<Vec<u8>>> {
    (0..vertices).map(|vertex| names.with_name(VertexId(vertex as u32), <[u8]>::to_vec)).collect()
}

fn lists(store: &Store, topology: &Topology) -> Result<Vec<Triple>> {
    let context = store.page_context(topology);
    let reader = PageReader::open(topology)?;
    let mut bytes = AlignedBuffer::new(topology.page_bytes() as usize);
    let mut weight_bytes = AlignedBuffer::new(topology.weight_page_bytes() as usize);
    let mut edges = Vec::new();
    for number in 0..topology.page_count() {
        let number = PageId(number);
        reader.read(number, &mut bytes, &mut weight_bytes)?;
        let weighted = (!weight_bytes.is_empty()).then_some(&weight_bytes[..]);
        topology.check(number, &bytes, weighted, &context)?;
        let image = plain_image(number, &bytes, &context);
        let page = Page::open(image.as_deref().unwrap_or(&bytes), context.encoding.plain()).expect("checked");
        let weights = topology.weights_of(&weight_bytes, page.header().edge_count);
        match context.encoding {
            Encoding::VertexId | Encoding::Packed { .. } => collect(&page, VertexIds::new(&page), weights, &mut edges),
            Encoding::RecordId { page_bytes, slot_bytes } => {
                let starts = topology.directory().starts();
                collect(&page, RecordIds::new(&page, starts, page_bytes, slot_bytes), weights, &mut edges);
            }
        }
    }
    // Join the parts of each list.
    edges.sort_by_key(|edge| edge.0);
    let degrees = topology.degrees(store.vertices())?;
    let mut counted = vec![0u32; store.vertices() as usize];
    edges.iter().for_each(|edge| counted[edge.0 as usize] += 1);
    match store.part().filter(|_| topology.direction() == Direction::Out) {
        Some(_) => assert!(counted.iter().zip(degrees.values()).all(|(list, degree)| list <= degree)),
        None => assert_eq!(degrees.values(), counted),
    }
    assert_eq!(topology.summary().degree_max, counted.iter().max().copied().unwrap_or(0));
    Ok(edges)
}

/// The plain image of a packed page, decoded in every way.
fn plain_image(number: PageId, bytes: &[u8], context: &PageContext<'_>) -> Option<AlignedBuffer> {
    let encoding = context.encoding;
    let page_bytes = bytes.len() as u32;
    if !encoding.is_packed() {
        assert_eq!(encoding.plain_bytes(page_bytes), u64::from(page_bytes));
        return None;
    }
    let page = PackedPage::open(bytes, encoding, context.destinations(number.0)).expect("checked");
    let mut image = AlignedBuffer::new(encoding.plain_bytes(page_bytes) as usize);
    page.inflate(&mut image).unwrap();
    let plain = Page::open(&image, encoding.plain()).unwrap();
    page.check_details(&plain).unwrap();
    assert_eq!(page.parts().sum_bytes(), u64::from(page_bytes));
    let mut portable = AlignedBuffer::new(page.image_bytes());
    page.portable().inflate(&mut portable).unwrap();
    assert_eq!(Page::open(&portable, encoding.plain()).unwrap().neighbour_bytes(), plain.neighbour_bytes());
    let neighbours: &[u32] = bytemuck::cast_slice(plain.neighbour_bytes());
    for slot in 0..plain.header().slot_count.min(600) + 1 {
        assert_eq!(page.record(slot).unwrap(), plain.record(slot), "slot {slot}");
    }
    for edge in (0..neighbours.len() + 2).step_by(1 + neighbours.len() / 500) {
        assert_eq!(page.first_slot_from(edge as u32).unwrap(), plain.first_slot_from(edge as u32), "edge {edge}");
    }
    let mut decoder = UnitDecoder::new(&page);
    for unit in (0..page.unit_count()).rev().chain(0..page.unit_count()) {
        let mut out = [0; UNIT];
        let count = page.decode_unit(unit, &mut out).unwrap();
        assert_eq!(out[..count], neighbours[unit as usize * UNIT..][..count]);
        assert_eq!(decoder.decode(unit, &mut out).unwrap(), count);
        assert_eq!(out[..count], neighbours[unit as usize * UNIT..][..count]);
    }
    Some(image)
}

fn collect(page: &Page<'_>, neighbours: impl Neighbours, weights: PageWeights<'_>, edges: &mut Vec<Triple>) {
    for slot in 0..page.header().slot_count {
        for edge in page.record(slot) {
            if slot < 200 {
                let slots = page.header().slot_count;
                let expected = (0..slots).find(|&slot| page.record(slot).start >= edge).unwrap_or(slots);
                assert_eq!(page.first_slot_from(edge as u32), expected, "the first slot from edge {edge}");
                let count = edge + slot as usize;
                let before = |slot: &u32| page.record(*slot).start + (*slot as usize) < count;
                let expected = (0..slots).find(|slot| !before(slot)).unwrap_or(slots);
                assert_eq!(page.first_slot_after(count as u32), expected, "the first slot after {count}");
                assert_eq!(page.first_slot_after(u32::MAX), slots);
            }
            let source = u64::from(page.header().start_vertex + slot);
            edges.push((source, neighbours.vertex(edge).into(), weights.get(edge)));
        }
    }
}
