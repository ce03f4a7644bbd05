//! A graph of a billion edges on a small machine: from the generator to answers.

use crate::answers::{BFS_CHECK, PAGERANK_CHECK, STORE_CHECK};
use crate::child::{Finished, Task};
use crate::error::Result;
use crate::graph::{Order, fresh, largest_vertex, rmat_edges};
use crate::measure::{Spread, mib, ratio};
use crate::options::{Common, size};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::runs::Work;
use std::path::Path;
use topostream_formats::Store;

const EXPECTATION: &str = "a graph of a billion edges is formatted within 2 GiB of memory, and ten iterations of \
    PageRank and a BFS with a page buffer of 256 MiB take less memory than the graph has bytes";
const ITERATIONS: u32 = 10;

/// A billion edges: format, verify, PageRank and BFS, each in its own process
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scale of the R-MAT graph of edge factor 16
    #[arg(long, default_value_t = 26)]
    pub scale: u32,
    /// The formatter's memory budget
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub memory: u64,
    /// The page buffer of runs
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub buffer: u64,
    /// Store the in-lists too, for pull PageRank and bottom-up BFS
    #[arg(long)]
    pub in_edges: bool,
    /// Keep the store in the scratch directory
    #[arg(long)]
    pub keep: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::new("billion", EXPECTATION);
    [STORE_CHECK, PAGERANK_CHECK, BFS_CHECK].iter().for_each(|&how| outcome.verified(how));
    outcome.notes.push("every row is a separate process; its peak memory is taken before answers are checked".into());
    let Options { scale, memory, in_edges, ref common, .. } = *options;
    let path = fresh(&common.dir, &format!("billion-{scale}"))?;
    let mut table = Table::new("Billion", &["what", "s", "M edges/s", "GB/s from disk", "peak MiB"]);
    let page_bytes = common.page_size;
    let (packed, order) = (true, Order::Auto);
    let format = Task::Format { scale, path: path.clone(), memory_bytes: memory, in_edges, page_bytes, packed, order };
    let format = format.spawn()?;
    let verify = Task::Verify { scale, path: path.clone(), memory_bytes: memory }.spawn()?;
    let store = Store::open(&path)?;
    outcome.notes.push(describe(&store));
    let edges = rmat_edges(scale) as f64;
    table.row(row("generate and format", &[&format], edges, None));
    table.row(row("verify", &[&verify], edges, Some(store.disk_bytes() as f64)));
    let source = largest_vertex(&store)?.0;
    let bfs = Work::Bfs { source, bottom_up: in_edges };
    for (name, work) in [("PageRank, ten iterations", Work::PageRank { iterations: ITERATIONS }), ("BFS", bfs)] {
        let runs = runs(&path, work, options)?;
        let of = |run: &Finished, key: &str| run.report["total"][key].as_f64().unwrap_or(0.0);
        let runs: Vec<&Finished> = runs.iter().collect();
        table.row(row(name, &runs, of(runs[0], "edges"), Some(of(runs[0], "disk_bytes"))));
        let peaks = Spread::over(&runs, |run| mib(run.peak_bytes));
        let planned = runs[0].report["planned_bytes"].as_u64();
        outcome.claim(format!("{name}: peak MiB, of the graph's"), Goal::AtMost, mib(Some(store.disk_bytes())), peaks);
        outcome.claim(format!("{name}: peak MiB, of what was planned"), Goal::AtMost, mib(planned), peaks);
        outcome.report(name, &runs[0].report);
    }
    let peak = Spread::of(&[mib(format.peak_bytes)]);
    outcome.claim("formatting: peak MiB, of the budget", Goal::AtMost, mib(Some(memory)), peak);
    outcome.tables.push(table);
    if !options.keep {
        std::fs::remove_dir_all(&path)?;
    }
    Ok(outcome)
}

fn runs(path: &Path, work: Work, options: &Options) -> Result<Vec<Finished>> {
    let (path, buffer_bytes, threads) = (path.to_owned(), options.buffer, options.common.threads());
    let task = Task::Run { path, work, buffer_bytes, threads };
    (0..options.common.runs).map(|_| task.spawn()).collect()
}

fn describe(store: &Store) -> String {
    let (edges, bytes) = (store.edges() as f64, store.disk_bytes() as f64);
    let lists = if store.manifest().in_lists.is_some() { "out- and in-lists" } else { "out-lists" };
    let (vertices, per_edge) = (store.vertices(), ratio(bytes, edges));
    format!("{vertices} vertices, {edges} edges, {lists}: {:.2} GB, {per_edge:.2} bytes an edge", bytes / 1e9)
}

fn row(name: &str, runs: &[&Finished], edges: f64, disk_bytes: Option<f64>) -> Vec<Cell> {
    let over = |value: &dyn Fn(f64) -> f64| Cell::from(Spread::over(runs, |run| value(run.ns as f64)));
    vec![
        name.into(),
        over(&|ns| ns / 1e9),
        over(&|ns| ratio(1e3 * edges, ns)),
        disk_bytes.map_or("-".into(), |bytes| over(&|ns| ratio(bytes, ns))),
        Spread::over(runs, |run| mib(run.peak_bytes)).into(),
    ]
}
