//! What a page about a run is made of: the JSON that `topostream run --json` prints. Later members are absent in the
//! JSON of earlier versions, and of runs inside other programs.

use super::distribution::Distribution;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A run: its report, its origin and the summary of its answer.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunRecord {
    /// The algorithm's name.
    pub algorithm: String,
    /// The device's name.
    pub device: String,
    /// Threads, or parallel units of a device, over which nanoseconds of work are summed.
    pub lanes: u32,
    /// How pages were read.
    pub fetcher: String,
    /// Whether reads bypassed the system's page cache.
    pub direct_io: bool,
    /// The size of the page buffer, in bytes.
    pub buffer_bytes: u64,
    /// Main memory that the run planned to use, in bytes.
    pub planned_bytes: u64,
    /// The peak resident memory, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Elapsed time, in nanoseconds.
    pub wall_ns: u64,
    /// Of it, initialisation.
    pub initialise_ns: u64,
    /// Reads that were repeated.
    pub retries: u64,
    /// Traversed edges as Graph500 counts them.
    pub traversed_edges: Option<u64>,
    /// The sum of all supersteps.
    pub total: Step,
    /// How several devices shared the run.
    pub sharing: Option<Sharing>,
    /// The prediction of the cost model for the run's own pages and edges.
    pub predicted: Option<Predicted>,
    /// The checkpoints.
    pub checkpoints: Option<Checkpoints>,
    /// The directories that pages were read from.
    #[serde(default)]
    pub stripes: Vec<Stripe>,
    /// The number of supersteps; 0 in older reports.
    #[serde(default)]
    pub supersteps: u64,
    /// The number of supersteps that each of `steps` sums up; 0 in older reports.
    #[serde(default)]
    pub supersteps_a_step: u64,
    /// The supersteps.
    pub steps: Vec<Step>,
    /// The plan of main memory.
    #[serde(default)]
    pub memory: Option<MemoryParts>,
    /// The program and the store.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// The summary of the answer.
    #[serde(default)]
    pub answer: Answer,
}

impl RunRecord {
    /// The number of supersteps.
    pub fn superstep_count(&self) -> u64 {
        self.supersteps.max(self.steps.len() as u64)
    }
}

/// A superstep, or the sum of several; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Step {
    /// Its number, from 0.
    pub superstep: u32,
    /// The lists that were read.
    pub direction: Option<ListDirection>,
    /// Active vertices.
    pub active: Option<u64>,
    /// The state after an iteration.
    pub iteration: Option<Iteration>,
    /// Edges in the lists that were opened.
    pub edges: u64,
    /// Pages that were visited.
    pub pages: u64,
    /// Of them, those in the page buffer.
    pub pages_cached: u64,
    /// Bytes read from disk.
    pub disk_bytes: u64,
    /// Elapsed time.
    pub wall_ns: u64,
    /// Its parts.
    pub waits: Waits,
    /// Time with at least one read in flight.
    pub disk_ns: u64,
    /// Time in which reads waited for a free frame.
    pub wait_frames_ns: u64,
    /// Edge functions, summed over all lanes.
    pub compute_ns: u64,
    /// Checks of pages, summed over all lanes.
    pub check_ns: u64,
    /// The vertex phase.
    pub vertex_ns: u64,
    /// Transfers between main memory and GPUs.
    #[serde(default)]
    pub transfer: Transfer,
    /// Bytes that devices exchanged.
    pub merged_bytes: u64,
    /// The exchange.
    pub merge_ns: u64,
}

/// Whose lists a superstep read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListDirection {
    /// Out-lists.
    Out,
    /// In-lists.
    In,
}

/// What a superstep waited for; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Waits {
    /// Reads.
    pub disk_ns: u64,
    /// Transfers from main memory to GPUs.
    pub bus_ns: u64,
    /// Computation.
    pub kernels_ns: u64,
    /// The host.
    pub host_ns: u64,
    /// The exchange between devices.
    pub exchange_ns: u64,
}

/// The state after an iteration.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Iteration {
    /// How much it changed; `None` if that is not a finite number.
    pub residual: Option<f64>,
}

/// Transfers of a device with its own memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Transfer {
    /// Pages that were in the device's memory.
    pub resident_pages: u64,
    /// Bytes copied to it.
    pub copied_bytes: u64,
    /// Bytes that kernels read in main memory.
    pub in_place_bytes: u64,
    /// Kernels over pages in main memory, in nanoseconds.
    pub in_place_ns: u64,
    /// Copies, in nanoseconds.
    pub copy_ns: u64,
}

/// A directory that pages were read from.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Stripe {
    /// The directory.
    pub path: String,
    /// Pages read.
    pub pages: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Nanoseconds with at least one read in flight.
    pub busy_ns: u64,
}

/// How several devices shared a run.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Sharing {
    /// The strategy.
    pub strategy: String,
    /// How pages were assigned.
    pub assignment: Option<String>,
    /// The devices.
    pub devices: Vec<Device>,
}

/// A device of several.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Device {
    /// Its name.
    pub device: String,
    /// Its first vertex, and the one after its last.
    pub own: (u64, u64),
    /// Pages that it processed.
    pub pages: u64,
    /// Edges that it processed.
    pub edges: u64,
    /// Its work in nanoseconds, summed over its lanes.
    pub compute_ns: u64,
}

/// The prediction of the cost model.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Predicted {
    /// The time of each term.
    pub terms: Terms,
    /// The time of the run, in nanoseconds.
    pub total_ns: f64,
}

