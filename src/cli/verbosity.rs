//! How much commands say.

use super::ranks;
use clap::Args;
use std::sync::OnceLock;

/// The options of all commands about what they say.
#[derive(Args, Clone, Copy, Default)]
pub struct VerbosityArgs {
    /// Print nothing but results, warnings about them and errors: no reports, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
    /// Print more: every superstep of a run
    #[arg(short, long, global = true, help_heading = "Output")]
    verbose: bool,
}

static CHOSEN: OnceLock<VerbosityArgs> = OnceLock::new();

impl VerbosityArgs {
    /// Keeps the choice for the rest of the process.
    pub fn keep(self) {
        CHOSEN.set(self).ok();
    }
}

/// Whether reports and progress are left out: as asked, and on all ranks but the first.
pub fn is_quiet() -> bool {
    CHOSEN.get().is_some_and(|chosen| chosen.quiet) || !ranks::is_first()
}

/// Whether reports are complete.
pub fn is_verbose() -> bool {
    CHOSEN.get().is_some_and(|chosen| chosen.verbose)
}
