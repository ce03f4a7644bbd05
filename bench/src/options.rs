//! The options that benchmarks share: measurements, threads, folders, new stores.

use crate::graph::Wanted;
use crate::machine::{self, Machine};
use std::path::PathBuf;

/// The options of a benchmark with one result.
#[derive(Debug, Clone, clap::Args)]
pub struct Common {
    /// Number of measurements
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Also write the outcome as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// CPU threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The folder for stores; on the disk to measure
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,
    /// The page size of new stores
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = page_size)]
    pub page_size: u32,
}

impl Common {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        machine::threads(self.threads)
    }

    /// A store of the requested page size, with in-lists.
    pub fn wanted(&self) -> Wanted {
        Wanted { page_bytes: self.page_size, ..Wanted::default() }
    }
}

/// Threads, folders, and the format of new stores: the options of a benchmark with several results.
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

/// A number of bytes such as `128MiB`.
pub fn size(text: &str) -> Result<u64, String> {
    parse_size::parse_size(text).map_err(|error| format!("{text}: {error}"))
}

/// A page size such as `1MiB`; the store's writer checks it.
pub fn page_size(text: &str) -> Result<u32, String> {
    size(text).and_then(|bytes| u32::try_from(bytes).map_err(|_| format!("{text}: too large for a page")))
}
