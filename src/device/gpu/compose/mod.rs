//! Composes WGSL modules: an algorithm, a kernel, what they use of shaders/lib, and generated declarations.
//!
//! ```text
//!  kernels/lists.wgsl ─▶ main ─▶ visits ──────────▶ is_active  (generated: accessors of chunked buffers)
//!                          └───▶ list_edge ───────▶ sum_add
//!                     algorithms/pagerank.wgsl └──▶ fixed_from  (lib/fixed.wgsl)
//! ```
//!
//! Files are plain WGSL. Declarations may be in any order in WGSL, so concatenation is linking. A module contains only
//! what `main` reaches, so that unused buffers are not bound. An `if` on a generated constant is evaluated here, so
//! that the other branch may use names that the module lacks. Every line has its file and line of origin.

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

use crate::device::exchange::may_border;
use crate::model::algorithm::{Algorithm, Contents, Rule, Shader, Table, Visit, rule_of};
use crate::model::attributes::{Attribute, AttributeType, Merge, Role};
use std::fmt;
use std::str::FromStr;
use topostream_formats::{Direction, Encoding};

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelName {
    /// Edges, by lists: one or more threads a list.
    Lists,
    /// Edges, by equal shares of them.
    Segments,
    /// Writes the slots of plain images of packed pages.
    InflateSlots,
    /// Decodes the neighbours of packed pages to their plain images.
    Inflate,
    /// Edges of long lists that `lists` has deferred.
    Hubs,
    /// Sorts all lists into bins by length, for [`Binned`](Self::Binned).
    Bin,
    /// Edges of all lists, with more threads for longer lists.
    Binned,
    /// Lists the units with visited lists, for [`Sweep`](Self::Sweep).
    Select,
    /// Edges of visited lists, each searched by one thread at first.
    Sweep,
    /// Queues the lists that are visited.
    Compact,
    /// Checks whether visited lists are in pages that are not in device memory.
    Absent,
    /// Stops the submission if `absent` found any.
    Halt,
    /// Edges of queued lists.
    Expand,
    /// Edges of the lists of vertices that were listed as they were activated.
    ExpandActive,
    /// Ends a superstep and begins the next one, without the host.
    Decide,
    /// Initial values of vertices.
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
    /// Reads these values.
    Unpack,
    /// Collects activated vertices of a range, and their values: the first half of writing a message.
    Collect,
    /// Writes the output of `collect` to exchange memory, as a [message](crate::device::exchange::message).
    Ship,
    /// Applies a message of another device.
    Apply,
}

impl KernelName {
    /// All kernels.
    pub const ALL: [Self; 27] = [
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
        Self::ExpandActive,
        Self::Decide,
        Self::Initialise,
        Self::VertexPhase,
        Self::Census,
        Self::NextPages,
        Self::Defer,
        Self::InflateSlots,
        Self::Inflate,
        Self::Fill,
        Self::Merge,
        Self::Pack,
        Self::Unpack,
        Self::Collect,
        Self::Ship,
        Self::Apply,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::Segments => "segments",
            Self::InflateSlots => "inflate-slots",
            Self::Inflate => "inflate",
            Self::Hubs => "hubs",
            Self::Bin => "bin",
            Self::Binned => "binned",
            Self::Select => "select",
            Self::Sweep => "sweep",
            Self::Compact => "compact",
            Self::Absent => "absent",
            Self::Halt => "halt",
            Self::Expand => "expand",
            Self::ExpandActive => "expand-active",
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
        matches!(self, Self::Lists | Self::Segments | Self::Hubs | Self::Sweep | Self::Binned) || self.lists_active()
    }

    /// Whether it lists the vertices that its edges touch, in supersteps over a set.
    pub fn touches(self) -> bool {
        self == Self::ExpandActive
    }

    /// Whether it lists the vertices that it activates, if they are few.
    pub fn lists_active(self) -> bool {
        matches!(self, Self::Expand | Self::ExpandActive)
    }

    /// Whether the kernel looks up the pages of units, for which there may be a table.
    pub fn has_units(self) -> bool {
        self.is_over_pages() || matches!(self, Self::Select | Self::Bin)
    }

    /// Whether it makes plain images of packed pages.
    pub fn inflates(self) -> bool {
        matches!(self, Self::InflateSlots | Self::Inflate)
    }

    /// Whether it runs a function of the algorithm on every vertex.
    pub fn is_over_vertices(self) -> bool {
        matches!(self, Self::Initialise | Self::VertexPhase)
    }

    /// Whether it writes or reads messages.
    pub fn is_of_messages(self) -> bool {
        matches!(self, Self::Collect | Self::Ship | Self::Apply)
    }

    /// Whether it calls an algorithm's functions.
    pub fn has_hooks(self) -> bool {
        !self.hooks().is_empty()
    }

