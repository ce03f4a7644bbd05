//! `topostream generate`: random graphs, straight into a store or as an edge list.

use super::args::StoreArgs;
use super::export::{check_store_name, write_edges};
use super::failure::{Failure, Outcome};
use super::making::format_with_report;
use super::printing::say;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use topostream_formats::{EdgeSource, Result};
use topostream_tools::generate::{Geometric, Grid, PowerLaw, Quadrants, RandomWeights, Rmat, Uniform};
use topostream_tools::progress::Cancel;

/// Generate a random graph, as a store or as an edge list.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Generate {
    #[command(subcommand)]
    kind: KindOfGraph,
}

const EXAMPLES: &str = "\
The same parameters and seed give the same graph on every machine.

Examples:
  topostream generate rmat --scale 22 --store rmat22 --in-edges
  topostream generate rmat --vertices 1000000 --edges 12000000 --like parmat --store rm1V12E
  topostream generate grid --width 4000 --height 3000 --diagonals 0.3 --store roads
  topostream generate uniform --vertices 1000000 --edges 8000000 --edges-file random.el";

#[derive(Subcommand)]
enum KindOfGraph {
    /// R-MAT: skewed degrees, as in social networks and web crawls (Graph500's parameters by default)
    Rmat(RmatArgs),
    /// Edges with uniformly random ends
    Uniform(UniformArgs),
    /// Out-degrees of a power law, dests from all vertices, as in AsynGraph's and PowerGraph's tables
    Powerlaw(PowerLawArgs),
    /// Points in a square, with edges between those that are near: many triangles and a large diameter
    Geometric(GeometricArgs),
    /// A grid with random diagonals: low degrees and a large diameter, as in road networks
    Grid(GridArgs),
}

#[derive(Args)]
struct RmatArgs {
    /// The graph has 2^SCALE vertices
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=32), required_unless_present = "vertices")]
    scale: Option<u32>,
    /// Number of vertices, instead of a power of two
    #[arg(long, value_name = "N", conflicts_with = "scale")]
    vertices: Option<u64>,
    /// Edges per vertex
    #[arg(long, default_value_t = 16, value_name = "N")]
    edge_factor: u64,
    /// Number of edges, instead of so many per vertex
    #[arg(long, value_name = "N", conflicts_with = "edge_factor")]
    edges: Option<u64>,
    /// Probabilities of the quadrants of the adjacency matrix, as a program has them by default
    #[arg(long, default_value = "graph500", value_name = "PROGRAM")]
    like: QuadrantsName,
    /// Probability that an edge falls in the upper left quadrant [default: as --like has it]
    #[arg(short, value_name = "PROBABILITY")]
    a: Option<f64>,
    /// Probability of the upper right quadrant [default: as --like has it]
    #[arg(short, value_name = "PROBABILITY")]
    b: Option<f64>,
    /// Probability of the lower left quadrant; the lower right one has the rest [default: as --like has it]
    #[arg(short, value_name = "PROBABILITY")]
    c: Option<f64>,
    /// Do not permute ids: vertices of high degree come first
    #[arg(long)]
    no_scramble: bool,
    #[command(flatten)]
    to: OutputArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum QuadrantsName {
    /// 0.57, 0.19, 0.19
    Graph500,
    /// 0.45, 0.22, 0.22
    Parmat,
    /// 0.45, 0.15, 0.15
    Gtgraph,
    /// 0.5, 0.1, 0.1
    Ligra,
}

impl RmatArgs {
    fn rmat(&self) -> Rmat {
        let quadrants = match self.like {
            QuadrantsName::Graph500 => Quadrants::Graph500,
            QuadrantsName::Parmat => Quadrants::Parmat,
            QuadrantsName::Gtgraph => Quadrants::Gtgraph,
            QuadrantsName::Ligra => Quadrants::Ligra,
        };
        let [a, b, c] = quadrants.probabilities();
        let (a, b, c) = (self.a.unwrap_or(a), self.b.unwrap_or(b), self.c.unwrap_or(c));
        let rmat = match (self.scale, self.vertices) {
            (_, Some(vertices)) => Rmat::of(vertices, self.edge_factor, self.to.seed),
            (scale, None) => Rmat::new(scale.unwrap_or(0), self.edge_factor, self.to.seed),
        };
        let (scramble, weights) = (!self.no_scramble, self.to.random_weights);
        Rmat { edges: self.edges, a, b, c, scramble, weights, ..rmat }
    }
}

#[derive(Args)]
struct UniformArgs {
    /// Number of vertices
    #[arg(long, value_name = "N")]
    vertices: u64,
    /// Number of edges
    #[arg(long, value_name = "N")]
    edges: u64,
    #[command(flatten)]
    to: OutputArgs,
}

