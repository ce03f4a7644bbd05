//! Long-lived buffers: the graph's, which outlive a run, and the attributes'.

use super::plan::{DevicePlan, TOTAL_BYTES, TOTALS_MAX};
use super::sizes::{Holding, bit_bytes, device_bytes};
use crate::device::exchange::is_listed;
use crate::device::gpu::adapter::import::{HostImport, HostMemory, SharedBuffer, device_buffer};
use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::device::gpu::compose::Resource;
use crate::device::gpu::compose::layout::{Counters, Step as StepLayout};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Contents, Graph, Table};
use crate::model::attributes::{Attribute, Role};
use crate::model::border::Border;
use crate::model::vertex_lists::VertexLists;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use topostream_formats::{Direction, Store};
use wgpu::BufferUsages as Usage;

/// The usage of storage buffers that are copied from and to the host.
const STORAGE: Usage = Usage::STORAGE.union(Usage::COPY_DST).union(Usage::COPY_SRC);
/// Maximum size of one upload, in bytes.
const PIECE_BYTES: usize = 4 << 20;

/// One topology on the device.
struct TopologyBuffers {
    direction: Direction,
    /// The first vertex of each page, for record ids.
    starts: wgpu::Buffer,
    /// First vertex and slot count of each page.
    directory: wgpu::Buffer,
    /// A bit for each page that the next superstep visits.
    next_pages: wgpu::Buffer,
    pages: u32,
}

/// The vertices whose values devices exchange.
struct ListsBuffer {
    lists: Arc<VertexLists>,
    /// They, or where their values are in a buffer for the border.
    buffer: wgpu::Buffer,
    /// The size of the border, if that is so.
    border: Option<usize>,
}

/// The buffers that all runs over a store share.
pub struct GraphBuffers {
    degrees: Vec<wgpu::Buffer>,
    /// The vertices whose values devices exchange; `None` if they exchange all values.
    lists: Option<ListsBuffer>,
    topologies: Vec<TopologyBuffers>,
    /// The vertices whose degrees are held, by chunks of 2^this, and whether these are in main memory.
    shape: (Range<u64>, u32, bool),
}

impl GraphBuffers {
    /// Uploads degrees and page directories. Degrees that the plan leaves in main memory are imported.
    ///
    /// # Errors
    /// If the device is out of memory; the errors of [`HostImport::new`].
    pub fn new(
        gpu: &Gpu,
        plan: &DevicePlan,
        (store, graph): (&Store, &Graph),
        lists: Option<&Arc<VertexLists>>,
        holding: Holding<'_>,
    ) -> Result<Self> {
        let buffer = |lists: &Arc<VertexLists>| {
            let places = holding.border.map(|border| places(lists, holding.part, border));
            let listed = places.as_deref().unwrap_or(lists.vertices());
            let buffer = uploaded(gpu, "vertex lists", bytemuck::cast_slice(listed))?;
            Ok::<_, Error>(ListsBuffer { lists: Arc::clone(lists), buffer, border: holding.border_size() })
        };
        let lists = lists.map(buffer).transpose()?;
        let shape = degrees_shape(plan, holding.part);
        let (vertices, log2, out) = &shape;
        let of_chunk = |range: Range<u64>| {
            let part = 4 * range.start..4 * range.end;
            if *out {
                // The values begin where their memory does.
                let memory: Arc<dyn HostMemory> = Arc::clone(graph.out_degrees.memory()) as _;
                return Ok(HostImport::chunk(gpu, &memory, part)?.buffer().clone());
            }
            uploaded(gpu, "degrees", &graph.out_degrees.bytes()[part.start as usize..part.end as usize])
        };
        let degrees = chunks(vertices, *log2).map(of_chunk).collect::<Result<_>>()?;
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
        Ok(Self { degrees, lists, topologies, shape })
    }

    /// Whether [`new`](Self::new) would make the same ones.
    pub fn is_of(&self, plan: &DevicePlan, lists: Option<&Arc<VertexLists>>, holding: Holding<'_>) -> bool {
        let described = |lists: &VertexLists, border| (lists.receivers().to_vec(), lists.vertices().len(), border);
        let held = self.lists.as_ref().map(|held| described(&held.lists, held.border));
        self.shape == degrees_shape(plan, holding.part)
            && held == lists.map(|lists| described(lists, holding.border_size()))
    }

