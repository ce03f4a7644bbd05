//! `topostream plan`: how long a run would take, what it would wait for, and the memory that it would take.

use super::run::Job;
use super::{Failure, Outcome, print, tables};
use crate::engine::{Engine, EngineOptions};
use crate::model::algorithm::{Algorithm, Supersteps, Visit};
use crate::predict::{DeviceProfile, Environment, Needs, Prediction, Rates, Workload, choose, predict, shares};
use crate::store::Direction;
use crate::team::Strategy;
use clap::Args;
use serde::Serialize;
use topostream_tools::progress::Cancel;

/// Predict the memory and time of a run: the same arguments as `run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Plan {
    #[command(subcommand)]
    job: Job,
    /// Groups by destination that the store would have: as if formatted with as many shards
    #[arg(long, global = true, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=1024))]
    shards: Option<u64>,
}

const EXAMPLES: &str = "\
There is a row for the first device alone and one for each way in which all devices can share the run; `auto` marks \
the one that `run` would select. Nothing is computed or written, and no page is read, unless an algorithm must count \
edges to know its memory (communities and clustering over a directed graph without in-lists).

Main memory is exact, except for clustering, where it is an upper bound. Times are computed from the rates that \
`topostream calibrate` has measured and from the number of supersteps, which is given below the table. The number is \
known before a run if the arguments or the algorithm determine it (pagerank --iterations, clustering, degrees). If \
only a maximum is known, times assume the maximum. Searches (bfs, sssp, widest, components) are assumed to run over a \
graph of small diameter. Otherwise times are for one superstep that reads every page, and do not predict the run. \
After a run, `run` shows the same model's times for the pages that were visited.

Examples:
  topostream plan pagerank wiki --iterations 20
  topostream plan communities wiki --max-iterations 10 --table 256MiB
  topostream plan bfs big --source max-degree --device 0,1 --memory 16GiB";

/// A way in which a run can be done.
#[derive(Serialize)]
struct Row {
    /// The devices.
    devices: Vec<String>,
    /// Whether `run` would select it for these devices.
    auto: bool,
    /// Whether it fits in the memory that there is.
    fits: bool,
    /// The work that the times cover.
    supersteps: Counted,
    prediction: Prediction,
}

/// The supersteps that times are for.
#[derive(Clone, Copy, Serialize)]
struct Counted {
    /// How many; a fraction where it is an estimate.
    count: f64,
    basis: Basis,
}

/// Where the number of supersteps comes from.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Basis {
    /// It is known.
    Exact,
    /// There are no more.
    AtMost,
    /// It is not known: it is one, and more come.
    One,
    /// Searches of other graphs took as many.
    Expected,
}

impl Counted {
    fn of(algorithm: &dyn Algorithm, work: &Workload) -> Self {
        let basis = match algorithm.supersteps() {
            _ if algorithm.is_traversal() => Basis::Expected,
            Supersteps::Exactly(_) => Basis::Exact,
            Supersteps::AtMost(_) => Basis::AtMost,
            Supersteps::Unknown => Basis::One,
        };
        Self { count: work.phases.iter().map(|phase| phase.supersteps).sum(), basis }
    }

    /// A line for people.
    fn describe(self, algorithm: &dyn Algorithm, has_in_lists: bool) -> String {
        let count = self.count;
        let all = algorithm.visits(has_in_lists).iter().all(|(_, visit)| *visit == Visit::All);
        let each = if all { "each reads every page" } else { "each reads every page, or fewer" };
        match self.basis {
            Basis::Exact if count == 0.0 => "supersteps: 0, known before the run; nothing is read\n".into(),
            Basis::Exact => format!("supersteps: {count}, known before the run; {each}\n"),
            Basis::AtMost => format!("supersteps: up to {count} (times assume {count}); {each}\n"),
            Basis::One => "supersteps: unknown before the run. Times are for one superstep that reads every page, and \
                           do not predict the run\n"
                .into(),
            Basis::Expected => format!(
                "supersteps: about {count} for a complete search of a graph of small diameter; grids and road networks \
                 take more, in proportion to their diameter\n"
            ),
        }
    }
}

