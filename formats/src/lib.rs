//! What a topostream graph is on disk.
//!
//! The store (pages, page directory, manifest) is specified byte by byte in `SPEC.md`; readers turn other people's
//! edge lists into streams of [`Edge`]s.

pub mod edge;
pub mod error;
pub mod readers;

pub use edge::{Edge, EdgeSource, IdSpace, MemorySource, SourceInfo, WeightType};
pub use error::{Error, Result};
