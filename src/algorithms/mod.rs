//! The algorithms, one file each.

mod bfs;
mod components;
mod cross_edges;
mod degrees;
mod neighbourhood;
mod pagerank;
mod sssp;

pub use bfs::Bfs;
pub use components::Components;
pub use cross_edges::CrossEdges;
pub use degrees::{Degrees, histogram};
pub use neighbourhood::Neighbourhood;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use sssp::Sssp;
