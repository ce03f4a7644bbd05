//! The algorithms, one file each.

mod bfs;
mod clustering;
mod components;
mod label_propagation;
mod pagerank;
mod sssp;

pub use bfs::Bfs;
pub use clustering::Clustering;
pub use components::Components;
pub use label_propagation::LabelPropagation;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use sssp::Sssp;
