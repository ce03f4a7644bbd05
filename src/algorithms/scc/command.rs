//! `scc`: its arguments, and its entry in the catalogue.

use super::Scc;
use crate::algorithms::command::{Arguments, Command, DIRECTED, Edges, Entry, Prepared, Sample, Shown, StoreKind};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Strongly connected components.
pub const SCC: Entry = Entry {
    name: "scc",
    aliases: &["strong-components"],
    about: "Strongly connected components: parts of a directed graph in which every vertex reaches every other",
    details: "Needs in-lists (format or reformat --in-edges). A component is named after the vertex with its smallest id: the \
              smallest number, or the first name, compared byte by byte.",
    source: "Orzan, 2004; Slota, Rajamanickam and Madduri, IPDPS 2014",
    lists: "out and in",
    bytes_per_vertex: "label 4, sets 3/8",
    exactness: "exact",
    oracle: "scc",
    samples: &[Sample::measured("scc", "", DIRECTED, "component", Edges::Once)],
    arguments: Arguments::of::<SccArgs>(),
    graphalytics: None,
};

/// The arguments of `scc`: none.
#[derive(Args)]
pub struct SccArgs {}

impl Command for SccArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Scc)
    }

    fn prepare(&self, _store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        Ok(Prepared::new(Scc).showing(Shown::Groups("components", None)))
    }
}
