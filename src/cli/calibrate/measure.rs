//! Rates of a device: the engine runs on it, and its reports give the times.

use super::fit::{FREE, Sample, median, rate, rates};
use super::graphs::Graphs;
use crate::algorithms::{Bfs, Components, PageRank, Sssp, Stop, Traffic};
use crate::cli::failure::Failure;
use crate::cli::opening;
use crate::device::DeviceChoice;
use crate::engine::{Engine, EngineOptions};
use crate::model::algorithm::Algorithm;
use crate::predict::{BusRates, DeviceRates, KernelRates};
use crate::report::{RunReport, StepReport};
use crate::store::{Direction, VertexId};
use crate::team::Strategy;
use std::path::Path;
use topostream_formats::WeightType;

/// Iterations of a PageRank.
const ITERATIONS: u32 = 6;
/// Runs of each kind; the fastest counts.
const RUNS: usize = 4;

/// The least page buffer of a pass from disk.
const BUFFER_MIN_BYTES: u64 = 8 << 20;

/// A device to measure, and the graphs for it.
pub struct Bench<'a> {
    /// The device.
    pub choice: &'a DeviceChoice,
    /// Options of its engine.
    pub options: &'a EngineOptions,
    /// The graphs.
    pub graphs: &'a Graphs,
}

