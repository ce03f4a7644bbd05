//! Settings of a run, one value for each parameter, and the engine with these settings.

use crate::adapter;
use crate::common::*;
use std::time::Duration;
use topostream::algorithms::Traffic;
use topostream::device::DeviceChoice;
use topostream::device::settings::{CachePolicy, Distribution, FastPaths, GpuSettings, PageTransfer};
use topostream::pages::fetch::FetcherKind;
use topostream::{Engine, EngineOptions, Error};
use topostream_formats::Encoding;
use topostream_formats::write::Layout;
use topostream_tools::format::FormatOptions;

/// The size of the device's page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// No cache.
    Off,
    /// About five slots beyond the minimum device memory.
    Few,
    /// All pages.
    All,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Setting {
    pub encoding: Encoding,
    pub page_bytes: u32,
    pub cache: Cache,
    /// Pages of the host's page buffer.
    pub buffer: Option<u64>,
    pub distribution: Distribution,
    pub batch_pages: u32,
    pub launches: u32,
    pub transfer: PageTransfer,
    pub cache_policy: CachePolicy,
    pub fast_paths: FastPaths,
    pub fetcher: FetcherKind,
    pub threads: usize,
    pub binding_bytes_max: Option<u64>,
    /// Whether copies have their own queue, simulated on the kernels' queue if the device has no other.
    pub copy_queue: bool,
    /// How long the device runs supersteps by itself.
    pub turn: Duration,
}

/// The encodings of [`ENCODINGS`], and packed pages whose images are larger than the pages.
pub const ALL_ENCODINGS: [Encoding; 3] =
    [Encoding::VertexId, PACKED, Encoding::Packed { edges_max: 16 << 10, step: true, own: true }];

impl Default for Setting {
    fn default() -> Self {
        Self {
            encoding: Encoding::VertexId,
            page_bytes: PAGE as u32,
            cache: Cache::All,
            buffer: None,
            distribution: Distribution::Auto,
            batch_pages: 1024,
            launches: 2,
            transfer: PageTransfer::Auto,
            cache_policy: CachePolicy::default(),
            fast_paths: FastPaths::default(),
            fetcher: FetcherKind::Auto,
            threads: 2,
            binding_bytes_max: None,
            copy_queue: false,
            turn: GpuSettings::default().turn,
        }
    }
}

/// No fast path at all.
pub const SLOW: FastPaths = FastPaths {
    host_import: false,
    transfer_queue: false,
    float_atomics: false,
    wide_integers: false,
    subgroups: false,
    device_loop: false,
    whole_copies: true,
};

/// The same setting, in which the host runs all supersteps.
pub fn by_host(setting: &Setting) -> Setting {
    Setting { fast_paths: FastPaths { device_loop: false, ..setting.fast_paths }, ..setting.clone() }
}

/// All fast paths, each of them missing, and none.
pub fn fast_paths() -> [FastPaths; 8] {
    let all = FastPaths::default();
    [
        all,
        FastPaths { host_import: false, ..all },
        FastPaths { transfer_queue: false, ..all },
        FastPaths { float_atomics: false, ..all },
        FastPaths { wide_integers: false, ..all },
        FastPaths { subgroups: false, ..all },
        FastPaths { device_loop: false, ..all },
        SLOW,
    ]
}

pub const DISTRIBUTIONS: [Distribution; 9] = [
    Distribution::Auto,
    Distribution::Vertex,
    Distribution::Warp(2),
    Distribution::Warp(4),
    Distribution::Warp(8),
    Distribution::Warp(16),
    Distribution::Warp(32),
    Distribution::Hybrid,
    Distribution::Segments,
];

impl Setting {
    /// Whether the device supports it: pages that are not copied must be readable in place, by segments.
    pub fn is_possible(&self) -> bool {
        let in_place = self.fast_paths.host_import
            && adapter::has("host memory import")
            && matches!(self.distribution, Distribution::Auto | Distribution::Segments);
        let FastPaths { host_import, transfer_queue, .. } = self.fast_paths;
        let copy_queue = host_import && transfer_queue && adapter::has("host memory import");
        (self.transfer != PageTransfer::InPlace || in_place) && (!self.copy_queue || copy_queue)
    }

    /// Whether its device lowers 64-bit numbers by atomics.
    pub fn has_wide_atomics(&self) -> bool {
        self.fast_paths.wide_integers && adapter::has("64-bit atomics")
    }

    pub fn store_options(&self) -> FormatOptions {
        let options = small_pages(self.encoding);
        FormatOptions { layout: Layout { page_bytes: self.page_bytes, ..options.layout.clone() }, ..options }
    }

    pub fn gpu(&self) -> GpuSettings {
        GpuSettings {
            pipelines: None,
            memory_bytes: Some(1 << 30),
            cache_bytes: (self.cache == Cache::Off).then_some(0),
            distribution: self.distribution,
            batch_pages: self.batch_pages,
            launches: self.launches,
            transfer: self.transfer,
            cache_policy: self.cache_policy,
            fast_paths: self.fast_paths,
            binding_bytes_max: self.binding_bytes_max,
            turn: self.turn,
            copies_on_compute_queue: self.copy_queue && !adapter::has("transfer queue"),
        }
    }

    /// The engine's options, with unlimited device memory.
    pub fn options(&self) -> EngineOptions {
        engine_options(None, self.threads, self.fetcher)
            .with_buffer_bytes(self.buffer.map(|pages| pages * u64::from(self.page_bytes)))
            .with_device(adapter::device())
            .with_gpu(self.gpu())
    }

    /// An engine that runs `work` on the GPU. Tries `work` first if that is needed to determine the minimum memory.
    pub fn engine<T>(&self, store: &TestStore, work: impl Fn(&Engine) -> Result<T, Error>) -> Engine {
        if self.cache != Cache::Few {
            return store.engine(self.options());
        }
        let least = needed_bytes(store, &self.options(), work);
        store.engine(with_memory(self.options(), least + 5 * u64::from(self.page_bytes)))
    }
}

/// The minimum device memory of some work, from its refusal.
pub fn needed_bytes<T>(store: &TestStore, options: &EngineOptions, work: impl Fn(&Engine) -> Result<T, Error>) -> u64 {
    match work(&store.engine(with_memory(options.clone(), 0))) {
        Err(Error::DeviceMemory { needed_bytes, .. }) => needed_bytes,
        Err(error) => panic!("not about device memory: {error}"),
        Ok(_) => panic!("it runs without device memory"),
    }
}

/// Options with this much device memory.
pub fn with_memory(options: EngineOptions, memory_bytes: u64) -> EngineOptions {
    let gpu = GpuSettings { memory_bytes: Some(memory_bytes), ..options.gpu.clone() };
    options.with_gpu(gpu)
}

/// Options for the CPU device.
pub fn on_cpu(options: EngineOptions) -> EngineOptions {
    options.with_device(DeviceChoice::Cpu)
}

/// Push and pull.
pub const TRAFFICS: [Traffic; 2] = [Traffic::Push, Traffic::Pull];
