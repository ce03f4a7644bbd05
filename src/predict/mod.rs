//! The cost model: the predicted time of a run, by term, and its bottleneck (after GTS, Kim et al., SIGMOD 2016, §5).
//!
//! ```text
//!  superstep  =  max( ssd, bus, kernel )  +  vertex phase  +  merge up  +  merge down  +  overhead
//!  run        =  first values  +  supersteps  +  answer
//!
//!  ssd     bytes of pages that are not in memory  ÷  the rate of all disks together
//!  bus     bytes of pages that are not on the device  ÷  c2                                    of the slowest device
//!  kernel  edges  ÷  the rate of this kernel on the device  (+ inactive lists ÷ their rate)    of the slowest device
//!  merge   bytes that a device writes for the others, and reads of theirs  ÷  its rate
//!  answer  bytes of a device's answer  ÷  c2
//! ```
//!
//! It follows the idea of GTS's equations: pages cross the bus at the rate c2, to N devices at the same time, and
//! those that are cached do not (r_hit, here [`Hits`]). As in equation 1, algorithms like PageRank visit all pages in
//! each superstep. As in equation 2, times of algorithms like BFS are added up over levels. Their pages are unknown
//! before a run: [`Workload::of`] takes them from searches in R-MAT graphs; for a finished run the engine takes them
//! from its report. It is not these equations:
//!
//! - Disks are a term.
//! - 2|WA| ÷ c1, the copies of written attributes before and after a run, is the answer alone: devices set first values
//!   themselves, which counts as vertex phase. What several devices copy in each superstep is the merge.
//! - |RA| is left out, also where read-only attributes cross the bus.
//! - Kernels are not assumed to hide behind the bus. They have a rate, and may be the longest of the three.
//! - Calls and synchronization are an overhead, a fixed time for a superstep and one for an exchange.
//! - d_skew is known of finished supersteps ([`Balance`](crate::report::Balance)). Before a run each device has its
//!   share of the edges in every superstep.
//!
//! Nothing here uses a device: the input is plain data.
//!
//! The bus has one rate for scans and one for traversals, which read parts of pages. A kernel's rate is the rate of its
//! edge function at about this number of vertices. Under `shard`, N divides the bus only if lists are grouped, or
//! belong to the owner of their vertex (pull). Levels of R-MAT graphs may be far from those of other graphs. For other
//! algorithms with an unknown number of supersteps the times are for one pass over the graph, and edge functions that
//! `calibrate` does not measure use PageRank's rates: `plan` says both.

mod assumed;
mod choose;
mod environment;
mod long;
mod machines;
mod memory;
mod model;
mod rates;
mod work;

pub use assumed::{Assumed, GraphSize};
pub use choose::{Alone, alone, choose, shares};
pub use environment::{DeviceProfile, Environment, UserOptions, disks};
pub use long::LongPaths;
pub use machines::Machines;
pub use memory::{DeviceNeeds, Needs};
pub use model::{Prediction, Terms, Wall, predict};
pub use rates::{BusRates, DeviceRates, Kernel, KernelRates, RATES_VERSION, Rates};
pub(crate) use work::pages;
pub use work::{Hits, Phase, SUPERSTEPS_DEFAULT, Workload};