#[derive(Args)]
struct PowerLawArgs {
    /// Number of vertices
    #[arg(long, value_name = "N")]
    vertices: u64,
    /// The exponent: a vertex has d edges with a probability in proportion to d^-ALPHA, from 1 on
    #[arg(long, default_value_t = 2.0)]
    alpha: f64,
    /// The largest out-degree
    #[arg(long, default_value_t = PowerLaw::DEGREE_MAX, value_name = "N")]
    max_degree: u64,
    #[command(flatten)]
    to: OutputArgs,
}

#[derive(Args)]
struct GeometricArgs {
    /// Number of vertices
    #[arg(long, value_name = "N")]
    vertices: u64,
    /// Neighbours of a vertex on average; fewer at the border of the square
    #[arg(long, default_value_t = 16.0, value_parser = degree, value_name = "N")]
    degree: f64,
    /// The largest distance of neighbours in a square with sides of 1, instead of a degree
    #[arg(long, conflicts_with = "degree")]
    radius: Option<f64>,
    #[command(flatten)]
    to: OutputArgs,
}

#[derive(Args)]
struct GridArgs {
    /// Vertices in a row
    #[arg(long, value_name = "N")]
    width: u64,
    /// Rows
    #[arg(long, value_name = "N")]
    height: u64,
    /// Probability that a cell has a diagonal
    #[arg(long, default_value_t = 0.0, value_name = "PROBABILITY")]
    diagonals: f64,
    #[command(flatten)]
    to: OutputArgs,
}

#[derive(Args)]
#[group(id = "target", required = true, multiple = false, args = ["store", "edges_file"])]
struct OutputArgs {
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Give edges random weights, such as u32:1:255 or f32:0:1
    #[arg(long, value_parser = weights, value_name = "TYPE:MIN:MAX")]
    random_weights: Option<RandomWeights>,
    /// Make a store in this directory
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Write an edge list instead, in the format of the file extension: .el, .wel, .txt, .u32 or .u64
    #[arg(long, value_name = "FILE", conflicts_with = "StoreArgs")]
    edges_file: Option<PathBuf>,
    #[command(flatten)]
    layout: StoreArgs,
}

fn degree(text: &str) -> Result<f64, String> {
    let degree = text.parse().ok().filter(|&degree: &f64| degree.is_finite() && degree > 0.0);
    degree.ok_or_else(|| "expected a number above 0".into())
}

fn weights(text: &str) -> Result<RandomWeights, String> {
    let wrong = || "expected TYPE:MIN:MAX, such as u32:1:255 or f32:0:1".to_owned();
    let parts: Vec<&str> = text.split(':').collect();
    let [of, min, max] = parts[..] else { return Err(wrong()) };
    match of {
        "u32" => {
            Ok(RandomWeights::U32 { min: min.parse().map_err(|_| wrong())?, max: max.parse().map_err(|_| wrong())? })
        }
        "f32" => {
            Ok(RandomWeights::F32 { min: min.parse().map_err(|_| wrong())?, max: max.parse().map_err(|_| wrong())? })
        }
        _ => Err(wrong()),
    }
}

impl Generate {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        match self.kind {
            KindOfGraph::Rmat(arguments) => {
                let rmat = arguments.rmat();
                write(&arguments.to, &mut || Ok(Box::new(rmat.generate()?)), cancel)
            }
            KindOfGraph::Uniform(UniformArgs { vertices, edges, to }) => {
                let uniform = Uniform { vertices, edges, seed: to.seed, weights: to.random_weights };
                write(&to, &mut || Ok(Box::new(uniform.generate()?)), cancel)
            }
            KindOfGraph::Powerlaw(PowerLawArgs { vertices, alpha, max_degree: degree_max, to }) => {
                let power_law = PowerLaw { vertices, alpha, degree_max, seed: to.seed, weights: to.random_weights };
                write(&to, &mut || Ok(Box::new(power_law.generate()?)), cancel)
            }
            KindOfGraph::Geometric(GeometricArgs { vertices, degree, radius, to }) => {
                let of_degree = Geometric::of_degree(vertices, degree, to.seed);
                let radius = radius.unwrap_or(of_degree.radius);
                let geometric = Geometric { radius, weights: to.random_weights, ..of_degree };
                write(&to, &mut || Ok(Box::new(geometric.generate()?)), cancel)
            }
            KindOfGraph::Grid(GridArgs { width, height, diagonals, to }) => {
                let (seed, weights) = (to.seed, to.random_weights);
                let grid = Grid { width, height, diagonal_probability: diagonals, seed, weights };
                write(&to, &mut || Ok(Box::new(grid.generate()?)), cancel)
            }
        }
    }
}

fn write(to: &OutputArgs, open: &mut dyn FnMut() -> Result<Box<dyn EdgeSource>>, cancel: &Cancel) -> Outcome {
    match (&to.store, &to.edges_file) {
        (Some(store), _) => {
            check_store_name(store)?;
            format_with_report(open, store, &to.layout.options(true)?, cancel)
        }
        (None, Some(file)) => say(&write_edges(file, &mut *open()?, cancel)?),
        (None, None) => Err(Failure::Other("either --store or --edges-file is needed".into())),
    }
}