impl Bench<'_> {
    fn is_cpu(&self) -> bool {
        *self.choice == DeviceChoice::Cpu
    }

    /// All rates of the device.
    pub fn device(&self) -> Result<DeviceRates, Failure> {
        let (name, superstep_ns) = self.superstep()?;
        let graphs = self.graphs.stores().map(|store| self.on_graph(&store, superstep_ns));
        let graphs = graphs.collect::<Result<Vec<_>, _>>()?;
        let bus = if self.is_cpu() { None } else { Some(self.bus(superstep_ns)?) };
        let (merge_bytes_per_s, exchange_ns) = self.merge(superstep_ns)?;
        Ok(DeviceRates {
            name,
            threads: self.is_cpu().then_some(self.options.threads as u32),
            kernels: graphs,
            bus,
            check_bytes_per_s: if self.is_cpu() { Some(self.fresh()?) } else { None },
            merge_bytes_per_s,
            superstep_ns,
            exchange_ns,
        })
    }

    fn engine(&self, store: &Path, change: impl FnOnce(&mut EngineOptions)) -> Result<Engine, Failure> {
        let mut options = self.options.clone().with_device(self.choice.clone());
        change(&mut options);
        Ok(Engine::new(opening::open(store)?, options))
    }

    /// The device's name, and how long a superstep takes in which one vertex has two edges.
    fn superstep(&self) -> Result<(String, f64), Failure> {
        let engine = self.engine(&self.graphs.path(), |_| {})?;
        let bfs = Bfs { bottom_up: false, ..Bfs::from(VertexId(0)) };
        let report = again(&engine, bfs)?;
        let steps = report.steps.iter().map(|step| step.wall_ns as f64).collect();
        Ok((report.device, median(steps).unwrap_or(1.0).max(1.0)))
    }

    fn on_graph(&self, store: &Path, superstep_ns: f64) -> Result<KernelRates, Failure> {
        let engine = self.engine(store, |_| {})?;
        let of = Reading { superstep_ns, cpu: self.is_cpu() };
        let vertices = engine.store().vertices() as f64;
        let push = again(&engine, pagerank(Traffic::Push))?;
        let pull = again(&engine, pagerank(Traffic::Pull))?;
        let (steps, source) = (searches(&engine)?, hub(&engine)?);
        let (top_down, top_down_lists) = of.search(&engine, &steps, Direction::Out);
        let (bottom_up, bottom_up_lists) = of.search(&engine, &steps, Direction::In);
        let paths = again(&engine, Sssp::new(source, WeightType::U32))?;
        let (weighted, weighted_lists) = of.search(&engine, &paths.steps, Direction::Out);
        let components = again(&engine, Components { directed: true })?;
        Ok(KernelRates {
            vertices: vertices as u64,
            push: of.scan(&push),
            pull: of.scan(&pull),
            top_down,
            bottom_up,
            weighted,
            labels: of.scan(&components),
            top_down_lists,
            weighted_lists,
            bottom_up_lists,
            vertex_phase: rate(vertices, of.end_ns(push.steps.iter())),
            census: rate(vertices, of.end_ns(steps.iter())),
            initialise: rate(vertices, push.initialise_ns as f64),
        })
    }

    /// Bytes of fresh pages per second, without the work on them: the additional time of a pass with most pages on
    /// disk. Where the disk is the bottleneck, the time of page checks is used instead.
    fn fresh(&self) -> Result<f64, Failure> {
        let largest = self.graphs.largest();
        let buffered = again(&self.engine(&largest, |_| {})?, pagerank(Traffic::Push))?;
        let all_bytes = buffered.buffer_bytes;
        let engine =
            self.engine(&largest, |options| options.buffer_bytes = Some((all_bytes / 16).max(BUFFER_MIN_BYTES)))?;
        let streamed = again(&engine, pagerank(Traffic::Push))?.total;
        let longer = streamed.wall_ns.saturating_sub(buffered.total.wall_ns) as f64;
        let checks = streamed.check_ns as f64 / f64::from(buffered.lanes.max(1));
        let waits = streamed.wait_disk_ns * 4 > streamed.wall_ns;
        let ns = if waits { checks } else { longer.max(checks) };
        Ok(if streamed.disk_bytes > 0 { rate(streamed.disk_bytes as f64, ns) } else { FREE })
    }

    /// Pages in main memory, none kept on the device.
    fn bus(&self, superstep_ns: f64) -> Result<BusRates, Failure> {
        let engine = self.engine(&self.graphs.largest(), |options| options.gpu.cache_bytes = Some(0))?;
        let of = Reading { superstep_ns, cpu: false };
        let push = again(&engine, pagerank(Traffic::Push))?;
        let search = again(&engine, Bfs { bottom_up: false, ..Bfs::from(hub(&engine)?) })?;
        Ok(BusRates { in_place_bytes_per_s: of.bus(&push), search_bytes_per_s: of.bus(&search) })
    }

    /// The rate at which it exchanges values with itself, opened twice, in bytes per second, and the nanoseconds by
    /// which an exchange of one vertex makes a superstep longer: devices also start each other and wait.
    fn merge(&self, superstep_ns: f64) -> Result<(f64, f64), Failure> {
        let twice = |options: &mut EngineOptions| {
            options.devices = vec![self.choice.clone(), self.choice.clone()];
            options.strategy = Strategy::Replicate;
        };
        let path = again(&self.engine(&self.graphs.path(), twice)?, Bfs::from(VertexId(0)))?;
        let each = |ns: fn(&StepReport) -> u64| {
            median(path.steps.iter().map(|step| ns(step) as f64).collect()).unwrap_or(0.0).max(1.0)
        };
        let exchange_ns = each(|step| step.exchange_ns);
        let push = again(&self.engine(&self.graphs.largest(), twice)?, pagerank(Traffic::Push))?;
        let (bytes, ns) = (push.total.exchanged_bytes as f64, push.total.exchange_ns as f64);
        let moved_ns = (ns - exchange_ns * push.steps.len() as f64).max(ns / 10.0);
        let longer_ns = (each(|step| step.wall_ns) - superstep_ns).max(exchange_ns);
        Ok((if bytes > 0.0 { rate(bytes, moved_ns) } else { FREE }, longer_ns))
    }
}

