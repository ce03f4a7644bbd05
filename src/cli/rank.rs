//! `topostream-mpi`: the commands that the ranks of an MPI job run together.
//!
//! A rank that fails says why and ends the whole job, at once: the others may be waiting for it. Where all ranks fail
//! for the same reason, the first one speaks for all.

use super::args::{keep_words, with_ids_joined};
use super::failure::{BAD_USAGE, Failure, INTERRUPTED};
use super::printing::{self, tell};
use super::run::RunCommand;
use super::{end, memory, opening, ranks, start, tips, verbosity};
use crate::cluster::{Cluster, Wish};
use crate::error::Error;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use topostream_formats::durable;
use topostream_tools::progress::Cancel;

/// Run algorithms on several machines: every rank of an MPI job takes a part of the vertices and of the pages.
#[derive(Parser)]
#[command(name = "topostream-mpi", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct RankCli {
    #[command(subcommand)]
    command: RankCommand,
    #[command(flatten)]
    opening: opening::OpenArgs,
    #[command(flatten)]
    verbosity: verbosity::VerbosityArgs,
}

#[derive(Subcommand)]
enum RankCommand {
    /// Run an algorithm over a store that every rank can open; the first rank shows and writes the results.
    Run(RunCommand),
}

const EXAMPLES: &str = "\
Examples:
  mpirun -n 4 --hostfile hosts topostream-mpi run pagerank wiki --output ranks.csv
  srun -n 4 topostream-mpi run bfs wiki --source 30
  mpirun -n 2 --bind-to none topostream-mpi run components wiki                        on one machine

All other commands are those of `topostream`.
Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.";

/// How long a rank other than the first waits before it says why it has failed.
const MODESTY: Duration = Duration::from_millis(1500);

/// A process that is a rank of a job.
pub struct Ranked {
    /// The ranks.
    pub cluster: Arc<Cluster>,
    /// Ends the job with an exit code: this process, and all others, whatever they do.
    pub abort: fn(u8) -> !,
    /// Takes leave of the other ranks, when all have come to the end of the command.
    pub end: Box<dyn FnOnce()>,
}

/// Runs the program on a rank. `start` joins the job; its error is a message.
pub fn main(start: impl FnOnce() -> Result<Ranked, String>) -> ExitCode {
    start::prepare();
    memory::settle_allocator();
    // Before the job is joined: a launcher may wait for ever for a process that a signal ends while it joins.
    let cancel = Cancel::default();
    end::listen(&cancel);
    let Ranked { cluster, abort, end: leave } = match start() {
        Ok(ranked) => ranked,
        Err(message) => {
            tell(&format!("error: {message}"));
            return ExitCode::from(1);
        }
    };
    if let Err(error) = ranks::keep(&cluster) {
        tell(&format!("error: {error}"));
        abort(1)
    }
    abort_on_panic(&cluster, abort);
    let code = run(&cluster, &cancel, abort);
    // All ranks have succeeded, or have stopped together.
    leave();
    end::with(code)
}

/// Runs the command; ends the job if it fails. Returns the exit code of all ranks otherwise.
fn run(cluster: &Cluster, cancel: &Cancel, abort: fn(u8) -> !) -> u8 {
    let words = with_ids_joined(std::env::args_os());
    keep_words(&words);
    let cli = RankCli::try_parse_from(&words);
    let cli = match cli.map_err(|error| tips::explain(error, &RankCli::command(), &words)) {
        Ok(cli) => cli,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(BAD_USAGE);
            if code != 0 {
                fail(cluster, || drop(error.print()), || abort(code));
            }
            if cluster.rank() == 0 {
                error.print().ok();
            }
            return 0;
        }
    };
    cli.opening.keep();
    cli.verbosity.keep();
    let RankCommand::Run(command) = cli.command;
    let threads = topostream_formats::threads::start_shared_pool().map_err(Failure::from);
    let outcome = threads.and_then(|()| command.run(cancel));
    durable::wait_if_abandoned();
    let outcome = match outcome {
        // All ranks know that one wants to stop, or none has begun: a rank that is past its run is on its way here.
        Err(failure) if failure.is_interrupt() && (cluster.is_agreed(Wish::Stop) || !cluster.is_shared()) => {
            ranks::meet(true).map_err(Failure::from)
        }
        // Waits until the first rank has written the results: they are reported only if the job succeeded.
        outcome => outcome.and_then(|()| ranks::meet(false).map_err(Failure::from)),
    };
    match outcome {
        Ok(true) => 0,
        Ok(false) => {
            if cluster.rank() == 0 {
                printing::report(&Error::Interrupted.into());
            }
            INTERRUPTED
        }
        Err(failure) => fail(cluster, || tell(&text_of(cluster, &failure)), || abort(failure.code())),
    }
}

/// The error, with the rank that has failed.
fn text_of(cluster: &Cluster, failure: &Failure) -> String {
    if !cluster.is_shared() {
        return format!("error: {}", failure.text());
    }
    format!("error: rank {} of {}: {}", cluster.rank(), cluster.ranks(), failure.text())
}

/// Says why this rank has failed, and ends the job. All ranks may have failed for the same reason: the first one, which
/// does not wait, ends the others before they repeat it.
fn fail<T>(cluster: &Cluster, speak: impl FnOnce(), abort: impl FnOnce() -> T) -> T {
    if cluster.rank() != 0 {
        std::thread::sleep(MODESTY);
    }
    speak();
    abort()
}

/// A panic ends the job: the others would wait for this rank for ever. Not one that the library catches.
fn abort_on_panic(cluster: &Arc<Cluster>, abort: fn(u8) -> !) {
    let (before, cluster) = (std::panic::take_hook(), Arc::clone(cluster));
    std::panic::set_hook(Box::new(move |info| {
        #[cfg(feature = "gpu")]
        if crate::device::gpu::health::is_guarded() {
            return;
        }
        tell(&format!("error: rank {} of {} panicked", cluster.rank(), cluster.ranks()));
        before(info);
        abort(1)
    }));
}
