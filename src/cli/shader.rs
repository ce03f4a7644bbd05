//! `topostream shader`: a module as a GPU would be given it.

use super::args::{EncodingName, page_size, widths};
use super::run::SumsName;
use super::{Failure, Outcome, print};
use clap::{Args, ValueEnum};
use std::sync::Arc;
use topostream::algorithms::{
    Averaging, Betweenness, Bfs, Clustering, Components, CrossEdges, Degrees, DeltaPageRank, DeltaStepping, KCore,
    LabelPropagation, Model, Neighbourhood, PageRank, PersonalizedPageRank, Radius, Scc, Sssp, Stop, Widest,
};
use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, check, compose};
use topostream::model::algorithm::Algorithm;
use topostream::{Direction, VertexId, VertexSet};
use topostream_formats::edge::WeightType;

/// Print a shader as GPUs are given it: what one kernel of one algorithm needs, checked. shaders/README.md explains it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PrintShader {
    /// The algorithm
    algorithm: AlgorithmName,
    /// The kernel: lists, segments, hubs, initialise, vertex-phase, census, next-pages, put-off, fill, merge, collect, ship or apply
    kernel: KernelName,
    /// How neighbours are written
    #[arg(long, default_value = "vertex-id", value_name = "ENCODING")]
    encoding: EncodingName,
    /// With `--encoding record-id`: how many bytes page ids have, and slot numbers [default: 2,2]
    #[arg(long, value_name = "P,Q", value_parser = widths)]
    id_widths: Option<(u8, u8)>,
    /// The size of a page
    #[arg(long, default_value = "1MiB", value_parser = page_size, value_name = "SIZE")]
    page_size: u32,
    /// Over a store with weights; SSSP and widest paths always are
    #[arg(long)]
    weights: bool,
    /// SSSP, widest paths: weights are f32, not whole
    #[arg(long)]
    float_weights: bool,
    /// Components: of an undirected graph, after the first superstep
    #[arg(long)]
    undirected: bool,
    /// Radius: two bitmaps a vertex instead of eight
    #[arg(long)]
    narrow: bool,
    /// Over in-lists: pull PageRank, bottom-up BFS
    #[arg(long)]
    in_lists: bool,
    /// Over lists that are grouped for shards
    #[arg(long)]
    grouped: bool,
    /// BFS: against the edges
    #[arg(long)]
    against: bool,
    /// BFS: keep parents
    #[arg(long)]
    parents: bool,
    /// PageRank: how shares are added up
    #[arg(long, default_value = "exact", value_name = "NUMBERS")]
    sums: SumsName,
    /// Vertices of the graph
    #[arg(long, default_value_t = 1 << 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    vertices: u64,
    /// A buffer holds the values of 2^N vertices
    #[arg(long, default_value_t = 28, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=32))]
    chunk_log2: u32,
    /// Over pages that are read where they lie in main memory
    #[arg(long)]
    in_place: bool,
    /// For a device among several that split what edges write
    #[arg(long)]
    sharded: bool,
    /// For devices that add floats atomically
    #[arg(long, help_heading = "Device")]
    float_atomics: bool,
    /// For devices that add 64-bit integers atomically
    #[arg(long, help_heading = "Device")]
    wide_integers: bool,
    /// For devices whose driver ends loops early
    #[arg(long, help_heading = "Device")]
    loops_limited: bool,
    /// For devices with subgroup operations
    #[arg(long, help_heading = "Device")]
    subgroups: bool,
}

const EXAMPLES: &str = "\
Examples:
  topostream shader pagerank segments --in-lists
  topostream shader bfs lists --encoding record-id --id-widths 3,3 --parents";

#[derive(Clone, Copy, ValueEnum)]
enum AlgorithmName {
    Pagerank,
    Bfs,
    Sssp,
    Components,
    Widest,
    #[value(alias = "rwr")]
    PersonalizedPagerank,
    DeltaPagerank,
    /// Circuit simulation, too
    Heat,
    Adsorption,
    Kcore,
    Betweenness,
    Scc,
    Radius,
    DeltaStepping,
    Clustering,
    Communities,
    CrossEdges,
    Degrees,
    Neighbourhood,
}

