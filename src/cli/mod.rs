//! The command line: one file a subcommand. The program's `main` is here, and what the Python package shares with it.

mod args;
mod calibrate;
mod calibration;
mod check;
mod clean;
mod columnar;
mod columns;
mod completions;
mod demo;
mod devices;
mod embedded;
mod end;
mod export;
mod extract;
mod format;
mod generate;
mod info;
mod inputs;
mod machines;
mod memory;
mod mirrors;
mod opening;
mod partition;
mod plan;
mod progress;
mod rank;
mod ranking;
mod ranks;
mod reformat;
mod report;
mod results;
mod run;
mod run_report;
#[cfg(feature = "gpu")]
mod shader;
mod split;
mod start;
mod tables;
mod tips;
mod validate;
mod verbosity;
mod verify;
mod vertices;

pub use args::{ResourceArgs, StoreArgs};
pub use calibration::for_run as rates;
pub use columns::{Columns, Rows};
pub use embedded::{Edges, call, format_edges, usage_text};
pub use opening::open_within as open;
pub use rank::{Ranked, main as main_of_rank};
pub use report::{Asked, Degrees, degrees, report_html};
pub use results::{OutputFile, ResultFile, ResultFormat};
pub use run::{AnswerSummary, report_json, report_text};

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use topostream_formats::Error as StoreError;
use topostream_formats::durable::{self, TemporaryFolder};
use topostream_formats::text::printable;
use topostream_tools::progress::Cancel;

/// SSD-backed graph engine: format a graph once, then run algorithms from disk in bounded memory.
#[derive(Parser)]
#[command(name = "topostream", version, long_version = VERSION, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
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
enum Command {
    /// Generate a random graph, as a store or as an edge list.
    Generate(generate::Generate),
    /// Make a store from edge lists.
    Format(format::Format),
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

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file cannot be read or written, or is damaged; a budget is too small.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run failed.
    #[error(transparent)]
    Engine(#[from] crate::error::Error),
    /// Arguments that contradict each other, or the store.
    #[error("{0}")]
    Usage(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// Whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::Interrupted)
                | Self::Engine(crate::error::Error::Interrupted | crate::error::Error::Store(StoreError::Interrupted))
        )
    }

    /// A sufficient budget, in bytes, if the given one is too small.
    fn sufficient_budget(&self) -> Option<u64> {
        match self {
            Self::Store(StoreError::Memory { needed_bytes, .. })
            | Self::Engine(
                crate::error::Error::Memory { needed_bytes, .. }
                | crate::error::Error::Store(StoreError::Memory { needed_bytes, .. }),
            ) => Some(*needed_bytes),
            _ => None,
        }
    }

    /// The error, with a hint in lines of their own if there is one. Text of others that it quotes is safe to print.
    pub fn text(&self) -> String {
        let mut text = printable(&self.to_string()).into_owned();
        if let Some(bytes) = self.sufficient_budget() {
            text += &format!("\nhint: at least {}MiB are needed", bytes.div_ceil(1 << 20));
            text += &memory::origin().map_or(String::new(), |origin| format!("\nhint: {origin}"));
        }
        text
    }

    /// The exit code.
    fn code(&self) -> u8 {
        match self {
            _ if self.is_interrupt() => INTERRUPTED,
            Self::Usage(_) => BAD_USAGE,
            _ => 1,
        }
    }

    /// Prints the error to stderr, with a hint if there is one. Returns the exit code.
    fn report(&self) -> u8 {
        let text =
            if self.is_interrupt() { "interrupted: stopped cleanly" } else { &format!("error: {}", self.text()) };
        tell(text);
        self.code()
    }
}

type Outcome = Result<(), Failure>;

/// Exit code after Ctrl-C, by the shells' convention.
const INTERRUPTED: u8 = 130;
/// Exit code where arguments are wrong: clap's own.
const BAD_USAGE: u8 = 2;

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
    listen(&cancel);
    cli.opening.keep();
    cli.verbosity.keep();
    // A command that computes in parallel ends here where the system refuses the threads, before it has made anything.
    let threads = if cli.command.is_parallel() { topostream_formats::threads::start_shared_pool() } else { Ok(()) };
    let outcome = threads.map_err(Failure::from).and_then(|()| cli.command.run(&cancel));
    // A second Ctrl-C ends the process, whatever the command returns.
    durable::wait_if_abandoned();
    outcome.map_or_else(|failure| failure.report(), |()| 0)
}

impl Command {
    /// Whether it computes on several threads.
    fn is_parallel(&self) -> bool {
        let quick = matches!(self, Self::Info(_) | Self::Clean(_) | Self::Devices(_) | Self::Report(_));
        !quick && !matches!(self, Self::Completions(_) | Self::Man(_))
    }

    fn run(self, cancel: &Cancel) -> Outcome {
        match self {
            Self::Generate(command) => command.run(cancel),
            Self::Format(command) => command.run(cancel),
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

/// The first Ctrl-C asks for a clean stop, the second stops at once. Neither leaves unfinished files.
fn listen(cancel: &Cancel) {
    let cancel = cancel.clone();
    let handler = move || {
        if cancel.is_cancelled() {
            durable::abandon();
            end::at_once(INTERRUPTED.into());
        }
        cancel.cancel();
    };
    // Without a handler Ctrl-C still ends the program, only less cleanly.
    ctrlc::set_handler(handler).ok();
}

/// Creates a temporary folder, which is removed with its contents when it is dropped or the program ends.
fn temporary_folder(parent: &Path, what: &str) -> Result<TemporaryFolder, Failure> {
    let failed = |error| Failure::Other(format!("{}: make a temporary folder in: {error}", parent.display()));
    TemporaryFolder::create(parent, what).map_err(failed)
}

/// Prints the report of a command, unless `--quiet` is given.
fn say(text: &str) -> Outcome {
    if verbosity::is_quiet() { Ok(()) } else { print(text) }
}

/// Prints JSON, some lines at a time: a whole text may need more memory than there is.
fn print_json(value: &impl serde::Serialize) -> Outcome {
    let mut lines = Lines::default();
    let written = serde_json::to_writer_pretty(&mut lines, value).map_err(|error| Failure::Other(error.to_string()));
    lines.failed.map_or(written, Err)?;
    print(&(lines.text + "\n"))
}

/// What is printed a piece at a time, whole lines each.
#[derive(Default)]
struct Lines {
    text: String,
    failed: Option<Failure>,
}

/// The size from which on a piece is printed, in bytes.
const PIECE_BYTES: usize = 1 << 16;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text += std::str::from_utf8(bytes).map_err(std::io::Error::other)?;
        let end = self.text.rfind('\n').filter(|_| self.text.len() >= PIECE_BYTES);
        if let Some(end) = end {
            let rest = self.text.split_off(end + 1);
            let piece = std::mem::replace(&mut self.text, rest);
            self.failed = print(&piece).err();
        }
        match self.failed {
            None => Ok(bytes.len()),
            Some(_) => Err(std::io::Error::other("printing has failed")),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Prints a line on stderr: a note, a warning or an error.
fn tell(text: &str) {
    // A closed stderr is no reason to panic.
    writeln!(std::io::stderr(), "{}", printable(text)).ok();
}

/// Prints a result. A reader that closes the pipe (`| head`) is no error.
fn print(text: &str) -> Outcome {
    // Names and a store's origin are written by others, perhaps for a terminal to obey.
    let text = &*printable(text);
    if embedded::take(text) {
        return Ok(());
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Other(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}
