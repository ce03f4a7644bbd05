//! `kcore`: its arguments, and its entry in the catalogue.

use super::{CoreBounds, KCore};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, OneDevice, Prepared, Sample, Shown, StoreKind, UNDIRECTED,
};
use crate::engine::Engine;
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::manifest::VertexOrder;
use topostream_formats::{Direction, Store};

/// Core numbers.
pub const KCORE: Entry = Entry {
    name: "kcore",
    aliases: &["core-numbers"],
    about: "Core numbers: the largest k such that a vertex is in the k-core, ignoring edge directions",
    details: "A vertex's core number is the largest k such that it lies in a part of the graph where every vertex has \
              at least k edges to others of that part. Repeated edges count each time, self-loops do not. \
              For a directed graph, in-lists (format --in-edges) save most of the reads.",
    source: "Seidman, Social Networks 1983; peeling (Matula and Beck, JACM 1983), or on one CPU, of an undirected graph \
             from disk or with many threads, bounds that sink (SemiCore*, Wen et al., ICDE 2016)",
    lists: "out; in where directed",
    bytes_per_vertex: "degree 4, sets 1/4, on one CPU 3/8; bounds 8, frontiers 1/4",
    exactness: "exact",
    oracle: "kcore",
    samples: &[
        Sample::measured("kcore", "", UNDIRECTED, "core", Edges::Once),
        Sample::tested("", AS_GIVEN),
        Sample::tested("--out-lists", AS_GIVEN),
    ],
    arguments: Arguments::of::<KCoreArgs>(),
    graphalytics: None,
};

/// The arguments of `kcore`.
#[derive(Args)]
pub struct KCoreArgs {
    /// Never read in-lists, even if the store has them: every round reads all out-lists
    #[arg(long)]
    out_lists: bool,
}

impl Command for KCoreArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(KCore::new(kind.directed, kind.directed && !self.out_lists && kind.in_lists))
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let directed = store.manifest().directed;
        let in_lists = directed && !self.out_lists && store.topology(Direction::In).is_some();
        let peeled = KCore::new(directed, in_lists);
        let alone = KCore { alone: true, ..peeled };
        let peeled = OneDevice { alone, otherwise: peeled, pays: |engine, _| engine.is_one_cpu() };
        let is_grouped = store.topology(Direction::Out).is_some_and(|lists| lists.is_grouped());
        let prepared = match directed || is_grouped {
            true => Prepared::new(peeled),
            false => Prepared::new(OneDevice { alone: CoreBounds::default(), otherwise: peeled, pays: bounds_pay }),
        };
        Ok(prepared.showing(Shown::Largest))
    }
}

/// Threads from which on bounds take less time in any case: they need fewer supersteps, and more work.
const THREADS: usize = 8;

/// The longest list of graphs that may be long, whose rounds of peeling go over all vertices each.
const DEGREE_MAX: u32 = 16;

/// Whether bounds take less time than peeling, on one CPU.
fn bounds_pay(engine: &Engine, bounds: &CoreBounds) -> Result<bool> {
    if !engine.is_one_cpu()? {
        return Ok(false);
    }
    let manifest = engine.store().manifest();
    if manifest.out.degree_max >= CoreBounds::DEGREE_END || engine.needed_bytes(bounds)? > engine.usable_bytes() {
        return Ok(false);
    }
    if engine.options().threads >= THREADS || manifest.out.degree_max <= DEGREE_MAX {
        return Ok(true);
    }
    // Lists that are not by degree are peeled from all pages in each round.
    let by_degree = matches!(manifest.order, VertexOrder::Degree | VertexOrder::DegreeGroups);
    Ok(!by_degree && !engine.buffers_out_lists(bounds)?)
}
