//! The buffers of a run that stay where they are: the graph's, which outlive the run, and the attributes'.

use super::compose::Resource;
use super::compose::layout::{Counters, Step as StepLayout};
use super::import::HostImport;
use super::open::Gpu;
use super::plan::{DevicePlan, TOTAL_BYTES, TOTALS_MAX, bit_bytes, device_bytes};
use crate::algorithm::Graph;
use crate::attributes::{Attribute, AttributeType};
use crate::error::Result;
use std::ops::Range;
use topostream_formats::{Direction, Store};
use wgpu::BufferUsages as Usage;

/// Storage that can be written from the host and copied to it.
const STORAGE: Usage = Usage::STORAGE.union(Usage::COPY_DST).union(Usage::COPY_SRC);
/// Uploads are cut into pieces of this many bytes.
const PIECE_BYTES: usize = 32 << 20;

/// One topology on the device.
struct TopologyBuffers {
    direction: Direction,
    /// The first vertex of each page, for record ids.
    starts: wgpu::Buffer,
    /// First vertex and slot count of each page.
    directory: wgpu::Buffer,
    /// A bit for each page: what the next superstep visits.
    next_pages: wgpu::Buffer,
    pages: u32,
}

/// What a store's runs have in common.
pub struct GraphBuffers {
    degrees: Vec<wgpu::Buffer>,
    topologies: Vec<TopologyBuffers>,
    chunk_vertices_log2: u32,
}

impl GraphBuffers {
    /// Uploads degrees and page directories.
    ///
    /// # Errors
    /// Where the device has no memory left.
    pub fn new(gpu: &Gpu, store: &Store, graph: &Graph, chunk_vertices_log2: u32) -> Result<Self> {
        let mut degrees = Vec::new();
        for range in chunks(graph.vertices, chunk_vertices_log2) {
            let values = &graph.out_degrees.values()[range.start as usize..range.end as usize];
            degrees.push(uploaded(gpu, "degrees", bytemuck::cast_slice(values))?);
        }
        let topologies = store.topologies().map(|topology| {
            let entries = topology.directory().entries();
            let starts: Vec<u32> = entries.iter().map(|entry| entry.start_vertex).collect();
            let directory: Vec<[u32; 2]> = entries.iter().map(|entry| [entry.start_vertex, entry.slot_count]).collect();
            Ok(TopologyBuffers {
                direction: topology.direction(),
                starts: uploaded(gpu, "page starts", bytemuck::cast_slice(&starts))?,
                directory: uploaded(gpu, "page directory", bytemuck::cast_slice(&directory))?,
                next_pages: gpu.buffer("next pages", bit_bytes(entries.len() as u64).max(16), STORAGE)?,
                pages: entries.len() as u32,
            })
        });
        let topologies = topologies.collect::<Result<_>>()?;
        Ok(Self { degrees, topologies, chunk_vertices_log2 })
    }

    /// How vertices are cut.
    pub fn chunk_vertices_log2(&self) -> u32 {
        self.chunk_vertices_log2
    }

    fn topology(&self, direction: Direction) -> &TopologyBuffers {
        // One topology serves both ways where the graph is undirected.
        let found = self.topologies.iter().find(|topology| topology.direction == direction);
        found.or(self.topologies.first()).expect("every store has out-lists")
    }

    /// The bits of the next pages of a topology.
    pub fn next_pages(&self, direction: Direction) -> &wgpu::Buffer {
        &self.topology(direction).next_pages
    }

    /// How many pages a topology has.
    pub fn pages(&self, direction: Direction) -> u32 {
        self.topology(direction).pages
    }
}

/// What one run keeps on the device.
pub struct RunBuffers {
    /// The superstep's numbers.
    pub step: wgpu::Buffer,
    /// What kernels count.
    pub counters: wgpu::Buffer,
    /// Partial sums of kernels over vertices.
    pub totals: wgpu::Buffer,
    attributes: Vec<Vec<wgpu::Buffer>>,
    frontiers: [Vec<wgpu::Buffer>; 2],
}

/// Bytes of the counters.
pub const COUNTERS_BYTES: u64 = size_of::<Counters>() as u64;

