//! `topostream mirrors`: notes which parts of a graph read each vertex.

use super::args::size;
use super::failure::Outcome;
use super::memory::memory_bytes;
use super::printing::say;
use super::progress::Bars;
use super::{opening, store_report};
use clap::Args;
use std::path::PathBuf;
use std::time::Instant;
use topostream_tools::mirrors::make_mirrors;
use topostream_tools::progress::Cancel;

/// Note for each vertex which of 32 ranges of the graph its edges lead to, so that devices and machines that share a
/// run send each other only the values that they read.
///
/// Writes mirrors.bin into the store's directory: 4 bytes a vertex. Shards and parts are made of whole ranges; in a
/// part, each machine makes the mirrors of its own. `format --mirrors` makes them with the store.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct MakeMirrors {
    /// The store's directory
    store: PathBuf,
    /// Main memory, as a hard limit [default: half of the available memory of the machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  topostream mirrors wiki
  topostream run pagerank wiki --device 0,1";

impl MakeMirrors {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let started = Instant::now();
        let store = opening::open_any(&self.store, memory_bytes(self.memory))?;
        let bars = Bars::default();
        let report = make_mirrors(&store, memory_bytes(self.memory), &bars, cancel)?;
        drop(bars);
        say(&store_report::mirrors(&self.store, &report, started.elapsed()))
    }
}
