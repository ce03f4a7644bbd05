//! `topostream demo`: formats a small graph, runs algorithms over it and checks the answers.

use super::args::size;
use super::failure::{Failure, Outcome};
use super::output::temporary_folder;
use super::printing::print;
use super::progress::Bars;
use super::{opening, tables};
use crate::algorithms::{Bfs, PageRank, Stop};
use crate::engine::{Engine, EngineOptions, Run};
use crate::model::algorithm::AnswerValues;
use crate::report::RunReport;
use crate::store::VertexId;
use clap::Args;
use std::collections::VecDeque;
use std::time::Instant;
use topostream_formats::{EdgeSource, OriginalIds};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::generate::Rmat;
use topostream_tools::progress::{Cancel, Progress, Unit};
use topostream_tools::verify::verify;

/// Generate a graph, format it, run PageRank and BFS from disk with a page buffer a quarter of its out-lists, and
/// check both against an independent computation in memory.
#[derive(Args)]
pub struct Demo {
    /// The graph has 2^SCALE vertices and 16 times as many edges
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(10..=24))]
    scale: u32,
    /// Main memory for formatting and verifying, as a hard limit; the check in memory needs about 300 bytes a vertex
    /// beside it
    #[arg(long, value_parser = size, default_value = "256MiB", value_name = "SIZE")]
    memory: u64,
}

/// PageRank iterations of the demonstration.
const ITERATIONS: u32 = 10;

impl Demo {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let rmat = Rmat::new(self.scale, 16, 1);
        let folder = temporary_folder(&std::env::temp_dir(), "demo")?;
        let path = folder.path().join("store");
        let bars = Bars::default();
        let started = Instant::now();
        let options = FormatOptions { in_edges: true, memory_bytes: self.memory, ..FormatOptions::default() };
        format(&mut || Ok(Box::new(rmat.generate()?)), &path, &options, &bars, cancel)?;
        let format_ns = started.elapsed().as_nanos() as u64;
        let store = opening::open(&path)?;
        let started = Instant::now();
        let verified = verify(&store, self.memory, &bars, cancel)?;
        let verify_ns = started.elapsed().as_nanos() as u64;

        let page_bytes = u64::from(store.manifest().page_bytes);
        let buffer_bytes = (store.manifest().out.pages / 4).max(4) * page_bytes;
        let engine_options = EngineOptions::default().with_buffer_bytes(Some(buffer_bytes)).with_cancel(cancel.flag());
        let engine = Engine::new(store, engine_options);
        let pagerank = PageRank { stop: Stop::Iterations(ITERATIONS), ..PageRank::default() };
        let ranks = engine.run(pagerank)?;
        let source = VertexId(rmat_source(&engine)?);
        let levels = engine.run(Bfs::from(source))?;

        bars.begin("check in memory", None, Unit::Edges);
        let graph = InMemory::collect(&mut rmat.generate()?, cancel)?;
        let ids = engine.store().ids()?;
        let worst = worst_rank_error(&ranks, &ids, &graph.pagerank(ITERATIONS));
        let wrong_levels = wrong_levels(&levels, &ids, &graph.bfs(ids.original(source) as u32));
        drop(bars);

        let edges = engine.store().edges();
        print(&format!(
            "R-MAT graph of scale {}: {}, {}, {} on disk; page buffer {}\n",
            self.scale,
            tables::counted(engine.store().vertices(), "vertex"),
            tables::counted(edges, "edge"),
            tables::bytes(engine.store().disk_bytes()),
            tables::bytes(ranks.report.buffer_bytes),
        ))?;
        let rows = vec![
            row("generate and format", format_ns, edges, 0, "out-lists and in-lists".into()),
            row("verify", verify_ns, verified.edges, verified.bytes, "no defects".into()),
            run_row(
                &format!("PageRank, {ITERATIONS} iterations"),
                &ranks.report,
                format!("largest relative error {worst:.1e} against memory"),
            ),
            run_row(
                "BFS",
                &levels.report,
                match wrong_levels {
                    1 => "1 level differs from memory".into(),
                    levels => format!("{levels} levels differ from memory"),
                },
            ),
        ];
        print(&tables::table(&["", "time s", "M edges/s", "read", "outcome"], rows))?;
        if worst <= 1e-4 && wrong_levels == 0 {
            return print("All answers agree with the independent computation.\n");
        }
        Err(Failure::Other("the answers do not agree with the independent computation: please report this".into()))
    }
}

