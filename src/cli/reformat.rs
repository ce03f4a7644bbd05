//! `topostream reformat`: a store becomes another one of the same graph.

use super::args::StoreArgs;
use super::export::check_store_name;
use super::failure::{Failure, Outcome};
use super::making::{building_bytes, refusal, write_store};
use super::opening;
use crate::model::vertex_set::VertexSet;
use clap::Args;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use topostream_formats::WeightType;
use topostream_formats::names::StoredNames;
use topostream_formats::write::StoreWriter;
use topostream_readers::{InputFile, NameLines};
use topostream_tools::format::{FormatOptions, OrderFrom};
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
    /// Convert the weights: u32, f32, u64 or f64. Integers that do not fit are refused, what f32 rounds is counted
    #[arg(long, value_name = "TYPE", conflicts_with = "drop_weights")]
    weight_type: Option<WeightType>,
    #[command(flatten)]
    layout: StoreArgs,
}

/// Main memory for reading the names of an order, in bytes.
const READING_BYTES: u64 = 4 << 20;

const EXAMPLES: &str = "\
Examples:
  topostream reformat wiki wiki-both --in-edges
  topostream reformat roads small-roads --order bfs --drop-weights
  topostream reformat exact narrow --weight-type f32";

impl Reformat {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let options = self.layout.options(!self.drop_weights)?;
        // Before lists are read, which may take long.
        check_store_name(&self.new_store)?;
        StoreWriter::check(&self.new_store, &options.layout)?;
        let store = Arc::new(opening::open_within(&self.store, options.memory_bytes)?);
        let needed_bytes = building_bytes(&store, &options, store.vertices(), self.weight_type)?;
        if needed_bytes > options.memory_bytes {
            return Err(refusal("reformatting", needed_bytes, &options, "exactly"));
        }
        let all = Arc::new(VertexSet::of(store.vertices(), |_| true));
        let listed = match (&options.order_from, store.ids()?.names()) {
            (Some(OrderFrom::File(file)), Some(names)) => Some(numbers_of(file, names, &options, cancel)?),
            _ => None,
        };
        let options = match &listed {
            Some(numbers) => FormatOptions { order_from: Some(OrderFrom::File(numbers.path().into())), ..options },
            None => options,
        };
        write_store(&self.new_store, &store, &all, (&options, self.weight_type), cancel)
    }
}

/// Makes a file of vertices' numbers from one of their names, a line each.
fn numbers_of(
    file: &Path,
    names: &StoredNames,
    options: &FormatOptions,
    cancel: &Cancel,
) -> Result<NamedTempFile, Failure> {
    let folder = options.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let failed = |source| Failure::Engine(crate::error::Error::Output { path: folder.clone(), source });
    let numbers = tempfile::Builder::new().suffix(".u32").tempfile_in(&folder).map_err(failed)?;
    let mut out = BufWriter::new(numbers.as_file());
    let mut lines = NameLines::open(&InputFile::of_argument(file).with_cancel(cancel.flag()), READING_BYTES)?;
    while let Some(name) = lines.next_name()? {
        cancel.check()?;
        let vertex = names.find_text(&name)?.ok_or_else(|| lines.error("the id of a vertex of the graph"))?;
        out.write_all(&vertex.0.to_le_bytes()).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    drop(out);
    Ok(numbers)
}
