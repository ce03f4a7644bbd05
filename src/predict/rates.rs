//! The measured rates of a machine: the file that `topostream calibrate` writes.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file. Files of other versions are refused, since their figures may have other meanings.
pub const RATES_VERSION: u32 = 2;
/// The range of figures in a file. Sums and quotients of larger or smaller ones could become 0 or infinite.
const FIGURE_MIN: f64 = 1e-6;
const FIGURE_MAX: f64 = 1e18;
/// The maximum size of a file, in bytes: many times the size of the rates of 32 devices.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The measured rates of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The version of the file format.
    #[doc(hidden)]
    pub version: u32,
    /// A description of the machine, for people.
    #[doc(hidden)]
    pub machine: String,
    /// Bytes per second of one disk, read as the engine reads.
    #[doc(hidden)]
    pub disk_bytes_per_s: f64,
    /// Nanoseconds of a small read besides its bytes, with many in flight; `None` if it has not been measured.
    #[doc(hidden)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_request_ns: Option<f64>,
    /// The share of its bus rate that each device reaches while all devices read main memory; 1 for a single device.
    #[doc(hidden)]
    #[serde(alias = "together")]
    pub concurrent_bus_share: f64,
    /// The devices, each measured alone.
    #[doc(hidden)]
    pub devices: Vec<DeviceRates>,
}

/// The measured rates of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRates {
    /// Its name, as in reports of runs.
    pub name: String,
    /// The number of threads of a CPU; `None` for a GPU.
    pub threads: Option<u32>,
    /// The rates of kernels on graphs of different sizes, by ascending number of vertices: random accesses are slower
    /// on larger graphs, of which caches hold less.
    pub kernels: Vec<KernelRates>,
    /// The rates of transfers from main memory; `None` for a CPU.
    pub bus: Option<BusRates>,
    /// Bytes of pages from disk per second of the additional time that they cost the worker threads, mostly for checks;
    /// `None` if other threads check pages.
    pub check_bytes_per_s: Option<f64>,
    /// Bytes per second that it writes for other devices, or reads of theirs and merges.
    pub merge_bytes_per_s: f64,
    /// Nanoseconds of a superstep with almost no work.
    pub superstep_ns: f64,
    /// Nanoseconds by which an exchange of almost no values makes a superstep longer, submissions and waits included.
    #[serde(alias = "telling_ns")]
    pub exchange_ns: f64,
}

/// The rates of a device's kernels on a graph of one size, with all pages in the device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRates {
    /// The number of vertices of the measured graph.
    pub vertices: u64,
    /// Edges per second along which values are added (PageRank over out-lists).
    pub push: f64,
    /// Edges per second whose values are gathered (PageRank over in-lists).
    pub pull: f64,
    /// Edges per second of active vertices that are followed (BFS top-down).
    pub top_down: f64,
    /// Edges per second that are tested from unreached vertices (BFS bottom-up).
    pub bottom_up: f64,
    /// Edges per second of active vertices that are followed with their weights (shortest paths).
    pub weighted: f64,
    /// Edges per second whose two ends take the smaller label (components).
    pub labels: f64,
    /// Lists per second that a top-down superstep tests for active vertices.
    pub top_down_lists: f64,
    /// Lists per second that a superstep with weights tests.
    pub weighted_lists: f64,
    /// Lists per second that a bottom-up superstep tests for unreached vertices.
    pub bottom_up_lists: f64,
    /// Vertices per second of a vertex phase.
    pub vertex_phase: f64,
    /// Vertices per second of the census at the end of a traversal's superstep.
    pub census: f64,
    /// Vertices per second of initialisation.
    pub initialise: f64,
}

/// The rates at which a device reads pages in main memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusRates {
    /// Bytes per second in scans, whose kernels read pages in place.
    pub in_place_bytes_per_s: f64,
    /// Bytes of pages per second in traversals. They read only active lists, so this may exceed the bus rate.
    pub search_bytes_per_s: f64,
}

/// The kinds of edge functions that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Adds values along out-lists.
    Push,
    /// Gathers values over in-lists.
    Pull,
    /// Follows the edges of active vertices.
    TopDown,
    /// Searches the in-neighbours of unreached vertices for active ones.
    BottomUp,
    /// Follows the edges of active vertices, with weights.
    Weighted,
    /// Both ends of an edge take the smaller label.
    Labels,
}