impl Plan {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let Job { common, arguments } = self.job;
        let (rates, engine) = common.planning(cancel)?;
        let prepared = arguments.prepare(engine.store(), &cancel.flag())?;
        let note = prepared.plan_note.map_or(String::new(), |note| format!("{note}\n"));
        let algorithm = prepared.runs.planned(&engine)?;
        engine.check(&*algorithm)?;
        let mut work = Workload::of(&*algorithm, engine.store(), 1);
        work.shards = self.shards.unwrap_or(work.shards);
        let rows = rows(&*algorithm, &work, &engine, &rates)?;
        if common.json() {
            let json = serde_json::to_string_pretty(&rows).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        let has_in_lists = engine.store().topology(Direction::In).is_some();
        let supersteps = Counted::of(&*algorithm, &work).describe(&*algorithm, has_in_lists);
        let mode = if engine.options().asynchronous {
            "not included in the times: the effect of --asynchronous\n"
        } else {
            ""
        };
        print(&(table(&rows) + &supersteps + &rates_of(&*algorithm, &work) + mode + &note))
    }
}

/// The first device alone, then all of them by each strategy.
fn rows(algorithm: &dyn Algorithm, work: &Workload, engine: &Engine, rates: &Rates) -> Result<Vec<Row>, Failure> {
    let (store, options) = (engine.store(), engine.options());
    let all = profiles(options, usize::MAX)?.len();
    let mut ways = vec![(1, Strategy::Replicate)];
    if all > 1 && !algorithm.is_owned() {
        ways.push((all, Strategy::Replicate));
    }
    if all > 1 {
        ways.push((all, Strategy::Shard));
    }
    let mut rows = Vec::new();
    for (count, strategy) in ways {
        let mut profiles = profiles(options, count)?;
        let names: Vec<String> = profiles.iter().map(|profile| profile.name.clone()).collect();
        let Some(shares) = shares(rates, work, &profiles) else { return Err(unknown(rates, &names)) };
        profiles.iter_mut().zip(shares).for_each(|(profile, share)| profile.share = share);
        let chosen = choose(Some(rates), algorithm, store, &options.cost_options(), &profiles);
        let environment = Environment::new(rates, algorithm, store, &options.cost_options(), profiles, strategy);
        let Some(prediction) = predict(work, &environment) else { return Err(unknown(rates, &names)) };
        let fits = prediction.memory.as_ref().is_some_and(Needs::fit);
        let supersteps = Counted::of(algorithm, work);
        rows.push(Row { devices: names, auto: count == 1 || strategy == chosen, fits, supersteps, prediction });
    }
    Ok(rows)
}

/// A line for people: the algorithm whose measured rates are used for kernel times.
fn rates_of(algorithm: &dyn Algorithm, work: &Workload) -> String {
    let mut measured: Vec<&str> = work.phases.iter().map(|phase| phase.kernel.measured_of()).collect();
    measured.dedup();
    let name = algorithm.name();
    let other = match measured.contains(&name) {
        true => String::new(),
        false => format!("; {name} may do more with an edge, and then takes longer"),
    };
    format!("kernels: at the rates of {}, as measured{other}\n", measured.join(" and "))
}

fn unknown(rates: &Rates, names: &[String]) -> Failure {
    let name = names.iter().find(|name| rates.device(name).is_none()).map_or("a device", String::as_str);
    Failure::Other(format!("{name} has not been measured; `topostream calibrate --device …` does that"))
}

/// The devices that are asked for, or the first of them; none is opened. CPUs share their threads.
#[cfg(feature = "gpu")]
fn profiles(options: &EngineOptions, most: usize) -> Result<Vec<DeviceProfile>, Failure> {
    let mut adapters = crate::device::gpu::adapters::choose_all(&options.devices)?;
    adapters.truncate(most);
    let cpus = adapters.iter().filter(|adapter| adapter.is_none()).count();
    let profile = |adapter: &Option<crate::device::gpu::adapters::Adapter>| match adapter {
        Some(adapter) => DeviceProfile::gpu(&adapter.report.name, adapter.report.memory_bytes, &options.gpu),
        None => DeviceProfile::cpu((options.threads / cpus).max(1)),
    };
    Ok(adapters.iter().map(profile).collect())
}

#[cfg(not(feature = "gpu"))]
fn profiles(options: &EngineOptions, most: usize) -> Result<Vec<DeviceProfile>, Failure> {
    options.devices.iter().try_for_each(crate::device::DeviceChoice::without_gpu_support)?;
    let cpus = options.devices.len().min(most);
    Ok(vec![DeviceProfile::cpu((options.threads / cpus).max(1)); cpus])
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
        let most = own.map(|device| device.bytes + device.pages_bytes).max();
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
