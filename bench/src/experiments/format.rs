//! From a generator to a verified store, in bounded memory.

use crate::answers::STORE_CHECK;
use crate::child::{Finished, Task};
use crate::error::Result;
use crate::graph::{Order, fresh, rmat_edges};
use crate::measure::{Spread, mib, ms, ratio};
use crate::options::{Common, size};
use crate::outcome::{Goal, Outcome, Table};

const EXPECTATION: &str = "a generated R-MAT graph becomes a store at 20 million edges a second or more on 2 cores, \
    and at 120 million or more on 16, with a peak of memory of at most the budget and 256 MiB";
/// Millions of edges per second, on so many cores or more.
const SPEED_TARGETS: [(usize, f64); 2] = [(16, 120.0), (0, 20.0)];
/// Bytes of an edge, of which `--part` takes a part.
const EDGE_BYTES: u64 = 8;
/// The least memory for verifying, in bytes.
const VERIFY_BYTES: u64 = 1 << 30;
/// The memory of a process beyond its budget.
const SLACK_MIB: f64 = 256.0;

/// Generator to formatted to verified store: edges a second and peak memory
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 24)]
    pub scale: u32,
    /// The formatter's memory budget
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub memory: u64,
    /// The budget as one part in so many of 8 bytes an edge, in place of `--memory`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "memory")]
    pub part: Option<u64>,
    /// Store the in-lists too
    #[arg(long)]
    pub in_edges: bool,
    /// Pack neighbours
    #[arg(long)]
    pub packed: bool,
    /// The order of vertices
    #[arg(long, value_enum, default_value_t)]
    pub order: Order,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a corrupt store.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("format", EXPECTATION);
    outcome.verified(STORE_CHECK);
    outcome.notes.push("formatting and verification run in separate processes; peaks are their VmHWM".into());
    let rounds: Vec<Round> = (0..options.common.runs).map(|_| round(options)).collect::<Result<_>>()?;
    let edges = rmat_edges(options.scale);
    let speed = |ns: u64| ratio(1e3 * edges as f64, ns as f64);
    let formatting = Spread::over(&rounds, |round| speed(round.format.ns));
    let both = Spread::over(&rounds, |round| speed(round.format.ns + round.verify.ns));
    let peaks = Spread::over(&rounds, |round| mib(round.format.peak_bytes));
    let columns =
        ["graph", "budget MiB", "M edges/s to a store", "M edges/s to a verified store", "peak MiB", "verify peak MiB"];
    let mut table = Table::new("Formatting", &columns);
    table.row(vec![
        format!(
            "rmat scale {}, {} M edges{}{}, {}",
            options.scale,
            edges / 1_000_000,
            if options.in_edges { ", in-lists" } else { "" },
            if options.packed { ", packed" } else { "" },
            options.order.name(),
        )
        .into(),
        (options.budget() >> 20).to_string().into(),
        formatting.into(),
        both.into(),
        peaks.into(),
        Spread::over(&rounds, |round| mib(round.verify.peak_bytes)).into(),
    ]);
    outcome.tables.push(table);
    outcome.tables.push(stages(&rounds));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let target = SPEED_TARGETS.iter().find(|target| cores >= target.0).map_or(0.0, |target| target.1);
    outcome.claim("M edges/s to a store", Goal::AtLeast, target, formatting);
    let bound = mib(Some(options.budget())) + SLACK_MIB;
    outcome.claim("peak memory of formatting, MiB", Goal::AtMost, bound, peaks);
    Ok(outcome)
}

impl Options {
    /// The formatter's budget.
    fn budget(&self) -> u64 {
        self.part.map_or(self.memory, |part| EDGE_BYTES * rmat_edges(self.scale) / part)
    }
}

/// A store, made and verified.
struct Round {
    format: Finished,
    verify: Finished,
}

fn round(options: &Options) -> Result<Round> {
    let &Options { scale, in_edges, packed, order, ref common, .. } = options;
    let path = fresh(&common.dir, &format!("format-{scale}"))?;
    let (memory_bytes, page_bytes) = (options.budget(), common.page_size);
    let format =
        Task::Format { scale, path: path.clone(), memory_bytes, in_edges, page_bytes, packed, order }.spawn()?;
    let verify = Task::Verify { scale, path: path.clone(), memory_bytes: memory_bytes.max(VERIFY_BYTES) }.spawn()?;
    std::fs::remove_dir_all(&path)?;
    Ok(Round { format, verify })
}

fn stages(rounds: &[Round]) -> Table {
    let mut table = Table::new("Stages", &["stage", "ms"]);
    let times = |stage: usize| Spread::over(rounds, |round| ms(round.format.stages[stage].1));
    for (stage, (name, _)) in rounds[0].format.stages.iter().enumerate() {
        table.row(vec![name.as_str().into(), times(stage).into()]);
    }
    table.row(vec!["format, in all".into(), Spread::over(rounds, |round| ms(round.format.ns)).into()]);
    table.row(vec!["verify".into(), Spread::over(rounds, |round| ms(round.verify.ns)).into()]);
    table
}
