//! `pagerank`: its arguments, and its entry in the catalogue.

use super::{DanglingMass, PageRank, Stop, Sums, Traffic};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Graphalytics, ParameterKind, Prepared, Rule, Sample, Shown, Switch,
    Variation,
};
use crate::error::Result;
use clap::{Args, ValueEnum};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// PageRank.
pub const PAGERANK: Entry = Entry {
    name: "pagerank",
    aliases: &[],
    about: "PageRank: the importance of vertices by the vertices that link to them",
    details: "",
    source: "Page et al., 1999",
    lists: "out (push) or in (pull)",
    bytes_per_vertex: "share 4, sum 8 (single 4)",
    exactness: "same bits on every run",
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
    ],
    arguments: Arguments::of::<PageRankArgs>(),
    switches: SWITCHES,
    shader: |variation| Box::new(of_variation(variation)),
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

/// What the shaders of PageRank depend on.
pub const SWITCHES: &[Switch] =
    &[Switch { name: "sums", values: &["exact", "single"], help: "How shares are added up", renames: None }];

/// PageRank as a shader is made for it.
pub fn of_variation(variation: &Variation) -> PageRank {
    let sums = if variation.value("sums") == Some("single") { Sums::Single } else { Sums::Exact };
    PageRank { sums, ..PageRank::default() }
}

/// The arguments of `pagerank`.
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
    /// Number of vertices of highest rank to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: usize,
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

impl Command for PageRankArgs {
    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        Ok(Prepared::new(self.page_rank()).showing(Shown::Top(self.top)))
    }
}
