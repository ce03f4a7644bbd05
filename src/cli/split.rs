//! `topostream split`: a store in shards becomes a partial store for each machine.

use super::args::size;
use super::failure::{Failure, Outcome};
use super::memory::memory_bytes;
use super::printing::say;
use super::progress::Bars;
use super::{opening, store_report};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;
use topostream_formats::part::PartPath;
use topostream_formats::{Direction, Store};
use topostream_tools::mirrors::make_mirrors;
use topostream_tools::progress::Cancel;
use topostream_tools::split::{PartFolders, SplitOptions, split};

/// Split a store in shards into partial stores, one for each machine of a cluster.
///
/// A part has all vertices, and the edges into its range of them. The store must have a shard for each part:
/// `topostream reformat STORE NEW --shards K` makes one.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Split {
    /// The store's directory
    store: PathBuf,
    /// The parts to make: a directory for each shard, or one path with {rank} in it, for the number of each
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<String>,
    /// Another directory to stripe the pages of each part over, with {rank} in it; may be repeated
    #[arg(long = "stripe", value_name = "DIR")]
    stripes: Vec<PartPath>,
    /// Make in-lists of an undirected graph, too: pull and bottom-up steps read them
    #[arg(long)]
    in_edges: bool,
    /// Note for each vertex which of 32 ranges its edges lead to, in 4 bytes: machines then send each other only the
    /// values that they read
    #[arg(long)]
    mirrors: bool,
    /// Main memory, as a hard limit [default: half of the available memory of the machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  topostream reformat wiki wiki-4 --shards 4
  topostream split wiki-4 '/mnt/machine{rank}/wiki'
  topostream split wiki-2 /ssd0/wiki /ssd1/wiki";

impl Split {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let started = Instant::now();
        let memory_bytes = memory_bytes(self.memory);
        let store = opening::open_within(&self.store, memory_bytes)?;
        let parts = self.folders(&store)?;
        let options = SplitOptions { parts, in_edges: self.in_edges, memory_bytes };
        let bars = Bars::default();
        let made = split(&store, &options, &bars, cancel)?;
        for part in options.parts.iter().filter(|_| self.mirrors) {
            make_mirrors(&opening::open_any(&part.path, memory_bytes)?, memory_bytes, &bars, cancel)?;
        }
        drop(bars);
        let paths: Vec<&Path> = options.parts.iter().map(|part| part.path.as_path()).collect();
        say(&store_report::split(&paths, &made, started.elapsed()))
    }

    /// The folders of all parts.
    fn folders(&self, store: &Store) -> Result<Vec<PartFolders>, Failure> {
        let shards = store.topology(Direction::Out).map_or(1, |out| out.shards().len() as u32);
        let paths: Vec<PartPath> = self.parts.iter().map(|path| path.parse()).collect::<Result<_, _>>()?;
        let paths = match &paths[..] {
            [path] if path.has_number() => (0..shards).map(|part| path.of(part, shards)).collect(),
            _ => paths.iter().zip(0..).map(|(path, part)| path.of(part, paths.len() as u32)).collect::<Vec<_>>(),
        };
        let count = paths.len() as u32;
        if let Some(same) = self.stripes.iter().find(|stripe| count > 1 && !stripe.has_number()) {
            return Err(Failure::Usage(format!("--stripe {same}: all parts would share it; write {{rank}} in it")));
        }
        let folders = paths.into_iter().zip(0..).map(|(path, part)| {
            let mut folders = PartFolders::new(path);
            for stripe in &self.stripes {
                let stripe = std::path::absolute(stripe.of(part, count));
                folders.stripes.push(stripe.map_err(|error| Failure::Other(format!("--stripe: {error}")))?);
            }
            Ok(folders)
        });
        folders.collect()
    }
}