/// Nanoseconds by term of the cost model.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Terms {
    /// Reads.
    pub ssd_ns: f64,
    /// Transfers to devices.
    pub bus_ns: f64,
    /// Edge functions.
    pub kernel_ns: f64,
    /// Initialisation and vertex phases.
    pub vertex_ns: f64,
    /// Values for other devices.
    pub merge_up_ns: f64,
    /// Values of other devices.
    pub merge_down_ns: f64,
    /// The fixed time of supersteps.
    pub overhead_ns: f64,
}

/// The checkpoints of a run.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Checkpoints {
    /// The number of checkpoints that were written.
    pub written: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Nanoseconds spent on them.
    pub ns: u64,
    /// Of a resumed run: what earlier sessions did.
    pub resumed: Option<Resumed>,
}

/// What the sessions before the last one did.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Resumed {
    /// Supersteps.
    pub supersteps: u64,
    /// Nanoseconds.
    pub wall_ns: u64,
}

/// Main memory by part, in bytes.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MemoryParts {
    /// The algorithm's attributes.
    pub attributes_bytes: u64,
    /// When vertices were first active.
    pub activations_bytes: u64,
    /// Tables of neighbours.
    pub tables_bytes: u64,
    /// Frontiers.
    pub frontier_bytes: u64,
    /// Out-degrees.
    pub degrees_bytes: u64,
    /// Page directories.
    pub directory_bytes: u64,
    /// Code, stacks, channels.
    pub program_bytes: u64,
    /// What several devices need.
    pub sharing_bytes: u64,
    /// Buffers of decoders.
    pub decoding_bytes: u64,
}

/// Where a run comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The version of the program.
    pub version: String,
    /// The commit that it was built from, or why that is not known.
    pub commit: String,
    /// The command line.
    pub command: String,
    /// The store.
    pub store: StoreRecord,
    /// The measured rates of the machine's disks, if they have been measured.
    pub disks: Option<DiskRates>,
}

/// The store of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoreRecord {
    /// Its directory.
    pub path: String,
    /// Its tag, in hexadecimal digits.
    pub tag: String,
    /// Where the graph comes from.
    pub origin: String,
    /// The number of vertices.
    pub vertices: u64,
    /// The number of directed edges.
    pub edges: u64,
    /// Whether the graph is directed.
    pub directed: bool,
    /// The type of the weights.
    pub weights: Option<String>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages of out-lists.
    pub out_pages: u64,
    /// Pages of in-lists, if there are in-lists.
    pub in_pages: Option<u64>,
    /// Bytes of all files.
    pub disk_bytes: u64,
    /// The out-degrees, and the in-degrees if there are in-lists, if they were read for a report.
    #[serde(default)]
    pub degrees: Vec<Degrees>,
}

/// The degrees of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Degrees {
    /// "out" or "in".
    pub direction: String,
    /// Their distribution.
    #[serde(flatten)]
    pub distribution: Distribution,
}

/// The measured rates of a machine's disks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskRates {
    /// The machine, as `calibrate` describes it.
    pub machine: String,
    /// Bytes per second of one disk.
    pub bytes_per_s: f64,
    /// The number of disks that hold the store's pages.
    pub count: f64,
}

/// The summary of an answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The vertices of the graph.
    pub vertices: u64,
    /// Vertices with a value.
    pub reached: Option<u64>,
    /// The largest value.
    pub largest: Option<Extreme>,
    /// Groups of vertices.
    pub groups: Option<Groups>,
    /// The vertices with the largest values, by column.
    pub top: Vec<Top>,
    /// Named figures.
    pub figures: serde_json::Map<String, Value>,
    /// A table of counts.
    pub counts: Option<Counts>,
    /// How the algorithm has ended.
    pub convergence: Option<Convergence>,
    /// What else there is to say.
    pub remark: Option<String>,
    /// The distribution of the first column, or of the sizes of groups.
    pub distribution: Option<Distribution>,
}

/// The largest value of a column.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Extreme {
    /// The column.
    pub column: String,
    /// The value.
    pub value: Number,
    /// The vertices that have it.
    pub vertices: Option<u64>,
}

/// Groups of vertices.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Groups {
    /// What they are, in the plural.
    pub of: String,
    /// Their number.
    pub count: u64,
    /// The largest ones.
    pub largest: Vec<Group>,
}

/// A group of vertices.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Group {
    /// The vertex that it is named after.
    pub id: Id,
    /// Its size.
    pub vertices: u64,
}

/// The vertices with the largest values of a column.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Top {
    /// The column.
    pub column: String,
    /// The vertices.
    pub vertices: Vec<TopVertex>,
}

/// A vertex and its value.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct TopVertex {
    /// Its original id.
    pub id: Id,
    /// Its value.
    pub value: Number,
}

/// A table of counts.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Counts {
    /// The headings.
    pub header: Vec<String>,
    /// Rows of a label and its counts.
    pub rows: Vec<(String, Vec<u64>)>,
}

/// How an algorithm that iterates has ended.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Convergence {
    /// Its iterations.
    pub iterations: u32,
    /// How much the last one changed; `None` if that is not a finite number.
    pub residual: Option<f64>,
    /// What it had to be below.
    pub tolerance: Option<f64>,
    /// Whether it was.
    pub converged: Option<bool>,
}

/// An original id, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Id(pub String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Number(u64),
            Name(String),
        }
        Ok(Self(match Any::deserialize(deserializer)? {
            Any::Number(number) => number.to_string(),
            Any::Name(name) => name,
        }))
    }
}

/// A number of an answer; JSON has none for those that are not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// An integer.
    Integer(u64),
    /// Any other number.
    Float(f64),
    /// Not a finite number.
    #[default]
    None,
}
