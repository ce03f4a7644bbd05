//! Runs parts of benchmarks in child processes, to measure their peak memory alone.
//!
//! ```text
//!  benchmark ── topostream-bench child '{"Format": …}' ──▶ child
//!            ◀── one line of JSON on stdout ──────────────
//! ```

use crate::answers::check_edges;
use crate::arrays;
use crate::error::Result;
use crate::graph::{Order, Wanted, largest_vertex, rmat_source};
use crate::runs::{Expected, Work, engine};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::{Direction, Encoding, Store, VertexId};
use topostream_tools::available::peak_bytes;
use topostream_tools::progress::{Cancel, Progress, Quiet, Unit};
use topostream_tools::verify::verify;

/// The work of a child.
#[derive(Debug, Serialize, Deserialize)]
pub enum Task {
    /// Generates and formats an R-MAT graph.
    Format { scale: u32, path: PathBuf, memory_bytes: u64, in_edges: bool, page_bytes: u32, packed: bool, order: Order },
    /// Verifies a store; afterwards, untimed, compares it with its generator.
    Verify { scale: u32, path: PathBuf, memory_bytes: u64 },
    /// Runs the engine; afterwards, untimed, checks the answer.
    Run { path: PathBuf, work: Work, buffer_bytes: u64, threads: usize },
}

/// The outcome of a child.
#[derive(Debug, Serialize, Deserialize)]
pub struct Finished {
    /// Nanoseconds of the work, without the check afterwards.
    pub ns: u64,
    /// Peak memory of the process at the end of the work, if the system reports it.
    pub peak_bytes: Option<u64>,
    /// Nanoseconds of each stage.
    pub stages: Vec<(String, u64)>,
    /// The engine's report, for runs.
    pub report: serde_json::Value,
}

impl Task {
    /// Runs it in a child.
    ///
    /// # Errors
    /// If the child fails; it has said why on stderr.
    pub fn spawn(&self) -> Result<Finished> {
        let mut child = Command::new(std::env::current_exe()?);
        child.arg("child").arg(serde_json::to_string(self)?).stderr(Stdio::inherit());
        let output = child.output()?;
        if !output.status.success() {
            return Err(format!("{self:?} failed: {}", output.status).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn run(&self) -> Result<Finished> {
        match self {
            Self::Format { scale, path, memory_bytes, in_edges, page_bytes, packed, order } => {
                let encoding = if *packed { Encoding::packed(*page_bytes, PLAIN_PAGES)? } else { Encoding::VertexId };
                let wanted = Wanted { in_edges: *in_edges, page_bytes: *page_bytes, encoding, ..Wanted::default() };
                let wanted = Wanted { order: *order, ..wanted };
                let options = Wanted { memory_bytes: *memory_bytes, ..wanted }.options();
                let stages = Stages::default();
                let cancel = Cancel::default();
                let open = &mut || rmat_source(*scale);
                let started = Instant::now();
                topostream_tools::format::format(open, path, &options, &stages, &cancel)?;
                Ok(Finished { stages: stages.finish(), ..Finished::since(started) })
            }
            Self::Verify { scale, path, memory_bytes } => {
                let started = Instant::now();
                let store = Store::open(path)?;
                verify(&store, *memory_bytes, &Quiet, &Cancel::default())?;
                let finished = Finished::since(started);
                check_edges(&store, &mut *rmat_source(*scale)?)?;
                Ok(finished)
            }
            Self::Run { path, work, buffer_bytes, threads } => run_engine(path, *work, *buffer_bytes, *threads),
        }
    }
}

/// The expected answer is computed after the run, so that the peak in its report is the engine's alone.
fn run_engine(path: &std::path::Path, work: Work, buffer_bytes: u64, threads: usize) -> Result<Finished> {
    let engine = engine(path, Some(buffer_bytes), threads)?;
    let store = engine.store();
    let iterations = if let Work::PageRank { iterations } = work { iterations } else { 0 };
    let source = match work {
        Work::Bfs { source, .. } => VertexId(source),
        Work::PageRank { .. } => largest_vertex(store)?,
    };
    let expected =
        || -> Result<Expected> { Ok(Expected::new(&arrays::lists(store, Direction::Out)?, iterations, source)) };
    let report = work.run_then(&engine, expected)?;
    let ns = report.wall_ns;
    let (peak_bytes, report) = (report.peak_memory_bytes, serde_json::to_value(&report)?);
    Ok(Finished { ns, peak_bytes, stages: Vec::new(), report })
}

impl Finished {
    fn since(started: Instant) -> Self {
        let ns = started.elapsed().as_nanos() as u64;
        Self { ns, peak_bytes: peak_bytes(), stages: Vec::new(), report: serde_json::Value::Null }
    }
}

/// The child's side.
///
/// # Errors
/// Any failure.
pub fn main(task: &str) -> Result<()> {
    let task: Task = serde_json::from_str(task)?;
    println!("{}", serde_json::to_string(&task.run()?)?);
    Ok(())
}

/// Measures the time of stages.
#[derive(Default)]
struct Stages(Mutex<Vec<(String, Instant, Option<u64>)>>);

impl Stages {
    fn finish(self) -> Vec<(String, u64)> {
        let stages = self.0.into_inner().expect("nothing panics while it is held");
        stages
            .into_iter()
            .map(|(name, started, ns)| (name, ns.unwrap_or(started.elapsed().as_nanos() as u64)))
            .collect()
    }
}

impl Progress for Stages {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: Unit) {
        self.end();
        self.0.lock().expect("nothing panics while it is held").push((stage.into(), Instant::now(), None));
    }

    fn position(&self, _position: u64) {}

    fn end(&self) {
        let mut stages = self.0.lock().expect("nothing panics while it is held");
        if let Some((_, started, ns)) = stages.last_mut() {
            ns.get_or_insert(started.elapsed().as_nanos() as u64);
        }
    }
}