    /// The vertices whose values devices exchange, `None` if they exchange all values; for bordering vertices of
    /// others, their places in the border.
    pub fn lists(&self) -> Option<&wgpu::Buffer> {
        self.lists.as_ref().map(|lists| &lists.buffer)
    }

    fn topology(&self, direction: Direction) -> &TopologyBuffers {
        // Undirected graphs have one topology for both directions.
        let found = self.topologies.iter().find(|topology| topology.direction == direction);
        found.or(self.topologies.first()).expect("every store has out-lists")
    }

    /// The bits of the next pages of a topology.
    pub fn next_pages(&self, direction: Direction) -> &wgpu::Buffer {
        &self.topology(direction).next_pages
    }

    /// The number of pages of a topology.
    pub fn pages(&self, direction: Direction) -> u32 {
        self.topology(direction).pages
    }
}

/// The vertices whose degrees kernels read, the base-2 logarithm of a chunk's vertices, and whether the degrees are in
/// main memory.
fn degrees_shape(plan: &DevicePlan, part: &Part) -> (Range<u64>, u32, bool) {
    let are_read = plan.degrees_bytes > 0 || plan.host_degrees;
    (if are_read { part.held(Role::Own) } else { 0..0 }, plan.chunk_vertices_log2, plan.host_degrees)
}

/// An attribute on the device.
struct Column {
    /// The vertices with values in `chunks`.
    held: Range<u64>,
    /// The vertices among these that the device may write.
    own: Range<u64>,
    chunks: Vec<SharedBuffer>,
    /// Values of other devices' vertices, as their owners last sent them: of all vertices, or, if it is `bordering`, of
    /// those in the border. Empty if unused.
    seen: Vec<SharedBuffer>,
    bordering: bool,
    /// Values that the vertex phase sets while lists still read those in `chunks`; as many buffers, or none.
    next: Vec<SharedBuffer>,
}

/// A part of an attribute in one buffer.
#[derive(Clone, Debug)]
pub struct Span<'a> {
    /// The buffer.
    pub buffer: &'a SharedBuffer,
    /// The first vertex of the buffer: a multiple of 32.
    pub first: u64,
    /// The vertices of the part.
    pub vertices: Range<u64>,
    /// Whether the two are not numbers of vertices, but places in the border.
    pub is_border: bool,
}

/// The buffers of one run.
pub struct RunBuffers {
    /// The superstep's numbers.
    pub step: wgpu::Buffer,
    /// Counters of kernels.
    pub counters: wgpu::Buffer,
    /// Partial sums of kernels over vertices.
    pub totals: wgpu::Buffer,
    attributes: Vec<Column>,
    tables: Vec<wgpu::Buffer>,
    frontiers: [Vec<wgpu::Buffer>; 2],
    /// The supersteps in which the device's own vertices were first active, two a word.
    levels: Vec<wgpu::Buffer>,
    /// The border, and its table, if values of no others are held.
    border: Option<(Arc<Border>, wgpu::Buffer)>,
}

/// Bytes of the counters.
pub const COUNTERS_BYTES: u64 = size_of::<Counters>() as u64;

