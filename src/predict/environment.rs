//! The environment of a run: devices, memory and disks, and how they share it.

use super::rates::cpu_threads;
use super::{Rates, Workload};
use crate::device::settings::GpuSettings;
use crate::model::algorithm::Algorithm;
use crate::pages::memory::{Decoders, MemoryPlan};
use crate::team::{Assignment, Strategy, TeamPlan, TeamRequest};
use std::path::PathBuf;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Whether the lists that a device sees are those of its own vertices.
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
}

impl<'a> Environment<'a> {
    /// Derives the environment from a user's options, for an algorithm over a store.
    pub fn new(
        rates: &'a Rates,
        algorithm: &dyn Algorithm,
        store: &Store,
        options: &UserOptions,
        profiles: Vec<DeviceProfile>,
        strategy: Strategy,
    ) -> Self {
        let sharing_bytes = sharing_bytes(algorithm, store, options.assignment, &profiles, strategy);
        let threads = profiles.iter().filter_map(|profile| cpu_threads(&profile.name)).sum::<u32>() as usize;
        let decoders = Decoders { threads, alone: threads > 0 && profiles.len() == 1 };
        let plan = |memory, buffer| MemoryPlan::new(algorithm, store, memory, buffer, sharing_bytes, decoders);
        let trace_bytes = options.trace_bytes;
        let within = plan(options.memory_bytes.saturating_sub(trace_bytes), options.buffer_bytes);
        // If the budget is too small, the needs under an unlimited budget are reported.
        let main_fits = within.is_ok();
        let plan = within.or_else(|_| plan(1 << 60, None));
        let (main, buffer) =
            plan.map_or((0, 0), |plan| (trace_bytes + plan.total_bytes() - plan.buffer_bytes(), plan.buffer_bytes()));
        let grouped = store.topology(Direction::Out).is_some_and(|out| out.is_grouped());
        let aligned = !grouped
            && match options.assignment {
                Assignment::Contiguous => true,
                // Contiguous if all devices are of one kind.
                Assignment::Auto => alike(&profiles),
                Assignment::Modulo | Assignment::Random | Assignment::Biased => false,
            };
        Self {
            rates,
            profiles,
            strategy,
            aligned,
            disks: disks(store),
            main_bytes: main,
            main_fits,
            buffer_bytes: buffer,
            cold: true,
        }
    }

    /// Returns the share of the pages that a device sees.
    pub fn seen(&self, work: &Workload, device: usize) -> f64 {
        let devices = self.profiles.len() as f64;
        if self.strategy != Strategy::Shard || self.profiles.len() == 1 {
            return self.profiles[device].share;
        }
        let by_owner = work.phases.first().is_some_and(|phase| !phase.kernel.writes_neighbours());
        match by_owner {
            true => 1.0 / devices,
            // A device that owns 1/N of the vertices sees this share of K groups of pages.
            false => ((work.shards as f64 / devices).ceil() / work.shards as f64).min(1.0),
        }
    }
}

/// Returns whether all devices are of one kind.
fn alike(profiles: &[DeviceProfile]) -> bool {
    profiles.windows(2).all(|pair| pair[0].is_cpu() == pair[1].is_cpu())
}

/// Returns the main memory that several devices need beyond what a single device needs, in bytes.
fn sharing_bytes(
    algorithm: &dyn Algorithm,
    store: &Store,
    assignment: Assignment,
    profiles: &[DeviceProfile],
    strategy: Strategy,
) -> u64 {
    if profiles.len() < 2 {
        return 0;
    }
    // The assignment makes no difference to memory, and `Biased` would read pages.
    let assignment = if assignment == Assignment::Biased { Assignment::Modulo } else { assignment };
    let speeds: Vec<f64> = profiles.iter().map(|profile| profile.share).collect();
    let (alike, binding_bytes_max) = (alike(profiles), u64::MAX);
    let request = TeamRequest { store, speeds: &speeds, alike, strategy, assignment, own: None, binding_bytes_max };
    let cpu: Vec<bool> = profiles.iter().map(DeviceProfile::is_cpu).collect();
    TeamPlan::new(algorithm, &request).map_or(0, |team| team.memory_bytes(&cpu))
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
