//! `run betweenness`.

use super::common::{Common, Shown, Source, source};
use super::job::Plain;
use crate::cli::Failure;
use clap::Args;
use topostream::Store;
use topostream::algorithms::Betweenness;

#[derive(Args)]
pub struct BetweennessArgs {
    /// Only shortest paths from these vertices, neither scaled nor halved: original ids, or `max-degree`
    #[arg(long = "source", value_name = "ID", value_parser = source, conflicts_with = "samples")]
    sources: Vec<Source>,
    /// Estimate it from shortest paths from so many vertices, drawn by chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// What chance begins with
    #[arg(long, default_value_t = 1, value_name = "NUMBER", requires = "samples")]
    seed: u64,
    /// How many vertices of highest betweenness to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    common: Common,
}

impl Plain for BetweennessArgs {
    type Algorithm = Betweenness;

    fn common(&self) -> &Common {
        &self.common
    }

    fn algorithm(&self, store: &Store) -> Result<Betweenness, Failure> {
        Ok(match self.samples {
            Some(samples) => Betweenness::sampled(store.vertices(), samples, self.seed),
            None if self.sources.is_empty() => Betweenness::exact(),
            None => {
                let sources = self.sources.iter().map(|source| source.vertex(store));
                Betweenness::of_sources(&sources.collect::<Result<Vec<_>, _>>()?)
            }
        })
    }

    fn shown(&self) -> Shown {
        Shown::Top(self.top)
    }
}