/// The share of its bus rate that each of several devices reaches while all of them read main memory.
pub fn concurrent_bus_share(benches: &[Bench<'_>]) -> Result<f64, Failure> {
    let gpus: Vec<&Bench<'_>> = benches.iter().filter(|bench| !bench.is_cpu()).collect();
    if gpus.len() < 2 {
        return Ok(1.0);
    }
    let rate = |bench: &Bench<'_>| Ok::<_, Failure>(bench.bus(1.0)?.in_place_bytes_per_s);
    let alone = gpus.iter().map(|bench| rate(bench)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<Result<f64, Failure>> = std::thread::scope(|scope| {
        let rate = &rate;
        let mut threads = Vec::new();
        for &bench in &gpus {
            threads.push(std::thread::Builder::new().spawn_scoped(scope, move || rate(bench)));
        }
        let end = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, Result<f64, Failure>>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(Failure::Other(format!("a thread for each GPU cannot be started: {error}"))),
        };
        threads.into_iter().map(end).collect()
    });
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    let left = alone.iter().zip(&all).map(|(alone, all)| all / alone);
    Ok(left.fold(1.0, f64::min).max(1e-3))
}

/// The fastest of a few runs after one to warm up: other load makes runs slower, and none faster.
fn again<A: Algorithm + Clone>(engine: &Engine, algorithm: A) -> Result<RunReport, Failure> {
    engine.run(algorithm.clone())?;
    let mut fastest = engine.run(algorithm.clone())?.report;
    for _ in 1..RUNS {
        let report = engine.run(algorithm.clone())?.report;
        fastest = if report.wall_ns < fastest.wall_ns { report } else { fastest };
    }
    Ok(fastest)
}

fn pagerank(traffic: Traffic) -> PageRank {
    PageRank { stop: Stop::Iterations(ITERATIONS), traffic, ..PageRank::default() }
}

/// A vertex of highest out-degree: a search from there reaches most of the graph.
fn hub(engine: &Engine) -> Result<VertexId, Failure> {
    let degrees = engine.store().out_degrees()?;
    let hub = degrees.values().iter().enumerate().max_by_key(|&(_, degree)| degree);
    Ok(VertexId(hub.map_or(0, |(vertex, _)| vertex as u32)))
}

/// The supersteps of searches from a hub, of both kinds.
fn searches(engine: &Engine) -> Result<Vec<StepReport>, Failure> {
    let source = hub(engine)?;
    let mut steps = Vec::new();
    for bottom_up in [false, true] {
        let bfs = Bfs { bottom_up, ..Bfs::from(source) };
        steps.extend(again(engine, bfs)?.steps);
    }
    Ok(steps)
}

/// The times in reports that count for a device.
struct Reading {
    superstep_ns: f64,
    cpu: bool,
}

impl Reading {
    /// The end of a superstep. The engine waits for a GPU there, so only the GPU's clock separates it from the pages.
    fn vertex_ns(&self, step: &StepReport) -> f64 {
        if self.cpu { step.vertex_ns as f64 } else { step.transfer.vertex_kernels_ns as f64 }
    }

    /// The time of a superstep without its end and without the fixed time of any superstep.
    fn streaming_ns(&self, step: &StepReport) -> f64 {
        let wall = step.wall_ns as f64;
        (wall - self.vertex_ns(step) - self.superstep_ns).max(wall / 10.0)
    }

    /// How long the end of a superstep takes.
    fn end_ns<'a>(&self, steps: impl Iterator<Item = &'a StepReport>) -> f64 {
        median(steps.map(|step| self.vertex_ns(step)).collect()).unwrap_or(0.0)
    }

    /// Edges and lists a second of the supersteps of searches that read these lists.
    fn search(&self, engine: &Engine, steps: &[StepReport], direction: Direction) -> (f64, f64) {
        let (store, vertices) = (engine.store(), engine.store().vertices() as f64);
        let pages = store.topology(direction).map_or(1, |of| of.page_count().max(1));
        let samples = steps.iter().filter(|step| step.direction == Some(direction)).map(|step| Sample {
            edges: step.edges as f64,
            lists: step.pages as f64 / f64::from(pages) * vertices,
            ns: self.streaming_ns(step),
        });
        rates(&samples.collect::<Vec<_>>())
    }

    /// Edges a second of a scan.
    fn scan(&self, report: &RunReport) -> f64 {
        let edges = report.steps.first().map_or(0.0, |step| step.edges as f64);
        rate(edges, median(report.steps.iter().map(|step| self.streaming_ns(step)).collect()).unwrap_or(0.0))
    }

    /// Bytes a second that went over the bus.
    fn bus(&self, report: &RunReport) -> f64 {
        let bytes = (report.total.transfer.copied_bytes + report.total.transfer.in_place_bytes) as f64;
        let ns: f64 = report.steps.iter().map(|step| self.streaming_ns(step)).sum();
        if bytes > 0.0 { rate(bytes, ns) } else { FREE }
    }
}
