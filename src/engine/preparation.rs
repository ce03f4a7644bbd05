//! Decisions and checks before a run: threads, devices, memory, and whether the algorithm accepts the graph.

use super::ranks::{Devices, agreed_choice, own_vertices};
use super::roster::{Kinds, RunsOn};
use super::session::beside;
use super::{Engine, THREADS_MAX, declared};
use crate::error::{Error, Result};
use crate::model::algorithm::{Algorithm, Declaration, Graph, Weights, declaration_of};
use crate::pages::memory::{Decoders, MemoryPlan};
use crate::predict::{self, Alone, DeviceProfile, SUPERSTEPS_DEFAULT, UserOptions, Workload, choose};
use crate::report::RunReport;
use crate::team::{AloneReport, Strategy, TeamPlan, TeamRequest};
use std::sync::OnceLock;
use topostream_formats::values::StoredValues;
use topostream_formats::{Direction, Store, Topology, memory, threads};

/// Degrees that were read, or why they were not.
pub(super) type Degrees = topostream_formats::Result<StoredValues<u32>>;

/// The devices of a run.
pub(super) struct Chosen {
    /// How several share it; `None` for a single device.
    pub team: Option<TeamPlan>,
    /// The kinds of this rank's devices that run.
    pub kinds: Kinds,
    /// The one that runs, of several that were chosen.
    pub alone: Option<Alone>,
    /// Whether `auto` has taken all of several devices because some have not been measured.
    pub unmeasured: bool,
}

/// How several devices share a run: all of them, or one that is predicted to be faster.
struct Sharing {
    strategy: Strategy,
    speeds: Vec<f64>,
    alone: Option<Alone>,
    unmeasured: bool,
}

impl Chosen {
    fn one(kinds: Kinds, alone: Option<Alone>) -> Self {
        Self { team: None, kinds, alone, unmeasured: false }
    }
}

impl Engine {
    /// Checks the number of worker threads, and starts the shared thread pool.
    pub(super) fn check_threads(&self) -> Result<()> {
        let threads = self.options.threads;
        if threads > THREADS_MAX {
            return Err(Error::Parameter(format!("expected at most {THREADS_MAX} threads, found {threads}")));
        }
        Ok(threads::start_shared_pool()?)
    }

    /// Checks that the system can allocate the planned memory, less what the kept page buffer and the algorithm hold
    /// already.
    pub(super) fn check_memory(&self, declaration: &Declaration, plan: &MemoryPlan) -> Result<()> {
        let there_already = self.buffer.bytes() + declaration.held_bytes;
        let bytes = plan.total_bytes().saturating_sub(there_already);
        Ok(memory::probe(&format!("the memory of {}", declaration.name), bytes)?)
    }

    /// Returns the error of a plan with the memory that was kept for results: the budget is the whole one.
    pub(super) fn beside_results(&self, error: Error, reserved_bytes: u64) -> Error {
        match error {
            Error::Memory { what, needed_bytes, parts, .. } if reserved_bytes > 0 => Error::Memory {
                what,
                needed_bytes: needed_bytes.saturating_add(reserved_bytes),
                budget_bytes: self.options.memory_bytes,
                parts: format!("{parts}, results {reserved_bytes}"),
            },
            other => other,
        }
    }

