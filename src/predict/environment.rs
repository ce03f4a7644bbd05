//! The environment of a run: devices, memory and disks, and how they share it.

use super::assumed::Scale;
use super::rates::cpu_threads;
use super::{Assumed, Kernel, Rates, Workload};
use crate::device::exchange::message::MessageLayout;
use crate::device::settings::GpuSettings;
use crate::error::Result;
use crate::model::activations::Activations;
use crate::model::algorithm::Declaration;
use crate::model::attributes::{Attribute, Role};
use crate::model::border::Border;
use crate::pages::memory::{Decoders, MemoryPlan};
use crate::team::{Assignment, ExchangeRules, Exchanged, Strategy, TeamPlan, TeamRequest, may_read_border};
use std::path::PathBuf;
use topostream_formats::mirrors::Mirrors;
use topostream_formats::{Direction, Store};

/// A device of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// Its name, as in reports of runs.
    pub name: String,
    /// The device memory that may be used, in bytes; `None` for a CPU, which computes in main memory.
    pub memory_bytes: Option<u64>,
    /// The maximum part of it for cached pages, in bytes; `None` for no limit.
    pub cache_bytes: Option<u64>,
    /// The share of the pages that it sees under `replicate`.
    pub share: f64,
}

/// A budget that every run fits in, in bytes.
const UNLIMITED_BYTES: u64 = 1 << 60;
/// The share of an adapter's memory that a run may use by default.
const MEMORY_SHARE: f64 = 0.9;
/// The memory that a run may use by default if the adapter does not report its size, in bytes.
const MEMORY_UNKNOWN: u64 = 1 << 30;

impl DeviceProfile {
    /// Returns the CPU with a number of threads.
    pub fn cpu(threads: usize) -> Self {
        Self { name: format!("cpu, {threads} threads"), memory_bytes: None, cache_bytes: None, share: 1.0 }
    }

    /// Returns a GPU, with the memory that its driver reports, in bytes.
    pub fn gpu(name: &str, memory_bytes: Option<u64>, settings: &GpuSettings) -> Self {
        let known = memory_bytes.map_or(MEMORY_UNKNOWN, |bytes| (bytes as f64 * MEMORY_SHARE) as u64);
        let memory_bytes = Some(settings.memory_bytes.unwrap_or(known));
        Self { name: name.to_owned(), memory_bytes, cache_bytes: settings.cache_bytes, share: 1.0 }
    }

    /// Returns whether it is a CPU, which computes in main memory.
    pub fn is_cpu(&self) -> bool {
        self.memory_bytes.is_none()
    }
}

/// The user's options on which the cost model depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserOptions {
    /// The memory budget, in bytes.
    pub memory_bytes: u64,
    /// The timeline's part of the budget, in bytes.
    pub trace_bytes: u64,
    /// The size of the page buffer, in bytes; `None` for all that the rest of the run leaves.
    pub buffer_bytes: Option<u64>,
    /// How several devices share the run.
    pub strategy: Strategy,
    /// Which pages go to which device.
    pub assignment: Assignment,
    /// What is assumed in place of properties of the store.
    pub assumed: Assumed,
    /// Whether earlier runs have left pages in memory.
    pub warm: bool,
}

/// The environment of a run.
#[derive(Clone, Debug)]
pub struct Environment<'a> {
    /// The machine's measured rates.
    pub rates: &'a Rates,
    /// The devices.
    pub profiles: Vec<DeviceProfile>,
    /// How they share the run; never `auto`.
    pub strategy: Strategy,
    /// Whether the lists that a device sees belong to its own vertices.
    pub aligned: bool,
    /// The number of disks that pages are striped over.
    pub disks: f64,
    /// Main memory without the page buffer, in bytes.
    pub main_bytes: u64,
    /// Whether the run fits in the memory budget.
    pub main_fits: bool,
    /// The size of the page buffer, in bytes.
    pub buffer_bytes: u64,
    /// Whether no page is in memory at the start.
    pub cold: bool,
    /// For each device, the number of vertices that border on its own, if GPUs that have no room for the
    /// values of all vertices run with the values of own and bordering ones; `None` if they do not, or it was
    /// [not asked](Self::with_borders).
    pub borders: Option<Vec<u64>>,
}