impl RunBuffers {
    /// Allocates the attributes of an algorithm, without initial values.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub fn new(
        gpu: &Gpu,
        plan: &DevicePlan,
        (declared, tables): (&[Attribute], &[Table]),
        part: &Part,
        border: Option<&Arc<Border>>,
        traversal: bool,
    ) -> Result<Self> {
        let log2 = plan.chunk_vertices_log2;
        let holding = Holding { part, border: border.map(|border| &**border) };
        let all = 0..part.vertices;
        let column = |(place, attribute): (usize, &Attribute)| {
            let (held, bordering) = (holding.held(attribute), holding.is_bordering(attribute));
            let chunks = column_chunks(gpu, attribute, &held, log2, plan.host_attributes[place])?;
            let seen = match holding.copies(attribute) {
                0 => Vec::new(),
                copies => column_chunks(gpu, attribute, &(0..copies), log2, plan.host_seen[place])?,
            };
            let is_part = attribute.role.is_written() || bordering;
            let own = if is_part { part.writable() } else { all.clone() };
            // Only pull has next values, which are gathered.
            let next = match plan.next_bytes > 0 && is_listed(attribute, Some(Role::Gathered)) {
                true => column_chunks(gpu, attribute, &held, log2, false)?,
                false => Vec::new(),
            };
            Ok(Column { held, own, chunks, seen, bordering, next })
        };
        let attributes = declared.iter().enumerate().map(column).collect::<Result<_>>()?;
        let frontier = || -> Result<Vec<wgpu::Buffer>> {
            let of_chunk =
                |range: Range<u64>| gpu.buffer("frontier", bit_bytes(range.end - range.start).max(16), STORAGE);
            chunks(&all, log2).filter(|_| traversal).map(of_chunk).collect()
        };
        let levels = match plan.levels_bytes {
            0 => Vec::new(),
            _ => {
                let of_chunk = |range: Range<u64>| {
                    gpu.buffer("levels", (2 * (range.end - range.start)).next_multiple_of(4).max(16), STORAGE)
                };
                chunks(&level_vertices(part), log2).map(of_chunk).collect::<Result<_>>()?
            }
        };
        let border = border.map(|border| {
            let table = uploaded(gpu, "border", bytemuck::cast_slice(border.table()))?;
            Ok::<_, Error>((Arc::clone(border), table))
        });
        Ok(Self {
            border: border.transpose()?,
            step: gpu.buffer(
                "step",
                size_of::<StepLayout>() as u64,
                Usage::UNIFORM | Usage::STORAGE | Usage::COPY_DST,
            )?,
            levels,
            counters: gpu.buffer("counters", COUNTERS_BYTES, STORAGE)?,
            totals: gpu.buffer("totals", TOTAL_BYTES * u64::from(TOTALS_MAX), STORAGE)?,
            frontiers: [frontier()?, frontier()?],
            tables: tables.iter().map(|table| table_buffer(gpu, table)).collect::<Result<_>>()?,
            attributes,
        })
    }

    /// The buffers of an attribute, by index: first held values, then values received from other devices; each with its
    /// first vertex, or the first place in the border.
    pub fn attribute(&self, place: usize, chunk_vertices_log2: u32) -> impl Iterator<Item = (u64, &SharedBuffer)> {
        let Column { held, chunks, seen, .. } = &self.attributes[place];
        let begin = move |first: u64| (0..).map(move |chunk: u64| first + (chunk << chunk_vertices_log2));
        begin(held.start).zip(chunks).chain(begin(0).zip(seen))
    }

    /// The values of some vertices as spans, in order. Values of other devices' vertices are the last received ones, if
    /// these are kept.
    pub fn spans(&self, place: usize, vertices: &Range<u64>, chunk_vertices_log2: u32) -> Vec<Span<'_>> {
        let Column { held, own, chunks, seen, bordering, .. } = &self.attributes[place];
        let here = vertices.start.clamp(own.start, own.end)..vertices.end.clamp(own.start, own.end);
        let border = self.border.as_ref().filter(|_| *bordering);
        let others = |wanted: Range<u64>| {
            let places = border.map_or_else(|| wanted.clone(), |(border, _)| border.among(&wanted));
            spans_of(seen, 0, places, chunk_vertices_log2).map(|span| Span { is_border: border.is_some(), ..span })
        };
        let before = others(vertices.start..vertices.end.min(own.start));
        let behind = others(vertices.start.max(own.end)..vertices.end);
        before.chain(spans_of(chunks, held.start, here, chunk_vertices_log2)).chain(behind).collect()
    }

    /// The next values of some vertices as spans, in order: what the vertex phase sets while lists are still read.
    /// Nothing for attributes that have none.
    pub fn next_spans(&self, place: usize, vertices: &Range<u64>, chunk_vertices_log2: u32) -> Vec<Span<'_>> {
        let Column { held, next, .. } = &self.attributes[place];
        spans_of(next, held.start, vertices.clone(), chunk_vertices_log2).collect()
    }

    /// The number of values of bordering vertices in each attribute that has values of no others but own ones, with one
    /// for what is not in the border; `None` if there is no such attribute.
    pub fn bordering(&self) -> Option<u64> {
        self.border.as_ref().map(|(border, _)| border.vertices().len() as u64 + 1)
    }

    /// The vertices in the border, if an attribute has values of no others but own ones.
    pub fn border(&self, place: usize) -> Option<&[u32]> {
        let (border, _) = self.border.as_ref().filter(|_| self.attributes[place].bordering)?;
        Some(border.vertices())
    }

    /// The attributes that have next values, by their places in the declaration.
    pub fn with_next(&self) -> Vec<usize> {
        (0..self.attributes.len()).filter(|&place| !self.attributes[place].next.is_empty()).collect()
    }

    /// The buffers of attributes' next values, with the attributes.
    pub fn all_next(&self) -> impl Iterator<Item = (Resource, &wgpu::Buffer)> {
        self.attributes.iter().enumerate().flat_map(|(place, column)| {
            let chunks = (0..).zip(&column.next);
            chunks.map(move |(chunk, next)| (Resource::Attribute { place, chunk }, &**next))
        })
    }

    /// The supersteps in which own vertices were first active: buffers, and the vertices of each.
    pub fn levels(&self, part: &Part, chunk_vertices_log2: u32) -> impl Iterator<Item = (&wgpu::Buffer, Range<u64>)> {
        self.levels.iter().zip(chunks(&level_vertices(part), chunk_vertices_log2))
    }

    /// The vertices that are active in a superstep.
    pub fn frontier(&self, superstep: u32) -> &[wgpu::Buffer] {
        &self.frontiers[superstep as usize % 2]
    }

    /// The buffer of a resource that belongs to no batch.
    pub fn find<'a>(
        &'a self,
        graph: &'a GraphBuffers,
        superstep: u32,
        direction: Direction,
        resource: &Resource,
    ) -> &'a wgpu::Buffer {
        match *resource {
            Resource::Step | Resource::NextStep => &self.step,
            Resource::OutDegrees(chunk) => &graph.degrees[chunk as usize],
            Resource::Attribute { place, chunk } => &self.attributes[place].chunks[chunk as usize],
            Resource::Seen { place, chunk } => &self.attributes[place].seen[chunk as usize],
            Resource::Border => &self.border.as_ref().expect("kernels of runs that hold a border").1,
            Resource::Frontier(chunk) => &self.frontier(superstep)[chunk as usize],
            Resource::NextFrontier(chunk) => &self.frontier(superstep.wrapping_add(1))[chunk as usize],
            Resource::Levels(chunk) => &self.levels[chunk as usize],
            Resource::Table(place) => &self.tables[place],
            Resource::Starts => &graph.topology(direction).starts,
            Resource::Directory => &graph.topology(direction).directory,
            Resource::NextPages => &graph.topology(direction).next_pages,
            Resource::Counters => &self.counters,
            Resource::Totals => &self.totals,
            ref other => panic!("{other:?} belongs to a batch"),
        }
    }
}