impl Kernel {
    /// Returns whether it tests lists and skips inactive ones.
    pub fn is_traversal(self) -> bool {
        matches!(self, Self::TopDown | Self::BottomUp | Self::Weighted | Self::Labels)
    }

    /// Returns the algorithm that it is measured with.
    pub fn measured_of(self) -> &'static str {
        match self {
            Self::Push | Self::Pull => "pagerank",
            Self::TopDown | Self::BottomUp => "bfs",
            Self::Weighted => "sssp",
            Self::Labels => "components",
        }
    }

    /// Returns whether it writes to the neighbours, and not to the list's own vertex.
    pub fn writes_neighbours(self) -> bool {
        !matches!(self, Self::Pull | Self::BottomUp)
    }
}

impl KernelRates {
    /// Returns a kernel's edges per second.
    pub fn edges_per_s(&self, kernel: Kernel) -> f64 {
        match kernel {
            Kernel::Push => self.push,
            Kernel::Pull => self.pull,
            Kernel::TopDown => self.top_down,
            Kernel::BottomUp => self.bottom_up,
            Kernel::Weighted => self.weighted,
            Kernel::Labels => self.labels,
        }
    }

    /// Returns the lists per second that a kernel tests; not used for scans.
    pub fn lists_per_s(&self, kernel: Kernel) -> f64 {
        match kernel {
            Kernel::BottomUp => self.bottom_up_lists,
            Kernel::Weighted => self.weighted_lists,
            _ => self.top_down_lists,
        }
    }

    /// Returns all rates with their names in the file.
    fn all(&mut self) -> [(&'static str, &mut f64); 12] {
        [
            ("push", &mut self.push),
            ("pull", &mut self.pull),
            ("top_down", &mut self.top_down),
            ("bottom_up", &mut self.bottom_up),
            ("weighted", &mut self.weighted),
            ("labels", &mut self.labels),
            ("top_down_lists", &mut self.top_down_lists),
            ("weighted_lists", &mut self.weighted_lists),
            ("bottom_up_lists", &mut self.bottom_up_lists),
            ("vertex_phase", &mut self.vertex_phase),
            ("census", &mut self.census),
            ("initialise", &mut self.initialise),
        ]
    }

    fn defect(&self) -> Option<String> {
        let mut rates = *self;
        let defect = rates.all().into_iter().find_map(|(name, rate)| defect_of(name, *rate));
        defect.map(|defect| format!("kernels of {} vertices: {defect}", self.vertices))
    }
}

impl DeviceRates {
    /// Returns a rate on a graph of `vertices` vertices: log-linear interpolation between the measured sizes, and the
    /// nearest one beyond them.
    pub fn at(&self, vertices: f64, rate: impl Fn(&KernelRates) -> f64) -> f64 {
        let above = self.kernels.partition_point(|of| (of.vertices as f64) < vertices);
        let nearest = |at: usize| rate(&self.kernels[at]);
        if above == 0 || above == self.kernels.len() {
            return nearest(above.min(self.kernels.len() - 1));
        }
        let (from, to) = (self.kernels[above - 1].vertices as f64, self.kernels[above].vertices as f64);
        let part = (vertices / from).ln() / (to / from).ln();
        nearest(above - 1).powf(1.0 - part) * nearest(above).powf(part)
    }

    /// Returns the first defect of the figures.
    fn defect(&self) -> Option<String> {
        let ascending = self.kernels.windows(2).all(|pair| pair[0].vertices < pair[1].vertices);
        if self.kernels.is_empty() || self.kernels[0].vertices == 0 || !ascending {
            return Some(format!(
                "{}: kernels: expected at least one graph, with ascending numbers of vertices",
                self.name
            ));
        }
        let bus = self.bus.iter().flat_map(|bus| {
            [("in_place_bytes_per_s", bus.in_place_bytes_per_s), ("search_bytes_per_s", bus.search_bytes_per_s)]
        });
        let figures = [
            ("merge_bytes_per_s", self.merge_bytes_per_s),
            ("superstep_ns", self.superstep_ns),
            ("exchange_ns", self.exchange_ns),
        ];
        let figures =
            figures.into_iter().chain(bus).chain(self.check_bytes_per_s.map(|rate| ("check_bytes_per_s", rate)));
        let defect = self.kernels.iter().find_map(KernelRates::defect);
        let defect = defect.or_else(|| figures.into_iter().find_map(|(name, figure)| defect_of(name, figure)));
        defect.map(|defect| format!("{}: {defect}", self.name))
    }
}

impl Rates {
    /// Returns the rates of a device by its name. The rates of a CPU are scaled if it was measured with another number
    /// of threads.
    #[doc(hidden)]
    pub fn device(&self, name: &str) -> Option<DeviceRates> {
        if let Some(found) = self.devices.iter().find(|device| device.name == name) {
            return Some(found.clone());
        }
        let threads = cpu_threads(name)?;
        let cpu = self.devices.iter().find(|device| device.threads.is_some())?;
        Some(cpu.scaled(f64::from(threads) / f64::from(cpu.threads?.max(1)), name))
    }

