//! `topostream plan`: how long a run would take, and what it would wait for.

use super::args::ResourceArgs;
use super::{Failure, Outcome, calibration, print, tables};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;
use topostream::algorithm::Algorithm;
use topostream::algorithms::{Bfs, Components, PageRank, Sssp, Stop};
use topostream::strategy::Strategy;
use topostream::strategy::cost::{
    Needs, Prediction, Rates, SUPERSTEPS_DEFAULT, Seat, Setting, Work, choose, predict, shares,
};
use topostream::{EngineOptions, Store, VertexId};
use topostream_tools::progress::Cancel;

/// Predict how long an algorithm would take over a store, for each way in which devices can share it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Plan {
    /// The store's directory
    store: PathBuf,
    /// The algorithm
    #[arg(long, value_name = "ALGORITHM")]
    algorithm: AlgorithmName,
    /// Iterations of PageRank
    #[arg(long, default_value_t = SUPERSTEPS_DEFAULT, value_name = "N")]
    iterations: u32,
    /// Groups by destination that the store would have: as if formatted with as many shards
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=1024))]
    shards: Option<u64>,
    /// Rates of this machine [default: what `topostream calibrate` has kept]
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// Print the predictions as JSON, times in nanoseconds, and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

const EXAMPLES: &str = "\
The figures are those of `topostream calibrate`. How many pages a search visits is not known before it: a graph of small diameter is
expected. `run` shows afterwards what the same model says of the pages that were visited.

Examples:
  topostream plan wiki --algorithm pagerank --iterations 20
  topostream plan big --algorithm bfs --device 0,1 --memory 16GiB";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AlgorithmName {
    /// PageRank
    Pagerank,
    /// Breadth-first search
    Bfs,
    /// Shortest paths
    Sssp,
    /// Connected components
    Components,
}

/// A way in which a run can be done.
#[derive(Serialize)]
struct Row {
    /// The devices.
    devices: Vec<String>,
    /// Whether `auto` takes it, for these devices.
    auto: bool,
    /// Whether it fits in the memory that there is.
    fits: bool,
    prediction: Prediction,
}

impl Plan {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let store = Store::open(&self.store)?;
        let rates = calibration::for_plan(self.calibration.as_deref())?;
        let options = self.resources.options(cancel);
        let source = VertexId(0);
        let rows = match self.algorithm {
            AlgorithmName::Pagerank => {
                let stop = Stop::Iterations(self.iterations);
                self.rows(&PageRank { stop, ..PageRank::default() }, &store, &options, &rates)
            }
            AlgorithmName::Bfs => self.rows(&Bfs::from(source), &store, &options, &rates),
            AlgorithmName::Sssp => match store.manifest().weights {
                Some(weights) => self.rows(&Sssp { source, weights }, &store, &options, &rates),
                None => Err(Failure::Other("sssp needs weights, and the store has none".into())),
            },
            AlgorithmName::Components => {
                let directed = store.manifest().directed;
                self.rows(&Components { directed }, &store, &options, &rates)
            }
        }?;
        if self.json {
            let json = serde_json::to_string_pretty(&rows).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        print(&table(&rows))
    }

    /// The first device alone, then all of them by each strategy.
    fn rows<A: Algorithm>(
        &self,
        algorithm: &A,
        store: &Store,
        options: &EngineOptions,
        rates: &Rates,
    ) -> Result<Vec<Row>, Failure> {
        let mut work = Work::of(algorithm, store, Some(self.iterations));
        work.shards = self.shards.unwrap_or(work.shards);
        let all = seats(options, usize::MAX)?.len();
        let mut ways = vec![(1, Strategy::Replicate)];
        if all > 1 {
            ways.extend([(all, Strategy::Replicate), (all, Strategy::Shard)]);
        }
        let mut rows = Vec::new();
        for (count, strategy) in ways {
            let mut seats = seats(options, count)?;
            let names: Vec<String> = seats.iter().map(|seat| seat.name.clone()).collect();
            let Some(shares) = shares(rates, &work, &seats) else { return Err(unknown(rates, &names)) };
            seats.iter_mut().zip(shares).for_each(|(seat, share)| seat.share = share);
            let chosen = match options.strategy {
                Strategy::Auto => choose(Some(rates), algorithm, store, options, &seats),
                asked => asked,
            };
            let setting = Setting::new(rates, algorithm, store, options, seats, strategy);
            let Some(prediction) = predict(&work, &setting) else { return Err(unknown(rates, &names)) };
            let fits = prediction.memory.as_ref().is_some_and(Needs::fit);
            rows.push(Row { devices: names, auto: count == 1 || strategy == chosen, fits, prediction });
        }
        Ok(rows)
    }
}

