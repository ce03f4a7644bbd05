//! The devices of an engine. They are opened for the first run and kept between runs.

use crate::cluster::Cluster;
use crate::device::exchange::ExchangeMemory;
#[cfg(feature = "gpu")]
use crate::device::gpu;
use crate::device::settings::GpuSettings;
use crate::device::{CpuSetup, Device, DeviceChoice, Member, Workers};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Algorithm, Declaration, Graph};
use crate::model::attributes::Role;
use crate::pages::fetch::PagePool;
use crate::pages::parts::ReadCost;
use crate::predict;
use crate::team::{Team, TeamPlan};
use crate::trace::Timeline;
use std::sync::{Arc, Mutex};
use topostream_formats::Store;

/// The devices of an engine.
pub struct Roster {
    devices: Mutex<Opened>,
    /// Whether `auto` is among the choices.
    has_auto: bool,
    /// The exchange memory of the last run. Pinning a new one takes longer than a short search.
    exchange: Mutex<Option<Arc<ExchangeMemory>>>,
    /// GPUs that outlive the engine.
    #[cfg(feature = "gpu")]
    open_gpus: Option<super::OpenGpus>,
}

/// What an algorithm runs on, of the chosen devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// Any of them: it has a shader.
    Any,
    /// `auto` is the CPU; a GPU refuses it.
    NoGpu,
    /// CPUs in place of them.
    Cpu,
}

impl RunsOn {
    /// By its declaration.
    pub fn of(declaration: &Declaration) -> Self {
        match declaration.shader {
            _ if declaration.on_cpu => Self::Cpu,
            Some(_) => Self::Any,
            None => Self::NoGpu,
        }
    }

    /// The device to open for a choice.
    fn choice(self, choice: &DeviceChoice) -> DeviceChoice {
        match (self, choice) {
            (Self::Cpu, _) | (Self::NoGpu, DeviceChoice::Auto) => DeviceChoice::Cpu,
            (_, other) => other.clone(),
        }
    }
}

/// Open devices. Algorithms that run on others have lists of their own.
#[derive(Default)]
struct Opened {
    /// Empty until the first algorithm with a shader runs.
    any: Vec<OpenDevice>,
    /// Empty until an algorithm without a shader runs on `auto`.
    no_gpu: Vec<OpenDevice>,
    /// Empty until an algorithm runs on CPUs whatever is chosen.
    cpu: Vec<OpenDevice>,
}

/// A device of the engine.
#[derive(Clone)]
enum OpenDevice {
    Cpu,
    /// A GPU. `home` keeps the open adapter between runs, with the pages and degrees that it holds.
    #[cfg(feature = "gpu")]
    Gpu {
        home: Arc<Mutex<Option<gpu::Home>>>,
        adapter: Box<gpu::Adapter>,
        binding_bytes_max: u64,
        device_bytes: u64,
    },
}

/// How a device of several shares a run, as the plan says.
#[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "some are for GPUs only"))]
struct Sharing {
    /// The memory through which it exchanges values with others.
    memory: Arc<ExchangeMemory>,
    /// [`TeamPlan::reads_border`].
    reads_border: bool,
    /// [`TeamPlan::listed`].
    listed: Option<Role>,
}

/// Creates a CPU device for an algorithm whose type only this function knows.
pub type MakeCpu = dyn Fn(CpuSetup) -> Result<Box<dyn Member>>;

/// The input of a run's devices.
#[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "some are for GPUs only"))]
pub struct DeviceSetup<'a> {
    /// The algorithm.
    pub algorithm: Arc<dyn Algorithm>,
    /// Its declaration.
    pub declaration: Arc<Declaration>,
    /// Creates a CPU device for the algorithm.
    pub cpu: &'a MakeCpu,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// The memory of the page buffer.
    pub pool: Arc<PagePool>,
    /// The number of frames in the page buffer.
    pub frames: u32,
    /// Worker threads, which all devices share.
    pub threads: usize,
    /// The settings of GPU devices.
    pub gpu: GpuSettings,
    /// The timeline to record, if wanted.
    pub trace: Option<Arc<Timeline>>,
    /// The cost of reads, if CPU devices may ask for parts of pages.
    pub parts: Option<ReadCost>,
    /// Whether devices may run several supersteps without the engine.
    pub runs_ahead: bool,
    /// The ranks that share the run, if there are several.
    pub cluster: Option<Arc<Cluster>>,
    /// The device that runs if there is no plan for several.
    pub device: usize,
}

