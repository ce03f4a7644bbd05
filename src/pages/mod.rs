//! Pages of a store: reading them, keeping them, and deciding which are read next. Nothing here computes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`fetch`] | page numbers in, filled frames out: io_uring, threads, and a simulation with faults |
//! | [`cache`] | which page is in which frame, and which frame is used next |
//! | `plan` | the pages that a superstep visits |
//! | [`memory`] | how main memory is divided before a run |
//! | `backlog` | the missing page that is read next |
//! | [`meters`] | what each stripe has read |
//! | `buffers`, `scan` | pages and lists outside a run |
//! | [`adjacency`] | tables of the neighbours within a range of vertices |
//!
//! Used by devices and everything above; uses the [`model`](crate::model).

pub mod adjacency;
pub mod backlog;
pub mod buffers;
pub mod cache;
pub mod fetch;
pub mod memory;
pub mod meters;
mod plan;
pub mod scan;

pub use meters::StripeReport;
pub use plan::PagePlan;
