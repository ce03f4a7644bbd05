//! `sssp`: its arguments, and its entry in the catalogue.

use super::{DeltaStepping, Sssp};
use crate::algorithms::command::{
    Arguments, CONDUCTING, Command, Companion, Edges, Entry, Graphalytics, ParameterKind, Prepared, Rule, Sample,
    Shown, Source, Switch, Variation, WEIGHTED, source,
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
    details: "Integer weights give integer distances of at most 2^32 - 3, those of 64 bits of at most 2^64 - 3. Over \
              float weights distances are in double precision: each addition along a path is rounded to the nearest \
              f64. Weights of 64 bits are read by CPUs only. Unreachable vertices get -1 (integer weights) or inf. A \
              negative weight on the way is an error.",
    source: "Bellman and Ford, by frontiers; Meyer and Sanders, 2003 (--delta)",
    lists: "out",
    bytes_per_vertex: "distance 4, frontiers 1/4; `u64` 8; `f32`, `f64` 8 (--single 4) and 1/8",
    exactness: "`u32`, `u64` exact; `f32`, `f64` sums of `f64` (--single `f32`), the same bits",
    oracle: "sssp",
    samples: &[
        Sample::measured("sssp", "--source max-degree", WEIGHTED, "distance", Edges::Once).gts_bytes(4),
        // Half of the largest weight.
        Sample::measured("delta-stepping", "--source max-degree --delta 128", WEIGHTED, "distance", Edges::Once)
            .gts_bytes(4),
        Sample::tested("--source max-degree", CONDUCTING),
        Sample::tested("--source max-degree --delta 1", CONDUCTING),
        Sample::tested("--source max-degree --single", CONDUCTING),
        Sample::tested("--source max-degree --delta 1 --single", CONDUCTING),
    ],
    arguments: Arguments::of::<SsspArgs>(),
    switches: &[
        Switch { renames: Some("delta-stepping"), ..Switch::flag("delta", "Use buckets of distances") },
        Switch::flag("single", "Distances over f32 weights in single precision"),
    ],
    shader: of_variation,
    graphalytics: Some(Graphalytics {
        name: "sssp",
        rule: Rule::Near,
        parameters: &[("sssp.source-vertex", ParameterKind::Vertex, "--source")],
        held_bytes: None,
    }),
};

fn of_variation(variation: &Variation) -> Box<dyn Algorithm> {
    let paths = Sssp::new(VertexId(0), variation.weight_type());
    let paths = if variation.is_on("single") { paths.in_single() } else { paths };
    match variation.is_on("delta") {
        true => Box::new(DeltaStepping { paths, delta: 1.0 }),
        false => Box::new(paths),
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
    /// Distances over f32 weights in single precision: 4 bytes a vertex instead of 8, and on GPUs without 64-bit
    /// atomics; the error grows with the length of a path, and distances above 3.4e38 count as unreachable
    #[arg(long)]
    single: bool,
    /// Check distances by Graph500's rules before they are written: reads the store once more
    #[arg(long)]
    validate: bool,
}

impl Command for SsspArgs {
    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let source = self.source.vertex(store)?;
        // Without weights, the engine reports an error.
        let paths = Sssp::new(source, store.manifest().weights.unwrap_or(WeightType::U32));
        let paths = if self.single { paths.in_single() } else { paths };
        let prepared = match self.delta {
            Some(delta) => Prepared::new(DeltaStepping { paths, delta }),
            None => Prepared::new(paths),
        };
        let check = self.validate.then_some(Companion::CheckPaths { source, single: self.single });
        Ok(prepared.showing(Shown::Reached).with(check))
    }
}