/// The properties of devices on which plans depend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// For each device, whether it is a CPU, which computes in main memory.
    pub cpu: Vec<bool>,
    /// The largest buffer that every device can bind, in bytes.
    pub binding_bytes_max: u64,
    /// The memory that every GPU has for a run, in bytes.
    pub device_bytes: u64,
}

impl Kinds {
    /// Returns whether all devices are of one kind.
    pub fn alike(&self) -> bool {
        self.cpu.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns an assumed speed for each device, for when no rates are known: a GPU counts as 8 CPUs.
    pub fn speeds(&self) -> Vec<f64> {
        self.cpu.iter().map(|&cpu| if cpu { 1.0 } else { 8.0 }).collect()
    }
}

impl Roster {
    /// Creates a roster without devices: [`open`](Self::open) opens them.
    pub fn new(options: &super::EngineOptions) -> Self {
        Self {
            devices: Mutex::default(),
            has_auto: options.devices.contains(&DeviceChoice::Auto),
            exchange: Mutex::default(),
            #[cfg(feature = "gpu")]
            open_gpus: options.open_gpus.clone(),
        }
    }

    /// Opens the chosen devices for a run, unless that was done before.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if a device does not exist; errors of the driver.
    pub fn open(&self, choices: &[DeviceChoice], runs_on: RunsOn, settings: &GpuSettings) -> Result<Kinds> {
        let mut opened = self.devices.lock().expect("nothing panics while it is held");
        if choices.is_empty() {
            return Err(Error::NoDevice("the list of devices is empty: a run needs at least one".into()));
        }
        let devices = self.of(runs_on, &mut opened);
        if devices.is_empty() {
            *devices = self.open_all(choices, runs_on, settings)?;
        }
        let cpu = devices.iter().map(|device| matches!(device, OpenDevice::Cpu)).collect();
        Ok(Kinds {
            cpu,
            binding_bytes_max: devices.iter().map(OpenDevice::binding_bytes_max).min().unwrap_or(u64::MAX),
            device_bytes: devices.iter().map(OpenDevice::device_bytes).min().unwrap_or(u64::MAX),
        })
    }

    /// Whether [`open`](Self::open) would open devices that may be GPUs.
    pub fn opens_gpus(&self, choices: &[DeviceChoice], runs_on: RunsOn) -> bool {
        let cpu = |choice: &DeviceChoice| runs_on.choice(choice) == DeviceChoice::Cpu;
        !choices.iter().all(cpu) && self.devices(runs_on).is_empty()
    }

    /// Describes the open devices for the cost model.
    #[cfg_attr(not(feature = "gpu"), expect(unused_variables, reason = "only GPUs have settings"))]
    pub fn described(&self, runs_on: RunsOn, threads: usize, settings: &GpuSettings) -> Vec<predict::DeviceProfile> {
        let devices = self.devices(runs_on);
        let cpus = devices.iter().filter(|device| matches!(device, OpenDevice::Cpu)).count();
        let described = |device: &OpenDevice| match device {
            OpenDevice::Cpu => predict::DeviceProfile::cpu((threads / cpus.max(1)).max(1)),
            #[cfg(feature = "gpu")]
            OpenDevice::Gpu { adapter, .. } => {
                predict::DeviceProfile::gpu(&adapter.report.name, adapter.report.memory_bytes, settings)
            }
        };
        let count = devices.len().max(1) as f64;
        devices.iter().map(|device| predict::DeviceProfile { share: 1.0 / count, ..described(device) }).collect()
    }