impl RunBuffers {
    /// Allocates what an algorithm declares. Nothing is set.
    ///
    /// # Errors
    /// Where the device has no memory left.
    pub fn new(gpu: &Gpu, plan: &DevicePlan, declared: &[Attribute], vertices: u64, traversal: bool) -> Result<Self> {
        let mut attributes = Vec::new();
        for (attribute, &out) in declared.iter().zip(&plan.host_attributes) {
            let label = attribute.name;
            if out {
                let chunk = device_bytes(attribute, 1 << plan.chunk_vertices_log2);
                let import = HostImport::private(gpu, device_bytes(attribute, vertices), chunk)?;
                attributes.push(import.chunks().iter().map(|chunk| wgpu::Buffer::clone(chunk)).collect());
                continue;
            }
            let by_chunk = chunks(vertices, plan.chunk_vertices_log2)
                .map(|range| gpu.buffer(label, device_bytes(attribute, range.end - range.start).max(16), STORAGE));
            attributes.push(by_chunk.collect::<Result<_>>()?);
        }
        let frontier = || -> Result<Vec<wgpu::Buffer>> {
            let of_chunk =
                |range: Range<u64>| gpu.buffer("frontier", bit_bytes(range.end - range.start).max(16), STORAGE);
            let all = chunks(vertices, plan.chunk_vertices_log2).filter(|_| traversal);
            all.map(of_chunk).collect()
        };
        Ok(Self {
            step: gpu.buffer("step", size_of::<StepLayout>() as u64, Usage::UNIFORM | Usage::COPY_DST)?,
            counters: gpu.buffer("counters", COUNTERS_BYTES, STORAGE)?,
            totals: gpu.buffer("totals", TOTAL_BYTES * u64::from(TOTALS_MAX), STORAGE)?,
            frontiers: [frontier()?, frontier()?],
            attributes,
        })
    }

    /// The buffers of an attribute, by its place in the declaration.
    pub fn attribute(&self, place: usize) -> &[wgpu::Buffer] {
        &self.attributes[place]
    }

    /// The vertices that are active in a superstep.
    pub fn frontier(&self, superstep: u32) -> &[wgpu::Buffer] {
        &self.frontiers[superstep as usize % 2]
    }

    /// What a kernel of a superstep binds that is not a batch's.
    pub fn find<'a>(
        &'a self,
        graph: &'a GraphBuffers,
        superstep: u32,
        direction: Direction,
        resource: &Resource,
    ) -> &'a wgpu::Buffer {
        match *resource {
            Resource::Step => &self.step,
            Resource::OutDegrees(chunk) => &graph.degrees[chunk as usize],
            Resource::Attribute { place, chunk } => &self.attributes[place][chunk as usize],
            Resource::Frontier(chunk) => &self.frontier(superstep)[chunk as usize],
            Resource::NextFrontier(chunk) => &self.frontier(superstep.wrapping_add(1))[chunk as usize],
            Resource::Starts => &graph.topology(direction).starts,
            Resource::Directory => &graph.topology(direction).directory,
            Resource::NextPages => &graph.topology(direction).next_pages,
            Resource::Counters => &self.counters,
            Resource::Totals => &self.totals,
            ref other => panic!("{other:?} belongs to a batch"),
        }
    }
}

/// The vertices of each chunk; one without any where there are none.
pub fn chunks(vertices: u64, log2: u32) -> impl Iterator<Item = Range<u64>> {
    let size = 1u64 << log2;
    (0..vertices.div_ceil(size).max(1)).map(move |chunk| chunk * size..((chunk + 1) * size).min(vertices))
}

/// The words of one vertex in an attribute: how many vertices a word holds, or how many words a vertex takes.
pub fn words_of(attribute: &Attribute, vertices: u64) -> u64 {
    match attribute.of {
        AttributeType::U32 | AttributeType::F32 => vertices,
        AttributeType::Fixed63 => 2 * vertices,
        AttributeType::Bit => vertices.div_ceil(32),
    }
}

/// The vertices of so many words of an attribute.
pub fn vertices_of(attribute: &Attribute, words: u64) -> u64 {
    match attribute.of {
        AttributeType::U32 | AttributeType::F32 => words,
        AttributeType::Fixed63 => words / 2,
        AttributeType::Bit => 32 * words,
    }
}

/// A storage buffer with these bytes.
fn uploaded(gpu: &Gpu, label: &str, bytes: &[u8]) -> Result<wgpu::Buffer> {
    let size = (bytes.len() as u64).next_multiple_of(16).max(16);
    let buffer = gpu.buffer(label, size, STORAGE)?;
    for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        gpu.queue().write_buffer(&buffer, (number * PIECE_BYTES) as u64, piece);
        // Staging memory is given back piece by piece.
        gpu.queue().submit([]);
        gpu.device().poll(wgpu::PollType::Poll).ok();
    }
    Ok(buffer)
}
