//! What the host and the device share about supersteps that the device runs without the host.

use bytemuck::{Pod, Zeroable};

/// Maximum number of queues of a [`Course`]: one for each buffer with pages of out-lists.
pub const QUEUES_MAX: usize = 16;

/// The numbers of entries of a queue, as counted by `compact`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Queued {
    /// Short lists.
    pub short: u32,
    /// Middle lists.
    pub middle: u32,
    /// Parts of long lists.
    pub long: u32,
    /// Pages with a visited vertex.
    pub pages: u32,
    /// Number of units with lists to sweep.
    pub units: u32,
}

/// The state of supersteps that the device runs without the host. It is followed by a log, a [`Logged`] for each
/// superstep of a submission, by two lists of vertices ([`lists_words`]), by a word for each resident page: the number
/// of the last superstep, plus one, that counted the page in [`MODE_LISTED`]; and, for sets, by a mark for each vertex
/// ([`MARKS_A_WORD`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Course {
    /// 1 once there is no next superstep.
    pub done: u32,
    /// Supersteps in the log.
    pub logged: u32,
    /// The visit of the current superstep, by index among those that the algorithm declares.
    pub visit: u32,
    /// How lists are found: [`MODE_WALKED`], [`MODE_QUEUED`] or [`MODE_LISTED`].
    pub mode: u32,
    /// Maximum number of queued vertices: the capacity of the first and of the second region of a queue.
    pub queue_vertices_max: u32,
    /// Maximum number of edges of queued lists.
    pub queue_edges_max: u32,
    /// Entries of a [`Dispatch`] table.
    pub dispatches: u32,
    /// Workgroups of the vertex phase or the census, and so the number of partial sums.
    pub totals: u32,
    /// Number of visits that the algorithm declares.
    pub visits: u32,
    /// A bit for each visit, set if all of its pages are in device memory.
    pub complete: u32,
    /// 1 if the next superstep needs a page that is not in device memory, so that the host has to run it.
    pub missing: u32,
    /// Maximum number of vertices of the visited set; `u32::MAX` if unknown.
    pub vertices: u32,
    /// The census: vertices and edges, low and high halves.
    pub found: [u32; 4],
    /// 1 if vertices are listed as they are activated; without a frontier, if the vertex phase lists the set, and adds
    /// its terms to `counts`.
    pub listing: u32,
    /// A bit for each visit, set if its supersteps may be [`MODE_LISTED`].
    pub listed_visits: u32,
    /// Number of vertices in each list: of the frontiers of even and of odd supersteps; or of the set, and of the
    /// vertices that edges have touched.
    pub listed_counts: [u32; 2],
    /// The vertices that the vertex phase updates: [`UPDATES_ALL`], [`UPDATES_TOUCHED`] or [`UPDATES_NONE`].
    pub updates: u32,
    /// The first word of the marks, counted from the first list.
    pub marks: u32,
    /// The total length of the out-lists of the listed set, each counted up to one more than [`SET_EDGES_MAX`].
    pub set_edges: u32,
    /// The sums of the terms in the marks.
    pub counts: [u32; 3],
    /// 1 in submissions that run listed supersteps only: they do nothing once the next superstep is not
    /// [`MODE_LISTED`].
    pub only_listed: u32,
    /// Zero.
    pub spare: u32,
    /// The queues.
    pub queues: [Queued; QUEUES_MAX],
}

/// Supersteps in the log of a [`Course`].
pub const LOG_STEPS: usize = 64;
/// Maximum number of active vertices, and of edges in their lists, of a superstep that may be [`MODE_LISTED`], or that
/// lists the vertices that it activates.
pub const LISTED_EDGES_MAX: u32 = 1 << 14;
/// Capacity of a list of active vertices. An edge function may activate more than one vertex: lists may overflow.
pub const LISTED_MAX: u32 = LISTED_EDGES_MAX;

/// Maximum number of edges, by the lengths of out-lists, of a superstep over a listed set.
pub const SET_EDGES_MAX: u32 = TOUCHED_MAX - LISTED_MAX;
/// Capacity of the list of vertices that edges have touched. Out-lists of a set never touch more, in-lists may.
pub const TOUCHED_MAX: u32 = 1 << 16;
/// Vertices whose marks share a word. A mark has the vertex' terms in the last vertex phase, a bit each, and whether an
/// edge has touched it since.
pub const MARKS_A_WORD: u32 = 8;

/// Words of the lists that follow the log of a [`Course`]: two frontiers; or a set, and the vertices that edges have
/// touched.
pub const fn lists_words(traversal: bool) -> u32 {
    LISTED_MAX + if traversal { LISTED_MAX } else { TOUCHED_MAX }
}

