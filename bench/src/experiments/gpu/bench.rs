//! What the experiments on a GPU share: options, graphs, and measurements that several of them need.

use super::baseline::{self, Figures};
use crate::case::{CHECK, Case};
use crate::error::Result;
use crate::graph::{EDGE_FACTOR, Order, Wanted};
use crate::measure::Spread;
use crate::options::Resources;
use crate::outcome::Outcome;
use crate::rig::{DeviceChoice, FastPaths, Measured, Setup, Work};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use topostream::report::RunReport;

/// The options of all experiments.
#[derive(Debug, Clone, clap::Args)]
pub struct Settings {
    /// The scales of R-MAT graphs of edge factor 16 [default: 24,26]
    #[arg(long, value_delimiter = ',')]
    pub scale: Vec<u32>,
    /// The scale of the graphs of other densities [default: 22]
    #[arg(long)]
    pub density_scale: Option<u32>,
    /// The orders of vertices in the graphs of edge factor 16, measured one after another
    #[arg(long, value_enum, value_delimiter = ',', default_value = "natural")]
    pub order: Vec<Order>,
    /// Small graphs and few runs, as a functional check
    #[arg(long)]
    pub quick: bool,
    /// The devices, as for `topostream run --device`
    #[arg(long, default_value = "gpu")]
    pub device: DeviceChoice,
    /// bench/cuda/baseline.cu, compiled; without it there is no comparison with CUDA
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Number of measurements after a warm-up [default: 5, quick: 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    #[command(flatten)]
    pub resources: Resources,
}

/// Random sources of searches, as in Graph500's kernel but fewer.
const SOURCES: usize = 16;

/// Repeated runs of the same work.
pub type Measurements = Rc<Vec<Measured>>;

/// The shared state of all experiments.
pub struct Bench {
    /// The options.
    pub settings: Settings,
    cases: RefCell<HashMap<(u32, u64, Order), Rc<Case>>>,
    /// The measurements with everything in device memory, by graph and work.
    in_vram: RefCell<HashMap<(String, Work), Measurements>>,
    /// The output of the CUDA baseline, by graph.
    cuda: RefCell<HashMap<String, Rc<Figures>>>,
}

impl Bench {
    /// Without any graph or measurement so far.
    pub fn new(settings: &Settings) -> Self {
        let (cases, in_vram, cuda) = Default::default();
        Self { settings: settings.clone(), cases, in_vram, cuda }
    }

    /// The scales of the graphs of edge factor 16.
    pub fn scales(&self) -> Vec<u32> {
        match (&self.settings.scale[..], self.settings.quick) {
            ([], true) => vec![14, 16],
            ([], false) => vec![24, 26],
            (scales, _) => scales.to_vec(),
        }
    }

    /// The scale of the graphs of other densities.
    pub fn density_scale(&self) -> u32 {
        self.settings.density_scale.unwrap_or(if self.settings.quick { 13 } else { 22 })
    }

    /// The number of measurements.
    pub fn runs(&self) -> u32 {
        self.settings.runs.unwrap_or(if self.settings.quick { 1 } else { 5 })
    }

    /// For work that takes seconds each time: two runs fewer.
    pub fn fewer_runs(&self) -> u32 {
        self.runs().saturating_sub(2).max(1)
    }

    /// The number of random sources of searches.
    pub fn sources(&self) -> usize {
        if self.settings.quick { 3 } else { SOURCES }
    }

    /// The number of CPU threads.
    pub fn threads(&self) -> usize {
        self.settings.resources.threads()
    }

    /// The device with default options.
    pub fn setup(&self) -> Setup {
        Setup::new(self.settings.device.clone(), self.threads())
    }

    /// The same with every superstep launched by the host.
    pub fn launched_by_host(&self) -> Setup {
        Setup { fast_paths: FastPaths { device_loop: false, ..FastPaths::default() }, ..self.setup() }
    }

    /// The R-MAT graph of a scale, with this many edges per vertex and its vertices in an order.
    pub fn case(&self, scale: u32, edge_factor: u64, order: Order) -> Result<Rc<Case>> {
        if let Some(case) = self.cases.borrow().get(&(scale, edge_factor, order)) {
            return Ok(Rc::clone(case));
        }
        let resources = &self.settings.resources;
        let store = Wanted { order, ..resources.wanted() }.rmat_of(&resources.dir, scale, edge_factor)?;
        let ordered = if order == Order::Degree { ", degree order" } else { "" };
        let name = format!("R-MAT {scale}, 1:{edge_factor}{ordered}");
        let case = Rc::new(Case::new(&store, name, self.sources(), self.threads())?);
        self.cases.borrow_mut().insert((scale, edge_factor, order), Rc::clone(&case));
        Ok(case)
    }

    /// The graphs of edge factor 16.
    pub fn graphs(&self) -> Result<Vec<Rc<Case>>> {
        let orders = &self.settings.order;
        let graphs = self.scales().into_iter().flat_map(|scale| orders.iter().map(move |&order| (scale, order)));
        graphs.map(|(scale, order)| self.case(scale, EDGE_FACTOR, order)).collect()
    }

    /// Work with everything in device memory, measured once per process.
    pub fn in_vram(&self, case: &Case, work: Work) -> Result<Measurements> {
        let key = (case.name.clone(), work);
        if let Some(measured) = self.in_vram.borrow().get(&key) {
            return Ok(Rc::clone(measured));
        }
        let measured = Rc::new(case.measure(&self.setup(), work, self.runs())?);
        self.in_vram.borrow_mut().insert(key, Rc::clone(&measured));
        Ok(measured)
    }

    /// The CUDA baseline's figures of a graph, measured once per process, with the sources of our searches.
    pub fn cuda(&self, case: &Case) -> Result<Rc<Figures>> {
        if let Some(figures) = self.cuda.borrow().get(&case.name) {
            return Ok(Rc::clone(figures));
        }
        let program = self.settings.baseline.as_deref().ok_or("no --baseline")?;
        let figures = Rc::new(baseline::figures(program, case, self.runs())?);
        self.cuda.borrow_mut().insert(case.name.clone(), Rc::clone(&figures));
        Ok(figures)
    }

    /// Creates an empty outcome.
    pub fn outcome(&self, name: &'static str, expectation: &'static str) -> Outcome {
        let mut outcome = Outcome::new(name, expectation);
        outcome.verified(CHECK);
        outcome
    }
}

/// PageRank both ways and both kinds of search from the hub.
pub fn all_work(case: &Case) -> [Work; 4] {
    [Work::Push, Work::Pull, Work::TopDown(case.hub), Work::Optimizing(case.hub)]
}

/// The spread of a figure over reports.
pub fn over_runs(reports: &[RunReport], of: impl Fn(&RunReport) -> f64) -> Spread {
    Spread::over(reports, of)
}

/// The spread of a figure.
pub fn over(measured: &[Measured], of: impl Fn(&Measured) -> f64) -> Spread {
    Spread::over(measured, of)
}
