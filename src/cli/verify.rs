//! `topostream verify`: checks every page of a store.

use super::args::size;
use super::failure::Outcome;
use super::memory::memory_bytes;
use super::printing::say;
use super::progress::Bars;
use super::{opening, store_report};
use clap::Args;
use std::path::PathBuf;
use std::time::Instant;
use topostream_tools::progress::Cancel;
use topostream_tools::verify::verify;

/// Check every page of a store: checksums, ids, order, degrees, and that in-lists and out-lists hold the same edges.
#[derive(Args)]
pub struct Verify {
    /// The store's directory
    store: PathBuf,
    /// Main memory, as a hard limit [default: half of the available memory of the machine or container]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
}

impl Verify {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let started = Instant::now();
        let store = opening::open_any(&self.store, memory_bytes(self.memory))?;
        let bars = Bars::default();
        let report = verify(&store, memory_bytes(self.memory), &bars, cancel)?;
        drop(bars);
        say(&store_report::verify(&self.store, &report, started.elapsed()))
    }
}
