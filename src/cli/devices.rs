//! `topostream devices`: the devices of this machine.

use super::failure::{Failure, Outcome};
use super::printing::print;
use super::tables;
#[cfg(feature = "gpu")]
use crate::device::gpu::AdapterReport;
use clap::Args;
use serde::Serialize;

/// List the devices that can run algorithms: the CPU, and every GPU with its limits and fast paths.
#[derive(Args)]
pub struct Devices {
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

/// The devices of this machine.
#[derive(Serialize)]
struct Report {
    /// The device that `--device auto` selects: `cpu`, or a number.
    auto: String,
    cpu: Cpu,
    /// Whether the program was built with GPU support.
    gpu_support: bool,
    #[cfg(feature = "gpu")]
    adapters: Vec<AdapterReport>,
}

#[derive(Serialize)]
struct Cpu {
    threads: usize,
}

impl Devices {
    pub fn run(self) -> Outcome {
        let report = Report::new()?;
        if !self.json {
            return print(&report.text());
        }
        let json = serde_json::to_string_pretty(&report).map_err(|error| Failure::Other(error.to_string()))?;
        print(&(json + "\n"))
    }
}

#[cfg(not(feature = "gpu"))]
impl Report {
    fn new() -> Result<Self, Failure> {
        Ok(Self { auto: "cpu".into(), cpu: Cpu::here(), gpu_support: false })
    }

    fn text(&self) -> String {
        let rows = [self.cpu.row(3)];
        tables::table_of(3, &["device", "name", "kind"], rows)
            + "auto selects cpu: this program was built without GPU support (`--features gpu` adds it)\n"
    }
}

#[cfg(feature = "gpu")]
impl Report {
    fn new() -> Result<Self, Failure> {
        use crate::device::DeviceChoice;
        use crate::device::gpu::adapters;
        let adapters = adapters::list();
        let auto = adapters::pick(&adapters, &DeviceChoice::Auto)?;
        let auto = auto.map_or("cpu".into(), |at| adapters[at].index.to_string());
        Ok(Self { auto, cpu: Cpu::here(), gpu_support: true, adapters })
    }

    fn text(&self) -> String {
        let header = ["device", "name", "kind", "backend", "memory"];
        let mut rows = vec![self.cpu.row(header.len())];
        for adapter in &self.adapters {
            rows.push(vec![
                adapter.index.to_string(),
                adapter.name.clone(),
                adapter.kind.to_string(),
                adapter.backend.clone(),
                adapter.memory_bytes.map_or("unknown".into(), tables::bytes),
            ]);
        }
        let limits: String = self.adapters.iter().map(Self::limits).collect();
        tables::table_of(4, &header, rows) + &limits + &self.fast_paths() + &self.closing()
    }

    /// A device's driver and limits.
    fn limits(adapter: &AdapterReport) -> String {
        let AdapterReport { index, driver, limits, .. } = adapter;
        let compiler = Self::compiler(adapter);
        let subgroups = match limits.subgroup_min == limits.subgroup_max {
            true => limits.subgroup_min.to_string(),
            false => format!("{} to {}", limits.subgroup_min, limits.subgroup_max),
        };
        let [binding, buffer] = [limits.storage_binding_bytes, limits.buffer_bytes].map(tables::bytes);
        let bindings = tables::count(limits.storage_buffers_per_stage.into());
        format!(
            "device {index}: driver {driver}\n{compiler}device {index}: buffers up to {buffer}; a shader binds {bindings}, \
             {binding} of each; subgroups of {subgroups}\n"
        )
    }

    /// What compiles a device's shaders, where that is not the driver.
    fn compiler(adapter: &AdapterReport) -> String {
        use crate::device::gpu::interfaces::{NO_DXC, ShaderCompiler};
        let AdapterReport { index, shader_compiler, .. } = adapter;
        match shader_compiler {
            ShaderCompiler::Driver => String::new(),
            ShaderCompiler::Dxc(_) => format!("device {index}: shaders are compiled by {shader_compiler}\n"),
            ShaderCompiler::Fxc => format!("device {index}: cannot be used: {NO_DXC}\n"),
        }
    }

    /// A row for each fast path, a column for each adapter.
    fn fast_paths(&self) -> String {
        let Some(first) = self.adapters.first() else { return String::new() };
        let names: Vec<String> = self.adapters.iter().map(|adapter| format!("device {}", adapter.index)).collect();
        let header: Vec<&str> = std::iter::once("fast path").chain(names.iter().map(String::as_str)).collect();
        let header = [&header[..], &["without it"]].concat();
        let rows = first.fast_paths.iter().enumerate().map(|(at, path)| {
            let had = self.adapters.iter().map(|adapter| if adapter.fast_paths[at].available { "yes" } else { "no" });
            [path.name].into_iter().chain(had).chain([path.instead]).map(String::from).collect()
        });
        tables::table_of(header.len(), &header, rows)
    }

    fn closing(&self) -> String {
        use crate::device::gpu::adapters::NO_ADAPTER;
        let auto = self.adapters.iter().find(|adapter| adapter.index.to_string() == self.auto);
        match auto {
            Some(adapter) => format!("auto selects device {}: {}\n", adapter.index, adapter.name),
            None if self.adapters.is_empty() => format!("auto selects cpu: {NO_ADAPTER}\n"),
            None if self.adapters.iter().any(|adapter| adapter.is_hardware()) => {
                "auto selects cpu: no GPU can be used\n".into()
            }
            None => {
                "auto selects cpu: there is no hardware GPU, and software rendering is slower than the CPU device;\n\
                     select it by name or number\n"
                    .into()
            }
        }
    }
}

impl Cpu {
    fn here() -> Self {
        Self { threads: std::thread::available_parallelism().map_or(1, usize::from) }
    }

    /// The CPU device, as a row of a table with `columns` columns.
    fn row(&self, columns: usize) -> Vec<String> {
        let threads = tables::counted(self.threads as u64, "thread");
        let mut row = vec!["cpu".into(), threads, "processor".into()];
        row.resize(columns.max(3), String::new());
        row
    }
}
