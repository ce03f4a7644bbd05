//! `betweenness`: its arguments, and its entry in the catalogue.

use super::Betweenness;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, SAMPLED, Sample, Shown, SourceArgs, StoreKind, UNDIRECTED,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
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
    graphalytics: None,
};

/// The arguments of `betweenness`.
#[derive(Args)]
pub struct BetweennessArgs {
    #[command(flatten)]
    sources: SourceArgs,
    /// Count paths and sum in double precision: 28 bytes a vertex instead of 16, and on the CPU only
    #[arg(long)]
    double: bool,
}

impl Command for BetweennessArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        match self.double {
            true => Box::new(Betweenness::exact().in_double()),
            false => Box::new(Betweenness::exact()),
        }
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let betweenness = Betweenness::over(self.sources.of(store)?);
        let prepared = match self.double {
            true => Prepared::new(betweenness.in_double()),
            false => Prepared::new(betweenness),
        };
        Ok(prepared.showing(Shown::Top).with_shorter(SAMPLED))
    }
}
