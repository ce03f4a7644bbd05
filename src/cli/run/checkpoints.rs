//! `--checkpoint`, `--checkpoint-every` and `--resume`.

use crate::checkpoint::{CheckpointEvent, Checkpoints, Every};
use crate::cli::failure::{Failure, Outcome};
use crate::cli::printing::tell;
use crate::cli::ranks;
use crate::error::Error;
use clap::Args;
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use topostream_formats::text::counted;

/// Where checkpoints go.
#[derive(Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArgs {
    /// Write checkpoints to this folder, so that the run can be resumed after a crash or Ctrl-C; they are removed once
    /// results are written. Ctrl-C then waits for the end of the superstep and writes another; a second Ctrl-C stops
    /// at once. Each rank of `topostream-mpi` writes its own values, to a folder of its own in this one
    #[arg(long, value_name = "DIR", id = "checkpoint_dir")]
    checkpoint: Option<PathBuf>,
    /// The interval: a time (90s, 5m, 1h) or a number of supersteps [default: 60s, and at most 3% of the run's time]
    #[arg(long, value_name = "INTERVAL", requires = "checkpoint_dir", value_parser = every)]
    checkpoint_every: Option<Every>,
    /// Resume from the newest checkpoint in --checkpoint, on any device; start from the beginning if there is none
    #[arg(long, requires = "checkpoint_dir")]
    resume: bool,
}

/// Reads `90s`, `5m`, `1h`, or a number of supersteps.
fn every(text: &str) -> Result<Every, String> {
    let expected = || format!("{text:?}: expected a time such as 60s, 5m or 1h, or a number of supersteps from 1 on");
    let Some(unit) = text.chars().last().filter(char::is_ascii_alphabetic) else {
        return text.parse().ok().filter(|&supersteps| supersteps > 0).map(Every::Supersteps).ok_or_else(expected);
    };
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())?;
    Ok(Every::Time(time))
}

impl CheckpointArgs {
    /// Opens the checkpoint folder, if one was given. Warnings are printed to stderr, above the spinner.
    pub fn open(&self, spinner: &ProgressBar) -> Result<Option<Arc<Checkpoints>>, Failure> {
        let Some(folder) = &self.checkpoint else { return Ok(None) };
        let spinner = spinner.clone();
        let tell = move |event: &CheckpointEvent| {
            // One rank prints what all ranks know.
            if ranks::is_first() || matches!(event, CheckpointEvent::Damaged { .. }) {
                spinner.suspend(|| tell(&text_of(event)));
            }
        };
        let every = self.checkpoint_every.unwrap_or_default();
        Ok(Some(Arc::new(Checkpoints::open_on(ranks::shared(), folder, every, self.resume, tell)?)))
    }
}

/// Tells the user how to resume a run that has stopped.
pub fn stopped(checkpoints: Option<&Checkpoints>) {
    let Some(checkpoints) = checkpoints.filter(|_| ranks::is_first()) else { return };
    let folder = checkpoints.folder().display();
    match checkpoints.saved() {
        Some(supersteps) => {
            tell(&format!(
                "{folder} has a checkpoint after {}: the same command with --resume goes on",
                counted(supersteps, "superstep")
            ));
        }
        None => tell(&format!("{folder} has no checkpoint: no superstep had ended")),
    }
}

/// Removes the checkpoints of a run whose results are written. Ranks wait until the first one has written them.
pub fn clear(checkpoints: Option<&Checkpoints>) -> Outcome {
    let Some(checkpoints) = checkpoints else { return Ok(()) };
    if !ranks::meet(false)? {
        return Err(Error::Interrupted.into());
    }
    Ok(checkpoints.clear()?)
}

fn text_of(event: &CheckpointEvent) -> String {
    match event {
        CheckpointEvent::Nothing { folder } => {
            format!("{}: no complete checkpoint yet: from the beginning", folder.display())
        }
        CheckpointEvent::Damaged { path, message } => {
            format!("warning: {}: {message}: the other generation is used", path.display())
        }
        CheckpointEvent::Resumed { path, supersteps } => {
            format!("{}: goes on after {}", path.display(), counted(*supersteps, "superstep"))
        }
        CheckpointEvent::Failed { folder, supersteps, message } => format!(
            "warning: {}: the checkpoint after {} could not be written: {message}; the run goes on, and the one before \
             it is still there",
            folder.display(),
            counted(*supersteps, "superstep")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_times_or_supersteps() {
        assert_eq!(every("60s"), Ok(Every::Time(Duration::from_secs(60))));
        assert_eq!(every("1.5m"), Ok(Every::Time(Duration::from_secs(90))));
        assert_eq!(every("2h"), Ok(Every::Time(Duration::from_secs(7200))));
        assert_eq!(every("0s"), Ok(Every::Time(Duration::ZERO)));
        assert_eq!(every("7"), Ok(Every::Supersteps(7)));
        for wrong in ["", "0", "-1", "s", "5d", "-5s", "1e30h", "nans", "ü"] {
            assert!(every(wrong).is_err(), "{wrong}");
        }
    }
}
