//! Reproduces the performance claims of topostream: a subcommand for each benchmark.
//!
//! ```text
//!  graph ─▶ store in the scratch directory ─┬─▶ ours        ─┐
//!  (R-MAT or a file)                        ├─▶ baseline     ├─ round by round, interleaved ─▶ Outcome
//!                                           └─▶ raw, peers  ─┘   every answer checked
//! ```
//!
//! Ratios are taken within a round, so that a slower minute of the machine slows both sides.
#![cfg(target_os = "linux")]

mod algorithms;
mod answers;
mod arrays;
mod asynchronous;
mod billion;
mod buffered;
mod checkpoint;
mod checks;
mod child;
mod devices;
mod experiments;
mod export;
mod fetchers;
mod format;
mod gate;
mod gpu;
mod graph;
mod machine;
mod measure;
mod outcome;
mod overlap;
mod packed;
mod peers;
mod raw;
mod resources;
mod runs;
mod start;
mod stripes;
mod suite;

use clap::{Args, Parser, Subcommand};
use outcome::Outcome;
use std::path::PathBuf;
use std::process::ExitCode;

/// The result of benchmarks; the error is a sentence for people.
pub(crate) type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

/// Reproduces the performance claims of topostream.
#[derive(Debug, Parser)]
#[command(name = "topostream-bench", version)]
struct Program {
    #[command(subcommand)]
    bench: Bench,
}

/// The options of every benchmark.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Number of measurements
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Also write the outcome as JSON to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// CPU threads [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
    /// The folder for stores; on the disk to measure
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    dir: PathBuf,
    /// The page size of new stores
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = page_size)]
    page_size: u32,
}

impl Common {
    /// The number of threads.
    fn threads(&self) -> usize {
        machine::threads(self.threads)
    }

    /// A store of the requested page size, with in-lists.
    fn wanted(&self) -> graph::Wanted {
        graph::Wanted { page_bytes: self.page_size, ..graph::Wanted::default() }
    }
}

#[derive(Debug, Subcommand)]
enum Bench {
    Overlap(overlap::Options),
    Packed(packed::Options),
    Format(format::Options),
    Billion(billion::Options),
    Peers(peers::Options),
    Buffered(buffered::Options),
    Checks(checks::Options),
    Fetchers(fetchers::Options),
    Stripes(stripes::Options),
    Start(start::Options),
    Suite(suite::Options),
    Gpu(gpu::Options),
    Devices(devices::Options),
    Export(export::Options),
    Algorithms(algorithms::Options),
    Asynchronous(asynchronous::Options),
    Checkpoint(checkpoint::Options),
    /// Part of another benchmark, in a separate process
    #[command(hide = true)]
    Child {
        /// The task, as JSON
        task: String,
    },
}

/// The program.
pub fn main() -> ExitCode {
    match run(Program::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: Bench) -> Result<()> {
    let publish = |outcome: Result<Outcome>, common: &Common| outcome?.publish(common.json.as_deref());
    match bench {
        Bench::Overlap(options) => publish(overlap::run(&options), &options.common),
        Bench::Packed(options) => publish(packed::run(&options), &options.common),
        Bench::Format(options) => publish(format::run(&options), &options.common),
        Bench::Billion(options) => publish(billion::run(&options), &options.common),
        Bench::Peers(options) => publish(peers::run(&options), &options.common),
        Bench::Buffered(options) => publish(buffered::run(&options), &options.common),
        Bench::Checks(options) => publish(checks::run(&options), &options.common),
        Bench::Fetchers(options) => publish(fetchers::run(&options), &options.common),
        Bench::Stripes(options) => publish(stripes::run(&options), &options.common),
        Bench::Start(options) => publish(start::run(&options), &options.common),
        Bench::Suite(options) => suite::run(&options),
        Bench::Gpu(options) => gpu::run(&options),
        Bench::Devices(options) => devices::run(&options),
        Bench::Export(options) => export::run(&options),
        Bench::Algorithms(options) => algorithms::run(&options),
        Bench::Asynchronous(options) => asynchronous::run(&options),
        Bench::Checkpoint(options) => checkpoint::run(&options),
        Bench::Child { task } => child::main(&task),
    }
}

/// A number of bytes such as `128MiB`.
fn size(text: &str) -> Result<u64, String> {
    parse_size::parse_size(text).map_err(|error| format!("{text}: {error}"))
}

/// A page size such as `1MiB`; the store's writer checks it.
fn page_size(text: &str) -> Result<u32, String> {
    size(text).and_then(|bytes| u32::try_from(bytes).map_err(|_| format!("{text}: too large for a page")))
}