impl<'a> Environment<'a> {
    /// Derives the environment from a user's options, for an algorithm over a store.
    pub fn new(
        rates: &'a Rates,
        declaration: &Declaration,
        store: &Store,
        options: &UserOptions,
        profiles: Vec<DeviceProfile>,
        strategy: Strategy,
    ) -> Self {
        let grouped = store.topology(Direction::Out).is_some_and(|out| out.is_grouped());
        let aligned = !grouped
            && match options.assignment {
                Assignment::Contiguous => true,
                // Contiguous if all devices are of one kind.
                Assignment::Auto => alike(&profiles),
                Assignment::Modulo => false,
            };
        let mut environment = Self {
            rates,
            profiles,
            strategy,
            aligned,
            disks: disks(store),
            main_bytes: 0,
            main_fits: true,
            buffer_bytes: 0,
            cold: !options.warm,
            borders: None,
        };
        environment.divide_memory(declaration, store, options);
        environment
    }

    /// Adds what bordering vertices there are, if the store has mirrors, and devices would do with values of these.
    /// Reads the mirrors, and so it is for plans, not for the choice before each run.
    ///
    /// # Errors
    /// If the mirrors cannot be read.
    pub fn with_borders(mut self, declaration: &Declaration, store: &Store, exchanged: Exchanged) -> Result<Self> {
        if self.is_sharded() && may_read_border(declaration, exchanged) {
            let length = store.vertices().div_ceil(self.devices());
            let own = |device: u64| device * length..((device + 1) * length).min(store.vertices());
            let border = |mirrors: &Mirrors, device| Some(Border::of(mirrors, &own(device))?.vertices().len() as u64);
            let devices = 0..self.profiles.len() as u64;
            self.borders = Mirrors::open(store)?.and_then(|mirrors| devices.map(|one| border(&mirrors, one)).collect());
        }
        Ok(self)
    }

    /// Divides the memory budget into the run's own memory and the page buffer.
    fn divide_memory(&mut self, declaration: &Declaration, store: &Store, options: &UserOptions) {
        let own = Workload::without_phases(declaration, store);
        let scale = options.assumed.scale(&own);
        let work = own.assuming(&options.assumed);
        let sharing_bytes = match options.assumed.graph {
            None => sharing_bytes(declaration, store, options.assignment, &self.profiles, self.strategy),
            Some(_) => self.estimated_sharing_bytes(declaration, &work),
        };
        let threads = self.profiles.iter().filter_map(|profile| cpu_threads(&profile.name)).sum::<u32>() as usize;
        let decoders = Decoders { threads, alone: threads > 0 && self.profiles.len() == 1 };
        let trace_bytes = options.trace_bytes;
        let budget_bytes = options.memory_bytes.saturating_sub(trace_bytes);
        let plan = |memory, buffer| MemoryPlan::new(declaration, store, memory, buffer, sharing_bytes, decoders);
        let of_store = plan(UNLIMITED_BYTES, None).ok().map(|plan| scaled(&plan, &scale, work.directory_pages));
        let within = |budget_bytes| match options.assumed.graph {
            None => plan(budget_bytes, options.buffer_bytes).ok(),
            Some(_) => of_store.and_then(|plan| fitted(plan, budget_bytes, options.buffer_bytes, store)),
        };
        let fits = within(budget_bytes);
        self.main_fits = fits.is_some();
        // If the budget is too small, the needs under an unlimited budget are reported, with the page buffer asked for.
        let Some(plan) = fits.or_else(|| within(UNLIMITED_BYTES)).or(of_store) else { return };
        self.main_bytes = trace_bytes + plan.total_bytes() - plan.buffer_bytes();
        self.buffer_bytes = plan.buffer_bytes();
    }

