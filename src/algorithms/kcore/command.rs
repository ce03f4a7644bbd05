//! `kcore`: its arguments, and its entry in the catalogue.

use super::KCore;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Prepared, Sample, Shown, StoreKind, UNDIRECTED,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Direction, Store};

/// Core numbers.
pub const KCORE: Entry = Entry {
    name: "kcore",
    aliases: &["core-numbers"],
    about: "Core numbers: the largest k such that a vertex is in the k-core, ignoring edge directions",
    details: "A vertex's core number is the largest k such that it lies in a part of the graph where every vertex has \
              at least k edges to others of that part. Repeated edges count each time, self-loops do not. \
              For a directed graph, in-lists (format --in-edges) save most of the reads.",
    source: "Seidman, Social Networks 1983; Matula and Beck, JACM 1983",
    lists: "out; in where directed",
    bytes_per_vertex: "degree 4, sets 1/4",
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
        Box::new(KCore { directed: kind.directed, in_lists: kind.directed && !self.out_lists && kind.in_lists })
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let directed = store.manifest().directed;
        let in_lists = directed && !self.out_lists && store.topology(Direction::In).is_some();
        Ok(Prepared::new(KCore { directed, in_lists }).showing(Shown::Largest))
    }
}
