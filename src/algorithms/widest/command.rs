//! `widest`: its arguments, and its entry in the catalogue.

use super::Widest;
use crate::algorithms::command::{
    Arguments, Command, Edges, Entry, Prepared, Sample, Shown, Source, StoreKind, WEIGHTED, source,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::edge::WeightType;
use topostream_formats::{Store, VertexId};

/// Widest paths.
pub const WIDEST: Entry = Entry {
    name: "widest",
    aliases: &[],
    about: "Widest paths: maximum bottleneck capacity from a source (the least weight on the path)",
    details: "Unreachable vertices get 0, as do those reached only over edges of weight 0. The source has \
              the largest width: 2^32 - 1 (integer weights) or inf (f32). A negative weight on the way is an error.",
    source: "Pollack, 1960",
    lists: "out",
    bytes_per_vertex: "width 4, frontiers 1/4; `f32` weights 1/8",
    exactness: "exact",
    oracle: "widest",
    samples: &[Sample::measured("widest", "--source max-degree", WEIGHTED, "width", Edges::Once)],
    arguments: Arguments::of::<WidestArgs>(),
    graphalytics: None,
};

/// The arguments of `widest`.
#[derive(Args)]
pub struct WidestArgs {
    /// The source: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
}

impl Command for WidestArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Widest { source: VertexId(0), weights: kind.weights.unwrap_or(WeightType::U32) })
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        // Without weights, the engine reports an error.
        let weights = store.manifest().weights.unwrap_or(WeightType::U32);
        let widest = Widest { source: self.source.vertex(store)?, weights };
        Ok(Prepared::new(widest).showing(Shown::AboveZero))
    }
}
