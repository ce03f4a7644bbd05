//! `components`: its arguments, and its entry in the catalogue.

use super::Components;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Graphalytics, Prepared, Rule, Sample, Shown, StoreKind, UNDIRECTED,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::Store;

/// Connected components.
pub const COMPONENTS: Entry = Entry {
    name: "components",
    aliases: &["cc", "wcc"],
    about: "Connected components, ignoring edge directions",
    details: "A component is named after the vertex with its smallest id: the smallest number, or the first name, \
              compared byte by byte.",
    source: "least labels along edges",
    lists: "out",
    bytes_per_vertex: "label 4; frontiers 1/4",
    exactness: "exact",
    oracle: "components",
    samples: &[
        Sample::measured("components-directed", "", AS_GIVEN, "component", Edges::Once).gts_bytes(8),
        Sample::measured("components", "", UNDIRECTED, "component", Edges::Once).gts_bytes(8),
    ],
    arguments: Arguments::of::<ComponentsArgs>(),
    graphalytics: Some(Graphalytics { name: "wcc", rule: Rule::Groups, parameters: &[], held_bytes: None }),
};

/// The arguments of `components`: none.
#[derive(Args)]
pub struct ComponentsArgs {}

impl Command for ComponentsArgs {
    fn shader(&self, kind: &StoreKind) -> Box<dyn Algorithm> {
        Box::new(Components { directed: kind.directed })
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let components = Components { directed: store.manifest().directed };
        Ok(Prepared::new(components).showing(Shown::Groups("components")))
    }
}
