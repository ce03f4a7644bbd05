//! What devices report: their work on pages, the results of supersteps, and what they moved for them.

use crate::model::algorithm::{Step, Summary};

/// Work on pages, and its time, summed over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageWork {
    /// Neighbours in the lists that were opened.
    pub edges: u64,
    /// Lists and neighbours that CPUs have decoded from packed pages.
    pub decoded: u64,
    /// Nanoseconds of edge functions.
    pub compute_ns: u64,
    /// Nanoseconds of checking pages.
    pub check_ns: u64,
}

impl std::ops::AddAssign for PageWork {
    fn add_assign(&mut self, other: Self) {
        self.edges += other.edges;
        self.decoded += other.decoded;
        self.compute_ns += other.compute_ns;
        self.check_ns += other.check_ns;
    }
}

/// How evenly the edges of a superstep were divided among several devices: each device counts the edges of
/// every list that it opens, even if another opens the same list. A sum covers all its supersteps. Nothing for a single
/// device.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Balance {
    /// Edges of a device on average.
    pub mean_edges: f64,
    /// Edges of the device with the most, of each superstep.
    pub most_edges: u64,
}

impl Balance {
    /// The balance of these devices.
    pub(crate) fn of(edges: &[u64]) -> Self {
        let all: u64 = edges.iter().sum();
        Self {
            mean_edges: all as f64 / edges.len().max(1) as f64,
            most_edges: edges.iter().copied().max().unwrap_or(0),
        }
    }

    /// Adds another superstep.
    pub(crate) fn add(&mut self, other: &Self) {
        self.mean_edges += other.mean_edges;
        self.most_edges += other.most_edges;
    }

    /// GTS's d_skew (Kim et al., SIGMOD 2016, equation 2): 1 if devices have equal numbers of edges, 1/N if one of N
    /// has all. `None` for a single device, and without edges.
    pub fn skew(&self) -> Option<f64> {
        (self.most_edges > 0).then(|| self.mean_edges / self.most_edges as f64)
    }
}

/// The results of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEnd {
    /// For the algorithm.
    pub summary: Summary,
    /// Work of this superstep that no [`PageDone`](super::PageDone) has reported.
    pub work: PageWork,
    /// Bytes moved and times; all zero for a device that computes in main memory.
    pub transfer: Transfer,
    /// Exchange between several devices.
    pub exchange: ExchangeWork,
    /// The balance of several devices.
    pub balance: Balance,
    /// Nanoseconds of the vertex phase or the census, by the device's clock.
    pub vertex_ns: u64,
    /// Vertices that vertex phases of CPUs went over.
    pub phase_vertices: u64,
    /// Of a traversal, the vertices that were activated and visited in the superstep itself, so that the summary does
    /// not count them.
    pub joined: u64,
    /// Of a traversal, the vertices whose lists were left to the next superstep: the summary counts them again.
    pub deferred: u64,
}

/// Supersteps that a device has run without the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunAhead {
    /// The supersteps, in order; none if the device cannot run the requested one.
    pub supersteps: Vec<Ahead>,
    /// The superstep that comes next, if there were any; `None` if the algorithm is done.
    pub next: Option<Step>,
}

/// A superstep that a device has run without the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// The superstep.
    pub step: Step,
    /// Its results.
    pub end: StepEnd,
    /// The number of pages that it visited: all of them were in the device's own memory.
    pub pages: u64,
    /// The time that it took, in nanoseconds.
    pub wall_ns: u64,
}

/// Exchange between devices that share a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeWork {
    /// Bytes written to main memory for others, and bytes read there, over all devices.
    pub bytes: u64,
    /// The time that it took, in nanoseconds.
    pub ns: u64,
}

/// Transfers of a superstep's pages to a device with its own memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[doc(hidden)]
pub struct Transfer {
    /// Pages that were in the device's memory.
    pub resident_pages: u64,
    /// Bytes of pages copied to the device's memory.
    pub copied_bytes: u64,
    /// Bytes of pages that kernels read in main memory.
    pub in_place_bytes: u64,
    /// Nanoseconds of kernels that read pages in main memory.
    pub in_place_ns: u64,
    /// Nanoseconds of copies.
    pub copy_ns: u64,
    /// Nanoseconds of copies while kernels ran.
    pub overlap_ns: u64,
    /// Nanoseconds of kernels over vertices and the page directory, at the end.
    pub vertex_kernels_ns: u64,
    /// Number of launches over batches of pages.
    pub batches: u64,
    /// Number of supersteps over vertices that the superstep before has listed.
    pub listed_steps: u64,
}

impl Transfer {
    /// Adds another superstep's numbers.
    pub(crate) fn add(&mut self, other: &Self) {
        self.resident_pages += other.resident_pages;
        self.copied_bytes += other.copied_bytes;
        self.in_place_bytes += other.in_place_bytes;
        self.in_place_ns += other.in_place_ns;
        self.copy_ns += other.copy_ns;
        self.overlap_ns += other.overlap_ns;
        self.vertex_kernels_ns += other.vertex_kernels_ns;
        self.batches += other.batches;
        self.listed_steps += other.listed_steps;
    }
}

/// The work of one of several devices.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeviceReport {
    /// The device.
    pub device: String,
    /// Its own vertices: the first, and the one after the last.
    pub own: (u64, u64),
    /// The number of other devices' vertices with edges to its own, if it holds the values of no others; `None` if it
    /// holds the values of all vertices.
    pub bordering: Option<u64>,
    /// Pages that it processed, over all supersteps.
    pub pages: u64,
    /// Neighbours in the lists that it opened.
    pub edges: u64,
    /// Nanoseconds of computing.
    pub compute_ns: u64,
}
