//! `eigenvector`: its arguments, and its entry in the catalogue.

use super::Eigenvector;
use crate::algorithms::command::{AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, StoreKind};
use crate::algorithms::neighbour_sum::StopArgs;
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Eigenvector centrality.
pub const EIGENVECTOR: Entry = Entry {
    name: "eigenvector",
    aliases: &["eigenvector-centrality"],
    about: "Eigenvector centrality: proportional to the sum over in-neighbours",
    details: "Values are scaled to a Euclidean norm of 1. Weights are ignored. Same as NetworkX's \
              eigenvector_centrality.",
    source: "Bonacich, Journal of Mathematical Sociology 1972",
    lists: "in, or out",
    bytes_per_vertex: "12",
    exactness: "sums of `f32`",
    oracle: "eigenvector",
    samples: &[
        Sample::measured("eigenvector", "--iterations 10", AS_GIVEN, "centrality", Edges::Visited),
        Sample::tested("--iterations 3", AS_GIVEN),
    ],
    arguments: Arguments::of::<EigenvectorArgs>(),
    graphalytics: None,
};

/// The arguments of `eigenvector`.
#[derive(Args)]
pub struct EigenvectorArgs {
    #[command(flatten)]
    stop: StopArgs,
}

impl Command for EigenvectorArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Eigenvector::default())
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        Ok(Prepared::new(Eigenvector { stop: self.stop.stop() }).showing(Shown::Top))
    }
}
