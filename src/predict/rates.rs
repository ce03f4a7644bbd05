//! What a machine does in a second: measured by `topostream calibrate`, kept in a file.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file. A file of another version is refused: its figures may mean something else.
pub const RATES_VERSION: u32 = 2;
/// The least and the largest figure that a file may have: beyond them sums and quotients would be lost in 0 or
/// infinity.
const FIGURE_MIN: f64 = 1e-6;
const FIGURE_MAX: f64 = 1e18;
/// The most that is read of a file, in bytes: many times what the rates of 32 devices take.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// What a machine does in a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// [`RATES_VERSION`].
    pub version: u32,
    /// The machine, for people.
    pub machine: String,
    /// Bytes a second that one disk gives, read as the engine reads.
    pub disk_bytes_per_s: f64,
    /// The share of its bus's rate that each device has left while all of them read main memory; 1 where one is alone.
    pub together: f64,
    /// The devices that were measured, each alone.
    pub devices: Vec<DeviceRates>,
}

/// What a device does in a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRates {
    /// Its name, as reports of runs give it.
    pub name: String,
    /// The threads of a CPU; none for a device with memory of its own.
    pub threads: Option<u32>,
    /// How fast it computes on graphs of different sizes, by ascending number of vertices: what is read and written at
    /// random is slower where caches hold less of it.
    pub kernels: Vec<KernelRates>,
    /// How pages reach a device with memory of its own.
    pub bus: Option<BusRates>,
    /// Bytes of fresh pages a second that take the threads that compute away from it, to check them and to have them
    /// read; none where that is done by others.
    pub check_bytes_per_s: Option<f64>,
    /// Bytes a second that it writes to other devices, or reads of theirs, and merges.
    pub merge_bytes_per_s: f64,
    /// Nanoseconds of a superstep with next to nothing to do.
    pub superstep_ns: f64,
    /// Nanoseconds that devices take to tell each other next to nothing.
    pub telling_ns: f64,
}

/// How fast a device computes on a graph of some size, everything in its reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRates {
    /// Vertices of the graph that was measured.
    pub vertices: u64,
    /// Edges a second along which values are added (PageRank over out-lists).
    pub push: f64,
    /// Edges a second whose values are gathered (PageRank over in-lists).
    pub pull: f64,
    /// Edges a second of active vertices that are followed (BFS top-down).
    pub top_down: f64,
    /// Edges a second that are looked at from vertices which are not reached yet (BFS bottom-up).
    pub bottom_up: f64,
    /// Edges a second of active vertices that are followed with their weights (shortest paths).
    pub weighted: f64,
    /// Edges a second over which both ends take the smaller value (components).
    pub labels: f64,
    /// Lists a second that a top-down superstep looks at, to find those that are active.
    pub top_down_lists: f64,
    /// Lists a second that a superstep with weights looks at.
    pub weighted_lists: f64,
    /// Lists a second that a bottom-up superstep looks at, to find those that are not reached.
    pub bottom_up_lists: f64,
    /// Vertices a second of a vertex phase.
    pub vertex_phase: f64,
    /// Vertices a second of the census that ends a traversal's superstep.
    pub census: f64,
    /// Vertices a second whose first values are set.
    pub initialise: f64,
}

/// How fast pages in main memory reach a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusRates {
    /// Bytes a second where kernels read pages in place: scans.
    pub in_place_bytes_per_s: f64,
    /// Bytes of pages a second in traversals, which read only what active lists lie in: it may be more than the bus
    /// carries.
    pub search_bytes_per_s: f64,
}

/// What is done with an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Adds along out-lists.
    Push,
    /// Gathers over in-lists.
    Pull,
    /// Follows the edges of active vertices.
    TopDown,
    /// Looks for active vertices from those that are not reached.
    BottomUp,
    /// Follows the edges of active vertices, with weights.
    Weighted,
    /// Both ends of an edge take the smaller value.
    Labels,
}

impl Kernel {
    /// Whether it passes over lists.
    pub fn is_traversal(self) -> bool {
        matches!(self, Self::TopDown | Self::BottomUp | Self::Weighted | Self::Labels)
    }

    /// The algorithm that it is measured with.
    pub fn measured_of(self) -> &'static str {
        match self {
            Self::Push | Self::Pull => "pagerank",
            Self::TopDown | Self::BottomUp => "bfs",
            Self::Weighted => "sssp",
            Self::Labels => "components",
        }
    }

    /// Whether it writes to the neighbours, and not to the vertex whose list it is.
    pub fn writes_neighbours(self) -> bool {
        !matches!(self, Self::Pull | Self::BottomUp)
    }
}

