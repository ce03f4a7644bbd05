//! `topostream reformat`: a store becomes another one of the same graph.

use super::args::StoreArgs;
use super::extract::{building_bytes, refusal, write_store};
use super::{Outcome, opening};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use topostream::VertexSet;
use topostream_formats::write::StoreWriter;
use topostream_tools::progress::Cancel;

/// Make another store of a graph, from its store alone: with in-lists, without weights, in another order or encoding.
///
/// Original ids stay as they are. What the new store has is what the options say: in-lists only with --in-edges.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Reformat {
    /// The store's directory
    store: PathBuf,
    /// The store to make: a directory
    new_store: PathBuf,
    /// Leave out the weights
    #[arg(long)]
    drop_weights: bool,
    #[command(flatten)]
    layout: StoreArgs,
}

const EXAMPLES: &str = "\
Examples:
  topostream reformat wiki wiki-both --in-edges
  topostream reformat roads small-roads --order bfs --drop-weights";

impl Reformat {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let options = self.layout.options(!self.drop_weights)?;
        // Before lists are read, which may take long.
        StoreWriter::check(&self.new_store, &options.layout)?;
        let store = Arc::new(opening::open_within(&self.store, options.memory_bytes)?);
        let needed_bytes = building_bytes(&store, &options, store.vertices())?;
        if needed_bytes > options.memory_bytes {
            return Err(refusal("reformatting", needed_bytes, &options, "exactly"));
        }
        let all = Arc::new(VertexSet::of(store.vertices(), |_| true));
        write_store(&self.new_store, &store, &all, &options, cancel)
    }
}
