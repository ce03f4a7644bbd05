//! The setup of a measurement: devices, threads, folders.

use super::entry::Needs;
use crate::gpu::api::{DeviceChoice, Setup, Share};
use crate::graph::Wanted;
use crate::machine::Machine;
use crate::{Result, page_size};
use std::path::{Path, PathBuf};
use topostream::pages::memory::FRAMES_MIN;
use topostream::{Engine, Store};

/// The options of both benchmarks of algorithms.
#[derive(Debug, Clone, clap::Args)]
pub struct RunOptions {
    /// The devices, as for `topostream run --device`
    #[arg(long, value_delimiter = ',', default_value = "cpu", value_name = "LIST")]
    pub device: Vec<DeviceChoice>,
    /// CPU threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The folder for stores; on the disk to measure
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    pub results: PathBuf,
    /// The page size of new stores
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = page_size)]
    pub page_size: u32,
    /// Main memory for making stores [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::size)]
    pub format_memory: Option<u64>,
}

/// Minimum main memory for making stores.
const FORMAT_MEMORY_MIN: u64 = 512 << 20;

/// The page buffer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Room for all pages, in main memory and on devices.
    All,
    /// Room for a quarter of this many bytes in main memory, and none on devices.
    QuarterOf(u64),
}

impl RunOptions {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Whether only CPUs compute.
    pub fn is_cpu(&self) -> bool {
        self.device.iter().all(|device| *device == DeviceChoice::Cpu)
    }

    /// The devices, for file names and tables.
    pub fn device_name(&self) -> String {
        self.device.iter().map(DeviceChoice::to_string).collect::<Vec<_>>().join("-").replace([' ', '/'], "-")
    }

    /// Describes stores of a kind.
    pub fn wanted(&self, needs: &Needs) -> Wanted {
        let quarter = (Machine::this().memory_bytes / 4).max(FORMAT_MEMORY_MIN);
        Wanted {
            page_bytes: self.page_size,
            memory_bytes: self.format_memory.unwrap_or(quarter),
            in_edges: needs.in_lists,
            weights: needs.weights,
            undirected: needs.undirected,
            distinct: needs.distinct,
            ..Wanted::default()
        }
    }

    /// An engine over a store.
    ///
    /// # Errors
    /// If it does not open.
    pub fn engine(&self, path: &Path, buffer: Buffer, asynchronous: bool) -> Result<Engine> {
        let store = Store::open(path)?;
        let cache = if buffer == Buffer::All { Share::All } else { Share::Nothing };
        let setup = Setup {
            devices: self.device.clone(),
            buffer: Share::All,
            cache,
            ..Setup::new(DeviceChoice::Cpu, self.threads())
        };
        let options = setup.options(&store, 0);
        let frame_bytes = store.topologies().map(|lists| lists.page_bytes() + lists.weight_page_bytes()).max();
        let least = u64::from(FRAMES_MIN) * u64::from(frame_bytes.unwrap_or(0));
        let buffer_bytes = match buffer {
            Buffer::All => None,
            Buffer::QuarterOf(bytes) => Some((bytes / 4).max(least)),
        };
        Ok(Engine::new(store, options.with_buffer_bytes(buffer_bytes).with_asynchronous(asynchronous)))
    }
}
