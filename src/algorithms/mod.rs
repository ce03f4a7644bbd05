//! The algorithms, one file each.

mod averaging;
mod betweenness;
mod bfs;
mod clustering;
mod components;
mod cross_edges;
mod degrees;
mod delta_pagerank;
mod delta_stepping;
mod kcore;
mod label_propagation;
mod neighbourhood;
mod pagerank;
mod personalized;
mod radius;
mod scc;
mod sssp;
mod widest;

pub use averaging::{Averaging, Model};
pub use betweenness::Betweenness;
pub use bfs::Bfs;
pub use clustering::Clustering;
pub use components::Components;
pub use cross_edges::CrossEdges;
pub use degrees::{Degrees, histogram};
pub use delta_pagerank::DeltaPageRank;
pub use delta_stepping::DeltaStepping;
pub use kcore::KCore;
pub use label_propagation::LabelPropagation;
pub use neighbourhood::Neighbourhood;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use personalized::PersonalizedPageRank;
pub use radius::Radius;
pub use scc::Scc;
pub use sssp::Sssp;
pub use widest::Widest;
