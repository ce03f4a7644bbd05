//! `betweenness`: its arguments, and its entry in the catalogue.

use super::Betweenness;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, Source, UNDIRECTED, source,
};
use crate::error::Result;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Betweenness centrality.
pub const BETWEENNESS: Entry = Entry {
    name: "betweenness",
    aliases: &["bc"],
    about: "Betweenness centrality: how many shortest paths pass through each vertex",
    details: "In hops, summed over all pairs; in an undirected graph each pair counts once (NetworkX's \
              normalized=False). Exact betweenness needs one search per vertex: for larger graphs use \
              --samples.",
    source: "Brandes, 2001; Brandes and Pich, 2007",
    lists: "out",
    bytes_per_vertex: "16 (--double 28), sets 1/4",
    exactness: "sums of `f32`; --double sums of `f64`",
    oracle: "betweenness",
    samples: &[
        Sample::measured("betweenness", "--source max-degree", UNDIRECTED, "betweenness", Edges::Once),
        Sample::tested("--source max-degree", AS_GIVEN),
    ],
    arguments: Arguments::of::<BetweennessArgs>(),
    switches: &[],
    shader: |_| Box::new(Betweenness::exact()),
    graphalytics: None,
};

/// The arguments of `betweenness`.
#[derive(Args)]
pub struct BetweennessArgs {
    /// Only shortest paths from these vertices, neither scaled nor halved: original ids, or `max-degree`
    #[arg(long = "source", value_name = "ID", value_parser = source, conflicts_with = "samples")]
    sources: Vec<Source>,
    /// Estimate it from shortest paths from N randomly sampled sources
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "NUMBER", requires = "samples")]
    seed: u64,
    /// Count paths and sum in double precision: 28 bytes a vertex instead of 16, and on the CPU only
    #[arg(long)]
    double: bool,
}

impl Command for BetweennessArgs {
    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let betweenness = match self.samples {
            Some(samples) => Betweenness::sampled(store.vertices(), samples, self.seed),
            None if self.sources.is_empty() => Betweenness::exact(),
            None => {
                let sources = self.sources.iter().map(|source| source.vertex(store));
                Betweenness::of_sources(&sources.collect::<Result<Vec<_>>>()?)
            }
        };
        let prepared = match self.double {
            true => Prepared::new(betweenness.in_double()),
            false => Prepared::new(betweenness),
        };
        Ok(prepared.showing(Shown::Top).with_shorter("--samples N estimates it from N sources drawn at random"))
    }
}
