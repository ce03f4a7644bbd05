//! The algorithms, one folder each.
//!
//! ```text
//!  NAME/mod.rs       what it computes: attributes, edge function, supersteps
//!  NAME/NAME.wgsl    the edge function for GPUs
//!  NAME/command.rs   its entry in the catalogue: command line, samples, documentation
//!  catalogue.rs      a line for each
//! ```
//!
//! They use the engine's public interface only, as algorithms of other crates do.
//! The front page of [the crate](crate) shows one; `docs/writing-an-algorithm.md` walks through it.

#[path = "catalogue.rs"]
mod catalogue;
#[cfg(feature = "cli")]
pub mod command;
mod neighbour_sum;
mod parents;
mod relaxation;
mod sources;
mod weights;

pub use catalogue::*;
