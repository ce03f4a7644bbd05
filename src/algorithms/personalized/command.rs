//! `personalized-pagerank`: its arguments, and its entry in the catalogue.

use super::PersonalizedPageRank;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, Source, StoreKind, distinct, source,
};
use crate::algorithms::pagerank::command::PageRankArgs;
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Personalized PageRank.
pub const PERSONALIZED_PAGERANK: Entry = Entry {
    name: "personalized-pagerank",
    aliases: &["rwr"],
    about: "Personalized PageRank: the importance of vertices relative to source vertices (random walk with restart)",
    details: "Walks follow an edge with the probability `--damping`, and otherwise restart at a source.",
    source: "Page et al., 1999; Tong, Faloutsos and Pan, ICDM 2006",
    lists: "out (push) or in (pull)",
    bytes_per_vertex: "as pagerank; seeds 1/8",
    exactness: "same bits on every run",
    oracle: "personalized",
    samples: &[
        Sample::measured(
            "personalized-pagerank",
            "--source max-degree --iterations 10",
            AS_GIVEN,
            "rank",
            Edges::Visited,
        ),
        Sample::tested("--source max-degree --iterations 4 --traffic push --dangling ignore", AS_GIVEN),
    ],
    arguments: Arguments::of::<PersonalizedArgs>(),
    graphalytics: None,
};

/// The arguments of `personalized-pagerank`.
#[derive(Args)]
pub struct PersonalizedArgs {
    /// Where walks start: an original id, or `max-degree` for the vertex with the most out-edges; may be given several
    /// times
    #[arg(long = "source", value_name = "ID", required = true, value_parser = source)]
    seeds: Vec<Source>,
    #[command(flatten)]
    ranks: PageRankArgs,
}

impl Command for PersonalizedArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(PersonalizedPageRank { seeds: Vec::new(), ranks: self.ranks.page_rank() })
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let seeds = distinct("--source", &self.seeds, store)?;
        let algorithm = PersonalizedPageRank { seeds, ranks: self.ranks.page_rank() };
        Ok(Prepared::new(algorithm).showing(Shown::Top))
    }
}