/// Bytes of these lists, and of a word for each resident page.
pub const fn listed_bytes(traversal: bool, pages: u64) -> u64 {
    4 * (lists_words(traversal) as u64 + pages)
}

/// Bytes of the marks.
pub const fn mark_bytes(vertices: u64) -> u64 {
    4 * vertices.div_ceil(MARKS_A_WORD as u64)
}

/// The vertex phase updates all vertices.
pub const UPDATES_ALL: u32 = 0;
/// The vertex phase changes only vertices that are in the visited set, or that an edge has touched since their last
/// update; it would change no others, and their terms are as in the last vertex phase.
pub const UPDATES_TOUCHED: u32 = 1;
/// The vertex phase changes nothing, and all of its terms are zero.
pub const UPDATES_NONE: u32 = 2;

/// A superstep that reads whole pages.
pub const MODE_WALKED: u32 = 0;
/// A superstep that queues the visited lists, which `compact` finds.
pub const MODE_QUEUED: u32 = 1;
/// A superstep over vertices that the one before has listed: a frontier, or a set. Of a set, edges list the vertices
/// that they touch, for the vertex phase.
pub const MODE_LISTED: u32 = 2;

/// The log entry of a superstep that the device ran without the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Logged {
    /// Its visit, by index among those that the algorithm declares.
    pub visit: u32,
    /// How it found its lists: [`MODE_WALKED`], [`MODE_QUEUED`] or [`MODE_LISTED`].
    pub mode: u32,
    /// Pages with a visited vertex, unless whole pages were read.
    pub pages: u32,
    /// Whether the driver has ended a loop early.
    pub loops_cut: u32,
    /// Vertices that it activated: low and high half.
    pub activated: [u32; 2],
    /// The total length of their out-lists: low and high half.
    pub activated_edges: [u32; 2],
    /// Neighbours in the lists that it opened: low and high half.
    pub edges: [u32; 2],
    /// Zero.
    pub spare: [u32; 2],
    /// The low words of the sums of its vertex phase, in double precision.
    pub sums_low: [u32; 4],
    /// The high words.
    pub sums_high: [u32; 4],
}

/// A dispatch in every superstep that the device runs without the host. `decide` sets its number of workgroups,
/// possibly 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Dispatch {
    /// Its visit, or [`EVERY_VISIT`].
    pub visit: u32,
    /// The supersteps that it is for: one of the constants that begin with `WHEN_`.
    pub when: u32,
    /// Maximum number of workgroups in x.
    pub x: u32,
    /// Maximum number of workgroups in y.
    pub y: u32,
}

/// The visit of a [`Dispatch`] for all visits.
pub const EVERY_VISIT: u32 = u32::MAX;
/// A [`Dispatch`] for supersteps that read whole pages.
pub const WHEN_WALKED: u32 = 0;
/// A [`Dispatch`] for queued lists.
pub const WHEN_QUEUED: u32 = 1;
/// A [`Dispatch`] for all supersteps.
pub const WHEN_EITHER: u32 = 2;
/// A [`Dispatch`] for queued lists, with only as many workgroups as these need.
pub const WHEN_QUEUED_SCALED: u32 = 3;
/// A [`Dispatch`] for [`MODE_LISTED`], with only as many workgroups as the lists need.
pub const WHEN_LISTED_SCALED: u32 = 4;
/// A [`Dispatch`] for all supersteps; in [`MODE_LISTED`], with only as many workgroups as the listed vertices need, and
/// with none if there is nothing to update.
pub const WHEN_EITHER_SCALED: u32 = 5;
/// The part of a [`WHEN_EITHER_SCALED`] dispatch that is for [`MODE_LISTED`].
pub const WHEN_LISTED_END: u32 = 6;

impl Dispatch {
    /// Its workgroups in a superstep with this visit over `vertices` vertices with `edges` edges: the first one of a
    /// submission, whose vertices are not listed. Same as groups_of in shaders/kernels/decide.wgsl.
    pub fn groups(&self, visit: u32, queued: bool, vertices: u64, edges: u64) -> [u32; 3] {
        let fits = match self.when {
            WHEN_WALKED => !queued,
            WHEN_EITHER | WHEN_EITHER_SCALED => true,
            WHEN_LISTED_SCALED | WHEN_LISTED_END => false,
            _ => queued,
        };
        if !fits || (self.visit != visit && self.visit != EVERY_VISIT) {
            return [0; 3];
        }
        if self.when == WHEN_QUEUED_SCALED {
            let wanted = u32::try_from(1 + vertices / 8 + edges / 256).unwrap_or(u32::MAX);
            return [wanted.min(self.x), 1, 1];
        }
        [self.x, self.y, 1]
    }
}
