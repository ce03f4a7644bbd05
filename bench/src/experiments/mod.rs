//! The experiments, and the command line that lists them.

mod algorithms;
mod asynchronous;
mod billion;
mod buffered;
mod checkpoint;
mod checks;
mod devices;
mod fetchers;
mod format;
mod gate;
mod gpu;
mod overlap;
mod packed;
mod peers;
mod sketch;
mod start;
mod stripes;
mod suite;

use crate::child;
use crate::error::Result;
use crate::export;
use crate::options::Common;
use crate::outcome::Outcome;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Reproduces the performance claims of topostream.
#[derive(Debug, Parser)]
#[command(name = "topostream-bench", version)]
struct Program {
    #[command(subcommand)]
    bench: Bench,
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
    Sketch(sketch::Options),
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
        Bench::Suite(options) => suite::run(&options, run_line),
        Bench::Gpu(options) => gpu::run(&options),
        Bench::Devices(options) => devices::run(&options),
        Bench::Export(options) => export::run(&options),
        Bench::Algorithms(options) => algorithms::run(&options),
        Bench::Asynchronous(options) => asynchronous::run(&options),
        Bench::Checkpoint(options) => checkpoint::run(&options),
        Bench::Sketch(options) => publish(sketch::run(&options), &options.common),
        Bench::Child { task } => child::main(&task),
    }
}

/// Runs a command line of the suite.
fn run_line(line: &[String]) -> Result<()> {
    let bench = Program::try_parse_from(line)?.bench;
    run(bench).map_err(|error| format!("{}: {error}", line[1]).into())
}