    /// Returns the main memory that several devices need beyond what a single device needs, in bytes, for a graph that
    /// need not exist: as [`TeamPlan::memory_bytes`] has it, but for the rounding of the exchange memory.
    fn estimated_sharing_bytes(&self, declaration: &Declaration, work: &Workload) -> u64 {
        let devices = self.devices();
        if devices < 2 {
            return 0;
        }
        let cpus = self.profiles.iter().filter(|profile| profile.is_cpu()).count() as u64;
        let own = if self.is_sharded() { work.vertices.div_ceil(devices) } else { work.vertices };
        let noted = if declaration.keeps_activations { Activations::memory_bytes(work.vertices) } else { 0 };
        let listed = if self.listed(work).is_some() { 4 * work.vertices } else { 0 };
        let of_cpu = work.device_bytes(own, self.is_sharded(), None) - work.table_bytes;
        exchange_bytes(work, devices, self.rules()) + noted + listed + cpus * of_cpu
    }

    /// Returns the role of the attributes that are sent by list.
    pub fn listed(&self, work: &Workload) -> Option<Role> {
        let all_cpus = self.profiles.iter().all(DeviceProfile::is_cpu);
        work.listed[usize::from(self.is_sharded())].filter(|role| *role == Role::Gathered || !all_cpus)
    }

    /// Returns the number of devices.
    pub fn devices(&self) -> u64 {
        self.profiles.len() as u64
    }

    /// Returns whether each device holds the values that edges write for its own vertices only.
    pub fn is_sharded(&self) -> bool {
        self.strategy == Strategy::Shard && self.devices() > 1
    }

    /// Returns the rules that determine which attributes are exchanged.
    pub(super) fn rules(&self) -> ExchangeRules {
        ExchangeRules { sharded: self.is_sharded(), aligned: self.aligned }
    }

    /// Returns the share of the pages that a device sees.
    pub fn seen(&self, work: &Workload, device: usize) -> f64 {
        if !self.is_sharded() {
            return self.profiles[device].share;
        }
        let by_owner = work.phases.first().is_some_and(|phase| !phase.kernel.writes_neighbours());
        match by_owner {
            true => 1.0 / self.devices() as f64,
            false => share_of_groups(work.shards, self.devices()),
        }
    }

    /// Returns the share of the pages that a device sees with this kernel.
    pub(super) fn seen_by(&self, kernel: Kernel, work: &Workload, device: usize) -> f64 {
        match self.is_sharded() && !kernel.writes_neighbours() {
            true => 1.0 / self.devices() as f64,
            false => self.seen(work, device),
        }
    }
}

/// Returns the share of the pages, in this many groups by destination, that one of `owners` sees: all pages, if any of
/// them may point to its vertices.
fn share_of_groups(groups: u64, owners: u64) -> f64 {
    (groups.div_ceil(owners) as f64 / groups as f64).min(1.0)
}

/// Returns the division of memory for a graph of another size, with this many pages, all of them in the page buffer.
fn scaled(plan: &MemoryPlan, scale: &Scale, pages: u64) -> MemoryPlan {
    let by = |bytes: u64, factor: f64| (bytes as f64 * factor).ceil() as u64;
    MemoryPlan {
        attributes_bytes: by(plan.attributes_bytes, scale.vertices),
        activations_bytes: by(plan.activations_bytes, scale.vertices),
        frontier_bytes: by(plan.frontier_bytes, scale.vertices),
        degrees_bytes: by(plan.degrees_bytes, scale.vertices),
        directory_bytes: by(plan.directory_bytes, scale.pages),
        frames: MemoryPlan::frames_max(pages) as u32,
        ..*plan
    }
}

