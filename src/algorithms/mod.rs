//! The algorithms, one file each.

mod bfs;
mod pagerank;

pub use bfs::Bfs;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
