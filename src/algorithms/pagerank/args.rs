//! `run pagerank`, `run personalized-pagerank` and `run delta-pagerank`.

use super::common::{Common, Shown, Source, source};
use super::job::Plain;
use crate::cli::Failure;
use clap::{Args, ValueEnum};
use topostream::algorithms::{DanglingMass, DeltaPageRank, PageRank, PersonalizedPageRank, Stop, Sums, Traffic};
use topostream::{Store, VertexId};

#[derive(Args)]
pub struct PageRankArgs {
    /// The probability of following an edge, from 0 to 1
    #[arg(long, default_value_t = 0.85, value_name = "PROBABILITY")]
    damping: f64,
    /// Do exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when an iteration changes all ranks together (L1 norm) by less than this; 1e-7 at the least
    #[arg(long, default_value_t = 1e-6, value_name = "CHANGE")]
    tolerance: f64,
    /// Stop after this many iterations at the latest
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
    /// What becomes of the rank of vertices without out-edges
    #[arg(long, default_value = "redistribute", value_name = "RULE")]
    dangling: DanglingName,
    /// Which lists are read
    #[arg(long, default_value = "auto", value_name = "LISTS")]
    traffic: TrafficName,
    /// How the shares that a vertex receives are added up
    #[arg(long, default_value = "exact", value_name = "NUMBERS")]
    sums: SumsName,
    /// How many vertices of highest rank to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub struct PersonalizedArgs {
    /// Where walks begin: an original id, or `max-degree` for the vertex with the most out-edges; may be given several times
    #[arg(long = "seed", value_name = "ID", required = true, value_parser = source)]
    seeds: Vec<Source>,
    #[command(flatten)]
    ranks: PageRankArgs,
}

#[derive(Args)]
pub struct DeltaArgs {
    /// The probability of following an edge, from 0 to 1
    #[arg(long, default_value_t = 0.85, value_name = "PROBABILITY")]
    damping: f64,
    /// Which part of itself a rank may be wrong by; 1e-6 at the least
    #[arg(long, default_value_t = 1e-4, value_name = "PART")]
    tolerance: f64,
    /// What becomes of the rank of vertices without out-edges
    #[arg(long, default_value = "redistribute", value_name = "RULE")]
    dangling: DanglingName,
    /// How many vertices of highest rank to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum DanglingName {
    /// Spread over all vertices (NetworkX, LDBC Graphalytics), or over the seeds
    Redistribute,
    /// Lost (GTS, GAP)
    Ignore,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum TrafficName {
    /// Pull where the store has in-lists, else push
    Auto,
    /// Along out-lists
    Push,
    /// Over in-lists
    Pull,
}

/// How PageRank adds up.
#[derive(Clone, Copy, ValueEnum)]
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
    fn page_rank(&self) -> PageRank {
        PageRank {
            damping: self.damping,
            dangling: self.dangling.into(),
            stop: match self.iterations {
                Some(iterations) => Stop::Iterations(iterations),
                None => Stop::Tolerance { l1: self.tolerance, iterations_max: self.max_iterations },
            },
            traffic: match self.traffic {
                TrafficName::Auto => Traffic::Auto,
                TrafficName::Push => Traffic::Push,
                TrafficName::Pull => Traffic::Pull,
            },
            sums: self.sums.into(),
        }
    }
}

impl Plain for PageRankArgs {
    type Algorithm = PageRank;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, _store: &Store) -> Result<PageRank, Failure> {
        Ok(self.page_rank())
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.top)
    }
}

impl Plain for PersonalizedArgs {
    type Algorithm = PersonalizedPageRank;

    fn common(&self) -> &Common {
        &self.ranks.common
    }

    fn algorithm(&self, store: &Store) -> Result<PersonalizedPageRank, Failure> {
        Ok(PersonalizedPageRank { seeds: seeds(&self.seeds, store)?, ranks: self.ranks.page_rank() })
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.ranks.top)
    }
}

/// The vertices that `--seed` names, each once.
pub fn seeds(named: &[Source], store: &Store) -> Result<Vec<VertexId>, Failure> {
    let mut seeds = named.iter().map(|seed| seed.vertex_of("--seed", store)).collect::<Result<Vec<_>, _>>()?;
    seeds.sort_unstable();
    seeds.dedup();
    Ok(seeds)
}

impl Plain for DeltaArgs {
    type Algorithm = DeltaPageRank;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, _store: &Store) -> Result<DeltaPageRank, Failure> {
        let (damping, dangling, tolerance) = (self.damping, self.dangling.into(), self.tolerance);
        Ok(DeltaPageRank { damping, dangling, tolerance })
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.top)
    }
}
