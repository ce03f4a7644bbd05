//! Makes WGSL modules out of files: an algorithm, a kernel, what they need of shaders/lib, and generated declarations.
//!
//! ```text
//!  kernels/lists.wgsl ─▶ main ─▶ visits ──────────▶ is_active  (generated: accessors of chunked buffers)
//!                          └───▶ list_edge ───────▶ sum_add
//!                     algorithms/pagerank.wgsl └──▶ fixed_from  (lib/fixed.wgsl)
//! ```
//!
//! Files are plain WGSL. Declarations may stand in any order in WGSL, so that putting them one behind the other links
//! them. A module has what `main` reaches and nothing else: buffers that are not used are not bound. An `if` on a
//! generated constant is decided here, so that it may name what this module has not. Every line knows the file that it
//! comes from.

mod accessors;
mod bindings;
mod bodies;
mod check;
pub mod layout;
mod link;
mod messages;
mod prelude;
mod text;
pub mod units;

pub use bindings::{Access, Binding, Resource};
pub use check::{ShaderError, check, check_complete};

use crate::model::algorithm::{Algorithm, Contents, Shader, Table, Visit};
use crate::model::attributes::Attribute;
use std::fmt;
use std::str::FromStr;
use topostream_formats::{Direction, Encoding};

/// What a module does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelName {
    /// Edges, by lists: one or more threads a list.
    Lists,
    /// Edges, by equal shares of them.
    Segments,
    /// Edges of long lists that `lists` has left.
    Hubs,
    /// Sorts all lists into bins by their length, for [`Binned`](Self::Binned).
    Bin,
    /// Edges of all lists, each with as many threads as its length asks for.
    Binned,
    /// Lists the units of pages that have visited lists, for [`Sweep`](Self::Sweep).
    Select,
    /// Edges of visited lists, each searched by one thread until it is long.
    Sweep,
    /// Queues the lists that are visited.
    Compact,
    /// Looks for visited lists in pages that are not in device memory.
    Absent,
    /// Ends what the device runs by itself if there are any.
    Halt,
    /// Edges of queued lists.
    Expand,
    /// Ends a superstep and begins the next one, where the device runs them by itself.
    Decide,
    /// First values of vertices.
    Initialise,
    /// Vertices, after all edges of a superstep.
    VertexPhase,
    /// Counts the vertices that are active in the next superstep.
    Census,
    /// Finds the pages that the next superstep visits.
    NextPages,
    /// Defers active vertices of pages to later supersteps.
    Defer,
    /// Sets a buffer's words to a value.
    Fill,
    /// Merges another device's words into an attribute's.
    Merge,
    /// Writes the values of vertices with out-edges to exchange memory.
    Pack,
    /// Reads them there.
    Unpack,
    /// Finds what the superstep has activated among some vertices, and its values: the first half of writing a message.
    Collect,
    /// Writes what `collect` has found to exchange memory, as a [message](crate::device::exchange::message).
    Ship,
    /// Takes in a message of another device.
    Apply,
}

