//! The cost model: the predicted time of a run, by term, and its bottleneck (GTS, Kim et al., SIGMOD 2016, §5, extended
//! by an SSD).
//!
//! ```text
//!  superstep  =  max( ssd, bus, kernel )  +  vertex phase  +  merge up  +  merge down  +  overhead
//!
//!  ssd     bytes of pages that are not in memory  ÷  the rate of all disks together
//!  bus     bytes of pages that are not on the device  ÷  c2                                    of the slowest device
//!  kernel  edges  ÷  the rate of this kernel on the device  (+ inactive lists ÷ their rate)    of the slowest device
//!  merge   bytes that a device writes for the others, and reads of theirs  ÷  its rate
//! ```
//!
//! Equation 1 of GTS (for algorithms like PageRank) is this for supersteps that visit all pages: 2|WA| ÷ c1 is the
//! merge, (|SP| + |LP|) ÷ (c2 · N) is the bus, and t_kernel of the last page is part of the maximum. Equation 2 (for
//! algorithms like BFS) is the sum over levels, whose pages are unknown before the run: [`Workload::of`] takes them
//! from searches in R-MAT graphs. For a finished run the engine takes them from its report, as GTS does. The cached
//! share r_hit of equation 2 is [`Hits`].
//!
//! Nothing here uses a device: the input is plain data.
//!
//! The bus has one rate for scans and one for traversals, which read parts of pages. A kernel's rate is that of its
//! edge function at about this number of vertices. N does not divide the bus under `shard` unless lists are grouped.
//! Levels of R-MAT graphs may be far from those of other graphs. For other algorithms with an unknown number of
//! supersteps the times are for one pass over the graph, and edge functions that `calibrate` does not measure use
//! PageRank's rates: `plan` says both.

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
pub use choose::{choose, shares};
pub use environment::{DeviceProfile, Environment, UserOptions, disks};
pub use long::LongPaths;
pub use machines::Machines;
pub use memory::{DeviceNeeds, Needs};
pub use model::{Prediction, Terms, Wall, predict};
pub use rates::{BusRates, DeviceRates, Kernel, KernelRates, RATES_VERSION, Rates};
pub(crate) use work::pages;
pub use work::{Hits, Phase, SUPERSTEPS_DEFAULT, Workload};
