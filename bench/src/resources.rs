//! Threads, folders and new stores: the options that experiments with several results share.

use crate::graph::Wanted;
use crate::machine::{self, Machine};
use crate::{page_size, size};
use std::path::PathBuf;

/// Threads, folders, and the format of new stores.
#[derive(Debug, Clone, clap::Args)]
pub struct Resources {
    /// CPU threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The folder for stores; on the disk to measure
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    pub results: PathBuf,
    /// The page size of new stores
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = page_size)]
    pub page_size: u32,
    /// Main memory for making stores [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub format_memory: Option<u64>,
}

/// Minimum main memory for making stores, in bytes.
const FORMAT_MEMORY_MIN: u64 = 512 << 20;

impl Resources {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        machine::threads(self.threads)
    }

    /// A plain store of the requested page size.
    pub fn wanted(&self) -> Wanted {
        let quarter = (Machine::this().memory_bytes / 4).max(FORMAT_MEMORY_MIN);
        let memory_bytes = self.format_memory.unwrap_or(quarter);
        Wanted { page_bytes: self.page_size, memory_bytes, ..Wanted::default() }
    }
}
