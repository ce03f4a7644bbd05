//! `topostream plan`: how long a run would take, what it would wait for, and the memory that it would take.

use super::failure::{Failure, Outcome};
use super::machines::{self, MachineArgs};
use super::printing::print;
use super::run::Job;
use super::tables;
use crate::engine::{Engine, EngineOptions};
use crate::model::algorithm::{Declaration, Supersteps, Visit, declaration_of};
use crate::predict::{
    DeviceProfile, Environment, Machines, Needs, Prediction, Rates, UserOptions, Workload, alone, choose, predict,
    shares,
};
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
    #[command(flatten)]
    machines: MachineArgs,
}

const EXAMPLES: &str = "\
There is a row for one device alone, the one that `run` might take or else the first, and one for each way in which \
all devices can share the run; `auto` marks the one that `run` would select. Nothing is computed or written, and no \
page is read, unless an algorithm must count edges to know its memory (communities and clustering over a directed \
graph without in-lists).

Main memory is exact, except for clustering, where it is an upper bound. Times are computed from the rates that \
`topostream calibrate` has measured and from the number of supersteps, which is given below the table; they leave \
`--tune all-pages` out. The number is \
known before a run if the arguments or the algorithm determine it (pagerank --iterations, clustering, degrees). \
With a tolerance, times of PageRank assume the iterations that graphs of small diameter take to meet it. If only a \
maximum is known, times assume the maximum. Searches (bfs, sssp, widest, components) are assumed to run over a \
graph of small diameter. Otherwise times are for one superstep that reads every page, and do not predict the run. \
After a run, `run` shows the same model's times for the pages that were visited.

With --machines a line below the table estimates the time of N machines like this one by the formula of \
docs/scaling.md: each reads its share of the pages, and sends its values to the others after each superstep. Every \
machine holds the values of all vertices, so that main memory is not divided.

Examples:
  topostream plan pagerank wiki --iterations 20
  topostream plan communities wiki --max-iterations 10 --table 256MiB
  topostream plan bfs big --source max-degree --device 0,1 --memory 16GiB
  topostream plan pagerank big --iterations 20 --machines 8 --network 10Gbit
  topostream plan pagerank wiki --iterations 20 --graph rmat:32:256 --machines 64 --network 100Gbit";

/// Columns that narrow terminals do without, the first one first.
const SPARE: [&str; 7] = ["answer s", "up s", "down s", "bus s", "steps s", "vertex s", "each device"];

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
    /// Several machines like this one, if there are to be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Machines>,
}

/// What predictions are for.
struct Planned<'a> {
    declaration: &'a Declaration,
    work: Workload,
    engine: &'a Engine,
    rates: &'a Rates,
    options: UserOptions,
    /// The number of machines and the rate of their network.
    machines: Option<(u32, u64)>,
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
    /// Searches of other graphs took as many, or values of other graphs had converged after as many.
    Expected,
}

impl Counted {
    fn of(declaration: &Declaration, work: &Workload) -> Self {
        let basis = match declaration.supersteps {
            _ if declaration.traversal || declaration.supersteps_expected.is_some() => Basis::Expected,
            Supersteps::Exactly(_) => Basis::Exact,
            Supersteps::AtMost(_) => Basis::AtMost,
            Supersteps::Unknown => Basis::One,
        };
        Self { count: work.phases.iter().map(|phase| phase.supersteps).sum(), basis }
    }

    /// A line for people.
    fn describe(self, declaration: &Declaration) -> String {
        let count = self.count;
        let all = declaration.visits.iter().all(|(_, visit)| *visit == Visit::All);
        let each = if all { "each reads every page" } else { "each reads every page, or fewer" };
        match self.basis {
            Basis::Exact if count == 0.0 => "supersteps: 0, known before the run; nothing is read\n".into(),
            Basis::Exact => format!("supersteps: {count}, known before the run; {each}\n"),
            Basis::AtMost => format!("supersteps: up to {count} (times assume {count}); {each}\n"),
            Basis::One => "supersteps: unknown before the run. Times are for one superstep that reads every page, and \
                           do not predict the run\n"
                .into(),
            Basis::Expected if !declaration.traversal => {
                let most = match declaration.supersteps {
                    Supersteps::AtMost(most) => format!(", {most} at most"),
                    Supersteps::Exactly(_) | Supersteps::Unknown => String::new(),
                };
                format!(
                    "supersteps: about {count} until values have converged, in a graph of small diameter (times assume \
                     {count}){most}; {each}\n"
                )
            }
            Basis::Expected => format!(
                "supersteps: about {count} for a complete search of a graph of small diameter; grids and road networks \
                 take more, in proportion to their diameter\n"
            ),
        }
    }
}

