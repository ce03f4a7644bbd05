//! `topostream calibrate`: benchmarks disk, bus and compute rates.

mod disk;
mod fit;
mod graphs;
mod measure;

use super::args::ResourceArgs;
use super::failure::{Failure, Outcome};
use super::output::OutputFile;
use super::printing::{print, say};
use super::tune::Tune;
use super::tuning::Tuning;
use super::{calibration, tables};
use crate::device::DeviceChoice;
use crate::engine::EngineOptions;
use crate::predict::{DeviceRates, RATES_VERSION, Rates};
use clap::Args;
use graphs::Graphs;
use measure::Bench;
use std::io::Write;
use std::path::{Path, PathBuf};
use topostream_tools::progress::Cancel;

/// Benchmark disk, bus and compute rates, for `plan`, for strategies of several devices, and for the predictions of
/// `run`.
///
/// Runs the engine over small temporary graphs, in less than a minute.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Calibrate {
    /// Folder for temporary graphs, on the disk to measure
    #[arg(long, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    /// Measure the disks of this store instead of a temporary one; larger stores give better figures
    #[arg(long, value_name = "STORE")]
    store: Option<PathBuf>,
    /// The largest graph has 2^SCALE vertices and 16 times as many edges, and takes 300 bytes a vertex on disk
    /// [default: 20, with a GPU 24]
    #[arg(long, value_parser = clap::value_parser!(u32).range(10..=28))]
    scale: Option<u32>,
    /// The file to write [default: $TOPOSTREAM_CALIBRATION, or a file in the user's cache folder]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the rates as JSON, and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    tune: Tune<Tuning>,
}

const EXAMPLES: &str = "\
Examples:
  topostream calibrate
  topostream calibrate --device cpu,all --dir /mnt/nvme
  topostream calibrate --device 0 --store /mnt/nvme/big --scale 26";

/// The largest graph where only the CPU is measured: its attributes exceed the caches of most processors.
const SCALE_CPU: u32 = 20;
/// The largest graph where a GPU is measured.
const SCALE_GPU: u32 = 24;

impl Calibrate {
    pub fn run(self, cancel: &Cancel) -> Outcome {
        let path = calibration::path(self.output.as_deref())?;
        let output = create(&path)?;
        let options = self.resources.options(&self.tune, cancel);
        let choices = choices(&options)?;
        let only_cpu = choices.iter().all(|choice| *choice == DeviceChoice::Cpu);
        let scale = self.scale.unwrap_or(if only_cpu { SCALE_CPU } else { SCALE_GPU });
        let graphs = Graphs::make(&self.dir, scale, options.memory_bytes, cancel)?;
        let store = self.store.unwrap_or_else(|| graphs.largest());
        let disk = disk::measure(&store, options.fetcher, cancel)?;
        let rates = measure(&choices, &options, &graphs, &disk)?;
        drop(graphs);
        let rates = with_others(rates, &path);
        output.write(cancel, |out| out.write_all(rates.encode().as_bytes()))?;
        if self.json {
            return print(&rates.encode());
        }
        let cached = if disk.direct { "" } else { " (through the system's page cache: this disk has no direct reads)" };
        let (rate, small) = (gb(disk.bytes_per_s), disk.request_ns / 1e3);
        let disk = format!("disk: {rate} and {small:.1} us a read{cached}");
        say(&format!("{}{disk}\nwritten to {}\n", table(&rates), path.display()))
    }
}

/// Opens the file for writing; the cache folder may not be there yet.
fn create(path: &Path) -> Result<OutputFile, Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let failed = |error| Failure::Other(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    OutputFile::create(path)
}

/// The selected devices, each by a choice that names it alone.
#[cfg(feature = "gpu")]
fn choices(options: &EngineOptions) -> Result<Vec<DeviceChoice>, Failure> {
    let adapters = crate::device::gpu::adapters::choose_all(&options.devices)?;
    let choice = |adapter: &crate::device::gpu::adapters::Adapter| DeviceChoice::Index(adapter.report.index);
    Ok(adapters.iter().map(|adapter| adapter.as_ref().map_or(DeviceChoice::Cpu, choice)).collect())
}

#[cfg(not(feature = "gpu"))]
fn choices(options: &EngineOptions) -> Result<Vec<DeviceChoice>, Failure> {
    options.devices.iter().try_for_each(DeviceChoice::without_gpu_support)?;
    Ok(vec![DeviceChoice::Cpu])
}

fn measure(
    choices: &[DeviceChoice],
    options: &EngineOptions,
    graphs: &Graphs,
    disk: &disk::Disk,
) -> Result<Rates, Failure> {
    let (disk_bytes_per_s, disk_request_ns) = (disk.bytes_per_s, Some(disk.request_ns));
    let mut rates = Rates { machine: machine(), disk_bytes_per_s, disk_request_ns, ..Rates::unknown() };
    let benches: Vec<Bench<'_>> = choices.iter().map(|choice| Bench { choice, options, graphs }).collect();
    for bench in &benches {
        let device = bench.device()?;
        if rates.devices.iter().all(|known| known.name != device.name) {
            rates.devices.push(device);
        }
    }
    rates.concurrent_bus_share = measure::concurrent_bus_share(&benches)?;
    Ok(rates)
}

/// Keeps devices of the same machine that were measured before.
fn with_others(mut rates: Rates, path: &Path) -> Rates {
    let before = Rates::read(path).ok().filter(|before| before.machine == rates.machine);
    if let Some(before) = before {
        let known = |device: &DeviceRates| rates.devices.iter().any(|new| new.name == device.name);
        let others: Vec<DeviceRates> = before.devices.into_iter().filter(|device| !known(device)).collect();
        rates.devices.extend(others);
    }
    assert_eq!(rates.version, RATES_VERSION);
    rates
}

/// The processor's name, for people.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    // Windows has a variable with its maker, family and model.
    let variable = std::env::var("PROCESSOR_IDENTIFIER").unwrap_or_else(|_| std::env::consts::ARCH.into());
    let name = line.and_then(|line| line.split_once(':')).map_or(variable.as_str(), |(_, name)| name.trim());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {threads} threads, {}", std::env::consts::OS)
}

fn table(rates: &Rates) -> String {
    let header = ["device", "vertices", "push", "pull", "top-down", "bottom-up", "bus", "copies", "merge", "superstep"];
    let mut rows = Vec::new();
    for device in &rates.devices {
        for (at, of) in device.kernels.iter().enumerate() {
            let name = if at == 0 { device.name.clone() } else { String::new() };
            let mut row = vec![name, tables::count(of.vertices)];
            row.extend([of.push, of.pull, of.top_down, of.bottom_up].map(|rate| format!("{:.0} M/s", rate / 1e6)));
            if at == 0 {
                let bus =
                    device.bus.map_or([None; 2], |bus| [Some(bus.in_place_bytes_per_s), Some(bus.search_bytes_per_s)]);
                row.extend(bus.map(|rate| rate.map_or(String::new(), gb)));
                row.extend([gb(device.merge_bytes_per_s), format!("{:.1} us", device.superstep_ns / 1e3)]);
            }
            row.resize(header.len(), String::new());
            rows.push(row);
        }
    }
    tables::table(&header, rows)
}

fn gb(bytes_per_s: f64) -> String {
    format!("{:.2} GB/s", bytes_per_s / 1e9)
}
