//! The algorithms, one file each.

mod betweenness;
mod bfs;
mod components;
mod delta_stepping;
mod kcore;
mod pagerank;
mod radius;
mod scc;
mod sssp;

pub use betweenness::Betweenness;
pub use bfs::Bfs;
pub use components::Components;
pub use delta_stepping::DeltaStepping;
pub use kcore::KCore;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use radius::Radius;
pub use scc::Scc;
pub use sssp::Sssp;
