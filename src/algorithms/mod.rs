//! The algorithms, one file each.

mod averaging;
mod bfs;
mod clustering;
mod components;
mod delta_pagerank;
mod label_propagation;
mod pagerank;
mod personalized;
mod sssp;
mod widest;

pub use averaging::{Averaging, Model};
pub use bfs::Bfs;
pub use clustering::Clustering;
pub use components::Components;
pub use delta_pagerank::DeltaPageRank;
pub use label_propagation::LabelPropagation;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use personalized::PersonalizedPageRank;
pub use sssp::Sssp;
pub use widest::Widest;
