//! `bfs`: its arguments, and its entry in the catalogue.

use super::Bfs;
use crate::algorithms::command::{
    AS_GIVEN, Arguments, Command, Companion, Edges, Entry, Graphalytics, ParameterKind, PathArgs, Prepared, Rule,
    Sample, Shown, Source, StoreKind, shown_with_path, source,
};
use crate::error::Result;
use crate::model::algorithm::Algorithm;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topostream_formats::{Store, VertexId};

/// Breadth-first search.
pub const BFS: Entry = Entry {
    name: "bfs",
    aliases: &[],
    about: "Breadth-first search: hops from a source to each vertex",
    details: "",
    source: "Beamer, Asanović and Patterson, SC 2012",
    lists: "out; in (bottom-up)",
    bytes_per_vertex: "visited 1/8, frontiers 1/4; --parents 4",
    exactness: "exact",
    oracle: "bfs",
    samples: &[
        Sample::measured("bfs", "--source max-degree", AS_GIVEN, "level", Edges::Once).gts_bytes(2),
        Sample::measured("k-hop", "--source max-degree --top-down --max-depth 2", AS_GIVEN, "level", Edges::Visited),
        Sample::tested("--source max-degree --top-down", AS_GIVEN),
    ],
    arguments: Arguments::of::<BfsArgs>(),
    graphalytics: Some(Graphalytics {
        name: "bfs",
        rule: Rule::Exact,
        parameters: &[("bfs.source-vertex", ParameterKind::Vertex, "--source")],
        held_bytes: None,
    }),
};

/// The arguments of `bfs`.
#[derive(Args)]
pub struct BfsArgs {
    /// The source: an original id, or `max-degree` for the vertex with the most out-edges
    #[arg(long, value_name = "ID", value_parser = source)]
    source: Source,
    /// Also keep each vertex's parent in the search tree, the first in the store of those one level up; `--output`
    /// writes it
    #[arg(long)]
    parents: bool,
    /// Never read in-lists, even if the store has them: top-down only
    #[arg(long)]
    top_down: bool,
    /// Maximum number of hops: vertices beyond count as not reached
    #[arg(long, value_name = "N", conflicts_with = "validate")]
    max_depth: Option<u32>,
    #[command(flatten)]
    path: PathArgs,
    /// Check levels, and parents where they are kept, by Graph500's rules before they are written: reads the store once
    /// more
    #[arg(long)]
    validate: bool,
}

impl Command for BfsArgs {
    fn shader(&self, _kind: &StoreKind) -> Box<dyn Algorithm> {
        let parents = self.parents || self.path.is_asked();
        Box::new(Bfs { parents, ..Bfs::from(VertexId(0)) })
    }

    fn prepare(&self, store: &Store, _cancel: &Arc<AtomicBool>) -> Result<Prepared> {
        let source = self.source.vertex(store)?;
        let ends = self.path.ends(source, store)?;
        let parents = self.parents || self.path.is_asked();
        let bfs = Bfs { parents, bottom_up: !self.top_down, hops_max: self.max_depth, ..Bfs::from(source) };
        let check = self.validate.then_some(Companion::CheckSearch { source });
        let shown = ends.map_or(Shown::Reached, shown_with_path);
        Ok(Prepared::new(bfs).showing(shown).with(check).with(self.path.file(ends)))
    }
}