/// Returns the division with a page buffer that fits in the budget, as [`MemoryPlan::new`] makes it, or `None` if none
/// fits.
fn fitted(plan: MemoryPlan, budget_bytes: u64, buffer_bytes: Option<u64>, store: &Store) -> Option<MemoryPlan> {
    let left = budget_bytes.saturating_sub(plan.total_bytes() - plan.buffer_bytes());
    let room = buffer_bytes.unwrap_or(left);
    let mut plan = plan;
    if room < plan.buffer_bytes() {
        // Frames keep pages as they are stored.
        let page_bytes = u64::from(store.topology(Direction::Out)?.page_bytes());
        plan.frame_bytes = plan.frame_bytes - plan.place_bytes + page_bytes;
        plan.place_bytes = page_bytes;
    }
    let frames = room / plan.frame_bytes;
    let fits = frames >= MemoryPlan::frames_min(plan.frames.into()) && room <= left;
    fits.then_some(MemoryPlan { frames: frames.min(plan.frames.into()) as u32, ..plan })
}

/// Returns the exchange memory of several devices in bytes, but for the rounding to whole pieces: two regions for
/// gathers of all vertices' values; for reductions, what devices write and what they read; or the longest messages of
/// all devices.
fn exchange_bytes(work: &Workload, devices: u64, rules: ExchangeRules) -> u64 {
    if work.traversal {
        let writable = if rules.sharded { work.vertices.div_ceil(devices) } else { work.vertices };
        let layout = MessageLayout::new(&work.attributes, rules.sharded);
        return devices * 4 * layout.words_max(&(0..writable));
    }
    let bytes = |attribute: &Attribute| attribute.memory_bytes(work.vertices);
    let gathered: u64 = work.attributes.iter().filter(|attribute| rules.is_gathered(attribute)).map(bytes).sum();
    let reduced: u64 = work.attributes.iter().filter(|attribute| rules.is_reduced(attribute)).map(bytes).sum();
    // Of each pair of a device that writes and one that reads.
    let pairs = devices * (devices - 1);
    2 * gathered + pairs * (reduced / devices)
}

/// Returns whether all devices are of one kind.
fn alike(profiles: &[DeviceProfile]) -> bool {
    profiles.windows(2).all(|pair| pair[0].is_cpu() == pair[1].is_cpu())
}

/// Returns the main memory that several devices need beyond what a single device needs, in bytes.
fn sharing_bytes(
    declaration: &Declaration,
    store: &Store,
    assignment: Assignment,
    profiles: &[DeviceProfile],
    strategy: Strategy,
) -> u64 {
    if profiles.len() < 2 {
        return 0;
    }
    let speeds: Vec<f64> = profiles.iter().map(|profile| profile.share).collect();
    let (alike, binding_bytes_max) = (alike(profiles), u64::MAX);
    let cpu: Vec<bool> = profiles.iter().map(DeviceProfile::is_cpu).collect();
    let cpus = cpu.iter().all(|&cpu| cpu);
    let speeds = &speeds;
    let request = TeamRequest {
        store,
        speeds,
        fixed: false,
        alike,
        cpus,
        strategy,
        assignment,
        own: None,
        binding_bytes_max,
        device_bytes: u64::MAX,
        // What mirrors save is not known without reading them.
        exchanged: Exchanged::Linked,
        mirrors: None,
        near: &vec![true; speeds.len()],
    };
    TeamPlan::new(declaration, &request).map_or(0, |team| team.memory_bytes(&cpu))
}

/// Returns the number of disks that hold the pages of a store. Each file system counts as a disk.
pub fn disks(store: &Store) -> f64 {
    let files = store.topology(Direction::Out).map_or(&[][..], |topology| topology.page_files());
    let mut disks: Vec<u64> = files.iter().map(file_system).collect();
    disks.sort_unstable();
    disks.dedup();
    disks.len().max(1) as f64
}

#[cfg(unix)]
fn file_system(path: &PathBuf) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map_or(0, |found| found.dev())
}

#[cfg(not(unix))]
fn file_system(_path: &PathBuf) -> u64 {
    0
}
