//! `katz`: its arguments, and its entry in the catalogue.

use super::Katz;
use crate::algorithms::command::{AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, StoreKind};
use crate::algorithms::neighbour_sum::StopArgs;
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Katz centrality.
pub const KATZ: Entry = Entry {
    name: "katz",
    aliases: &["katz-centrality"],
    about: "Katz centrality: the number of walks that end at a vertex, discounted by length",
    details: "Each vertex has `--alpha` times the sum of its in-neighbours' values, plus `--beta`; values are scaled \
              to a Euclidean norm of 1. `--alpha` must be below 1 over the largest eigenvalue of the graph. Weights \
              are ignored. Same as NetworkX's katz_centrality.",
    source: "Katz, Psychometrika 1953",
    lists: "in, or out",
    bytes_per_vertex: "8",
    exactness: "sums of `f32`",
    oracle: "katz",
    samples: &[
        Sample::measured("katz", "--alpha 0.001 --iterations 10", AS_GIVEN, "centrality", Edges::Visited),
        Sample::tested("--alpha 0.01 --beta 2.5 --iterations 3", AS_GIVEN),
    ],
    arguments: Arguments::of::<KatzArgs>(),
    graphalytics: None,
};

/// The arguments of `katz`.
#[derive(Args)]
pub struct KatzArgs {
    /// Attenuation factor per edge of a walk
    #[arg(long, default_value_t = 0.1, value_name = "FACTOR")]
    alpha: f64,
    /// Value of a vertex without in-neighbours
    #[arg(long, default_value_t = 1.0, value_name = "VALUE")]
    beta: f64,
    #[command(flatten)]
    stop: StopArgs,
}

impl Command for KatzArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Katz::default())
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let katz = Katz { alpha: self.alpha, beta: self.beta, stop: self.stop.stop() };
        Ok(Prepared::new(katz).showing(Shown::Top))
    }
}
