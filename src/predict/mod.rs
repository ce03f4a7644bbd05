//! The cost model: how long a run takes, by term, and which wall it meets (GTS, Kim et al., SIGMOD 2016, §5, with an
//! SSD).
//!
//! ```text
//!  superstep  =  max( ssd, bus, kernel )  +  vertex phase  +  merge up  +  merge down  +  overhead
//!
//!  ssd     bytes of pages that are in no memory  ÷  what the disks give together
//!  bus     bytes of pages that are in main memory and not on the device  ÷  c2                 the slowest device's
//!  kernel  edges  ÷  what the device does of this kind of edge  (+ lists that are passed over)  the slowest device's
//!  merge   bytes that a device writes for the others, bytes that it reads of theirs  ÷  its rate
//! ```
//!
//! Equation 1 (PageRank and its like) is this for supersteps that visit all pages: GTS's 2|WA| ÷ c1 is the merge, (|SP|
//! + |LP|) ÷ (c2 · N) the bus, its t_kernel of the last page is hidden in the maximum. Equation 2 (BFS and its like) is
//! the sum over levels, whose pages nobody knows before the run: [`Work::of`] takes them from searches of R-MAT graphs,
//! the engine from the report of the run itself, as GTS does. The cached share r_hit of equation 2 is [`Hits`].
//!
//! Nothing here touches a device: what goes in is plain data.

mod choose;
mod memory;
mod model;
mod rates;
mod setting;
mod work;

pub use choose::{choose, shares};
pub use memory::{DeviceNeeds, Needs};
pub use model::{Prediction, Terms, Wall, predict};
pub use rates::{BusRates, DeviceRates, Kernel, KernelRates, RATES_VERSION, Rates};
pub use setting::{Asked, Seat, Setting, disks};
pub(crate) use work::pages;
pub use work::{Hits, Phase, SUPERSTEPS_DEFAULT, Work};