impl KernelName {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::Lists,
        Self::Segments,
        Self::Hubs,
        Self::Bin,
        Self::Binned,
        Self::Select,
        Self::Sweep,
        Self::Compact,
        Self::Absent,
        Self::Halt,
        Self::Expand,
        Self::Decide,
        Self::Initialise,
        Self::VertexPhase,
        Self::Census,
        Self::NextPages,
        Self::Defer,
        Self::Fill,
        Self::Merge,
        Self::Pack,
        Self::Unpack,
        Self::Collect,
        Self::Ship,
        Self::Apply,
    ];

    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::Segments => "segments",
            Self::Hubs => "hubs",
            Self::Bin => "bin",
            Self::Binned => "binned",
            Self::Select => "select",
            Self::Sweep => "sweep",
            Self::Compact => "compact",
            Self::Absent => "absent",
            Self::Halt => "halt",
            Self::Expand => "expand",
            Self::Decide => "decide",
            Self::Initialise => "initialise",
            Self::VertexPhase => "vertex-phase",
            Self::Census => "census",
            Self::NextPages => "next-pages",
            Self::Defer => "defer",
            Self::Fill => "fill",
            Self::Merge => "merge",
            Self::Pack => "pack",
            Self::Unpack => "unpack",
            Self::Collect => "collect",
            Self::Ship => "ship",
            Self::Apply => "apply",
        }
    }

    /// Whether it runs the edge function.
    pub fn is_over_pages(self) -> bool {
        matches!(self, Self::Lists | Self::Segments | Self::Hubs | Self::Sweep | Self::Expand | Self::Binned)
    }

    /// Whether it looks up the pages of units, which a table may say.
    pub fn has_units(self) -> bool {
        self.is_over_pages() || matches!(self, Self::Select | Self::Bin)
    }

    /// Whether it runs a function of the algorithm on every vertex.
    pub fn is_over_vertices(self) -> bool {
        matches!(self, Self::Initialise | Self::VertexPhase)
    }

    /// Whether it writes or reads messages, which are traversals'.
    pub fn is_of_messages(self) -> bool {
        matches!(self, Self::Collect | Self::Ship | Self::Apply)
    }

    /// Whether it calls an algorithm's functions.
    pub fn has_hooks(self) -> bool {
        !self.hooks().is_empty()
    }

    /// The functions that it wants of an algorithm.
    fn hooks(self) -> &'static [&'static str] {
        match self {
            Self::Lists | Self::Segments | Self::Hubs | Self::Sweep | Self::Expand | Self::Binned => {
                &["Record", "list_open", "list_edge", "list_close"]
            }
            Self::Decide => &["step_next"],
            Self::Initialise => &["vertex_initialise"],
            Self::VertexPhase => &["vertex_update"],
            _ => &[],
        }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for KernelName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let name = if name == "put-off" { Self::Defer.name() } else { name };
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|kernel| kernel.name() == if name == "put-off" { "defer" } else { name })
            .ok_or_else(|| format!("expected one of {names}"))
    }
}

/// What a module is made for: the store, the superstep, the size of the graph, and what the device can do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleOptions {
    /// How neighbours are written.
    pub encoding: Encoding,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Whether the algorithm reads weights.
    pub weights: bool,
    /// Which lists are read.
    pub direction: Direction,
    /// Whose.
    pub visit: Visit,
    /// Whether the lists are grouped for shards: each is in several parts, far from one another.
    pub grouped: bool,
    /// Buffers hold the values of 2^this many vertices; 5 to 32.
    pub attribute_chunk_vertices_log2: u32,
    /// Vertices of the graph.
    pub vertices: u64,
    /// Whether what edges write is held for the device's own vertices only (Strategy-S).
    pub sharded: bool,
    /// Vertices that what edges write, and out-degrees, are held for: from the first own one, rounded down to a
    /// multiple of 64, to the last own one; where it is not sharded, all.
    pub held_vertices: u64,
    /// Whether floats can be added atomically (`SHADER_FLOAT32_ATOMIC`).
    pub float_atomics: bool,
    /// Whether 64-bit integers can be added atomically (`SHADER_INT64` and `SHADER_INT64_ATOMIC_ALL_OPS`).
    pub wide_integers: bool,
    /// Whether there are subgroup operations (`SUBGROUP`).
    pub subgroups: bool,
    /// Whether pages are read where they lie in main memory: over a bus, each word should be asked for once.
    pub in_place: bool,
    /// Whether the driver ends loops early, so that kernels which call an algorithm's hooks have to look for that.
    pub loops_limited: bool,
    /// The device's own vertices whose first activation `census` writes down; 0 if it does not.
    pub levels: u64,
    /// Whether `census` clears the frontier of the superstep that ends.
    pub clears: bool,
    /// Whether there is a table of the page of each unit.
    pub tabled: bool,
}

impl Default for ModuleOptions {
    /// All out-lists of a store as it is made where nothing is asked for, with a million vertices, for any device.
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
            float_atomics: false,
            wide_integers: false,
            subgroups: false,
            in_place: false,
            loops_limited: false,
            levels: 0,
            clears: false,
            tabled: false,
        }
    }
}

