//! `topostream run`: an algorithm over a store.

mod checkpoints;
mod common;
mod companions;
mod ending;
mod job;
mod levels;
mod long;
mod parts;
mod path;
mod record;
mod summary;
mod tuning;

use super::failure::Outcome;
use super::opening;
use clap::Args;
pub use job::Job;
pub use record::{report_json, report_text};
pub use summary::AnswerSummary;
use topostream_tools::progress::Cancel;
pub use tuning::RunTuning;

/// Run an algorithm over a store, from disk, in bounded memory.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunCommand {
    #[command(subcommand)]
    job: Job,
}

const EXAMPLES: &str = "\
Examples:
  topostream run pagerank wiki --output ranks.csv
  topostream run pagerank wiki --iterations 20 --memory 2GiB --json
  topostream run bfs wiki --source 30 --parents --output tree.npy
  topostream run bfs wiki --source max-degree
  topostream run cross-edges wiki --from admins.txt --to newcomers.txt --edges votes.txt
  topostream run degrees wiki --output degrees.csv --histogram distribution.csv
  topostream run neighbourhood wiki --source 30 --source 3 --hops 2 --direction both
  topostream run sssp roads --source 0 --output distances.csv
  topostream run sssp roads --source 0 --target 17 --path way.csv
  topostream run bfs wiki --source 30 --parents --validate
  topostream run rwr wiki --source 30 --source 74 --top 20
  topostream run circuit grid --source 0=5 --source 99=0 --max-iterations 5000
  topostream run components wiki --output components.txt
  topostream run components wiki --report components.html";

impl RunCommand {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let Job { common, arguments } = self.job;
        common.resources.load_drivers();
        let store = opening::open_for_run(&common.store, common.resources.memory_bytes())?;
        let prepared = arguments.prepare(&store, &cancel.flag())?;
        common.run(store, prepared, cancel)
    }
}
