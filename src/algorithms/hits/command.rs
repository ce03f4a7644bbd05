//! `hits`: its arguments, and its entry in the catalogue.

use super::Hits;
use crate::algorithms::Stop;
use crate::algorithms::command::{AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, StoreKind};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Hubs and authorities.
pub const HITS: Entry = Entry {
    name: "hits",
    aliases: &[],
    about: "HITS: hubs, which link to good authorities, and authorities, which good hubs link to",
    details: "Hubs and authorities are scaled to a sum of 1 each. Weights are ignored. Same as NetworkX's hits.",
    source: "Kleinberg, Journal of the ACM 1999",
    lists: "out",
    bytes_per_vertex: "16",
    exactness: "sums of `f32`",
    oracle: "hits",
    samples: &[
        Sample::measured("hits", "--iterations 5", AS_GIVEN, "hub", Edges::Visited),
        Sample::tested("--iterations 2", AS_GIVEN),
    ],
    arguments: Arguments::of::<HitsArgs>(),
    graphalytics: None,
};

/// The arguments of `hits`.
#[derive(Args)]
pub struct HitsArgs {
    /// Run exactly this many iterations
    #[arg(long, value_name = "N", conflicts_with = "tolerance")]
    iterations: Option<u32>,
    /// Stop when an iteration changes the hubs by less than this in total; they sum to 1
    #[arg(long, default_value_t = 1e-6, value_name = "CHANGE")]
    tolerance: f64,
    /// Maximum number of iterations
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "iterations")]
    max_iterations: u32,
}

impl Command for HitsArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Hits::default())
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let stop = Stop::after(self.iterations, self.tolerance, self.max_iterations);
        Ok(Prepared::new(Hits { stop }).showing(Shown::Top))
    }
}
