//! The devices of an engine: opened when the first run wants them, kept between runs.

use crate::device::exchange::ExchangeMemory;
#[cfg(feature = "gpu")]
use crate::device::gpu;
use crate::device::settings::GpuSettings;
use crate::device::{CpuSetup, Device, DeviceChoice, Member, Workers};
use crate::error::{Error, Result};
use crate::model::Part;
use crate::model::algorithm::{Algorithm, Graph};
use crate::pages::fetch::PagePool;
use crate::predict;
use crate::team::{Team, TeamPlan};
use crate::trace::Timeline;
use std::sync::{Arc, Mutex};
use topostream_formats::Store;

/// Places for devices.
#[derive(Default)]
pub struct Roster {
    seats: Mutex<Vec<Seat>>,
    /// What the last run's devices told each other through: to pin it anew takes longer than a short search.
    exchange: Mutex<Option<Arc<ExchangeMemory>>>,
}

/// A device that was asked for.
#[derive(Clone)]
enum Seat {
    Cpu,
    /// The open adapter between runs, with what it holds of the graph.
    #[cfg(feature = "gpu")]
    Gpu {
        home: Arc<Mutex<Option<gpu::Home>>>,
        adapter: Box<gpu::Adapter>,
        binding_bytes_max: u64,
    },
}

/// Makes a CPU device: what knows the algorithm's type, and so its edge function.
pub type MakeCpu = dyn Fn(CpuSetup) -> Result<Box<dyn Member>>;

/// What a run gives its devices.
pub struct Setting<'a> {
    /// The algorithm.
    pub algorithm: Arc<dyn Algorithm>,
    /// Makes the CPU device of the algorithm.
    pub cpu: &'a MakeCpu,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The store.
    pub store: Arc<Store>,
    /// The page buffer's memory.
    pub pool: Arc<PagePool>,
    /// Frames in it.
    pub frames: u32,
    /// Worker threads, which all devices share.
    pub threads: usize,
    /// What a GPU may use.
    pub gpu: GpuSettings,
    /// Hears what happens when.
    pub trace: Option<Arc<Timeline>>,
}

/// What devices are like, as far as plans depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// For each device, whether it computes in main memory: the others have memory of their own.
    pub cpu: Vec<bool>,
    /// What every device can bind at once, in bytes.
    pub binding_bytes_max: u64,
}

impl Kinds {
    /// Whether all are of one kind.
    pub fn alike(&self) -> bool {
        self.cpu.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// How fast each may be, before anything is known of it: a GPU is a few CPUs.
    pub fn speeds(&self) -> Vec<f64> {
        self.cpu.iter().map(|&cpu| if cpu { 1.0 } else { 8.0 }).collect()
    }
}

impl Roster {
    /// Opens the devices that are chosen, as far as that has not been done. Without a shader, `auto` is the CPU.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is none such; what the driver says.
    pub fn open(&self, choices: &[DeviceChoice], has_shader: bool, settings: &GpuSettings) -> Result<Kinds> {
        let mut seats = self.seats();
        if choices.is_empty() {
            return Err(Error::NoDevice("no device was asked for: a run needs one at least".into()));
        }
        if seats.is_empty() {
            *seats = Self::take_seats(choices, has_shader, settings)?;
        }
        let cpu = seats.iter().map(|seat| matches!(seat, Seat::Cpu)).collect();
        Ok(Kinds { cpu, binding_bytes_max: seats.iter().map(Seat::binding_bytes_max).min().unwrap_or(u64::MAX) })
    }

    /// What the cost model knows the devices by, once they are open.
    #[cfg_attr(not(feature = "gpu"), expect(unused_variables, reason = "only GPUs have settings"))]
    pub fn described(&self, threads: usize, settings: &GpuSettings) -> Vec<predict::Seat> {
        let seats = self.seats();
        let cpus = seats.iter().filter(|seat| matches!(seat, Seat::Cpu)).count();
        let described = |seat: &Seat| match seat {
            Seat::Cpu => predict::Seat::cpu((threads / cpus.max(1)).max(1)),
            #[cfg(feature = "gpu")]
            Seat::Gpu { adapter, .. } => {
                predict::Seat::gpu(&adapter.report.name, adapter.report.memory_bytes, settings)
            }
        };
        let count = seats.len().max(1) as f64;
        seats.iter().map(|seat| predict::Seat { share: 1.0 / count, ..described(seat) }).collect()
    }

    fn seats(&self) -> std::sync::MutexGuard<'_, Vec<Seat>> {
        self.seats.lock().expect("nothing panics while it is held")
    }

