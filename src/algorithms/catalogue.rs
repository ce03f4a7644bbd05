//! The catalogue: every algorithm of the program. `run`, `plan`, `shader` and `validate`, the tests and the benchmarks
//! go through it.
//!
//! To add one: its folder, and here `pub mod`, its line in [`CATALOGUE`] and its row of the table.

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
pub mod eigenvector;
pub mod harmonic;
pub mod hits;
pub mod katz;
pub mod kcore;
pub mod label_propagation;
pub mod leiden;
pub mod neighbourhood;
pub mod neural_network;
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
pub use components::{Components, Hooking, UnionFind};
pub use cross_edges::CrossEdges;
pub use degrees::{Degrees, histogram};
pub use delta_pagerank::DeltaPageRank;
pub use eigenvector::Eigenvector;
pub use harmonic::Harmonic;
pub use hits::Hits;
pub use katz::Katz;
pub use kcore::{CoreBounds, KCore};
pub use label_propagation::LabelPropagation;
pub use leiden::Leiden;
pub use neighbourhood::Neighbourhood;
pub use neural_network::{Activation, NeuralNetwork};
pub use pagerank::{DanglingMass, PageRank, Stop, Sums, Traffic, WeightedPageRank};
pub use personalized::PersonalizedPageRank;
pub use radius::Radius;
pub use scc::Scc;
pub use sssp::{DeltaStepping, Precision, ShortestPathTree, ShortestPaths, Sssp};
pub use widest::Widest;

/// Every algorithm, in the order of `run --help`. A test compares the table with the entries.
///
/// | algorithm | lists | attributes, bytes per vertex | exactness |
/// | --- | --- | --- | --- |
/// | `pagerank` | out (push) or in (pull) | 12 (single 8, --weights 12) | same bits; --weights sums of `f32` |
/// | `personalized-pagerank` | out (push) or in (pull) | as pagerank; seeds 1/8 | same bits on every run |
/// | `delta-pagerank` | out, of vertices with something to pass on | 16, sets 1/4 | within its tolerance |
/// | `heat` | in, or out | 12, seeds 1/8, refused 1/8 | sums of `f32` |
/// | `circuit` | in, or out | 12, seeds 1/8, refused 1/8 | sums of `f32` |
/// | `adsorption` | in, or out | 12, seeds 1/8, refused 1/8 | sums of `f32` |
/// | `bfs` | out; in (bottom-up) | visited 1/8, frontiers 1/4; --parents 4 | exact |
/// | `cross-edges` | out, of the first set's vertices | 4, sets 1/4 | exact |
/// | `degrees` | out; none where the store has in-lists | 4 | exact |
/// | `neighbourhood` | as bfs; both ways: out | as bfs; both ways: level 4, outermost 1/8 | exact |
/// | `sssp` | out | distance 4, frontiers 1/4; `u64` 8; `f32`, `f64` 8 (--single 4) and 1/8; --parents 4 and 3/8 | `u32`, `u64` exact; `f32`, `f64` sums of `f64` (--single `f32`), the same bits |
/// | `clustering` | out | links 8, degree 4; table 4, and 4 a neighbour of the range | counts exact |
/// | `communities` | out | label 4 (8 in several ranges), table 4, and 8 a neighbour of the range | exact |
/// | `leiden` | out | label 4; lists in memory 60, and 20 an edge from either end (--weights 24); on disk 48 (directed 72) | same bits |
/// | `louvain` | out | label 4; lists in memory 60, and 20 an edge from either end (--weights 24); on disk 48 (directed 72) | same bits |
/// | `widest` | out | width 4, frontiers 1/4; `f32` weights 1/8 | exact |
/// | `components` | out | label 4; a set 1/8, or frontiers 1/4 | exact |
/// | `scc` | out and in | label 4, sets 3/8 | exact |
/// | `radius` | out | 84; --narrow 36 | estimates: 25% with one pass, 12% with 4 |
/// | `betweenness` | out | 16 (--double 28), sets 1/4 | sums of `f32`; --double sums of `f64` |
/// | `harmonic` | out, of the last level | 4, sets 3/8 | sums of `f32`, the same bits |
/// | `kcore` | out; in where directed | degree 4, sets 1/4, on one CPU 3/8; bounds 8, frontiers 1/4 | exact |
/// | `neural-network` | in, or out | 8, held 1/8, refused 1/8 | sums of `f32` |
/// | `hits` | out | 16 | sums of `f32` |
/// | `eigenvector` | in, or out | 12 | sums of `f32` |
/// | `katz` | in, or out | 8 | sums of `f32` |
///
/// Lists are what supersteps read from the SSD. Bytes are for attributes and frontiers; levels of searches
/// take 2 more in main memory, and every run has the out-degrees, 4.
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
    &leiden::command::LEIDEN,
    &leiden::command::LOUVAIN,
    &widest::command::WIDEST,
    &components::command::COMPONENTS,
    &scc::command::SCC,
    &radius::command::RADIUS,
    &betweenness::command::BETWEENNESS,
    &harmonic::command::HARMONIC,
    &kcore::command::KCORE,
    &neural_network::command::NEURAL_NETWORK,
    &hits::command::HITS,
    &eigenvector::command::EIGENVECTOR,
    &katz::command::KATZ,
];
