//! The command line: one file a subcommand.

mod args;
mod calibrate;
mod calibration;
mod check;
mod demo;
mod devices;
mod extract;
mod format;
mod generate;
mod info;
mod memory;
mod plan;
mod progress;
mod results;
mod run;
#[cfg(feature = "gpu")]
mod shader;
mod tables;
mod validate;
mod verify;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;
use topostream_formats::Error as StoreError;
use topostream_tools::progress::Cancel;

/// SSD-backed graph engine: format a graph once, then run algorithms from disk in bounded memory.
#[derive(Parser)]
#[command(name = "topostream", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  topostream demo                                       see it work, answers checked
  topostream format wiki-Vote.txt wiki --in-edges       make a store from an edge list
  topostream info wiki                                  what is in it
  topostream run pagerank wiki --output ranks.csv       run an algorithm from disk
  topostream run bfs wiki --source 30 --memory 512MiB   in a given amount of memory
  topostream run components wiki                        what hangs together
  topostream extract wiki near --ego 30 --hops 2        take a part of it
  topostream generate rmat --scale 24 --store big       make a large graph without input

Sizes are written 64KiB, 512MiB, 2GiB (powers of two) or 64KB, 512MB, 2GB (powers of ten).
Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    /// Generate a random graph, as a store or as an edge list.
    Generate(generate::Generate),
    /// Make a store from an edge list.
    Format(format::Format),
    /// Take a part of a graph out of its store: into a new store, or into an edge list.
    Extract(extract::Extract),
    /// Show what a store holds.
    Info(info::Info),
    /// Check every page of a store.
    Verify(verify::Verify),
    /// Run an algorithm over a store.
    Run(run::Run),
    /// Run LDBC Graphalytics' algorithms over its data sets, and hold the answers against the reference outputs.
    Validate(validate::Validate),
    /// Predict how long a run would take, by strategy and devices.
    Plan(plan::Plan),
    /// Measure what this machine does in a second, for predictions.
    Calibrate(calibrate::Calibrate),
    /// Print a shader as GPUs are given it, checked.
    #[cfg(feature = "gpu")]
    Shader(shader::PrintShader),
    /// List the devices that can run algorithms, and what they can do.
    Devices(devices::Devices),
    /// Generate, format, run and check a small graph: everything works if this does.
    Demo(demo::Demo),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] topostream::Error),
    /// What was asked for does not go together.
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Other(String),
}

impl Failure {
    fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::Interrupted)
                | Self::Engine(topostream::Error::Interrupted | topostream::Error::Store(StoreError::Interrupted))
        )
    }

    /// A budget that would do, where the one that was given did not.
    fn budget_that_would_do(&self) -> Option<u64> {
        match self {
            Self::Store(StoreError::Memory { needed_bytes, .. })
            | Self::Engine(
                topostream::Error::Memory { needed_bytes, .. }
                | topostream::Error::Store(StoreError::Memory { needed_bytes, .. }),
            ) => Some(*needed_bytes),
            _ => None,
        }
    }

    /// Says on stderr what went wrong, and what can be done about it.
    fn report(&self) -> ExitCode {
        // Nobody may be listening: that is no reason to panic.
        let say = |text: String| writeln!(std::io::stderr(), "{text}").ok();
        if self.is_interrupt() {
            say("interrupted: stopped cleanly".into());
            return ExitCode::from(INTERRUPTED);
        }
        say(format!("error: {self}"));
        if let Some(bytes) = self.budget_that_would_do() {
            say(format!("hint: at least {}MiB are needed", bytes.div_ceil(1 << 20)));
            memory::origin().map(|origin| say(format!("hint: {origin}")));
        }
        ExitCode::from(if matches!(self, Self::Usage(_)) { BAD_USAGE } else { 1 })
    }
}

type Outcome = Result<(), Failure>;

/// Exit code after Ctrl-C, by the shells' convention.
const INTERRUPTED: u8 = 130;
/// Exit code where arguments are wrong: clap's own.
const BAD_USAGE: u8 = 2;

/// Runs the program. Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    memory::settle_allocator();
    let cancel = Cancel::default();
    listen(&cancel);
    let outcome = match cli.command {
        Command::Generate(command) => command.run(&cancel),
        Command::Format(command) => command.run(&cancel),
        Command::Extract(command) => command.run(&cancel),
        Command::Info(command) => command.run(),
        Command::Verify(command) => command.run(&cancel),
        Command::Run(command) => command.run(&cancel),
        Command::Validate(command) => command.run(&cancel),
        Command::Plan(command) => command.run(&cancel),
        Command::Calibrate(command) => command.run(&cancel),
        #[cfg(feature = "gpu")]
        Command::Shader(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Demo(command) => command.run(&cancel),
    };
    outcome.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

/// The first Ctrl-C asks for a clean stop, the second stops at once.
fn listen(cancel: &Cancel) {
    let cancel = cancel.clone();
    let handler = move || {
        if cancel.is_cancelled() {
            std::process::exit(INTERRUPTED.into());
        }
        cancel.cancel();
    };
    // Without a handler Ctrl-C still ends the program, only less cleanly.
    ctrlc::set_handler(handler).ok();
}

/// Prints a result. A reader that has gone away (`| head`) is no error.
fn print(text: &str) -> Outcome {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Other(format!("stdout: {error}"))),
        _ => Ok(()),
    }
}
