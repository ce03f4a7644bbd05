//! Answers by other methods than the engine's, in one thread over plain arrays: what the tests hold the engine's
//! answers against, and the column "one thread" of the benchmarks (COST: McSherry, Isard and Murray, HotOS 2015).
//!
//! Nothing here depends on the engine, or shares code with it. Each oracle is a file (or a folder) with a line in
//! [`ORACLES`]; the catalogue of algorithms names it. Where the fast method is also the engine's, a second one by the
//! definition stands beside it, for small graphs, and a test holds the two against each other.
//!
//! | oracle | the engine | here |
//! | --- | --- | --- |
//! | averaging | sums in single precision | sums in `f64`; a dense matrix: its powers, or Gauss's elimination |
//! | betweenness | levels out and back | Brandes' queue; pairs of distances between all vertices |
//! | bfs | bitmaps, pages | a queue; properties that only a breadth-first tree has (Graph500) |
//! | clustering | lists intersected, in ranges | oriented lists intersected; every pair of neighbours looked up |
//! | communities | labels counted in tables of hashes | labels counted in an array |
//! | components | least labels along edges | union-find |
//! | degrees | counts by page | counts in an array |
//! | delta_pagerank | residuals | power iteration to the limit |
//! | harmonic | levels by bits | a queue from each source |
//! | kcore | peeling by rounds | peeling by buckets; h-indices |
//! | leiden, louvain | hash tables, many threads | sums in arrays, one vertex after another |
//! | neighbourhood | bits, pages | lists of the outermost vertices |
//! | pagerank, personalized | shares in single precision | pull over arrays; the edge vector; Gauss-Seidel |
//! | radius | sketches hop by hop | sketches over arrays; a search from each vertex that collects bits |
//! | scc | colours | Tarjan's depth-first search |
//! | sssp | frontiers, bits as integers | a heap (Dijkstra) |
//! | widest | frontiers, bits of 32 | a heap, the widest first |

mod arguments;
pub mod averaging;
pub mod betweenness;
pub mod bfs;
pub mod clustering;
pub mod communities;
mod compare;
pub mod components;
pub mod cross_edges;
pub mod degrees;
pub mod delta_pagerank;
mod edges;
pub mod eigenvector;
mod graph;
pub mod harmonic;
pub mod hits;
pub mod katz;
pub mod kcore;
pub mod least_ancestor;
pub mod leiden;
pub mod neighbourhood;
pub mod neural_network;
pub mod pagerank;
pub mod personalized;
pub mod radius;
pub mod scc;
pub mod sssp;
pub mod widest;

pub use arguments::Arguments;
pub use bfs::{check_least_tree, check_tree, levels};
pub use compare::{Compare, relative_error};
pub use components::components;
pub use edges::{EdgeList, Weighted, draw, random_edges};
pub use graph::{Csr, Graph, Weights};
pub use pagerank::{Dangling, rank_iterations, rank_limit};

/// What an oracle says.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Columns by name: a value for every vertex, infinity where it has none.
    pub columns: Vec<(&'static str, Vec<f64>)>,
    /// How the engine's values must agree with them.
    pub compare: Compare,
}

impl Answer {
    /// One column.
    pub fn of(name: &'static str, values: Vec<f64>, compare: Compare) -> Self {
        Self { columns: vec![(name, values)], compare }
    }
}

/// An oracle: the answer over a graph for the arguments of the algorithm's command.
pub type Oracle = fn(&Graph, &Arguments<'_>) -> Answer;

/// Every oracle, by the name that the catalogue of algorithms has for it.
pub static ORACLES: &[(&str, Oracle)] = &[
    ("adsorption", averaging::adsorption_answer),
    ("betweenness", betweenness::answer),
    ("bfs", bfs::answer),
    ("circuit", averaging::circuit_answer),
    ("clustering", clustering::answer),
    ("communities", communities::answer),
    ("components", components::answer),
    ("cross_edges", cross_edges::answer),
    ("degrees", degrees::answer),
    ("delta_pagerank", delta_pagerank::answer),
    ("eigenvector", eigenvector::answer),
    ("harmonic", harmonic::answer),
    ("heat", averaging::heat_answer),
    ("hits", hits::answer),
    ("katz", katz::answer),
    ("kcore", kcore::answer),
    ("leiden", leiden::answer),
    ("louvain", leiden::louvain),
    ("neighbourhood", neighbourhood::answer),
    ("neural_network", neural_network::answer),
    ("pagerank", pagerank::answer),
    ("personalized", personalized::answer),
    ("radius", radius::answer),
    ("scc", scc::answer),
    ("sssp", sssp::answer),
    ("widest", widest::answer),
];

/// The oracle of a name.
pub fn find(name: &str) -> Option<Oracle> {
    ORACLES.iter().find(|(of, _)| *of == name).map(|&(_, oracle)| oracle)
}
