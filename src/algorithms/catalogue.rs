//! The catalogue: every algorithm of the program. `run`, `plan`, `shader` and `validate`, the tests, the benchmarks and
//! the table in docs/algorithms.md go through it.
//!
//! To add one: its folder, `pub mod` for it here, and its line in [`CATALOGUE`].

#[cfg(feature = "cli")]
use super::command::Entry;

pub mod averaging;
pub mod betweenness;
pub mod bfs;
pub mod clustering;
pub mod components;
pub mod cross_edges;
pub mod degrees;
pub mod delta_pagerank;
pub mod kcore;
pub mod label_propagation;
pub mod neighbourhood;
pub mod pagerank;
pub mod personalized;
pub mod radius;
pub mod scc;
pub mod sssp;
pub mod widest;

pub use averaging::{Averaging, Model};
pub use betweenness::Betweenness;
pub use bfs::Bfs;
pub use clustering::Clustering;
pub use components::Components;
pub use cross_edges::CrossEdges;
pub use degrees::{Degrees, histogram};
pub use delta_pagerank::DeltaPageRank;
pub use kcore::KCore;
pub use label_propagation::LabelPropagation;
pub use neighbourhood::Neighbourhood;
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic};
pub use personalized::PersonalizedPageRank;
pub use radius::Radius;
pub use scc::Scc;
pub use sssp::{DeltaStepping, Sssp};
pub use widest::Widest;

/// Every algorithm, in the order of `run --help`.
#[cfg(feature = "cli")]
pub static CATALOGUE: &[&Entry] = &[
    &pagerank::command::PAGERANK,
    &personalized::command::PERSONALIZED_PAGERANK,
    &delta_pagerank::command::DELTA_PAGERANK,
    &averaging::command::HEAT,
    &averaging::command::CIRCUIT,
    &averaging::command::ADSORPTION,
    &bfs::command::BFS,
    &cross_edges::command::CROSS_EDGES,
    &degrees::command::DEGREES,
    &neighbourhood::command::NEIGHBOURHOOD,
    &sssp::command::SSSP,
    &clustering::command::CLUSTERING,
    &label_propagation::command::COMMUNITIES,
    &widest::command::WIDEST,
    &components::command::COMPONENTS,
    &scc::command::SCC,
    &radius::command::RADIUS,
    &betweenness::command::BETWEENNESS,
    &kcore::command::KCORE,
];
