//! `components`: its arguments, and its entry in the catalogue.

use super::{Components, Hooking, UnionFind};
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Edges, Entry, Graphalytics, OneDevice, Prepared, Rule, Sample, Shown, StoreKind,
    UNDIRECTED,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Direction, Store};

/// Connected components.
pub const COMPONENTS: Entry = Entry {
    name: "components",
    aliases: &["cc", "wcc"],
    about: "Connected components, ignoring edge directions",
    details: "A component is named after the vertex with its smallest id: the smallest number, or the first name, \
              compared byte by byte.",
    source: "union-find with sampling (Afforest, Sutton et al., 2018) on one CPU; hooking and pointer jumping (Shiloach \
             and Vishkin, 1982; Liu and Tarjan, 2019) on one GPU; least labels along edges on several devices",
    lists: "out",
    bytes_per_vertex: "label 4; a set 1/8, or frontiers 1/4",
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
        let directed = store.manifest().directed;
        let has_in_lists = store.topology(Direction::In).is_some();
        let (cpu, gpu) = (UnionFind::new(directed, has_in_lists), Hooking { directed });
        let gpu = OneDevice { alone: gpu, otherwise: Components { directed }, pays: |engine, _| engine.is_one_gpu() };
        let runs = OneDevice { alone: cpu, otherwise: gpu, pays: |engine, _| engine.is_one_cpu() };
        Ok(Prepared::new(runs).showing(Shown::Groups("components", None)))
    }
}