/// A vertex of highest out-degree.
fn rmat_source(engine: &Engine) -> Result<u32, Failure> {
    let degrees = engine.store().out_degrees()?;
    Ok(degrees.values().iter().enumerate().max_by_key(|&(_, degree)| degree).map_or(0, |(vertex, _)| vertex as u32))
}

fn row(name: &str, ns: u64, edges: u64, bytes: u64, checked: String) -> Vec<String> {
    let seconds = ns as f64 / 1e9;
    let read = if bytes > 0 { tables::bytes(bytes) } else { String::new() };
    let rate = edges as f64 / seconds.max(1e-9) / 1e6;
    vec![name.into(), format!("{seconds:.2}"), format!("{rate:.0}"), read, checked]
}

fn run_row(name: &str, report: &RunReport, checked: String) -> Vec<String> {
    row(name, report.wall_ns, report.total.edges, report.total.disk_bytes, checked)
}

/// The graph as plain arrays, and both algorithms as textbooks have them: shares nothing with the engine.
struct InMemory {
    starts: Vec<usize>,
    dests: Vec<u32>,
}

impl InMemory {
    fn collect(source: &mut dyn EdgeSource, cancel: &Cancel) -> Result<Self, Failure> {
        let (mut edges, mut chunk, mut vertices) = (Vec::new(), Vec::new(), 0);
        if let topostream_formats::IdSpace::Range { count, .. } = source.info().ids {
            vertices = count as usize;
        }
        loop {
            cancel.check()?;
            source.read(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            edges.extend(chunk.iter().map(|edge| (edge.source as u32, edge.dest as u32)));
        }
        let mut starts = vec![0; vertices + 1];
        edges.iter().for_each(|&(source, _)| starts[source as usize + 1] += 1);
        (0..vertices).for_each(|vertex| starts[vertex + 1] += starts[vertex]);
        let (mut next, mut dests) = (starts.clone(), vec![0; edges.len()]);
        for (source, dest) in edges {
            dests[next[source as usize]] = dest;
            next[source as usize] += 1;
        }
        Ok(Self { starts, dests })
    }

    fn list(&self, vertex: usize) -> &[u32] {
        &self.dests[self.starts[vertex]..self.starts[vertex + 1]]
    }

    fn pagerank(&self, iterations: u32) -> Vec<f64> {
        let n = self.starts.len() - 1;
        let mut ranks = vec![1.0 / n as f64; n];
        for _ in 0..iterations {
            let mut received = vec![0.0; n];
            let mut dangling = 0.0;
            for (vertex, rank) in ranks.iter().enumerate() {
                let list = self.list(vertex);
                if list.is_empty() {
                    dangling += rank;
                }
                list.iter().for_each(|&dest| received[dest as usize] += rank / list.len() as f64);
            }
            ranks = received.iter().map(|sum| 0.15 / n as f64 + 0.85 * (sum + dangling / n as f64)).collect();
        }
        ranks
    }

    fn bfs(&self, source: u32) -> Vec<Option<u64>> {
        let mut levels = vec![None; self.starts.len() - 1];
        let mut queue = VecDeque::from([source]);
        levels[source as usize] = Some(0);
        while let Some(vertex) = queue.pop_front() {
            let level = levels[vertex as usize].map(|level: u64| level + 1);
            for &dest in self.list(vertex as usize) {
                if levels[dest as usize].is_none() {
                    levels[dest as usize] = level;
                    queue.push_back(dest);
                }
            }
        }
        levels
    }
}

/// The largest relative error of a rank; `expected` is by original id.
fn worst_rank_error(run: &Run<PageRank>, ids: &OriginalIds, expected: &[f64]) -> f64 {
    let answers = run.answers();
    let AnswerValues::F64(rank) = &answers[0].values else { return f64::INFINITY };
    let error = |vertex: u32| {
        let expected = expected[ids.original(VertexId(vertex)) as usize];
        (rank.get(vertex) - expected).abs() / expected
    };
    (0..expected.len() as u32).map(error).fold(0.0, f64::max)
}

/// The number of vertices with another level than expected; `expected` is by original id.
fn wrong_levels(run: &Run<Bfs>, ids: &OriginalIds, expected: &[Option<u64>]) -> usize {
    let answers = run.answers();
    let AnswerValues::Integer(level) = &answers[0].values else { return expected.len() };
    let differs = |&vertex: &u32| level.get(vertex) != expected[ids.original(VertexId(vertex)) as usize];
    (0..expected.len() as u32).filter(differs).count()
}
