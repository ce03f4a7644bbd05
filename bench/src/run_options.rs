//! The setup of measurements of algorithms: devices, page buffer, kinds of stores.

use crate::catalogue::Needs;
use crate::error::Result;
use crate::graph::Wanted;
use crate::options::Resources;
use crate::rig::{DeviceChoice, Setup, Share};
use std::path::Path;
use topostream::pages::memory::FRAMES_MIN;
use topostream::{Engine, Store};

/// The options that benchmarks of algorithms share.
#[derive(Debug, Clone, clap::Args)]
pub struct RunOptions {
    /// The devices, as for `topostream run --device`
    #[arg(long, value_delimiter = ',', default_value = "cpu", value_name = "LIST")]
    pub device: Vec<DeviceChoice>,
    #[command(flatten)]
    pub resources: Resources,
}

/// The page buffer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Room for all pages, in main memory and on devices.
    All,
    /// Room for a quarter of this many bytes in main memory, and none on devices.
    QuarterOf(u64),
    /// The same with an eighth.
    EighthOf(u64),
}

impl RunOptions {
    /// Whether only CPUs compute.
    pub fn is_cpu(&self) -> bool {
        self.device.iter().all(|device| *device == DeviceChoice::Cpu)
    }

    /// The devices, for file names and tables.
    pub fn device_name(&self) -> String {
        self.device.iter().map(DeviceChoice::to_string).collect::<Vec<_>>().join("-").replace([' ', '/'], "-")
    }

    /// A store that an algorithm needs.
    pub fn wanted(&self, needs: &Needs) -> Wanted {
        Wanted {
            in_edges: needs.in_lists,
            weights: needs.weights,
            undirected: needs.undirected,
            distinct: needs.distinct,
            ..self.resources.wanted()
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
            ..Setup::new(DeviceChoice::Cpu, self.resources.threads())
        };
        let options = setup.options(&store, 0);
        let frame_bytes = store.topologies().map(|lists| lists.page_bytes() + lists.weight_page_bytes()).max();
        let least = u64::from(FRAMES_MIN) * u64::from(frame_bytes.unwrap_or(0));
        let buffer_bytes = match buffer {
            Buffer::All => None,
            Buffer::QuarterOf(bytes) => Some((bytes / 4).max(least)),
            Buffer::EighthOf(bytes) => Some((bytes / 8).max(least)),
        };
        Ok(Engine::new(store, options.with_buffer_bytes(buffer_bytes).with_asynchronous(asynchronous)))
    }
}