    /// Returns rates without devices, for a machine that has not been measured.
    #[doc(hidden)]
    pub fn unknown() -> Self {
        let (machine, devices) = (String::new(), Vec::new());
        let disk_request_ns = None;
        Self {
            version: RATES_VERSION,
            machine,
            disk_bytes_per_s: 1.0,
            disk_request_ns,
            concurrent_bus_share: 1.0,
            devices,
        }
    }

    /// Returns the text of the file.
    #[doc(hidden)]
    pub fn encode(&self) -> String {
        serde_json::to_string_pretty(self).expect("rates have string keys only") + "\n"
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Calibration`] if the file cannot be read, is of another version, or is not valid.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong = |message: String| Error::Calibration { path: path.to_owned(), message };
        let metadata = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
        // Opening a pipe without a writer would block, and a larger file cannot be a file of rates.
        if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
            return Err(wrong(format!("expected a regular file of at most {FILE_BYTES_MAX} bytes")));
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        Self::decode(&bytes, path)
    }

    /// Decodes the bytes of a file of rates. Errors name `path`.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    #[doc(hidden)]
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |message: String| Error::Calibration { path: path.to_owned(), message };
        let version: VersionOnly =
            serde_json::from_slice(bytes).map_err(|error| wrong(format!("expected a file of rates: {error}")))?;
        if version.version != RATES_VERSION {
            return Err(wrong(format!("expected version {RATES_VERSION}, found {}", version.version)));
        }
        let rates: Self = serde_json::from_slice(bytes).map_err(|error| wrong(format!("expected rates: {error}")))?;
        rates.defect().map_or(Ok(rates), |defect| Err(wrong(defect)))
    }

    fn defect(&self) -> Option<String> {
        if let Some(defect) = defect_of("disk_bytes_per_s", self.disk_bytes_per_s) {
            return Some(defect);
        }
        if let Some(defect) = self.disk_request_ns.and_then(|ns| defect_of("disk_request_ns", ns)) {
            return Some(defect);
        }
        if !(FIGURE_MIN..=1.0).contains(&self.concurrent_bus_share) {
            return Some(format!(
                "concurrent_bus_share: expected a share of at most 1, found {}",
                self.concurrent_bus_share
            ));
        }
        self.devices.iter().find_map(DeviceRates::defect)
    }
}

impl DeviceRates {
    /// Returns the rates of a CPU scaled by `by`, for another number of threads.
    fn scaled(&self, by: f64, name: &str) -> Self {
        let mut scaled = Self { name: name.to_owned(), ..self.clone() };
        scaled.kernels.iter_mut().flat_map(|of| of.all()).for_each(|(_, rate)| *rate *= by);
        scaled.check_bytes_per_s = scaled.check_bytes_per_s.map(|rate| rate * by);
        scaled
    }
}

/// Returns the number of threads in the CPU device's name.
pub(super) fn cpu_threads(name: &str) -> Option<u32> {
    name.strip_prefix("cpu, ")?.split(' ').next()?.parse().ok()
}

/// Returns what is wrong with a figure of the file, if anything.
fn defect_of(name: &str, figure: f64) -> Option<String> {
    let sound = (FIGURE_MIN..=FIGURE_MAX).contains(&figure);
    (!sound).then(|| format!("{name}: expected a number from {FIGURE_MIN:e} to {FIGURE_MAX:e}, found {figure:?}"))
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}
