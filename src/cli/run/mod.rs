//! `topostream run`: an algorithm over a store.

mod averaging;
mod betweenness;
mod checkpoints;
mod common;
mod communities;
mod components;
mod cores;
mod cross_edges;
mod degrees;
mod job;
mod neighbourhood;
mod paths;
mod radius;
mod ranks;

use super::{Outcome, opening};
use clap::{Args, Subcommand};
pub use common::{Source, source};
pub use job::Job;
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
  topostream run rwr wiki --seed 30 --seed 74 --top 20
  topostream run circuit grid --source 0=5 --source 99=0 --max-iterations 5000
  topostream run components wiki --output components.txt";

/// The algorithms, each with its arguments.
#[derive(Subcommand)]
pub enum AlgorithmArgs {
    /// PageRank: how important vertices are by who points to them
    Pagerank(ranks::PageRankArgs),
    /// Personalized PageRank: how important vertices are as seen from some of them (random walk with restart)
    ///
    /// Walks follow an edge with the probability `--damping`, and otherwise begin anew at a seed.
    #[command(visible_alias = "rwr")]
    PersonalizedPagerank(ranks::PersonalizedArgs),
    /// PageRank by residuals: in later iterations only vertices that still have something to pass on are read
    DeltaPagerank(ranks::DeltaArgs),
    /// Heat simulation: how warm vertices get when some are held at given temperatures
    ///
    /// In each iteration a vertex goes a step (`--alpha`) from its temperature to the mean of its in-neighbours', by weight. It begins at
    /// 0. Any step above 0 and up to 1 is stable.
    Heat(averaging::HeatArgs),
    /// Circuit simulation: the voltage at every vertex when some are held at given voltages
    ///
    /// Weights are conductances. In each iteration a vertex takes on the mean of its neighbours' voltages (Jacobi's method), which takes
    /// many iterations where sources are few and far. In a directed graph the neighbours are those with edges to it.
    Circuit(averaging::CircuitArgs),
    /// Adsorption: how much of a label comes to every vertex from those that have it
    ///
    /// The label is taken at seeds with the probability `--inject`, and given up at every vertex with the probability `--abandon`;
    /// otherwise the mean over in-neighbours, by weight, counts.
    Adsorption(averaging::AdsorptionArgs),
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
    /// Local clustering coefficients, and triangles where the graph is undirected
    ///
    /// The share of all pairs of a vertex's neighbours that have an edge between them, as LDBC Graphalytics defines it. The graph is read
    /// once for each range of vertices whose lists fit in --table.
    #[command(visible_aliases = ["lcc", "triangles"])]
    Clustering(communities::ClusteringArgs),
    /// Communities by label propagation, with LDBC Graphalytics' deterministic rule
    ///
    /// Every vertex takes the label that most of its neighbours have, of several the smallest; a label is the id of a vertex.
    #[command(visible_aliases = ["cdlp", "label-propagation"])]
    Communities(communities::CommunitiesArgs),
    /// Widest paths: how much fits through to vertices from a source, by the least weight on the way there
    ///
    /// Vertices that are not reached get 0, as do those that only edges of weight 0 lead to. The source is as wide as can be:
    /// 2^32 - 1 (whole weights) or inf (f32). A negative weight on the way is an error.
    Widest(paths::WidestArgs),
    /// Connected components, whichever way the edges point
    ///
    /// A component is called by one of its vertices: the one with the smallest id, or, in a store that was made with --order, the
    /// one that this order puts first.
    #[command(visible_aliases = ["cc", "wcc"])]
    Components(components::ComponentsArgs),
    /// Strongly connected components: parts of a directed graph in which edges lead from everybody to everybody
    ///
    /// Needs in-lists (format --in-edges). A component is called by one of its vertices.
    #[command(visible_aliases = ["strong-components"])]
    Scc(components::SccArgs),
    /// Radius and effective diameter, estimated: how far vertices are from those that edges lead to, and how many there are
    ///
    /// Gives every vertex its eccentricity (at least so many hops), its effective radius (hops to nine tenths of what it reaches) and the
    /// number of vertices that it reaches, from sketches; and for the graph its effective diameter.
    #[command(visible_aliases = ["effective-diameter"])]
    Radius(radius::RadiusArgs),
    /// Betweenness centrality: how many shortest paths lead through vertices
    ///
    /// In hops, summed over all pairs; in an undirected graph each pair counts once (NetworkX's normalized=False). Exact betweenness
    /// takes as many searches as there are vertices: larger graphs want --samples.
    #[command(visible_aliases = ["bc"])]
    Betweenness(betweenness::BetweennessArgs),
    /// Core numbers: how far into the dense parts of the graph vertices are, whichever way the edges point
    ///
    /// A vertex's core number is the largest k such that it lies in a part of the graph where everybody has at least k edges to
    /// others of that part. Repeated edges count as often as they stand, loops do not. Over a directed graph, in-lists (format
    /// --in-edges) save most of the reading.
    #[command(visible_aliases = ["core-numbers"])]
    Kcore(cores::KCoreArgs),
}

impl AlgorithmArgs {
    /// What `run` runs and `plan` plans.
    pub fn job(&self) -> &dyn Job {
        match self {
            Self::Pagerank(args) => args,
            Self::PersonalizedPagerank(args) => args,
            Self::DeltaPagerank(args) => args,
            Self::Heat(args) => args,
            Self::Circuit(args) => args,
            Self::Adsorption(args) => args,
            Self::Bfs(args) => args,
            Self::CrossEdges(args) => args,
            Self::Degrees(args) => args,
            Self::Neighbourhood(args) => args,
            Self::Sssp(args) => args,
            Self::Clustering(args) => args,
            Self::Communities(args) => args,
            Self::Widest(args) => args,
            Self::Components(args) => args,
            Self::Betweenness(args) => args,
            Self::Scc(args) => args,
            Self::Radius(args) => args,
            Self::Kcore(args) => args,
        }
    }
}

impl Run {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let job = self.algorithm.job();
        let common = job.common();
        job.run(opening::open_within(&common.store, common.resources.memory_bytes())?, cancel)
    }
}
