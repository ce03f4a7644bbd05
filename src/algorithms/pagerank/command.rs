//! `pagerank`: its arguments, and its entry in the catalogue.

use super::{DanglingMass, PageRank, Stop, Sums, Traffic};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, CONDUCTING, Command, Edges, Entry, Graphalytics, ParameterKind, Prepared, Rule, Sample, Shown,
    StoreKind, WEIGHTED,
};
use crate::error::{Error, Result};
use crate::model::algorithm::Algorithm;
use clap::{Args, ValueEnum};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Store, WeightType};

/// PageRank.
pub const PAGERANK: Entry = Entry {
    name: "pagerank",
    aliases: &[],
    about: "PageRank: the importance of vertices by the vertices that link to them",
    details: "Every edge counts the same unless --weights is given: then a walk chooses among a vertex's edges by \
              weight, as NetworkX's pagerank does, and sums are in single precision. A negative weight is then an \
              error.",
    source: "Page et al., 1999",
    lists: "out (push) or in (pull)",
    bytes_per_vertex: "12 (single 8, --weights 12)",
    exactness: "same bits; --weights sums of `f32`",
    oracle: "pagerank",
    samples: &[
        Sample::measured("pagerank", "--iterations 10", AS_GIVEN, "rank", Edges::Visited).gts_bytes(4),
        Sample::measured(
            "pagerank-single",
            "--iterations 10 --traffic push --sums single",
            AS_GIVEN,
            "rank",
            Edges::Visited,
        )
        .gts_bytes(4),
        Sample::tested("--iterations 3 --traffic push --dangling ignore --damping 0.5", AS_GIVEN),
        Sample::tested("--tolerance 1e-7", AS_GIVEN),
        Sample::tested("--weights --iterations 6", WEIGHTED),
        Sample::tested("--weights --iterations 4 --dangling ignore --damping 0.5", CONDUCTING),
    ],
    arguments: Arguments::of::<WeightableArgs>(),
    graphalytics: Some(Graphalytics {
        name: "pr",
        rule: Rule::Near,
        parameters: &[
            ("pr.damping-factor", ParameterKind::Number, "--damping"),
            ("pr.num-iterations", ParameterKind::Whole, "--iterations"),
        ],
        held_bytes: None,
    }),
};

/// The arguments of `pagerank`.
#[derive(Args)]
pub struct WeightableArgs {
    #[command(flatten)]
    ranks: PageRankArgs,
    /// Follow edges in proportion to the store's weights; otherwise every edge counts the same
    #[arg(long, conflicts_with_all = ["traffic", "sums"])]
    weights: bool,
}

/// The arguments of PageRank without weights, from all vertices or from seeds.
#[derive(Args)]
pub struct PageRankArgs {
    /// The probability of following an edge, from 0 to 1
    #[arg(long, default_value_t = 0.85, value_name = "PROBABILITY")]
    damping: f64,
    /// Run exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when an iteration changes the ranks by less than this in L1 norm; at least 1e-7
    #[arg(long, default_value_t = 1e-6, value_name = "CHANGE")]
    tolerance: f64,
    /// Maximum number of iterations
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
    /// What happens to the rank of vertices without out-edges
    #[arg(long, default_value = "redistribute", value_name = "RULE")]
    dangling: DanglingName,
    /// Which lists to read
    #[arg(long, default_value = "auto", value_name = "LISTS")]
    traffic: TrafficName,
    /// How the contributions to a rank are summed
    #[arg(long, default_value = "exact", value_name = "NUMBERS")]
    sums: SumsName,
}

/// `--dangling`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DanglingName {
    /// Spread over all vertices (NetworkX, LDBC Graphalytics), or over the seeds
    Redistribute,
    /// Lost (GTS, GAP)
    Ignore,
}

/// `--traffic`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TrafficName {
    /// Pull where the store has in-lists, else push
    Auto,
    /// Along out-lists
    Push,
    /// Over in-lists
    Pull,
}

/// `--sums`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SumsName {
    /// In fixed point: the same bits on every run
    Exact,
    /// In single precision: half the memory, faster on GPUs, less accurate
    Single,
}

impl From<SumsName> for Sums {
    fn from(name: SumsName) -> Self {
        match name {
            SumsName::Exact => Self::Exact,
            SumsName::Single => Self::Single,
        }
    }
}

impl From<DanglingName> for DanglingMass {
    fn from(name: DanglingName) -> Self {
        match name {
            DanglingName::Redistribute => Self::Redistributed,
            DanglingName::Ignore => Self::Ignored,
        }
    }
}

impl PageRankArgs {
    /// The algorithm.
    pub fn page_rank(&self) -> PageRank {
        PageRank {
            damping: self.damping,
            dangling: self.dangling.into(),
            stop: Stop::after(self.iterations, self.tolerance, self.max_iterations),
            traffic: match self.traffic {
                TrafficName::Auto => Traffic::Auto,
                TrafficName::Push => Traffic::Push,
                TrafficName::Pull => Traffic::Pull,
            },
            sums: self.sums.into(),
        }
    }
}

impl Command for WeightableArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        let ranks = self.ranks.page_rank();
        match self.weights {
            true => Box::new(ranks.weighted(kind.weights.unwrap_or(WeightType::U32))),
            false => Box::new(ranks),
        }
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let ranks = self.ranks.page_rank();
        let prepared = match (self.weights, store.manifest().weights) {
            (false, _) => Prepared::new(ranks),
            (true, Some(weights)) => Prepared::new(ranks.weighted(weights)),
            (true, None) => return Err(Error::Parameter("--weights: the store has no weights".into())),
        };
        Ok(prepared.showing(Shown::Top))
    }
}