impl PrintShader {
    pub fn run(self) -> Outcome {
        match self.algorithm {
            AlgorithmName::Pagerank => self.print(&self.pagerank()),
            AlgorithmName::PersonalizedPagerank => {
                self.print(&PersonalizedPageRank { seeds: Vec::new(), ranks: self.pagerank() })
            }
            AlgorithmName::DeltaPagerank => self.print(&DeltaPageRank::default()),
            AlgorithmName::Heat => self.print(&self.averaging(Model::Heat { alpha: 0.5, sources: Vec::new() })),
            AlgorithmName::Adsorption => {
                self.print(&self.averaging(Model::Adsorption { inject: 0.5, abandon: 0.0, seeds: Vec::new() }))
            }
            AlgorithmName::Bfs => {
                self.print(&Bfs { parents: self.parents, against: self.against, ..Bfs::from(VertexId(0)) })
            }
            AlgorithmName::Sssp => self.print(&Sssp { source: VertexId(0), weights: self.weight_type() }),
            AlgorithmName::CrossEdges => {
                let none = Arc::new(VertexSet::new(self.vertices));
                self.print(&CrossEdges { from: Arc::clone(&none), to: none })
            }
            AlgorithmName::Degrees => self.print(&Degrees::counted()),
            AlgorithmName::Neighbourhood => self.print(&Neighbourhood { sources: vec![VertexId(0)], hops_max: None }),
            AlgorithmName::Components => self.print(&Components { directed: !self.undirected }),
            AlgorithmName::Widest => self.print(&Widest { source: VertexId(0), weights: self.weight_type() }),
            AlgorithmName::Betweenness => self.print(&Betweenness::exact()),
            AlgorithmName::Scc => self.print(&Scc),
            AlgorithmName::Radius if self.narrow => self.print(&Radius::narrow(1, 1)),
            AlgorithmName::Radius => self.print(&Radius::new(1, 1)),
            AlgorithmName::DeltaStepping => self
                .print(&DeltaStepping { paths: Sssp { source: VertexId(0), weights: self.weight_type() }, delta: 1.0 }),
            AlgorithmName::Kcore => self.print(&KCore { directed: !self.undirected, in_lists: self.in_lists }),
            AlgorithmName::Clustering => self.print(&Clustering::without_table(!self.undirected)),
            AlgorithmName::Communities => self.print(&LabelPropagation::without_table(!self.undirected, 1)),
        }
    }

    fn pagerank(&self) -> PageRank {
        PageRank { sums: self.sums.into(), ..PageRank::default() }
    }

    fn averaging(&self, model: Model) -> Averaging {
        let weights = (self.weights || self.float_weights).then(|| self.weight_type());
        Averaging { model, weights, stop: Stop::Iterations(1) }
    }

    fn weight_type(&self) -> WeightType {
        if self.float_weights { WeightType::F32 } else { WeightType::U32 }
    }

    fn print(&self, algorithm: &impl Algorithm) -> Outcome {
        let direction = if self.in_lists { Direction::In } else { Direction::Out };
        let declared = Declared::of(algorithm, self.in_lists).expect("algorithms of the program have shaders");
        let visits = algorithm.visits(self.in_lists);
        // What most supersteps visit comes last.
        let visit = visits.iter().rfind(|visit| visit.0 == direction);
        let unread = || Failure::Usage(format!("--in-lists: {} reads out-lists only", algorithm.name()));
        let options = ModuleOptions {
            encoding: self.encoding.with(self.id_widths)?,
            page_bytes: self.page_size,
            weights: self.weights || algorithm.needs_weights(),
            direction,
            visit: visit.ok_or_else(unread)?.1,
            grouped: self.grouped,
            attribute_chunk_vertices_log2: self.chunk_log2,
            vertices: self.vertices,
            sharded: self.sharded,
            held_vertices: self.vertices,
            float_atomics: self.float_atomics,
            wide_integers: self.wide_integers,
            in_place: self.in_place,
            loops_limited: self.loops_limited,
            subgroups: self.subgroups,
        };
        let module = compose(&declared, self.kernel, &options);
        check(&module).map_err(|error| Failure::Other(error.to_string()))?;
        print(&module.text)
    }
}
