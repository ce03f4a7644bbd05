//! Pages of a store: reading them, keeping them, and deciding which are read next. Nothing here computes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`fetch`] | page numbers in, filled frames out: io_uring, threads, and a simulation with faults |
//! | [`cache`] | which page is in which frame, and which frame is reused next |
//! | `plan` | which pages a superstep visits |
//! | [`parts`] | what it reads of pages of which it visits few lists |
//! | [`read_sizes`] | how many bytes are read of a page |
//! | `unit_lists` | which lists are in which units of packed pages |
//! | [`memory`] | how main memory is divided before a run |
//! | `backlog` | the pages that are still to be read, and their order |
//! | [`meters`] | reads, bytes and busy time of each stripe |
//! | `buffers`, `scan` | reading pages and lists outside of a run |
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
pub mod parts;
mod plan;
pub mod read_sizes;
pub mod scan;
mod unit_lists;

pub use meters::StripeReport;
pub use plan::PagePlan;
