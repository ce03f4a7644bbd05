//! `delta-pagerank`: its arguments, and its entry in the catalogue.

use super::DeltaPageRank;
use crate::algorithms::command::{AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, StoreKind};
use crate::algorithms::pagerank::command::DanglingName;
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// PageRank by residuals.
pub const DELTA_PAGERANK: Entry = Entry {
    name: "delta-pagerank",
    aliases: &[],
    about: "PageRank by residuals: later iterations read only vertices whose residual is large enough",
    details: "",
    source: "Shun and Blelloch, PPoPP 2013; Zhang et al., TPDS 2014",
    lists: "out, of vertices with something to pass on",
    bytes_per_vertex: "16, sets 1/4",
    exactness: "within its tolerance",
    oracle: "delta_pagerank",
    samples: &[
        Sample::measured("delta-pagerank", "--tolerance 1e-4", AS_GIVEN, "rank", Edges::Once),
        Sample::tested("--damping 0.5 --dangling ignore", AS_GIVEN),
    ],
    arguments: Arguments::of::<DeltaArgs>(),
    graphalytics: None,
};

/// The arguments of `delta-pagerank`.
#[derive(Args)]
pub struct DeltaArgs {
    /// The probability of following an edge, from 0 to 1
    #[arg(long, default_value_t = 0.85, value_name = "PROBABILITY")]
    damping: f64,
    /// Maximum relative error of a rank; at least 1e-6
    #[arg(long, default_value_t = 1e-4, value_name = "PART")]
    tolerance: f64,
    /// What happens to the rank of vertices without out-edges
    #[arg(long, default_value = "redistribute", value_name = "RULE")]
    dangling: DanglingName,
}

impl Command for DeltaArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(DeltaPageRank::default())
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let (damping, dangling, tolerance) = (self.damping, self.dangling.into(), self.tolerance);
        Ok(Prepared::new(DeltaPageRank { damping, dangling, tolerance }).showing(Shown::Top))
    }
}