    /// The list of devices for an algorithm.
    fn of<'a>(&self, runs_on: RunsOn, opened: &'a mut Opened) -> &'a mut Vec<OpenDevice> {
        match runs_on {
            RunsOn::Cpu => &mut opened.cpu,
            RunsOn::NoGpu if self.has_auto => &mut opened.no_gpu,
            _ => &mut opened.any,
        }
    }

    /// The open devices for an algorithm.
    fn devices(&self, runs_on: RunsOn) -> Vec<OpenDevice> {
        self.of(runs_on, &mut self.devices.lock().expect("nothing panics while it is held")).clone()
    }

    #[cfg(feature = "gpu")]
    fn open_all(&self, choices: &[DeviceChoice], runs_on: RunsOn, settings: &GpuSettings) -> Result<Vec<OpenDevice>> {
        let choices: Vec<DeviceChoice> = choices.iter().map(|choice| runs_on.choice(choice)).collect();
        let open = |adapter: Option<gpu::Adapter>| {
            let Some(adapter) = adapter else { return Ok(OpenDevice::Cpu) };
            let kept = self.open_gpus.as_ref().and_then(|open| open.take(&adapter.report, settings));
            let home = kept.map_or_else(|| gpu::Home::open(&adapter, settings), Ok)?;
            let caps = home.gpu().caps();
            let (binding_bytes_max, device_bytes) = (caps.binding_bytes_max, gpu::plan::budget_bytes(settings, caps));
            let home = Arc::new(Mutex::new(Some(home)));
            Ok(OpenDevice::Gpu { home, adapter: Box::new(adapter), binding_bytes_max, device_bytes })
        };
        gpu::adapters::choose_all(&choices)?.into_iter().map(open).collect()
    }

    #[cfg(not(feature = "gpu"))]
    fn open_all(&self, choices: &[DeviceChoice], _runs_on: RunsOn, _settings: &GpuSettings) -> Result<Vec<OpenDevice>> {
        choices.iter().try_for_each(DeviceChoice::without_gpu_support)?;
        Ok(vec![OpenDevice::Cpu; choices.len()])
    }

    /// Sets up the devices for a run: a single device, or several under a plan.
    ///
    /// # Errors
    /// The errors of the devices.
    pub fn device(&self, setup: &DeviceSetup<'_>, plan: Option<TeamPlan>) -> Result<Box<dyn Device>> {
        let devices = self.devices(RunsOn::of(&setup.declaration));
        let workers = Arc::new(Workers::new(setup.threads)?);
        let mut kept = self.exchange.lock().expect("nothing panics while it is held");
        let Some(plan) = plan else {
            *kept = None;
            let part = Part::whole(setup.graph.vertices);
            return Ok(devices[setup.device].member(setup, part, None, (&workers, workers.count()))?);
        };
        let exchange = plan.exchange(kept.take(), setup.cluster.as_deref())?;
        *kept = Some(Arc::clone(&exchange));
        drop(kept);
        let cpus = devices.iter().filter(|device| matches!(device, OpenDevice::Cpu)).count();
        let share = (&workers, (workers.count() / cpus.max(1)).max(1));
        let member = |(device, part): (&OpenDevice, &Part)| {
            let memory = Arc::clone(&exchange);
            let sharing = Sharing { memory, reads_border: plan.reads_border, listed: plan.listed };
            device.member(setup, part.clone(), Some(sharing), share)
        };
        let members = devices.iter().zip(plan.local_parts()).map(member).collect::<Result<Vec<_>>>()?;
        let (store, graph) = (Arc::clone(&setup.store), Arc::clone(&setup.graph));
        let (algorithm, cluster) = (Arc::clone(&setup.algorithm), setup.cluster.clone());
        let algorithm = (algorithm, Arc::clone(&setup.declaration));
        Ok(Box::new(Team::new(plan, algorithm, store, graph, exchange, members, cluster)))
    }

    /// The open GPU for kernels that are not part of a run, if it is the only device and no run uses it.
    ///
    /// # Errors
    /// Errors of the device.
    #[cfg(feature = "gpu")]
    pub fn lend(&self) -> Result<Option<gpu::compute::Compute>> {
        match &self.devices(RunsOn::Any)[..] {
            [OpenDevice::Gpu { home, .. }] => {
                home.lock().expect("nothing panics while it is held").as_mut().map(gpu::Home::lend).transpose()
            }
            _ => Ok(None),
        }
    }

    /// Calls `look` with the first device's adapter, if it is a GPU that is kept from the last run. For tests.
    #[cfg(feature = "gpu")]
    pub fn with_gpu<T>(&self, look: impl FnOnce(&gpu::Gpu) -> T) -> Option<T> {
        match self.devices(RunsOn::Any).first()? {
            OpenDevice::Gpu { home, .. } => {
                home.lock().expect("nothing panics while it is held").as_ref().map(|home| look(home.gpu()))
            }
            OpenDevice::Cpu => None,
        }
    }
}

