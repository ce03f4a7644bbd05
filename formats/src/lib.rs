//! The files of a topostream graph.
//!
//! The store (pages, page directory, manifest) is specified byte by byte in `SPEC.md`. The crate `topostream-readers`
//! turns edge lists of other programs into streams of [`Edge`]s.
//!
//! ```text
//!  StoreWriter ──▶ graph.json · directory.bin · degrees.bin · pages.0 … · weights.0 … · ids.bin · in/… ──▶ Store
//! ```
//!
//! Stores with packed pages have no `degrees.bin`.

#[cfg(target_endian = "big")]
compile_error!("stores are little-endian and are used in place: big-endian machines are not supported");

pub mod buffer;
pub mod checksum;
pub mod chunks;
pub mod clean;
mod defect;
pub mod directory;
pub mod durable;
pub mod edge;
pub mod encoding;
pub mod error;
mod file;
mod filenames;
mod header;
pub mod huge;
pub mod ids;
pub mod manifest;
pub mod memory;
pub mod mirrors;
pub mod names;
pub mod neighbours;
pub mod open;
pub mod packed;
pub mod page;
pub mod part;
pub mod patience;
mod plain;
pub mod random;
pub mod shard;
pub mod store;
pub mod text;
pub mod threads;
pub mod values;
pub mod weights;
pub mod write;

pub use edge::{Edge, EdgeSource, IdSpace, MemorySource, Rounding, SourceInfo, WeightType};
pub use encoding::Encoding;
pub use error::{Error, Result};
pub use ids::{PageId, VertexId};
pub use manifest::{Manifest, VertexOrder};
pub use open::OpenOptions;
pub use shard::Shard;
pub use store::{Direction, OriginalId, OriginalIds, Store, Topology};
