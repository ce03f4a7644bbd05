//! Settings of the engine that few need: keys of `--tune`.

use crate::algorithms::command::size;
use crate::device::settings::{
    BATCH_PAGES_DEFAULT, CachePolicy, Distribution, FastPaths, GpuSettings, LAUNCHES_DEFAULT, PageTransfer,
};
use crate::engine::EngineOptions;
use crate::pages::fetch::FetcherKind;
use crate::team::{Assignment, Strategy};
use clap::{Args, ValueEnum};
use etcetera::BaseStrategy as _;
use std::path::PathBuf;

/// What fits the engine to a machine: pages, several devices, GPUs.
#[derive(Args, Clone, Debug)]
pub struct Tuning {
    /// Page buffer size, within `--memory` [default: memory that the algorithm does not need, at most the whole graph]
    #[arg(long, value_parser = size, value_name = "SIZE", help_heading = "Pages")]
    buffer: Option<u64>,
    /// How pages are read
    #[arg(long, default_value = "auto", value_name = "FETCHER", help_heading = "Pages")]
    fetcher: FetcherName,
    /// Read whole pages, also where reading parts of them is predicted to be faster
    #[arg(long, help_heading = "Pages")]
    whole_pages: bool,
    /// Visit every page in every superstep, also those without an active vertex: a baseline for measurements
    #[arg(long, help_heading = "Pages")]
    all_pages: bool,
    /// How several devices share a run: replicate (performance), shard (scalability), auto
    #[arg(long, default_value = "auto", value_name = "STRATEGY", help_heading = "Several devices")]
    strategy: Strategy,
    /// Which pages go to which device: modulo, contiguous, auto
    #[arg(long, default_value = "auto", value_name = "RULE", help_heading = "Several devices")]
    assignment: Assignment,
    /// The share of the work of each device, such as 2,1 for one that is twice as fast; of several ranks, for the
    /// devices of all ranks in order [default: by measured rates, or equal]
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = share,
        value_name = "S,S",
        help_heading = "Several devices"
    )]
    shares: Vec<f64>,
    /// Page cache size, within `--device-memory`; 0 for none [default: memory that the algorithm does not need, at most
    /// the whole graph]
    #[arg(long, value_parser = size, value_name = "SIZE", help_heading = "GPU")]
    device_cache: Option<u64>,
    /// How the work of a batch is distributed over threads: auto, vertex, warp:2 to warp:32, hybrid, segments
    #[arg(long, default_value = "auto", value_name = "RULE", help_heading = "GPU")]
    distribution: Distribution,
    /// Maximum number of pages in one launch
    #[arg(
        long,
        default_value_t = BATCH_PAGES_DEFAULT,
        value_name = "PAGES",
        value_parser = clap::value_parser!(u32).range(1..=65536),
        help_heading = "GPU"
    )]
    batch_pages: u32,
    /// Maximum number of launches in flight: one runs, the others wait
    #[arg(
        long,
        default_value_t = LAUNCHES_DEFAULT,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=32),
        help_heading = "GPU"
    )]
    launches: u32,
    /// Which pages the page cache keeps in traversals
    #[arg(long, default_value = "fixed", value_name = "POLICY", help_heading = "GPU")]
    cache_policy: CachePolicyName,
    /// How pages that are not in its cache reach the GPU
    #[arg(long, default_value = "auto", value_name = "WAY", help_heading = "GPU")]
    transfer: TransferName,
    /// Disable a fast path; may be repeated: results are the same
    #[arg(long, value_name = "PATH", help_heading = "GPU")]
    without: Vec<FastPathName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TransferName {
    /// In place where that is faster by measurements, else by copies
    Auto,
    /// Kernels read pages directly in main memory
    InPlace,
    /// Pages are copied to GPU memory first
    Copy,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CachePolicyName {
    /// The first ones; the GPU reads the others in place
    Fixed,
    /// The most recently used ones: every page that is visited is copied
    Lru,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FastPathName {
    /// Reading main memory; instead, pages are copied to staging buffers
    HostImport,
    /// A separate queue for copies; instead, copies use the queue of the kernels
    TransferQueue,
    /// Native atomic addition of floats; instead, a compare-exchange loop
    FloatAtomics,
    /// 64-bit integers; instead, two words with a carry
    WideIntegers,
    /// Sums over subgroups; instead, over workgroup memory
    Subgroups,
    /// Supersteps that the GPU runs by itself; instead, the host starts each of them
    DeviceLoop,
    /// With strategy shard, values of all vertices that fit in device memory; instead, only those that the GPU's edges
    /// read, if the store has mirrors
    WholeCopies,
    /// Compiled kernels in the user's cache folder; instead, every process compiles them
    PipelineCache,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FetcherName {
    /// io_uring if the system allows it, otherwise threads
    Auto,
    /// io_uring, or an error
    Uring,
    /// Blocking reads on threads: works everywhere
    Threads,
}

/// Reads a share of work.
fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.trim().parse().map_err(|_| "expected a number, such as 2 or 0.5".to_owned())?;
    match share.is_finite() && share > 0.0 {
        true => Ok(share),
        false => Err("expected a number above 0".into()),
    }
}

impl Tuning {
    /// Sets the engine's options. `device_memory` is the GPU memory of a run, in bytes.
    pub fn options(&self, options: EngineOptions, device_memory: Option<u64>) -> EngineOptions {
        options
            .with_buffer_bytes(self.buffer)
            .with_fetcher(match self.fetcher {
                FetcherName::Auto => FetcherKind::Auto,
                FetcherName::Uring => FetcherKind::Uring,
                FetcherName::Threads => FetcherKind::Threads,
            })
            .with_partial_reads(!self.whole_pages)
            .with_all_pages(self.all_pages)
            .with_strategy(self.strategy)
            .with_assignment(self.assignment)
            .with_shares(self.shares.iter().copied())
            .with_gpu(self.gpu(device_memory))
    }

    fn gpu(&self, memory_bytes: Option<u64>) -> GpuSettings {
        let allowed = |path| !self.without.contains(&path);
        GpuSettings {
            memory_bytes,
            cache_bytes: self.device_cache,
            pipelines: if allowed(FastPathName::PipelineCache) { pipelines() } else { None },
            distribution: self.distribution,
            batch_pages: self.batch_pages,
            launches: self.launches,
            cache_policy: match self.cache_policy {
                CachePolicyName::Fixed => CachePolicy::Fixed,
                CachePolicyName::Lru => CachePolicy::Lru,
            },
            transfer: match self.transfer {
                TransferName::Auto => PageTransfer::Auto,
                TransferName::InPlace => PageTransfer::InPlace,
                TransferName::Copy => PageTransfer::Copy,
            },
            fast_paths: FastPaths {
                host_import: allowed(FastPathName::HostImport),
                transfer_queue: allowed(FastPathName::TransferQueue),
                float_atomics: allowed(FastPathName::FloatAtomics),
                wide_integers: allowed(FastPathName::WideIntegers),
                subgroups: allowed(FastPathName::Subgroups),
                device_loop: allowed(FastPathName::DeviceLoop),
                whole_copies: allowed(FastPathName::WholeCopies),
            },
            ..GpuSettings::default()
        }
    }
}

/// The environment variable with the folder of compiled kernels; empty for none.
const PIPELINES: &str = "TOPOSTREAM_PIPELINES";

/// The folder where compiled kernels are kept: the one that the environment names, else one in the user's cache folder.
fn pipelines() -> Option<PathBuf> {
    match std::env::var_os(PIPELINES) {
        Some(folder) => (!folder.is_empty()).then(|| folder.into()),
        None => Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("topostream").join("pipelines")),
    }
}
