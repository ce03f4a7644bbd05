//! Tools that make and inspect graph stores: generators, the external-memory formatter, verification, summaries.

pub mod available;
pub mod components;
#[doc(hidden)]
pub mod forest;
pub mod format;
pub mod generate;
pub mod info;
pub mod mirrors;
pub mod names;
pub mod partition;
pub mod progress;
#[cfg(feature = "report")]
pub mod report;
mod sorting;
pub mod split;
pub mod verify;