    /// The algorithm's functions that it calls.
    fn hooks(self) -> &'static [&'static str] {
        match self {
            _ if self.is_over_pages() => &["Record", "list_open", "list_edge", "list_close"],
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
        Self::ALL.into_iter().find(|kernel| kernel.name() == name).ok_or_else(|| format!("expected one of {names}"))
    }
}

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

    /// The same for all options that make the same module of a kernel, as far as that can be told without composing it:
    /// numbers of vertices count by the buffers that they take.
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

/// Why an adapter cannot run an algorithm whose edges lower or raise 64-bit integers.
pub(in crate::device::gpu) const NO_WIDE_ATOMICS: &str =
    "its edges lower or raise 64-bit numbers, for which an adapter needs 64-bit atomics";

/// The declaration of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name, for labels.
    pub name: &'static str,
    /// Its shader.
    pub shader: Shader,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Whether it has frontiers.
    pub traversal: bool,
    /// Its tables.
    pub tables: Vec<DeclaredTable>,
    /// The role of the attributes that are sent packed.
    pub packed: Option<Role>,
    /// The rule of its supersteps.
    pub rule: Rule,
    /// The bit attribute of the set whose lists supersteps visit, by index, if the device may list its vertices: the
    /// shader says which of them a vertex phase updates (`step_updates`).
    pub set: Option<usize>,
}

/// The declaration of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredTable {
    /// Its name in the shader.
    pub name: &'static str,
    /// Whether it belongs to the device, and may be written.
    pub own: bool,
}

impl Declared {
    /// The declaration of an algorithm without tables, whose lists are all visited and whose values are all sent, with
    /// one superstep.
    pub fn new(name: &'static str, shader: Shader, attributes: Vec<Attribute>, traversal: bool) -> Self {
        let rule = Rule::new(Vec::new(), |now| now.stop());
        Self { name, shader, attributes, traversal, tables: Vec::new(), packed: None, rule, set: None }
    }

    /// The declaration of an algorithm for a store with or without in-lists; none without a shader.
    pub fn of(algorithm: &dyn Algorithm, has_in_lists: bool) -> Option<Self> {
        let attributes = algorithm.attributes(has_in_lists);
        let declared = Self::new(algorithm.name(), algorithm.shader()?, attributes, algorithm.is_traversal());
        let table = |table: Table| DeclaredTable { name: table.name, own: matches!(table.contents, Contents::Own(_)) };
        let tables = algorithm.tables().into_iter().map(table).collect();
        let set = declared.set_of(&algorithm.visits(has_in_lists));
        Some(Self { tables, set, rule: rule_of(algorithm, has_in_lists), ..declared })
    }

    /// The only set that supersteps visit, if the shader says what vertex phases update.
    fn set_of(&self, visits: &[(Direction, Visit)]) -> Option<usize> {
        let place = |&(_, visit): &(Direction, Visit)| match visit {
            Visit::Within(place) => Some(place),
            _ => None,
        };
        let mut places = visits.iter().filter_map(place);
        let set = places.next().filter(|&set| places.all(|other| other == set))?;
        (!self.traversal && prelude::declares(self, &["step_updates"])).then_some(set)
    }

    /// Whether its kernels may read out-degrees, over lists that are `grouped` for shards or not.
    pub fn reads_degrees(&self, grouped: bool) -> bool {
        let calls = |name: &str| self.shader.text.contains(name);
        self.traversal || self.set.is_some() || calls("degree_out") || grouped && calls("list_degree")
    }

    /// Whether its edges lower or raise 64-bit integers, for which an adapter needs 64-bit atomics.
    pub fn needs_wide_atomics(&self) -> bool {
        let is_lowered = |one: &Attribute| {
            one.of == AttributeType::U64 && one.role.is_written() && matches!(one.merge, Merge::Min | Merge::Max)
        };
        self.attributes.iter().any(is_lowered)
    }

    /// Whether several supersteps may follow each other, which a device can run without the host.
    pub fn decides(&self) -> bool {
        !self.rule.stops_at_once()
    }
}

/// A module: one entry point `main`, of workgroups of [`layout::WORKGROUP`] threads.
#[derive(Clone, Debug)]
pub struct Module {
    /// The names of the algorithm and the kernel, for error messages.
    pub label: String,
    /// The WGSL.
    pub text: String,
    /// Its bindings, by group and number.
    pub bindings: Vec<Binding>,
    float_atomics: bool,
    wide_integers: bool,
    subgroups: bool,
    origins: Vec<Origin>,
    sharded: bool,
    /// Why the kernel cannot run the algorithm, and the algorithm's file.
    refused: Option<(String, &'static str)>,
}

/// The origin of the lines of a module from `first_line` on: `file`, from `line` on.
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

/// Composes a module. [`check()`] reports errors in an algorithm's text.
///
/// # Panics
/// If the chunk size is not 2^5 to 2^32 vertices.
pub fn compose(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> Module {
    let chunks = options.attribute_chunk_vertices_log2;
    assert!((5..=32).contains(&chunks), "chunks of 2^{chunks} vertices");
    link::link(algorithm, kernel, options)
}
