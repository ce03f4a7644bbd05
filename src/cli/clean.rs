//! `topostream clean`: removes files that killed commands have left.

use super::failure::Outcome;
use super::printing::print;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use topostream_formats::clean::clean;

/// Remove files that killed commands have left in a folder: unfinished stores, results and edge lists, temporary
/// folders.
///
/// Only files of dead processes are removed, never a complete store or a file of another program. A command that is run
/// again removes its own leftovers; `clean` is for commands that are not run again.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Clean {
    /// The folder of a store or stripe, or of results; subfolders are not searched
    folder: PathBuf,
    /// Only print what would be removed
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  topostream clean wiki --dry-run      an unfinished store
  topostream clean results             temporary files of `run --output results/ranks.csv`
  topostream clean /tmp                temporary folders of `demo`, `calibrate` and `validate`";

impl Clean {
    pub fn run(self) -> Outcome {
        let cleaned = clean(&self.folder, self.dry_run)?;
        let mut text = String::new();
        let done = if self.dry_run { "would remove" } else { "removed" };
        for path in &cleaned.removed {
            writeln!(text, "{done} {}", path.display()).ok();
        }
        for path in &cleaned.in_use {
            writeln!(text, "in use by another process: {}", path.display()).ok();
        }
        if text.is_empty() {
            writeln!(text, "{}: nothing to remove", self.folder.display()).ok();
        }
        print(&text)
    }
}