/// Stops using all devices before the first is closed: some drivers hang otherwise.
#[cfg(feature = "gpu")]
impl Drop for Roster {
    fn drop(&mut self) {
        let devices = self.devices.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let homes = devices.any.iter().chain(&devices.no_gpu).filter_map(|device| match device {
            OpenDevice::Gpu { home, .. } => home.lock().ok()?.take(),
            OpenDevice::Cpu => None,
        });
        let mut homes: Vec<gpu::Home> = homes.collect();
        homes.iter_mut().for_each(gpu::Home::rest_at_last);
        if let Some(open) = &self.open_gpus {
            homes.into_iter().for_each(|home| open.give(home));
        }
    }
}

impl OpenDevice {
    fn binding_bytes_max(&self) -> u64 {
        match self {
            Self::Cpu => u64::MAX,
            #[cfg(feature = "gpu")]
            Self::Gpu { binding_bytes_max, .. } => *binding_bytes_max,
        }
    }

    fn device_bytes(&self) -> u64 {
        match self {
            Self::Cpu => u64::MAX,
            #[cfg(feature = "gpu")]
            Self::Gpu { device_bytes, .. } => *device_bytes,
        }
    }

    /// Sets up the device for one run. `sharing`: how it exchanges values with others, if there are any. `lanes` is the
    /// share of the worker threads of each CPU device.
    fn member(
        &self,
        setup: &DeviceSetup<'_>,
        part: Part,
        sharing: Option<Sharing>,
        (workers, lanes): (&Arc<Workers>, usize),
    ) -> Result<Box<dyn Member>> {
        let workers = Arc::clone(workers);
        let (graph, store, trace) = (Arc::clone(&setup.graph), Arc::clone(&setup.store), setup.trace.clone());
        match self {
            Self::Cpu => {
                let (parts, exchange) = (setup.parts, sharing.map(|sharing| sharing.memory));
                let declaration = Arc::clone(&setup.declaration);
                (setup.cpu)(CpuSetup { declaration, graph, store, workers, lanes, trace, part, exchange, parts })
            }
            #[cfg(feature = "gpu")]
            Self::Gpu { home: keep, adapter, .. } => {
                let kept = keep.lock().expect("nothing panics while it is held").take();
                let home = match kept {
                    Some(home) => home,
                    None => gpu::Home::open(adapter, &setup.gpu)?,
                };
                let algorithm = Arc::clone(&setup.algorithm);
                let reads_border = sharing.as_ref().is_some_and(|sharing| sharing.reads_border);
                let listed = sharing.as_ref().and_then(|sharing| sharing.listed);
                let exchange = sharing.map(|sharing| sharing.memory);
                let (pool, frames) = (Arc::clone(&setup.pool), setup.frames);
                let run = gpu::RunSetup {
                    algorithm,
                    declaration: Arc::clone(&setup.declaration),
                    graph,
                    store,
                    pool,
                    frames,
                    workers,
                    trace,
                    part,
                    exchange,
                    reads_border,
                    listed,
                    runs_ahead: setup.runs_ahead,
                };
                Ok(Box::new(gpu::GpuDevice::new(home, Arc::clone(keep), run)?))
            }
        }
    }
}