impl ModuleOptions {
    /// How many buffers hold an attribute of all vertices.
    pub fn chunks(&self) -> u32 {
        self.chunks_of(self.vertices)
    }

    /// How many buffers hold an attribute that edges write: as many as that of all vertices, where it is not sharded.
    pub fn held_chunks(&self) -> u32 {
        if self.sharded { self.chunks_of(self.held_vertices) } else { self.chunks() }
    }

    /// How many buffers hold the supersteps in which own vertices were first active.
    pub fn level_chunks(&self) -> u32 {
        self.chunks_of(self.levels)
    }

    /// The same for all options that make the same module of a kernel, as far as that can be told without composing it:
    /// numbers of vertices count by the buffers that they take.
    pub fn canonical(&self, kernel: KernelName) -> Self {
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
            tabled: self.tabled && kernel.has_units(),
            in_place: self.in_place && kernel.has_units(),
            loops_limited: self.loops_limited && kernel.has_hooks(),
            ..self.clone()
        }
    }

    fn chunks_of(&self, vertices: u64) -> u32 {
        vertices.div_ceil(1 << self.attribute_chunk_vertices_log2).max(1) as u32
    }
}

/// An algorithm as modules see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// For labels.
    pub name: &'static str,
    /// Its text.
    pub shader: Shader,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Whether it has frontiers.
    pub traversal: bool,
    /// Its tables.
    pub tables: Vec<DeclaredTable>,
    /// The bit attribute of vertices that a superstep leaves out, by its place.
    pub deferred: Option<usize>,
}

/// A table as modules see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredTable {
    /// What the shader calls it.
    pub name: &'static str,
    /// Whether it is the device's own, and may be written.
    pub own: bool,
}

impl Declared {
    /// What an algorithm declares over a store with or without in-lists; none without a shader.
    pub fn of(algorithm: &dyn Algorithm, has_in_lists: bool) -> Option<Self> {
        let (shader, traversal) = (algorithm.shader()?, algorithm.is_traversal());
        let table = |table: Table| DeclaredTable { name: table.name, own: matches!(table.contents, Contents::Own(_)) };
        let (attributes, tables) = (algorithm.attributes(has_in_lists), algorithm.tables());
        let tables = tables.into_iter().map(table).collect();
        let deferred = algorithm.deferred();
        Some(Self { name: algorithm.name(), shader, attributes, traversal, tables, deferred })
    }
}

impl Declared {
    /// Whether its shader says what the next superstep is, so that a device can run supersteps by itself.
    pub fn decides(&self) -> bool {
        prelude::declares(self, &["step_next"])
    }
}

/// A module: one entry point `main`, of workgroups of [`layout::WORKGROUP`] threads.
#[derive(Clone, Debug)]
pub struct Module {
    /// For messages: algorithm and kernel.
    pub label: String,
    /// The WGSL.
    pub text: String,
    /// What it binds, by group and number.
    pub bindings: Vec<Binding>,
    float_atomics: bool,
    wide_integers: bool,
    subgroups: bool,
    origins: Vec<Origin>,
    sharded: bool,
    /// Why the kernel cannot run the algorithm, and the algorithm's file.
    refused: Option<(String, &'static str)>,
}

/// Lines of a module from `first_line` on are those of `file` from `line` on.
#[derive(Clone, Copy, Debug)]
struct Origin {
    first_line: u32,
    file: &'static str,
    line: u32,
}

impl Module {
    /// The file and line that a line of the module comes from.
    pub fn origin(&self, line: u32) -> (&'static str, u32) {
        let at = self.origins.partition_point(|origin| origin.first_line <= line);
        let Origin { first_line, file, line: begin } = self.origins[at.saturating_sub(1)];
        (file, begin + line.saturating_sub(first_line))
    }
}

/// Composes a module. What is wrong with an algorithm's text, `check` says.
///
/// # Panics
/// Where chunks are not of 2^5 to 2^32 vertices.
pub fn compose(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> Module {
    let chunks = options.attribute_chunk_vertices_log2;
    assert!((5..=32).contains(&chunks), "chunks of 2^{chunks} vertices");
    link::link(algorithm, kernel, options)
}