    #[cfg(feature = "gpu")]
    fn take_seats(choices: &[DeviceChoice], has_shader: bool, settings: &GpuSettings) -> Result<Vec<Seat>> {
        let choices: Vec<DeviceChoice> = choices
            .iter()
            .map(|choice| match choice {
                DeviceChoice::Auto if !has_shader => DeviceChoice::Cpu,
                other => other.clone(),
            })
            .collect();
        let seat = |adapter: Option<gpu::Adapter>| {
            let Some(adapter) = adapter else { return Ok(Seat::Cpu) };
            let home = gpu::Home::open(&adapter, settings)?;
            let binding_bytes_max = home.gpu().caps().binding_bytes_max;
            let home = Arc::new(Mutex::new(Some(home)));
            Ok(Seat::Gpu { home, adapter: Box::new(adapter), binding_bytes_max })
        };
        gpu::adapters::choose_all(&choices)?.into_iter().map(seat).collect()
    }

    #[cfg(not(feature = "gpu"))]
    fn take_seats(choices: &[DeviceChoice], _has_shader: bool, _settings: &GpuSettings) -> Result<Vec<Seat>> {
        choices.iter().try_for_each(DeviceChoice::without_gpu_support)?;
        Ok(vec![Seat::Cpu; choices.len()])
    }

    /// Makes the devices ready for a run: one, or several under a plan.
    ///
    /// # Errors
    /// What the devices say.
    pub fn device(&self, setting: &Setting<'_>, plan: Option<TeamPlan>) -> Result<Box<dyn Device>> {
        let seats = self.seats().clone();
        let workers = Arc::new(Workers::new(setting.threads)?);
        let mut kept = self.exchange.lock().expect("nothing panics while it is held");
        let Some(plan) = plan else {
            *kept = None;
            let part = Part::whole(setting.graph.vertices);
            return Ok(seats[0].member(setting, part, None, (&workers, workers.count()))?);
        };
        let exchange = plan.exchange(kept.take())?;
        *kept = Some(Arc::clone(&exchange));
        drop(kept);
        let cpus = seats.iter().filter(|seat| matches!(seat, Seat::Cpu)).count();
        let share = (&workers, (workers.count() / cpus.max(1)).max(1));
        let member =
            |(seat, part): (&Seat, &Part)| seat.member(setting, part.clone(), Some(Arc::clone(&exchange)), share);
        let members = seats.iter().zip(&plan.parts).map(member).collect::<Result<Vec<_>>>()?;
        let (store, graph) = (Arc::clone(&setting.store), Arc::clone(&setting.graph));
        Ok(Box::new(Team::new(plan, store, graph, exchange, members)))
    }

    /// Looks at the adapter that the last run has left in the first place, for tests.
    #[cfg(feature = "gpu")]
    pub fn with_gpu<T>(&self, look: impl FnOnce(&gpu::Gpu) -> T) -> Option<T> {
        match self.seats().first()? {
            Seat::Gpu { home, .. } => {
                home.lock().expect("nothing panics while it is held").as_ref().map(|home| look(home.gpu()))
            }
            Seat::Cpu => None,
        }
    }
}

impl Seat {
    fn binding_bytes_max(&self) -> u64 {
        match self {
            Self::Cpu => u64::MAX,
            #[cfg(feature = "gpu")]
            Self::Gpu { binding_bytes_max, .. } => *binding_bytes_max,
        }
    }

    /// The device in this seat, for one run. Of the worker threads, `lanes` are the share of each CPU device.
    fn member(
        &self,
        setting: &Setting<'_>,
        part: Part,
        exchange: Option<Arc<ExchangeMemory>>,
        (workers, lanes): (&Arc<Workers>, usize),
    ) -> Result<Box<dyn Member>> {
        let workers = Arc::clone(workers);
        let (graph, store, trace) = (Arc::clone(&setting.graph), Arc::clone(&setting.store), setting.trace.clone());
        match self {
            Self::Cpu => (setting.cpu)(CpuSetup { graph, store, workers, lanes, trace, part, exchange }),
            #[cfg(feature = "gpu")]
            Self::Gpu { home: keep, adapter, .. } => {
                let kept = keep.lock().expect("nothing panics while it is held").take();
                let home = match kept {
                    Some(home) => home,
                    None => gpu::Home::open(adapter, &setting.gpu)?,
                };
                let algorithm = Arc::clone(&setting.algorithm);
                let (pool, frames) = (Arc::clone(&setting.pool), setting.frames);
                let setup = gpu::RunSetup { algorithm, graph, store, pool, frames, workers, trace, part, exchange };
                Ok(Box::new(gpu::GpuDevice::new(home, Arc::clone(keep), setup)?))
            }
        }
    }
}