fn unknown(rates: &Rates, names: &[String]) -> Failure {
    let name = names.iter().find(|name| rates.device(name).is_none()).map_or("a device", String::as_str);
    Failure::Other(format!("{name} has not been measured; `topostream calibrate --device …` does that"))
}

/// The devices that are asked for, or the first of them; none is opened. CPUs share their threads.
#[cfg(feature = "gpu")]
fn seats(options: &EngineOptions, most: usize) -> Result<Vec<Seat>, Failure> {
    let mut adapters = topostream::device::gpu::adapters::choose_all(&options.devices)?;
    adapters.truncate(most);
    let cpus = adapters.iter().filter(|adapter| adapter.is_none()).count();
    let seat = |adapter: &Option<topostream::device::gpu::adapters::Adapter>| match adapter {
        Some(adapter) => Seat::gpu(&adapter.report.name, adapter.report.memory_bytes, &options.gpu),
        None => Seat::cpu((options.threads / cpus).max(1)),
    };
    Ok(adapters.iter().map(seat).collect())
}

#[cfg(not(feature = "gpu"))]
fn seats(options: &EngineOptions, most: usize) -> Result<Vec<Seat>, Failure> {
    options.devices.iter().try_for_each(topostream::device::DeviceChoice::without_gpu_support)?;
    let cpus = options.devices.len().min(most);
    Ok(vec![Seat::cpu((options.threads / cpus).max(1)); cpus])
}

fn table(rows: &[Row]) -> String {
    let header = [
        "devices",
        "strategy",
        "",
        "ssd s",
        "bus s",
        "kernel s",
        "vertex s",
        "up s",
        "down s",
        "steps s",
        "total s",
        "bound by",
        "main memory",
        "each device",
        "fits",
    ];
    let row = |row: &Row| {
        let (of, terms) = (&row.prediction, &row.prediction.terms);
        let devices = match &row.devices[..] {
            [one] => one.clone(),
            several => format!("{} ({})", several.len(), distinct(several)),
        };
        let strategy = if row.devices.len() == 1 { "alone".into() } else { of.strategy.to_string() };
        let mut cells = vec![devices, strategy, if row.auto { "auto" } else { "" }.into()];
        let times = [
            terms.ssd_ns,
            terms.bus_ns,
            terms.kernel_ns,
            terms.vertex_ns,
            terms.merge_up_ns,
            terms.merge_down_ns,
            terms.overhead_ns,
            of.total_ns,
        ];
        cells.extend(times.map(|ns| format!("{:.3}", ns / 1e9)));
        cells.push(format!("{:?}", of.wall).to_lowercase());
        let memory = of.memory.as_ref();
        cells.push(memory.map_or(String::new(), |memory| tables::bytes(memory.main_bytes + memory.buffer_bytes)));
        let own = memory.iter().flat_map(|memory| &memory.devices).filter(|device| device.budget_bytes.is_some());
        let most = own.map(|device| device.bytes + device.cache_bytes).max();
        cells.push(most.map_or(String::new(), tables::bytes));
        cells.push(if row.fits { "yes" } else { "no" }.into());
        cells
    };
    tables::table_of(3, &header, rows.iter().map(row))
}

fn distinct(names: &[String]) -> String {
    let mut distinct: Vec<&str> = names.iter().map(String::as_str).collect();
    distinct.dedup();
    distinct.join("; ")
}
