//! `harmonic`: its arguments, and its entry in the catalogue.

use super::Harmonic;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, SAMPLED, Sample, Shown, SourceArgs, StoreKind,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Harmonic centrality.
pub const HARMONIC: Entry = Entry {
    name: "harmonic",
    aliases: &["harmonic-centrality"],
    about: "Harmonic centrality: how few hops vertices are away from all others",
    details: "The sum of 1 over the number of hops from each other vertex; vertices from which there is no path add \
              nothing (NetworkX's harmonic_centrality). Exact centrality needs one search per vertex: for larger \
              graphs use --samples.",
    source: "Boldi and Vigna, 2014; Eppstein and Wang, 2004",
    lists: "out, of the last level",
    bytes_per_vertex: "4, sets 3/8",
    exactness: "sums of `f32`, the same bits",
    oracle: "harmonic",
    samples: &[Sample::measured("harmonic", "--source max-degree", AS_GIVEN, "harmonic", Edges::Once)],
    arguments: Arguments::of::<HarmonicArgs>(),
    graphalytics: None,
};

/// The arguments of `harmonic`.
#[derive(Args)]
pub struct HarmonicArgs {
    #[command(flatten)]
    sources: SourceArgs,
}

impl Command for HarmonicArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Harmonic::exact())
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let harmonic = Harmonic::over(self.sources.of(store)?);
        Ok(Prepared::new(harmonic).showing(Shown::Top).with_shorter(SAMPLED))
    }
}
