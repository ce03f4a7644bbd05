//! `sssp`: its arguments, and its entry in the catalogue.

use super::{DeltaStepping, Sssp};
use crate::algorithms::command::{
    Arguments, Command, Companion, Edges, Entry, Graphalytics, ON, ParameterKind, Prepared, Rule, Sample, Shown,
    Source, Switch, Variation, WEIGHTED, source,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::edge::WeightType;
use topostream_formats::{Store, VertexId};

/// Shortest paths, and delta-stepping.
pub const SSSP: Entry = Entry {
    name: "sssp",
    aliases: &[],
    about: "Shortest paths: distances of vertices from a source, by edge weights",
    details: "Integer weights give integer distances of at most 2^32 - 3. With f32 weights each addition along a path \
              is rounded to the nearest f32. Unreachable vertices get -1 (integer weights) or inf. A negative weight \
              on the way is an error.",
    source: "Bellman and Ford, by frontiers; Meyer and Sanders, 2003 (--delta)",
    lists: "out",
    bytes_per_vertex: "distance 4, frontiers 1/4; `f32` weights 1/8",
    exactness: "`u32` exact; `f32` the same bits, 1e-4 of float64",
    oracle: "sssp",
    samples: &[
        Sample::measured("sssp", "--source max-degree", WEIGHTED, "distance", Edges::Once).gts_bytes(4),
        // Half of the largest weight.
        Sample::measured("delta-stepping", "--source max-degree --delta 128", WEIGHTED, "distance", Edges::Once)
            .gts_bytes(4),
    ],
    arguments: Arguments::of::<SsspArgs>(),
    switches: &[Switch {
        name: "delta",
        values: &[],
        help: "Use buckets of distances",
        renames: Some("delta-stepping"),
    }],
    shader: of_variation,
    graphalytics: Some(Graphalytics {
        name: "sssp",
        rule: Rule::Near,
        parameters: &[("sssp.source-vertex", ParameterKind::Vertex, "--source")],
        held_bytes: None,
    }),
};

fn of_variation(variation: &Variation) -> Box<dyn Algorithm> {
    let paths = Sssp { source: VertexId(0), weights: variation.weight_type() };
    match variation.value("delta") {
        Some(ON) => Box::new(DeltaStepping { paths, delta: 1.0 }),
        _ => Box::new(paths),
    }
}

/// The arguments of `sssp`.
#[derive(Args)]
pub struct SsspArgs {
    /// The source: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Width of a bucket of distances (delta-stepping): fewer lists are read twice, in more supersteps
    #[arg(long, value_name = "WIDTH")]
    delta: Option<f64>,
    /// Check distances by Graph500's rules before they are written: reads the store once more
    #[arg(long)]
    validate: bool,
}

impl Command for SsspArgs {
    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let source = self.source.vertex(store)?;
        // Without weights, the engine reports an error.
        let paths = Sssp { source, weights: store.manifest().weights.unwrap_or(WeightType::U32) };
        let prepared = match self.delta {
            Some(delta) => Prepared::new(DeltaStepping { paths, delta }),
            None => Prepared::new(paths),
        };
        let check = self.validate.then_some(Companion::CheckPaths { source });
        Ok(prepared.showing(Shown::Reached).with(check))
    }
}
