//! The buffers that modules bind.

use super::KernelName;

/// A buffer that a module binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// A buffer of a module that is not part of a run ([`plain`](super::plain)), by its number.
    Own(u32),
    /// The superstep: [`Step`](super::layout::Step).
    Step,
    /// The lengths of out-lists, `u32`: vertices of one chunk.
    OutDegrees(u32),
    /// An attribute.
    Attribute {
        /// Its index in the declaration.
        place: usize,
        /// The chunk.
        chunk: u32,
    },
    /// In sharded modules: the values of all vertices, as last sent by their owners, of an attribute that edges read at
    /// random.
    Seen {
        /// Its index in the declaration.
        place: usize,
        /// The chunk.
        chunk: u32,
    },
    /// For 32 vertices each, a bit for those in the device's border, and the place of the first one's values.
    Border,
    /// The vertices that are active, a bit each: a chunk.
    Frontier(u32),
    /// The vertices that will be active in the next superstep: a chunk.
    NextFrontier(u32),
    /// The superstep in which each of the device's own vertices was first active, plus one; two vertices a word: a
    /// chunk.
    Levels(u32),
    /// A table, by its index in the declaration.
    Table(usize),
    /// For record ids: the first vertex of each page of the topology that is read, `u32`.
    Starts,
    /// For `next-pages`: a [`DirectoryPage`](super::layout::DirectoryPage) for each page of a topology.
    Directory,
    /// For `next-pages`: a bit for each page, in words of 32, cleared by the host.
    NextPages,
    /// The counters of page kernels: [`Counters`](super::layout::Counters).
    Counters,
    /// The total of each workgroup's vertices: four `f32`, or a [`CensusTotal`](super::layout::CensusTotal).
    Totals,
    /// For `decide`: the [`Step`](super::layout::Step) of the next superstep.
    NextStep,
    /// The state of supersteps that the device runs without the host: a [`Course`](super::layout::Course).
    Course,
    /// For `decide`: a [`Dispatch`](super::layout::Dispatch) for each dispatch of a superstep.
    Dispatches,
    /// For `decide`: the arguments of each indirect dispatch, three numbers.
    Arguments,
    /// For `fill`: the parameters, a [`Fill`](super::layout::Fill).
    Fill,
    /// For `fill`: the output.
    Filled,
    /// For `merge`: the parameters, a [`Merge`](super::layout::Merge).
    Merge,
    /// For `merge`: the words to update.
    Merged,
    /// For `pack` and `unpack`: the parameters, a [`Pack`](super::layout::Pack).
    Pack,
    /// For `pack` and `unpack`: lists of vertices, `u32`.
    VertexList,
    /// All lists, sorted by length: [`BinsHeader`](super::layout::BinsHeader) and
    /// [`HubEntry`](super::layout::HubEntry)s.
    Bins,
    /// For `select` and `sweep`: a bit for each vertex whose list is known to be empty, then the units with visited
    /// lists,
    /// `u32`.
    Swept,
    /// Pages, each followed by its page of weights if weights are read.
    Pages,
    /// A [`BatchHeader`](super::layout::BatchHeader) and a [`BatchPage`](super::layout::BatchPage) for each page.
    Batch,
    /// For `segments`: the slot of each unit's first edge, `u32`.
    Rows,
    /// The page of each unit of a batch, `u32`.
    Units,
    /// A [`HubHeader`](super::layout::HubHeader) and room for [`HubEntry`](super::layout::HubEntry)s.
    HubQueue,
    /// The lists that `compact` has found, as [`HubEntry`](super::layout::HubEntry)s in three regions.
    Queue,
    /// The vertices and the location of a message: a [`MessageParams`](super::layout::MessageParams).
    Message,
    /// The output of `collect` and input of `ship`: [`collected_words`](super::layout::collected_words) words, the
    /// first four of them zero before `collect`.
    Collected,
    /// Exchange memory for output.
    Sent,
    /// Exchange memory for input.
    Received,
    /// Packed pages in their frames.
    Frames,
    /// The pages to inflate: an [`InflatePage`](super::layout::InflatePage) each.
    Inflation,
    /// Slots for their plain images.
    Inflated,
}

/// A module's access to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A uniform.
    Uniform,
    /// A read-only storage buffer.
    Read,
    /// A storage buffer.
    ReadWrite,
}

/// One binding of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// 0 for buffers of a run, 1 for buffers that change from batch to batch.
    pub group: u32,
    /// Its number in the group.
    pub binding: u32,
    /// The buffer.
    pub resource: Resource,
    /// The access.
    pub access: Access,
    /// Its name in the module.
    pub name: String,
}

