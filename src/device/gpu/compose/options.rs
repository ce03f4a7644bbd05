//! What a module depends on beside the algorithm and the kernel.

use super::KernelName;
use crate::device::exchange::may_border;
use crate::model::algorithm::Visit;
use crate::model::attributes::Attribute;
use topostream_formats::{Direction, Encoding};

/// The options of a module: the store, the superstep, the size of the graph, and features of the device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleOptions {
    /// The store's encoding of neighbours. Kernels over packed pages read their plain images, which the kernels of
    /// [`inflates`](KernelName::inflates) make.
    pub encoding: Encoding,
    /// Bytes of a page of the store.
    pub page_bytes: u32,
    /// Whether the algorithm reads weights.
    pub weights: bool,
    /// The direction of the lists to read.
    pub direction: Direction,
    /// The lists to read.
    pub visit: Visit,
    /// Whether the lists are grouped for shards: each has several parts.
    pub grouped: bool,
    /// Buffers hold the values of 2^this many vertices; 5 to 32.
    pub attribute_chunk_vertices_log2: u32,
    /// Vertices of the graph.
    pub vertices: u64,
    /// Whether attributes that edges write are held for the device's own vertices only (Strategy-S).
    pub sharded: bool,
    /// Number of vertices for which attributes that edges write, and out-degrees, are held: from the first own one,
    /// rounded down to a multiple of 64, to the last own one; all if not sharded.
    pub held_vertices: u64,
    /// If the device, sharded, holds values of own and bordering vertices only, of attributes that
    /// [may](crate::device::exchange::may_border) be: the number of values that it holds of bordering ones.
    pub bordering: Option<u64>,
    /// Whether floats can be added atomically (`SHADER_FLOAT32_ATOMIC`).
    pub float_atomics: bool,
    /// Whether 64-bit integers can be added atomically (`SHADER_INT64` and `SHADER_INT64_ATOMIC_ALL_OPS`).
    pub wide_integers: bool,
    /// Whether there are subgroup operations (`SUBGROUP`).
    pub subgroups: bool,
    /// Whether pages are read in main memory, over a bus, so that each word should be read once.
    pub in_place: bool,
    /// Whether `segments` decodes packed neighbours by itself: plain images have slots only.
    pub unpacks: bool,
    /// Whether the driver ends loops early, so that kernels that call an algorithm's hooks have to check for that.
    pub loops_limited: bool,
    /// Number of own vertices whose levels `census` records; 0 if it does not.
    pub levels: u64,
    /// Whether `census` clears the frontier of the superstep that ends.
    pub clears: bool,
    /// Whether the vertex phase lists the vertices of a set, for the device's own supersteps.
    pub lists: bool,
    /// Whether there is a table with the page of each unit.
    pub tabled: bool,
}

impl Default for ModuleOptions {
    /// All out-lists of a store with default options and a million vertices, for any device.
    fn default() -> Self {
        Self {
            encoding: Encoding::VertexId,
            page_bytes: topostream_formats::page::PAGE_BYTES_DEFAULT,
            weights: false,
            direction: Direction::Out,
            visit: Visit::All,
            grouped: false,
            attribute_chunk_vertices_log2: 28,
            vertices: 1 << 20,
            sharded: false,
            held_vertices: 1 << 20,
            bordering: None,
            float_atomics: false,
            wide_integers: false,
            subgroups: false,
            in_place: false,
            unpacks: false,
            loops_limited: false,
            levels: 0,
            clears: false,
            lists: false,
            tabled: false,
        }
    }
}

impl ModuleOptions {
    /// Bytes of a page as kernels read it: of its plain image.
    pub fn plain_bytes(&self) -> u32 {
        u32::try_from(self.encoding.plain_bytes(self.page_bytes)).unwrap_or(u32::MAX)
    }

    /// Number of buffers of an attribute of all vertices.
    pub fn chunks(&self) -> u32 {
        self.chunks_of(self.vertices)
    }

    /// Number of buffers of an attribute that edges write.
    pub fn held_chunks(&self) -> u32 {
        if self.sharded { self.chunks_of(self.held_vertices) } else { self.chunks() }
    }

    /// Whether values of an attribute are held for own and bordering vertices only.
    pub(super) fn is_bordering(&self, attribute: &Attribute) -> bool {
        self.sharded && self.bordering.is_some() && may_border(attribute)
    }

    /// Number of buffers of values of bordering vertices.
    pub fn border_chunks(&self) -> u32 {
        self.chunks_of(self.bordering.unwrap_or(0))
    }

    /// Number of buffers of levels.
    pub fn level_chunks(&self) -> u32 {
        self.chunks_of(self.levels)
    }

    /// Options that are equal for all options that make the same module of a kernel, as far as that can be told without
    /// composing it: numbers of vertices count by the buffers that they take.
    pub fn canonical(&self, kernel: KernelName) -> Self {
        if kernel.inflates() {
            // They only know pages.
            return Self { encoding: self.encoding, page_bytes: self.page_bytes, ..Self::default() };
        }
        let all_of = |chunks: u32| u64::from(chunks) << self.attribute_chunk_vertices_log2;
        // What `select` and `sweep` share is laid out by the number itself.
        let laid_out = matches!(kernel, KernelName::Select | KernelName::Sweep);
        let vertices = if laid_out { self.vertices } else { all_of(self.chunks()) };
        let levels = self.levels > 0 && kernel == KernelName::Census;
        Self {
            vertices,
            held_vertices: if self.sharded { all_of(self.held_chunks()) } else { vertices },
            levels: if levels { all_of(self.level_chunks()) } else { 0 },
            clears: self.clears && kernel == KernelName::Census,
            lists: self.lists && kernel == KernelName::VertexPhase,
            tabled: self.tabled && kernel.has_units(),
            in_place: self.in_place && kernel.has_units(),
            unpacks: self.unpacks && kernel == KernelName::Segments,
            loops_limited: self.loops_limited && kernel.has_hooks(),
            ..self.clone()
        }
    }

    fn chunks_of(&self, vertices: u64) -> u32 {
        vertices.div_ceil(1 << self.attribute_chunk_vertices_log2).max(1) as u32
    }
}
