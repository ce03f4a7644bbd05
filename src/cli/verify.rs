//! `topostream verify`: every page of a store.

use super::args::{default_memory_bytes, size};
use super::progress::Bars;
use super::{Outcome, opening, print, tables};
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
    /// Main memory, as a hard limit [default: half of what is available]
    #[arg(long, value_parser = size, value_name = "SIZE")]
    memory: Option<u64>,
}

impl Verify {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let started = Instant::now();
        let store = opening::open_within(&self.store, self.memory.unwrap_or_else(default_memory_bytes))?;
        let bars = Bars::default();
        let report = verify(&store, self.memory.unwrap_or_else(default_memory_bytes), &bars, cancel)?;
        drop(bars);
        print(&tables::verify_report(&self.store, &report, started.elapsed()))
    }
}