/// A buffer with its WGSL type, before it is numbered.
pub(super) struct Buffer {
    pub resource: Resource,
    pub access: Access,
    pub name: String,
    pub of: String,
}

impl Buffer {
    /// The buffer with a fixed name in lib and kernels; attributes and tables have none.
    pub fn named(name: &str, kernel: KernelName) -> Option<Self> {
        let totals = if kernel == KernelName::Census { "array<vec4<u32>>" } else { "array<vec4<f32>>" };
        // `merge` reads four words at a time; words of messages are not aligned for that.
        let received = if kernel == KernelName::Merge { "array<vec4<u32>>" } else { "array<u32>" };
        // Neighbours are written four at a time.
        let inflated = if kernel == KernelName::Inflate { "array<vec4<u32>>" } else { "array<u32>" };
        let (resource, access, of) = match name {
            "step" => (Resource::Step, Access::Uniform, "Step"),
            "border" => (Resource::Border, Access::Read, "array<vec2<u32>>"),
            "starts" => (Resource::Starts, Access::Read, "array<u32>"),
            "directory" => (Resource::Directory, Access::Read, "array<DirectoryPage>"),
            "next_pages" => (Resource::NextPages, Access::ReadWrite, "array<atomic<u32>>"),
            "counters" => (Resource::Counters, Access::ReadWrite, "Counters"),
            "totals" => (Resource::Totals, Access::ReadWrite, totals),
            "next_step" => (Resource::NextStep, Access::ReadWrite, "Step"),
            "course" => (Resource::Course, Access::ReadWrite, "Course"),
            "dispatches" => (Resource::Dispatches, Access::Read, "array<Dispatch>"),
            "arguments" => (Resource::Arguments, Access::ReadWrite, "array<u32>"),
            "binning" => (Resource::Bins, Access::ReadWrite, "Binning"),
            "bins" => (Resource::Bins, Access::Read, "Bins"),
            "swept" => (Resource::Swept, Access::ReadWrite, "array<atomic<u32>>"),
            "queue" => (Resource::Queue, Access::ReadWrite, "array<HubEntry>"),
            "fill" => (Resource::Fill, Access::Uniform, "Fill"),
            "merge" => (Resource::Merge, Access::Uniform, "Merge"),
            "packed" => (Resource::Pack, Access::Uniform, "Pack"),
            "vertex_list" => (Resource::VertexList, Access::Read, "array<u32>"),
            "merged" => (Resource::Merged, Access::ReadWrite, "array<u32>"),
            "message" => (Resource::Message, Access::Uniform, "MessageParams"),
            "collected" => (Resource::Collected, Access::ReadWrite, "Collected"),
            "sent" => (Resource::Sent, Access::ReadWrite, "array<u32>"),
            "received" => (Resource::Received, Access::Read, received),
            "frames" => (Resource::Frames, Access::Read, "array<u32>"),
            "inflation" => (Resource::Inflation, Access::Read, "array<InflatePage>"),
            "inflated" => (Resource::Inflated, Access::ReadWrite, inflated),
            "filled" => (Resource::Filled, Access::ReadWrite, "array<u32>"),
            "pages" => (Resource::Pages, Access::Read, "array<u32>"),
            "batch" => (Resource::Batch, Access::Read, "Batch"),
            "units" => (Resource::Units, Access::Read, "array<u32>"),
            "rows" => (Resource::Rows, Access::Read, "array<u32>"),
            "hub_queue" => (Resource::HubQueue, Access::ReadWrite, "HubQueue"),
            _ => return None,
        };
        Some(Self { resource, access, name: name.into(), of: of.into() })
    }
}

/// Numbers buffers, in the order of [`Resource`] within each group; returns the bindings and their declarations.
pub(super) fn number(mut buffers: Vec<Buffer>) -> (Vec<Binding>, String) {
    buffers.sort_by_key(|buffer| buffer.resource);
    let (mut bindings, mut text, mut next) = (Vec::new(), String::new(), [0, 0]);
    for Buffer { resource, access, name, of } in buffers {
        let group = u32::from(resource >= Resource::Pages);
        let binding = next[group as usize];
        next[group as usize] += 1;
        let space = match access {
            Access::Uniform => "uniform",
            Access::Read => "storage, read",
            Access::ReadWrite => "storage, read_write",
        };
        text += &format!("@group({group}) @binding({binding}) var<{space}> {name}: {of};\n");
        bindings.push(Binding { group, binding, resource, access, name });
    }
    (bindings, text)
}
