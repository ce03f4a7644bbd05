//! The algorithms, one file each.

mod bfs;
mod components;
mod pagerank;
mod sssp;
mod widest;

pub use bfs::Bfs;
pub use components::Components;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use sssp::Sssp;
pub use widest::Widest;
