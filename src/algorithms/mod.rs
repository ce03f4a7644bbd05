//! The algorithms, one file each.

mod averaging;
mod bfs;
mod components;
mod pagerank;
mod personalized;
mod sssp;
mod widest;

pub use averaging::{Averaging, Model};
pub use bfs::Bfs;
pub use components::Components;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use personalized::PersonalizedPageRank;
pub use sssp::Sssp;
pub use widest::Widest;