/// The vertices with levels: the device's own, from a multiple of 64 on.
pub fn level_vertices(part: &Part) -> Range<u64> {
    let own = part.own_words();
    own.start / 64 * 64..own.end
}

/// The vertices of each chunk of a range; one empty chunk for an empty range.
pub fn chunks(vertices: &Range<u64>, log2: u32) -> impl Iterator<Item = Range<u64>> + use<> {
    let Range { start, end } = *vertices;
    let size = 1u64 << log2;
    (0..(end - start).div_ceil(size).max(1))
        .map(move |chunk| start + chunk * size..(start + (chunk + 1) * size).min(end))
}

/// Splits a range of vertices into spans of buffers, the first of which begins with vertex `first`.
fn spans_of(buffers: &[SharedBuffer], first: u64, wanted: Range<u64>, log2: u32) -> impl Iterator<Item = Span<'_>> {
    buffers.iter().enumerate().filter_map(move |(number, buffer)| {
        let begin = first + ((number as u64) << log2);
        let vertices = wanted.start.max(begin)..wanted.end.min(begin + (1 << log2));
        (vertices.start < vertices.end).then_some(Span { buffer, first: begin, vertices, is_border: false })
    })
}

/// Where the values of listed vertices are: in the border, or, of own vertices, their numbers. What is in neither goes
/// to the place behind the last.
fn places(lists: &VertexLists, part: &Part, border: &Border) -> Vec<u32> {
    let none = border.vertices().len() as u32;
    let place = |&vertex: &u32| if part.owns(vertex) { vertex } else { border.place(vertex).unwrap_or(none) };
    lists.vertices().par_iter().map(place).collect()
}

