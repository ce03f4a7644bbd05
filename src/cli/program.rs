//! The program: its arguments and subcommands, and `main`.

use super::failure::{Failure, Outcome};
#[cfg(feature = "gpu")]
use super::shader;
use super::{
    args, calibrate, clean, completions, components, demo, devices, end, extract, format, generate, info, memory,
    mirrors, opening, partition, plan, printing, reformat, report, run, split, start, tips, validate, verbosity,
    verify,
};
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;
use topostream_formats::durable;
use topostream_tools::progress::Cancel;

/// SSD-backed graph engine: format a graph once, then run algorithms from disk in bounded memory.
#[derive(Parser)]
#[command(name = "topostream", version, long_version = VERSION, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    opening: opening::OpenArgs,
    #[command(flatten)]
    verbosity: verbosity::VerbosityArgs,
}

/// The features that the program is built with.
#[cfg(feature = "gpu")]
macro_rules! features {
    () => {
        "cli, gpu"
    };
}
#[cfg(not(feature = "gpu"))]
macro_rules! features {
    () => {
        "cli"
    };
}

/// Version, commit and features, for `--version`.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\ncommit: ", env!("TOPOSTREAM_COMMIT"), "\nfeatures: ", features!());

const EXAMPLES: &str = "\
Examples:
  topostream demo                                       see it work, answers checked
  topostream format wiki-Vote.txt wiki --in-edges       make a store from an edge list
  topostream info wiki                                  show sizes and degrees
  topostream run pagerank wiki --output ranks.csv       run an algorithm from disk
  topostream run bfs wiki --source 30 --memory 512MiB   in a given amount of memory
  topostream run components wiki                        find connected components
  topostream run pagerank wiki --report run.html        write a page about the run: what its time was spent on
  topostream extract wiki near --ego 30 --hops 2        extract the neighbourhood of a vertex
  topostream generate rmat --scale 24 --store big       make a large graph without input

Sizes are written 64KiB, 512MiB, 2GiB (powers of two) or 64KB, 512MB, 2GB (powers of ten).
Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.";

#[derive(Subcommand)]
pub enum Command {
    /// Generate a random graph, as a store or as an edge list.
    Generate(generate::Generate),
    /// Make a store from edge lists.
    Format(format::Format),
    /// Find the connected components of an edge list, without making a store.
    Components(components::ComponentsCommand),
    /// Extract a part of a graph into a new store or an edge list.
    Extract(extract::Extract),
    /// Make another store of a graph, from its store: with in-lists, without weights, in another order or encoding.
    Reformat(reformat::Reformat),
    /// Split a store in shards into partial stores, one for each machine of a cluster.
    Split(split::Split),
    /// Assign vertices to parts, for stores in shards whose devices exchange less.
    Partition(partition::PartitionCommand),
    /// Note which ranges of a graph read each vertex, so that several devices and machines exchange less.
    Mirrors(mirrors::MakeMirrors),
    /// Show a store's sizes, degrees and layout.
    Info(info::Info),
    /// Check every page of a store.
    Verify(verify::Verify),
    /// Run an algorithm over a store.
    Run(run::RunCommand),
    /// Write a page in HTML about a run.
    Report(report::Report),
    /// Run LDBC Graphalytics' algorithms over its data sets, and compare the answers with the reference outputs.
    Validate(validate::Validate),
    /// Predict how long a run would take, by strategy and devices.
    Plan(plan::Plan),
    /// Benchmark disk, bus and compute rates of this machine, for predictions.
    Calibrate(calibrate::Calibrate),
    /// Print a composed shader, validated.
    #[cfg(feature = "gpu")]
    Shader(shader::PrintShader),
    /// Remove files that killed commands have left in a folder.
    Clean(clean::Clean),
    /// List the devices that can run algorithms, with their limits.
    Devices(devices::Devices),
    /// Test the installation: generate, format, run and check a small graph.
    Demo(demo::Demo),
    /// Print a completion script for a shell.
    Completions(completions::Completions),
    /// Write man pages.
    Man(completions::Man),
}

/// A panic that the library catches and returns as an error is not printed.
#[cfg(feature = "gpu")]
fn quieten_guarded_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !crate::device::gpu::health::is_guarded() {
            before(info);
        }
    }));
}

/// Runs the program. Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.
pub fn main() -> ExitCode {
    start::prepare();
    end::with(main_of(std::env::args_os()))
}

/// Runs the program with the words of a command line, its own name first, and returns the exit code.
pub fn main_of(words: impl IntoIterator<Item = OsString>) -> u8 {
    #[cfg(feature = "gpu")]
    quieten_guarded_panics();
    memory::settle_allocator();
    let words = args::with_ids_joined(words);
    args::keep_words(&words);
    let cli = Cli::try_parse_from(&words).unwrap_or_else(|error| tips::explain(error, &Cli::command(), &words).exit());
    let cancel = Cancel::default();
    end::listen(&cancel);
    cli.opening.keep();
    cli.verbosity.keep();
    // A command that computes in parallel ends here where the system refuses the threads, before it has made anything.
    let threads = if cli.command.is_parallel() { topostream_formats::threads::start_shared_pool() } else { Ok(()) };
    let outcome = threads.map_err(Failure::from).and_then(|()| cli.command.run(&cancel));
    // A second Ctrl-C ends the process, whatever the command returns.
    durable::wait_if_abandoned();
    outcome.map_or_else(|failure| printing::report(&failure), |()| 0)
}

impl Command {
    /// Whether it computes on several threads.
    fn is_parallel(&self) -> bool {
        let quick = matches!(self, Self::Info(_) | Self::Clean(_) | Self::Devices(_) | Self::Report(_));
        !quick && !matches!(self, Self::Completions(_) | Self::Man(_))
    }

    pub fn run(self, cancel: &Cancel) -> Outcome {
        match self {
            Self::Generate(command) => command.run(cancel),
            Self::Format(command) => command.run(cancel),
            Self::Components(command) => command.run(cancel),
            Self::Extract(command) => command.run(cancel),
            Self::Reformat(command) => command.run(cancel),
            Self::Split(command) => command.run(cancel),
            Self::Partition(command) => command.run(cancel),
            Self::Mirrors(command) => command.run(cancel),
            Self::Info(command) => command.run(cancel),
            Self::Verify(command) => command.run(cancel),
            Self::Run(command) => command.run(cancel),
            Self::Report(command) => command.run(cancel),
            Self::Validate(command) => command.run(cancel),
            Self::Plan(command) => command.run(cancel),
            Self::Calibrate(command) => command.run(cancel),
            #[cfg(feature = "gpu")]
            Self::Shader(command) => command.run(),
            Self::Clean(command) => command.run(),
            Self::Devices(command) => command.run(),
            Self::Demo(command) => command.run(cancel),
            Self::Completions(command) => command.run(Cli::command()),
            Self::Man(command) => command.run(Cli::command()),
        }
    }
}

/// The command line as clap knows it.
pub fn command() -> clap::Command {
    Cli::command()
}
