//! The options that choose the sources of a centrality which searches from one source after another.

use super::{Source, source, vertices};
use crate::algorithms::sources::Sources;
use crate::error::Result;
use clap::Args;
use topostream_formats::Store;

/// How a user makes such a run shorter.
pub const SAMPLED: &str = "--samples N estimates it from N sources drawn at random";

/// All vertices, given ones, or some that are drawn at random.
#[derive(Args)]
pub struct SourceArgs {
    /// Search from these vertices only; sums are neither scaled nor halved: original ids, or `max-degree`
    #[arg(long = "source", value_name = "ID", value_parser = source, conflicts_with = "samples")]
    sources: Vec<Source>,
    /// Estimate it by searching from N randomly sampled sources
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "NUMBER", requires = "samples")]
    seed: u64,
}

impl SourceArgs {
    /// The sources of a run over a graph.
    ///
    /// # Errors
    /// If the graph has no such vertex.
    pub(in crate::algorithms) fn of(&self, store: &Store) -> Result<Sources> {
        Ok(match self.samples {
            Some(samples) => Sources::sampled(store.vertices(), samples, self.seed),
            None if self.sources.is_empty() => Sources::all(),
            None => Sources::given(&vertices::distinct("--source", &self.sources, store)?),
        })
    }
}