impl Plan {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let (machines, assumed) = (self.machines.machines(), self.machines.assumed(self.shards));
        let Job { common, arguments } = self.job;
        let (rates, engine) = common.planning(cancel)?;
        let prepared = arguments.prepare(engine.store(), &cancel.flag())?;
        let note = prepared.plan_note.map_or(String::new(), |note| format!("{note}\n"));
        let algorithm = prepared.runs.planned(&engine)?;
        engine.check(&*algorithm)?;
        let declaration = declaration_of(&*algorithm, engine.store());
        if assumed.graph.is_some() && !declaration.tables.is_empty() {
            let message =
                format!("--graph: {} keeps a table whose size depends on the edges themselves", declaration.name);
            return Err(Failure::Usage(message));
        }
        let options = UserOptions { assumed, ..engine.options().cost_options() };
        let work = Workload::of(&declaration, engine.store(), 1).assuming(&assumed);
        let planned = Planned { declaration: &declaration, work, engine: &engine, rates: &rates, options, machines };
        let rows = planned.rows()?;
        if common.json() {
            let json = serde_json::to_string_pretty(&rows).map_err(|error| Failure::Other(error.to_string()))?;
            return print(&(json + "\n"));
        }
        let work = &planned.work;
        let supersteps = Counted::of(&declaration, work).describe(&declaration);
        let mode = if engine.options().asynchronous {
            "not included in the times: the effect of --tune asynchronous\n"
        } else {
            ""
        };
        let chosen = rows.iter().rfind(|row| row.auto).and_then(|row| row.machines.as_ref());
        let shared = chosen.map_or(String::new(), |machines| machines::describe(machines, work));
        let assumptions = machines::describe_graph(&assumed, work);
        print(&(table(&rows) + &shared + &assumptions + &supersteps + &rates_of(&declaration, work) + mode + &note))
    }
}

impl Planned<'_> {
    /// The first device alone, or the one that `run` would take alone, then all of them by each strategy.
    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let Self { declaration, engine, rates, ref options, .. } = *self;
        let (all, store) = (self.profiles(None)?, engine.store());
        let chosen = choose(Some(rates), declaration, store, options, &all);
        // Several machines use all of their devices.
        let may_be_one = self.machines.is_none() && engine.options().shares.is_empty();
        let alone = may_be_one.then(|| alone(rates, declaration, store, options, &all, chosen)).flatten();
        let one = self.profiles(Some(alone.map_or(0, |one| one.device)))?;
        let mut rows = vec![self.row(one, Strategy::Replicate, all.len() < 2 || alone.is_some())?];
        if all.len() > 1 {
            let strategies = [Strategy::Replicate, Strategy::Shard].into_iter();
            for strategy in strategies.filter(|&of| of == Strategy::Shard || !declaration.owned) {
                rows.push(self.row(all.clone(), strategy, strategy == chosen && alone.is_none())?);
            }
        }
        Ok(rows)
    }

    /// The requested devices, or one of them by its place in the list, with the shares of the work that they take.
    fn profiles(&self, only: Option<usize>) -> Result<Vec<DeviceProfile>, Failure> {
        let mut profiles = profiles(self.engine.options(), only)?;
        let Some(shares) = shares(self.rates, &self.work, &profiles) else {
            return Err(unknown(self.rates, &profiles));
        };
        profiles.iter_mut().zip(shares).for_each(|(profile, share)| profile.share = share);
        Ok(profiles)
    }

    /// The prediction for these devices; `auto`: whether `run` would select them and the strategy.
    fn row(&self, profiles: Vec<DeviceProfile>, strategy: Strategy, auto: bool) -> Result<Row, Failure> {
        let Self { declaration, ref work, engine, rates, ref options, .. } = *self;
        let names: Vec<String> = profiles.iter().map(|profile| profile.name.clone()).collect();
        let mut environment = Environment::new(rates, declaration, engine.store(), options, profiles, strategy);
        let Some(mut prediction) = predict(work, &environment) else {
            return Err(unknown(rates, &environment.profiles));
        };
        let fit = |prediction: &Prediction| prediction.memory.as_ref().is_some_and(Needs::fit);
        let mut fits = fit(&prediction);
        if !fits && self.options.assumed.graph.is_none() {
            environment = environment.with_borders(declaration, engine.store(), engine.options().exchanged)?;
            prediction = predict(work, &environment).unwrap_or(prediction);
            fits = fit(&prediction);
        }
        let machines = self.machines.and_then(|(count, rate)| Machines::of(work, &environment, count, rate));
        let supersteps = Counted::of(declaration, work);
        Ok(Row { devices: names, auto, fits, supersteps, prediction, machines })
    }
}

