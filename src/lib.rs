//! topostream runs graph algorithms over graphs that are larger than memory, on one machine.
//!
//! The topology stays on SSD in slotted pages and is streamed; only what an algorithm writes for every vertex stays in
//! memory. The idea is that of GTS (Kim et al., SIGMOD 2016).
//!
//! ```no_run
//! use topostream::{Engine, EngineOptions, Store, algorithms::PageRank};
//!
//! let engine = Engine::new(Store::open("graph")?, EngineOptions::default());
//! let run = engine.run(PageRank::default())?;
//! println!("{} million edges per second", run.report.million_edges_per_s());
//! # Ok::<(), topostream::Error>(())
//! ```
//!
//! Start reading at [`engine`]; an algorithm is a file in [`algorithms`].

pub mod algorithms;
pub mod checkpoint;
pub mod checks;
pub mod engine;
pub mod error;
pub mod extract;
pub mod model;
pub mod report;
pub mod store;
pub mod trace;

// The rooms between the model and the engine. The program, the tests and the benchmarks see them too; nothing in them is
// stable.
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod device;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod device;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod pages;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod pages;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod predict;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod predict;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some of it is for the program, tests and benchmarks only")]
mod team;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod team;

pub use engine::{DeviceChoice, Engine, EngineOptions, Run};
pub use error::Error;
pub use model::vertex_set::VertexSet;
pub use store::{Direction, PageId, Store, StoreBuilder, VertexId};