/// Buffers for an attribute's values of some vertices: in device memory, or in main memory.
fn column_chunks(
    gpu: &Gpu,
    attribute: &Attribute,
    vertices: &Range<u64>,
    log2: u32,
    out: bool,
) -> Result<Vec<SharedBuffer>> {
    if out {
        let bytes = device_bytes(attribute, vertices.end - vertices.start).max(16);
        let import = HostImport::private(gpu, bytes, device_bytes(attribute, 1 << log2))?;
        return Ok(import.chunks().to_vec());
    }
    let of_chunk = |range: Range<u64>| {
        device_buffer(
            gpu,
            attribute.name,
            device_bytes(attribute, range.end - range.start).next_multiple_of(16).max(16),
        )
    };
    chunks(vertices, log2).map(of_chunk).collect()
}

fn table_buffer(gpu: &Gpu, table: &Table) -> Result<wgpu::Buffer> {
    match &table.contents {
        Contents::Given(words) => uploaded(gpu, table.name, bytemuck::cast_slice(words)),
        Contents::Own(words) => gpu.buffer(table.name, (4 * words).next_multiple_of(16).max(16), STORAGE),
    }
}

impl Span<'_> {
    /// The words of the buffer that contain the values; the first and last word of bits may also contain other
    /// vertices.
    pub fn words(&self, attribute: &Attribute) -> Range<u64> {
        attribute.of.word_range(&(self.vertices.start - self.first..self.vertices.end - self.first))
    }
}

/// A storage buffer with these bytes.
fn uploaded(gpu: &Gpu, label: &str, bytes: &[u8]) -> Result<wgpu::Buffer> {
    let size = (bytes.len() as u64).next_multiple_of(16).max(16);
    let buffer = gpu.buffer(label, size, STORAGE)?;
    if bytes.len() <= PIECE_BYTES {
        gpu.queue().write_buffer(&buffer, 0, bytes);
        // Submitting frees the staging memory.
        gpu.queue().submit([]);
        gpu.poll()?;
        return Ok(buffer);
    }
    // Two staging buffers take turns: new ones for each piece would take longer than the copies.
    let mut staged: [Option<(wgpu::Buffer, wgpu::SubmissionIndex)>; 2] = [None, None];
    for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        let staging = match staged[number % 2].take() {
            Some((staging, submission)) => writable_again(gpu, staging, submission)?,
            None => staging(gpu, label)?,
        };
        let view = staging.get_mapped_range_mut(..piece.len() as u64);
        view.map_err(|error| gpu.health().fault("upload", &format!("{error:?}")))?.copy_from_slice(piece);
        staging.unmap();
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let offset = (number * PIECE_BYTES) as u64;
        encoder.copy_buffer_to_buffer(&staging, 0, &buffer, offset, piece.len() as u64);
        let submission = gpu.queue().submit([encoder.finish()]);
        staged[number % 2] = Some((staging, submission));
    }
    gpu.poll()?;
    Ok(buffer)
}

/// A mapped staging buffer for a piece.
fn staging(gpu: &Gpu, label: &str) -> Result<wgpu::Buffer> {
    let usage = Usage::MAP_WRITE | Usage::COPY_SRC;
    let size = PIECE_BYTES as u64;
    let descriptor = wgpu::BufferDescriptor { label: Some("upload"), size, usage, mapped_at_creation: true };
    Ok(gpu.scoped(label, || gpu.device().create_buffer(&descriptor))?)
}

/// Maps a staging buffer when its copy is done.
fn writable_again(gpu: &Gpu, staging: wgpu::Buffer, copy: wgpu::SubmissionIndex) -> Result<wgpu::Buffer> {
    staging.map_async(wgpu::MapMode::Write, .., |_| {});
    if !gpu.wait(copy, PATIENCE)? {
        return Err(gpu.health().lost("an upload did not end").into());
    }
    Ok(staging)
}
