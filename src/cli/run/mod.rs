//! `topostream run`: an algorithm over a store.

mod common;
mod components;
mod cross_edges;
mod degrees;
mod neighbourhood;
mod paths;
mod ranks;

use super::Outcome;
use clap::{Args, Subcommand};
pub use common::{Source, source};
pub use neighbourhood::HopDirection;
pub use ranks::SumsName;
use topostream_tools::progress::Cancel;

/// Run an algorithm over a store, from disk, in bounded memory.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(subcommand)]
    algorithm: AlgorithmArgs,
}

const EXAMPLES: &str = "\
Examples:
  topostream run pagerank wiki --output ranks.csv
  topostream run pagerank wiki --iterations 20 --memory 2GiB --json
  topostream run bfs wiki --source 30 --parents --output tree.npy
  topostream run bfs wiki --source max-degree
  topostream run cross-edges wiki --from admins.txt --to newcomers.txt --edges votes.txt
  topostream run degrees wiki --output degrees.csv --histogram distribution.csv
  topostream run neighbourhood wiki --source 30 --source 3 --hops 2 --direction both
  topostream run sssp roads --source 0 --output distances.csv
  topostream run bfs wiki --source 30 --parents --validate
  topostream run components wiki --output components.txt";

#[derive(Subcommand)]
enum AlgorithmArgs {
    /// PageRank: how important vertices are by who points to them
    Pagerank(ranks::PageRankArgs),
    /// Breadth-first search: how many hops vertices are from a source
    Bfs(paths::BfsArgs),
    /// Cross-edges: how many edges go from one set of vertices into another
    ///
    /// Counts for each vertex of the first set; an undirected edge with both ends in both sets counts at each.
    CrossEdges(cross_edges::CrossEdgesArgs),
    /// Degrees: how many edges leave each vertex and how many end there, and how many vertices have each degree
    ///
    /// A loop counts once as an out-edge and once as an in-edge; in an undirected graph, once.
    Degrees(degrees::DegreesArgs),
    /// Neighbourhood: the vertices within some hops of one or several sources
    ///
    /// Gives every vertex its number of hops from the nearest source, -1 where that is more than --hops.
    #[command(visible_aliases = ["k-hop"])]
    Neighbourhood(neighbourhood::NeighbourhoodArgs),
    /// Shortest paths: how far vertices are from a source, by the weights of the edges
    ///
    /// Whole weights give whole distances of at most 2^32 - 3. With f32 weights each addition along a path is rounded to the
    /// nearest f32. Vertices that are not reached get -1 (whole) or inf. A negative weight on the way is an error.
    Sssp(paths::SsspArgs),
    /// Connected components, whichever way the edges point
    ///
    /// A component is called by one of its vertices: the one with the smallest id, or, in a store that was made with --order, the
    /// one that this order puts first.
    #[command(visible_aliases = ["cc", "wcc"])]
    Components(components::ComponentsArgs),
}

impl Run {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        match self.algorithm {
            AlgorithmArgs::Pagerank(args) => args.run(cancel),
            AlgorithmArgs::Bfs(args) => args.run(cancel),
            AlgorithmArgs::CrossEdges(args) => args.run(cancel),
            AlgorithmArgs::Degrees(args) => args.run(cancel),
            AlgorithmArgs::Neighbourhood(args) => args.run(cancel),
            AlgorithmArgs::Sssp(args) => args.run(cancel),
            AlgorithmArgs::Components(args) => args.run(cancel),
        }
    }
}
