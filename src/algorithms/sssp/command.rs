//! `sssp`: its arguments, and its entry in the catalogue.

use super::width::usual_width;
use super::{DeltaStepping, ShortestPathTree, ShortestPaths, Sssp};
use crate::algorithms::command::{
    Arguments, CONDUCTING, Command, Companion, Edges, Entry, Finished, Graphalytics, ParameterKind, PathArgs, Prepared,
    Rule, Runnable, Sample, Shown, Source, StoreKind, WEIGHTED, refused_bytes, shown_with_path, source,
};
use crate::engine::{Engine, Observer};
use crate::error::Result;
use crate::model::algorithm::{Algorithm, Answer};
use crate::report::RunReport;
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
    details: "Integer weights give integer distances of at most 2^32 - 3, or 2^64 - 3 where weights have 64 bits. Over \
              float weights distances are in double precision: each addition along a path is rounded to the nearest \
              f64. Weights of 64 bits are read by CPUs only. Unreachable vertices get -1 (integer weights) or inf. A \
              negative weight on the way is an error.",
    source: "Bellman and Ford, by frontiers; Meyer and Sanders, 2003 (--delta)",
    lists: "out",
    bytes_per_vertex: "distance 4, frontiers 1/4; `u64` 8; `f32`, `f64` 8 (--single 4) and 1/8; --parents 4 and 3/8",
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
        Sample::tested("--source max-degree --parents", WEIGHTED),
        Sample::tested("--source max-degree --parents --delta 1", CONDUCTING),
        Sample::tested("--source max-degree --cutoff 150 --parents", WEIGHTED),
        Sample::tested("--source max-degree --cutoff 150.5 --delta 128", WEIGHTED),
        Sample::tested("--source max-degree --cutoff 30.25 --single --parents", CONDUCTING),
        Sample::tested("--source max-degree --cutoff 30.25", CONDUCTING),
    ],
    arguments: Arguments::of::<SsspArgs>(),
    graphalytics: Some(Graphalytics {
        name: "sssp",
        rule: Rule::Near,
        parameters: &[("sssp.source-vertex", ParameterKind::Vertex, "--source")],
        held_bytes: None,
    }),
};

/// The arguments of `sssp`.
#[derive(Args)]
pub struct SsspArgs {
    /// The source: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Width of a bucket of distances (delta-stepping): fewer lists are read twice, in more supersteps. `inf`: no
    /// buckets. By default three mean weights where no vertex has more than 16 neighbours, as in roads and meshes, and
    /// no buckets elsewhere
    #[arg(long, value_name = "WIDTH")]
    delta: Option<f64>,
    /// Distances over f32 weights in single precision: 4 bytes a vertex instead of 8, and on GPUs without 64-bit
    /// atomics; the error grows with the length of a path, and distances above 3.4e38 count as unreachable
    #[arg(long)]
    single: bool,
    /// Largest distance: vertices that are farther away count as unreached, and the search stops there
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true)]
    cutoff: Option<f64>,
    /// Also keep each vertex's parent, the vertex before it on a shortest path; `--output` writes it. Reads the store
    /// once more, and parts of it again where edges add nothing to a distance
    #[arg(long)]
    parents: bool,
    #[command(flatten)]
    path: PathArgs,
    /// Check distances, and parents where they are kept, by Graph500's rules before they are written: reads the store
    /// once more
    #[arg(long)]
    validate: bool,
}

impl SsspArgs {
    fn paths(&self, source: VertexId, weights: Option<WeightType>) -> Sssp {
        // Without weights, the engine reports an error.
        let paths = Sssp::new(source, weights.unwrap_or(WeightType::U32));
        let paths = if self.single { paths.in_single() } else { paths };
        Sssp { cutoff: self.cutoff, ..paths }
    }

    /// The width of buckets that was asked for, unless that is to have none.
    fn given_width(&self) -> Option<f64> {
        self.delta.filter(|&delta| delta != f64::INFINITY)
    }
}

impl Command for SsspArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        let paths = self.paths(VertexId(0), kind.weights);
        match self.given_width() {
            Some(delta) => Box::new(DeltaStepping { paths, delta }),
            None => Box::new(paths),
        }
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let source = self.source.vertex(store)?;
        let ends = self.path.ends(source, store)?;
        let paths = self.paths(source, store.manifest().weights);
        let parents = self.parents || self.path.is_asked();
        let delta = if self.delta.is_none() { usual_width(store)? } else { self.given_width() };
        let prepared = match (delta, parents) {
            (Some(delta), false) => Prepared::new(DeltaStepping { paths, delta }),
            (Some(delta), true) => Prepared::new(WithParents(DeltaStepping { paths, delta })),
            (None, false) => Prepared::new(paths),
            (None, true) => Prepared::new(WithParents(paths)),
        };
        let prepared = if parents { prepared.with_plan_note(PARENTS_NOTE) } else { prepared };
        let (single, cutoff) = (self.single, self.cutoff);
        let check = self.validate.then_some(Companion::CheckPaths { source, single, cutoff });
        let shown = ends.map_or(Shown::Reached, shown_with_path);
        Ok(prepared.showing(shown).with(check).with(self.path.file(ends)))
    }
}

const PARENTS_NOTE: &str = "memory and times are for distances only; parents take 4 bytes and 3 bits a vertex in \
                            main memory once the page buffer is free, and another pass over the store";

/// A search that is followed by the search for parents.
struct WithParents<A>(A);

impl<A: ShortestPaths> Runnable for WithParents<A> {
    fn run(self: Box<Self>, engine: &Engine, observer: &mut Observer<'_>) -> Result<Box<dyn Finished>> {
        Ok(Box::new(ShortestPathTree::run(engine, self.0, observer)?))
    }

    fn planned(self: Box<Self>, _engine: &Engine) -> Result<Box<dyn Algorithm>> {
        Ok(Box::new(self.0))
    }

    fn algorithm(&self) -> Option<&dyn Algorithm> {
        Some(&self.0)
    }

    fn needed_bytes(&self, engine: &Engine) -> Result<u64> {
        let parents_bytes = refused_bytes(ShortestPathTree::check(engine, &self.0));
        Ok(engine.needed_bytes(&self.0)?.max(parents_bytes))
    }

    fn beside_bytes(&self, store: &Store) -> u64 {
        4 * store.vertices()
    }
}

impl<A: ShortestPaths> Finished for ShortestPathTree<A> {
    fn report(&self) -> &RunReport {
        &self.run.report
    }

    fn answers(&self) -> Vec<Answer<'_>> {
        ShortestPathTree::answers(self)
    }

    fn remark(&self) -> Option<String> {
        let (pages, passes) = self.read();
        let passes = if passes == 1 { String::new() } else { format!(" in {passes} passes") };
        Some(format!("parents: {pages} more pages read{passes}"))
    }

    fn algorithm(&self) -> &dyn Algorithm {
        self.run.algorithm()
    }
}