/// A line for people: the algorithm whose measured rates are used for kernel times.
fn rates_of(declaration: &Declaration, work: &Workload) -> String {
    let mut measured: Vec<&str> = work.phases.iter().map(|phase| phase.kernel.measured_of()).collect();
    measured.dedup();
    let name = declaration.name;
    let other = match measured.contains(&name) {
        true => String::new(),
        false => format!("; {name} may do more with an edge, and then takes longer"),
    };
    format!("kernels: at the rates of {}, as measured{other}\n", measured.join(" and "))
}

fn unknown(rates: &Rates, profiles: &[DeviceProfile]) -> Failure {
    let mut names = profiles.iter().map(|profile| profile.name.as_str());
    let name = names.find(|name| rates.device(name).is_none()).unwrap_or("a device");
    Failure::Other(format!("{name} has not been measured; `topostream calibrate --device …` does that"))
}

/// The devices that are requested, or one of them; none is opened. CPUs share their threads.
#[cfg(feature = "gpu")]
fn profiles(options: &EngineOptions, only: Option<usize>) -> Result<Vec<DeviceProfile>, Failure> {
    let mut adapters = crate::device::gpu::adapters::choose_all(&options.devices)?;
    if let Some(only) = only {
        adapters = vec![adapters.swap_remove(only)];
    }
    let cpus = adapters.iter().filter(|adapter| adapter.is_none()).count();
    let profile = |adapter: &Option<crate::device::gpu::adapters::Adapter>| match adapter {
        Some(adapter) => DeviceProfile::gpu(&adapter.report.name, adapter.report.memory_bytes, &options.gpu),
        None => DeviceProfile::cpu((options.threads / cpus).max(1)),
    };
    Ok(adapters.iter().map(profile).collect())
}

#[cfg(not(feature = "gpu"))]
fn profiles(options: &EngineOptions, only: Option<usize>) -> Result<Vec<DeviceProfile>, Failure> {
    options.devices.iter().try_for_each(crate::device::DeviceChoice::without_gpu_support)?;
    let cpus = only.map_or(options.devices.len(), |_| 1);
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
        "answer s",
        "total s",
        "bound by",
        "main memory",
        "each device",
        "fits",
    ];
    let row = |row: &Row| {
        let devices = match &row.devices[..] {
            [one] => one.clone(),
            several => format!("{} ({})", several.len(), distinct(several)),
        };
        let mut cells = vec![devices, row.strategy(), row.auto()];
        cells.extend(row.times());
        cells.extend(row.memory());
        cells
    };
    tables::fitting_table(3, &header, &rows.iter().map(row).collect::<Vec<_>>(), &SPARE)
}

impl Row {
    fn strategy(&self) -> String {
        if self.devices.len() == 1 { "alone".into() } else { self.prediction.strategy.to_string() }
    }

    fn auto(&self) -> String {
        if self.auto { "auto".into() } else { String::new() }
    }

    /// Seconds by term and in all, and the bottleneck.
    fn times(&self) -> Vec<String> {
        let Prediction { terms, total_ns, wall, .. } = &self.prediction;
        let pages = [terms.ssd_ns, terms.bus_ns, terms.kernel_ns];
        let merge = [terms.merge_up_ns, terms.merge_down_ns];
        let others = [terms.vertex_ns, merge[0], merge[1], terms.overhead_ns, terms.answer_ns, *total_ns];
        let wall = format!("{wall:?}").to_lowercase();
        pages.iter().chain(&others).map(|ns| format!("{:.3}", ns / 1e9)).chain([wall]).collect()
    }

    /// Main memory, the memory of the device with the most, and whether all fits.
    fn memory(&self) -> [String; 3] {
        let memory = self.prediction.memory.as_ref();
        let main = memory.map_or(String::new(), |memory| tables::bytes(memory.main_bytes + memory.buffer_bytes));
        let own = memory.iter().flat_map(|memory| &memory.devices).filter(|device| device.budget_bytes.is_some());
        let most = own.map(|device| device.bytes + device.pages_bytes).max();
        [main, most.map_or(String::new(), tables::bytes), if self.fits { "yes" } else { "no" }.into()]
    }
}

fn distinct(names: &[String]) -> String {
    let mut distinct: Vec<&str> = names.iter().map(String::as_str).collect();
    distinct.dedup();
    distinct.join("; ")
}