    /// Returns the minimum budget in which an algorithm runs, in bytes: the figure in the error of [`run`](Self::run).
    ///
    /// # Errors
    /// Errors from opening the devices.
    #[doc(hidden)]
    pub fn needed_bytes(&self, algorithm: &dyn Algorithm) -> Result<u64> {
        let declaration = &declaration_of(algorithm, &self.store);
        let Chosen { team, kinds, .. } = self.chosen_devices(declaration)?;
        match self.memory_plan(declaration, team.as_ref(), &kinds, 0) {
            Ok(plan) => Ok(plan.total_bytes()),
            Err(Error::Memory { needed_bytes, .. }) => Ok(needed_bytes),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the page buffer has room for all out-lists in a run of an algorithm.
    ///
    /// # Errors
    /// Errors from opening the devices.
    #[doc(hidden)]
    pub fn buffers_out_lists(&self, algorithm: &dyn Algorithm) -> Result<bool> {
        let declaration = &declaration_of(algorithm, &self.store);
        let Chosen { team, kinds, .. } = self.chosen_devices(declaration)?;
        let pages = self.store.topology(Direction::Out).map_or(0, Topology::page_count);
        match self.memory_plan(declaration, team.as_ref(), &kinds, 0) {
            Ok(plan) => Ok(plan.frames >= pages),
            Err(Error::Memory { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Checks that the algorithm and the store allow asynchronous relaxation, if it is on.
    fn check_asynchronous(&self, declaration: &Declaration) -> Result<()> {
        let topology = self.store.topology(Direction::Out).expect("every store has out-lists");
        let why = match () {
            // What computes all values anew has no thin fronts: nothing is deferred.
            () if !self.options.asynchronous || !declaration.traversal => return Ok(()),
            () if self.options.ranks().is_some() && self.store.is_partial() => {
                "ranks have parts of the graph, and do not know which pages the others leave out"
            }
            () if !declaration.monotone => "its values depend on the order in which lists are read",
            () if topology.is_grouped() => "the store's lists are grouped for shards, so a list is on several pages",
            () => return Ok(()),
        };
        Err(Error::Parameter(format!("{} cannot run asynchronously: {why}", declaration.name)))
    }

    /// Like [`chosen_devices`](Self::chosen_devices). If GPUs are to be opened for this, which takes some 0.1 s each,
    /// the degrees are read meanwhile, as far as the budget holds them; what came of it is for the caller.
    pub(super) fn open_devices(&self, declaration: &Declaration) -> Result<(Chosen, Option<Degrees>)> {
        let fits = self.store.vertices().saturating_mul(4) <= self.options.memory_bytes;
        if !fits || !self.roster.opens_gpus(&self.options.devices, RunsOn::of(declaration)) {
            return Ok((self.chosen_devices(declaration)?, None));
        }
        let open = || self.chosen_devices(declaration);
        let (degrees, chosen) = beside("read degrees", &|| self.store.out_degrees(), open);
        Ok((chosen?, Some(degrees)))
    }

    /// Opens the devices and plans how they share a run. In a cluster, these are the devices of all ranks.
    pub(super) fn chosen_devices(&self, declaration: &Declaration) -> Result<Chosen> {
        let options = &self.options;
        let kinds = self.roster.open(&options.devices, RunsOn::of(declaration), &options.gpu)?;
        let Devices { kinds: all, places } = self.all_devices(&kinds)?;
        if all.cpu.len() < 2 {
            return Ok(Chosen::one(kinds, None));
        }
        declared::check_shared(declaration)?;
        let Sharing { strategy, speeds, alone, unmeasured } = self.sharing(declaration, &all)?;
        if let Some(one) = alone {
            return Ok(Chosen::one(Kinds { cpu: vec![kinds.cpu[one.device]], ..kinds }, alone));
        }
        let own = own_vertices(&self.store, &places, &options.shares);
        let strategy = if own.is_some() { Strategy::Shard } else { strategy };
        let (mirrors, near) = (self.mirrors(declaration, strategy)?, places.near());
        let request = TeamRequest {
            store: &self.store,
            speeds: &speeds,
            fixed: !options.shares.is_empty(),
            alike: all.alike(),
            cpus: all.cpu.iter().all(|&cpu| cpu),
            strategy,
            assignment: options.assignment,
            own: own.as_deref(),
            binding_bytes_max: all.binding_bytes_max,
            device_bytes: all.device_bytes,
            exchanged: options.exchanged,
            mirrors: mirrors.as_ref(),
            near: &near,
        };
        let team = Some(TeamPlan::new(declaration, &request)?.of_rank(&self.store, places));
        Ok(Chosen { team, kinds, alone, unmeasured })
    }

    /// Chooses the strategy, and the shares of all devices if they are not given. Ranks take the choice of the first.
    /// One device runs alone only in one process, and only if neither a strategy nor shares ask for all.
    fn sharing(&self, declaration: &Declaration, all: &Kinds) -> Result<Sharing> {
        let options = &self.options;
        let (shares, devices) = (options.shares.len(), all.cpu.len());
        if shares > 0 && shares != devices {
            return Err(Error::Parameter(format!("expected a share for each of {devices} devices, found {shares}")));
        }
        let given = (shares > 0).then(|| options.shares.clone());
        let rates = options.rates.as_deref();
        let own = self.roster.described(RunsOn::of(declaration), options.threads, &options.gpu);
        // Of other ranks' devices, it is known whether they are CPUs, and assumed that they are like this rank's.
        let like = |(at, &cpu): (usize, &bool)| {
            let same = own.iter().cycle().skip(at % own.len()).take(own.len()).find(|profile| profile.is_cpu() == cpu);
            let profile = same.unwrap_or(&own[0]).clone();
            DeviceProfile { share: 1.0 / all.cpu.len() as f64, ..profile }
        };
        let mut profiles: Vec<DeviceProfile> = all.cpu.iter().enumerate().map(like).collect();
        // The model adds up what all devices take of one main memory; ranks have one each.
        let ranks = options.ranks().map_or(1, |cluster| cluster.ranks()) as u64;
        let memory_bytes = options.memory_bytes.saturating_mul(ranks);
        let cost_options = UserOptions { memory_bytes, warm: !options.single_run, ..options.cost_options() };
        let work = Workload::of(declaration, &self.store, SUPERSTEPS_DEFAULT);
        let measured = rates.and_then(|rates| Some((rates, predict::shares(rates, &work, &profiles)?)));
        if let Some((_, shares)) = &measured {
            profiles.iter_mut().zip(shares).for_each(|(profile, share)| profile.share = *share);
        }
        let strategy = choose(rates, declaration, &self.store, &cost_options, &profiles);
        let may_be_one = options.strategy == Strategy::Auto && given.is_none() && options.ranks().is_none();
        let alone = measured
            .as_ref()
            .filter(|_| may_be_one)
            .and_then(|(rates, _)| predict::alone(rates, declaration, &self.store, &cost_options, &profiles, strategy));
        let unmeasured = may_be_one && measured.is_none();
        let shares = given.or_else(|| measured.map(|(_, shares)| shares)).unwrap_or_else(|| all.speeds());
        let (strategy, speeds) = agreed_choice(options.ranks(), strategy, shares)?;
        Ok(Sharing { strategy, speeds, alone, unmeasured })
    }

    /// Adds to the report of a run which of several devices it has not used, or that it used all unmeasured.
    pub(super) fn report_choice(
        &self,
        declaration: &Declaration,
        (alone, unmeasured): (Option<Alone>, bool),
        report: &mut RunReport,
    ) {
        if let Some(sharing) = &mut report.sharing {
            sharing.unmeasured = unmeasured;
        }
        let names = || {
            let all = self.roster.described(RunsOn::of(declaration), self.options.threads, &self.options.gpu);
            all.into_iter().map(|profile| profile.name).collect()
        };
        report.alone = alone.map(|Alone { device, alone_ns, shared_ns }| AloneReport {
            device: device as u64 + 1,
            devices: names(),
            alone_ns: alone_ns as u64,
            shared_ns: shared_ns as u64,
        });
    }

    /// Divides a budget, less the needs of the timeline and of checkpoints.
    pub(super) fn memory_plan(
        &self,
        declaration: &Declaration,
        team: Option<&TeamPlan>,
        kinds: &Kinds,
        memory_bytes: u64,
    ) -> Result<MemoryPlan> {
        let beside = [("trace", self.options.trace_bytes()), ("checkpoints", self.options.checkpoint_bytes())];
        let left_bytes = memory_bytes.saturating_sub(beside.iter().map(|(_, bytes)| bytes).sum());
        let sharing_bytes = team.map_or(0, |team| team.memory_bytes(&kinds.cpu));
        let cpus = kinds.cpu.iter().filter(|&&cpu| cpu).count();
        let threads = cpus * (self.options.threads / cpus.max(1)).max(1);
        let decoders = Decoders { threads, alone: kinds.cpu == [true] };
        let buffer_bytes = self.options.buffer_bytes;
        let plan = MemoryPlan::new(declaration, &self.store, left_bytes, buffer_bytes, sharing_bytes, decoders);
        plan.map_err(|error| with_beside(error, left_bytes, memory_bytes, &beside))
    }

    /// Returns the graph, after the checks of the algorithm against it.
    pub(super) fn graph(&self, algorithm: &dyn Algorithm, declaration: &Declaration) -> Result<Graph> {
        let store = &self.store;
        let has_in_lists = store.topology(Direction::In).is_some();
        let (vertices, edges) = (store.vertices(), store.whole_edges());
        let (directed, weights) = (store.manifest().directed, store.manifest().weights);
        let graph = Graph {
            vertices,
            edges,
            directed,
            weights,
            has_in_lists,
            out_degrees: store.out_degrees()?,
            vertex_lists: OnceLock::new(),
        };
        check_weights(declaration, store)?;
        algorithm.check(&graph).map_err(Error::Parameter)?;
        declared::check(declaration, store)?;
        declared::check_seeds(algorithm, declaration, store)?;
        self.check_asynchronous(declaration)?;
        if declaration.weights.are_read() && store.manifest().weights.is_none() {
            return Err(Error::Parameter(format!("{} needs weights, but the store has none", declaration.command)));
        }
        Ok(graph)
    }
}

/// Refuses weights of 64 bits where an algorithm reads 32 bits of each edge.
fn check_weights(declaration: &Declaration, store: &Store) -> Result<()> {
    let Some(of) = store.manifest().weights.filter(|of| of.is_wide() && declaration.weights == Weights::Narrow) else {
        return Ok(());
    };
    let narrow = if of.is_float() { "f32" } else { "u32, or f32" };
    let (name, of, path) = (declaration.command, of.name(), store.path().display());
    Err(Error::Parameter(format!(
        "{name} reads weights of 32 bits, but the store has {of}: `topostream reformat {path} NEW --weight-type \
         {narrow}` makes a store of such weights and says how many were rounded"
    )))
}

/// Adds the needs of the timeline and checkpoints to a plan's error, and replaces its budget by the whole one.
fn with_beside(error: Error, left_bytes: u64, memory_bytes: u64, beside: &[(&str, u64)]) -> Error {
    match error {
        Error::Memory { what, mut needed_bytes, budget_bytes, mut parts } if budget_bytes == left_bytes => {
            for (name, bytes) in beside.iter().filter(|(_, bytes)| *bytes > 0) {
                needed_bytes = needed_bytes.saturating_add(*bytes);
                parts = format!("{name} {bytes}, {parts}");
            }
            Error::Memory { what, needed_bytes, budget_bytes: memory_bytes, parts }
        }
        other => other,
    }
}