impl KernelRates {
    /// Edges a second.
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

    /// Lists a second that are looked at; scans do not ask.
    pub fn lists_per_s(&self, kernel: Kernel) -> f64 {
        match kernel {
            Kernel::BottomUp => self.bottom_up_lists,
            Kernel::Weighted => self.weighted_lists,
            _ => self.top_down_lists,
        }
    }

    /// Every rate by its name in the file.
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
    /// A rate on a graph of so many vertices: between two sizes that were measured a straight line through logarithms,
    /// beyond them the nearest.
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

    /// What is wrong with the figures, if anything is.
    fn defect(&self) -> Option<String> {
        let ascending = self.kernels.windows(2).all(|pair| pair[0].vertices < pair[1].vertices);
        if self.kernels.is_empty() || self.kernels[0].vertices == 0 || !ascending {
            return Some(format!("{}: kernels: expected graphs of ascending sizes, one at least", self.name));
        }
        let bus = self.bus.iter().flat_map(|bus| {
            [("in_place_bytes_per_s", bus.in_place_bytes_per_s), ("search_bytes_per_s", bus.search_bytes_per_s)]
        });
        let figures = [
            ("merge_bytes_per_s", self.merge_bytes_per_s),
            ("superstep_ns", self.superstep_ns),
            ("telling_ns", self.telling_ns),
        ];
        let figures =
            figures.into_iter().chain(bus).chain(self.check_bytes_per_s.map(|rate| ("check_bytes_per_s", rate)));
        let defect = self.kernels.iter().find_map(KernelRates::defect);
        let defect = defect.or_else(|| figures.into_iter().find_map(|(name, figure)| defect_of(name, figure)));
        defect.map(|defect| format!("{}: {defect}", self.name))
    }
}

impl Rates {
    /// The rates of a device by its name. A CPU that was measured with other threads counts in proportion.
    pub fn device(&self, name: &str) -> Option<DeviceRates> {
        if let Some(found) = self.devices.iter().find(|device| device.name == name) {
            return Some(found.clone());
        }
        let threads = cpu_threads(name)?;
        let cpu = self.devices.iter().find(|device| device.threads.is_some())?;
        Some(cpu.scaled(f64::from(threads) / f64::from(cpu.threads?.max(1)), name))
    }

    /// Nothing is known.
    pub fn unknown() -> Self {
        let (machine, devices) = (String::new(), Vec::new());
        Self { version: RATES_VERSION, machine, disk_bytes_per_s: 1.0, together: 1.0, devices }
    }

    /// The file's text.
    pub fn encode(&self) -> String {
        serde_json::to_string_pretty(self).expect("rates have string keys only") + "\n"
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Calibration`] by file: it cannot be read, is of another version, or is no sound file of rates.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong = |message: String| Error::Calibration { path: path.to_owned(), message };
        let metadata = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
        // A pipe without a writer would be waited for; a file of gigabytes is no file of rates.
        if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
            return Err(wrong(format!("expected a regular file of at most {FILE_BYTES_MAX} bytes")));
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        Self::decode(&bytes, path)
    }

    /// Reads a file's bytes; `path` is for messages.
    ///
    /// # Errors
    /// As of [`Self::read`].
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
        if !(FIGURE_MIN..=1.0).contains(&self.together) {
            return Some(format!("together: expected a share of at most 1, found {}", self.together));
        }
        self.devices.iter().find_map(DeviceRates::defect)
    }
}

impl DeviceRates {
    /// The same device with more or fewer threads.
    fn scaled(&self, by: f64, name: &str) -> Self {
        let mut scaled = Self { name: name.to_owned(), ..self.clone() };
        scaled.kernels.iter_mut().flat_map(|of| of.all()).for_each(|(_, rate)| *rate *= by);
        scaled.check_bytes_per_s = scaled.check_bytes_per_s.map(|rate| rate * by);
        scaled
    }
}

/// The threads that are in the CPU device's name.
fn cpu_threads(name: &str) -> Option<u32> {
    name.strip_prefix("cpu, ")?.split(' ').next()?.parse().ok()
}

/// What is wrong with a figure of the file, if anything is.
fn defect_of(name: &str, figure: f64) -> Option<String> {
    let sound = (FIGURE_MIN..=FIGURE_MAX).contains(&figure);
    (!sound).then(|| format!("{name}: expected a number from {FIGURE_MIN:e} to {FIGURE_MAX:e}, found {figure:?}"))
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}
