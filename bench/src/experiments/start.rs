//! The time of a process beyond its run: opening devices, preparing memory, writing the report, and process exit.

use crate::error::Result;
use crate::graph;
use crate::measure::Spread;
use crate::options::Common;
use crate::outcome::{Goal, Outcome, Table};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const EXPECTATION: &str = "at any size of the page pool, a process takes at most 50 ms longer than its reported run on \
    CPUs, and at most 300 ms longer on a GPU";
const CPU_TARGET_MS: f64 = 50.0;
const GPU_TARGET_MS: f64 = 300.0;

/// The time of a process beyond that of its run, at several sizes of the page pool
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scales of R-MAT graphs of edge factor 16
    #[arg(long, value_delimiter = ',', default_values_t = [20, 22, 24])]
    pub scale: Vec<u32>,
    /// The devices, as for `topostream run --device`
    #[arg(long, value_delimiter = ',', default_value = "cpu,auto")]
    pub device: Vec<String>,
    /// Sizes of the page pool, as fractions of the pages of both topologies
    #[arg(long, value_delimiter = ',', default_values_t = [0.25, 1.0])]
    pub part: Vec<f64>,
    /// The program [default: `topostream` in the folder of this program]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// One process.
struct Trial {
    process_ms: f64,
    run_ms: f64,
    pool_bytes: f64,
    device: String,
}

/// Measures.
///
/// # Errors
/// Any failure of the program.
pub fn run(options: &Options) -> Result<Outcome> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => std::env::current_exe()?.with_file_name("topostream"),
    };
    let mut outcome = Outcome::new("start", EXPECTATION);
    outcome.verified("reports only: `overlap`, `gpu` and the tests check the answers of these runs");
    outcome.notes.push("processes alternate between devices, sizes of the pool and algorithms within a round".into());
    let columns = ["graph", "device", "work", "pool MB", "run ms", "process ms", "beyond ms"];
    let mut table = Table::new("Time of a process beyond its run", &columns);
    for &scale in &options.scale {
        let store = options.common.wanted().rmat(&options.common.dir, scale)?;
        let pages: u64 = store.topologies().map(|one| u64::from(one.page_count()) * u64::from(one.page_bytes())).sum();
        let mut cases = Vec::new();
        for device in &options.device {
            for &part in &options.part {
                for work in [&["bfs", "--source", "max-degree"][..], &["pagerank", "--iterations", "2"]] {
                    cases.push((device, ((pages as f64 * part) as u64).max(64 << 20), work, Vec::new()));
                }
            }
        }
        // The first process of each kind fills the caches of the system and of drivers.
        for round in 0..=options.common.runs {
            for (device, buffer_bytes, work, trials) in &mut cases {
                let trial = one(&program, store.path(), device, *buffer_bytes, work, options.common.threads)?;
                if round > 0 {
                    trials.push(trial);
                }
            }
        }
        for (_, _, work, trials) in &cases {
            record(&graph::name(&store), work[0], trials, &mut table, &mut outcome);
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

/// Runs the program once.
fn one(
    program: &Path,
    store: &Path,
    device: &str,
    buffer_bytes: u64,
    work: &[&str],
    threads: Option<usize>,
) -> Result<Trial> {
    let mut command = Command::new(program);
    command.args(["run", work[0]]).arg(store).args(&work[1..]);
    command.args(["--json", "--device", device, "--tune", &format!("buffer={buffer_bytes}")]);
    command.args(threads.map(|threads| format!("--threads={threads}")));
    let begun = Instant::now();
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    let process_ms = begun.elapsed().as_secs_f64() * 1e3;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| report[name].as_f64().ok_or_else(|| format!("the report has no {name}"));
    let device = report["device"].as_str().unwrap_or(device).to_owned();
    Ok(Trial { process_ms, run_ms: number("wall_ns")? / 1e6, pool_bytes: number("buffer_bytes")?, device })
}

fn record(graph: &str, work: &str, trials: &[Trial], table: &mut Table, outcome: &mut Outcome) {
    let over = |value: fn(&Trial) -> f64| Spread::over(trials, value);
    let beyond = over(|trial| trial.process_ms - trial.run_ms);
    let (device, pool_mb) = (&trials[0].device, trials[0].pool_bytes / 1e6);
    let pool = format!("{pool_mb:.0}");
    table.row(vec![
        graph.to_owned().into(),
        device.clone().into(),
        work.to_owned().into(),
        pool.clone().into(),
        over(|trial| trial.run_ms).into(),
        over(|trial| trial.process_ms).into(),
        beyond.into(),
    ]);
    let target = if device.to_lowercase().starts_with("cpu") { CPU_TARGET_MS } else { GPU_TARGET_MS };
    let what = format!("{graph}, {work}, {device}, {pool} MB: process beyond the run, ms");
    outcome.claim(what, Goal::AtMost, target, beyond);
}
