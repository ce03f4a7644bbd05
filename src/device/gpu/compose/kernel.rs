//! The kernels, and what each of them does.

use std::fmt;
use std::str::FromStr;

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
    /// The most frequent value of each list's neighbours, and edges of lists that are too long for that.
    Plurality,
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
    pub const ALL: [Self; 28] = [
        Self::Lists,
        Self::Segments,
        Self::Hubs,
        Self::Bin,
        Self::Binned,
        Self::Plurality,
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
            Self::Plurality => "plurality",
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
        matches!(self, Self::Lists | Self::Segments | Self::Hubs | Self::Sweep | Self::Binned | Self::Plurality)
            || self.lists_active()
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
    pub(super) fn hooks(self) -> &'static [&'static str] {
        match self {
            Self::Plurality => &PLURALITY_HOOKS,
            _ if self.is_over_pages() => &["Record", "list_open", "list_edge", "list_close"],
            Self::Decide => &["step_next"],
            Self::Initialise => &["vertex_initialise"],
            Self::VertexPhase => &["vertex_update"],
            _ => &[],
        }
    }
}

/// The functions that [`KernelName::Plurality`] calls.
const PLURALITY_HOOKS: [&str; 7] =
    ["Record", "list_open", "list_edge", "list_close", "list_plurality", "plurality_needed", "plurality_value"];

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for KernelName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|kernel| kernel.name() == name).ok_or_else(|| format!("expected one of {names}"))
    }
}
