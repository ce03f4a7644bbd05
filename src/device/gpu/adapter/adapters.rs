//! The GPUs of this machine, their features, and the choice among them.

use super::interfaces::{self, Interface, NO_DXC, ShaderCompiler};
use super::vulkan;
use crate::device::DeviceChoice;
use crate::error::Error;
use serde::Serialize;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use topostream_formats::threads;
use wgpu::{Backends, DeviceType, Features};

/// The kind of an adapter; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AdapterKind {
    /// A card with dedicated memory.
    Discrete,
    /// A part of the processor, which shares its memory.
    Integrated,
    /// A share of a card, in a virtual machine.
    Virtual,
    /// Hardware that the driver does not describe.
    Other,
    /// A software GPU: suitable for tests, but slow.
    Software,
}

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Software => "software",
        })
    }
}

/// The limits of an adapter that runs depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterLimits {
    /// Bytes that a kernel can reach through one storage binding.
    pub storage_binding_bytes: u64,
    /// Bytes of a buffer.
    pub buffer_bytes: u64,
    /// Workgroups of a dispatch, in each dimension.
    pub workgroups_per_dimension: u32,
    /// Storage buffers that a kernel can bind.
    pub storage_buffers_per_stage: u32,
    /// Invocations of the smallest subgroup.
    pub subgroup_min: u32,
    /// Invocations of the largest subgroup.
    pub subgroup_max: u32,
}

/// An optional feature that makes runs faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FastPath {
    /// Its name.
    pub name: &'static str,
    /// Whether the adapter has it.
    pub available: bool,
    /// The fallback.
    pub instead: &'static str,
}

/// A description of an adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterReport {
    /// Its number, for `--device`.
    pub index: usize,
    /// Its name, as the driver gives it.
    pub name: String,
    /// Its kind.
    pub kind: AdapterKind,
    /// The system's interface to it: `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// The driver, with its version.
    pub driver: String,
    /// What compiles its shaders.
    pub shader_compiler: ShaderCompiler,
    /// Bytes of device memory, if the system reports them.
    pub memory_bytes: Option<u64>,
    /// Its limits.
    pub limits: AdapterLimits,
    /// Optional features.
    pub fast_paths: Vec<FastPath>,
}

impl AdapterReport {
    /// Whether it is hardware.
    pub fn is_hardware(&self) -> bool {
        self.kind != AdapterKind::Software
    }

    /// Whether its shaders can be compiled.
    pub fn compiles(&self) -> bool {
        self.shader_compiler != ShaderCompiler::Fxc
    }

    /// Orders adapters, better ones first. Vulkan has fast paths that the others lack.
    fn rank(&self) -> (AdapterKind, bool, usize) {
        (self.kind, self.backend != "vulkan", self.index)
    }

    /// One line for error messages.
    fn line(&self) -> String {
        format!("\n  {}: {} ({}, {})", self.index, self.name, self.kind, self.backend)
    }
}

/// An adapter that can be opened.
#[derive(Clone, Debug)]
pub struct Adapter {
    pub(in crate::device::gpu) raw: wgpu::Adapter,
    /// Its description.
    pub report: AdapterReport,
}

/// Every adapter of this machine, by number. Empty if no driver is installed.
pub fn list() -> Vec<AdapterReport> {
    enumerate().into_iter().map(|adapter| adapter.report).collect()
}

/// The chosen adapter; `None` for the CPU.
///
/// `Auto` takes hardware only: software Vulkan is slower than the CPU device. Without signs of hardware it loads no
/// driver: drivers take time and tens of MiB of memory, and some print messages.
///
/// # Errors
/// [`Error::NoDevice`] if no adapter or several match; the message lists all adapters.
pub fn choose(choice: &DeviceChoice) -> Result<Option<Adapter>, Error> {
    if *choice == DeviceChoice::Cpu || (*choice == DeviceChoice::Auto && !hardware_is_likely()) {
        return Ok(None);
    }
    let mut adapters = enumerate();
    let reports: Vec<AdapterReport> = adapters.iter().map(|adapter| adapter.report.clone()).collect();
    Ok(pick(&reports, choice)?.map(|at| adapters.swap_remove(at)))
}

/// The adapters of several choices, in order; `None` for the CPU. [`DeviceChoice::All`] yields all hardware GPUs.
///
/// # Errors
/// The errors of [`choose`].
pub fn choose_all(choices: &[DeviceChoice]) -> Result<Vec<Option<Adapter>>, Error> {
    let mut chosen = Vec::new();
    for choice in choices {
        match choice {
            DeviceChoice::All => {
                let best = choose(&DeviceChoice::Gpu)?.expect("a GPU or an error");
                let like = |one: &Adapter| one.report.is_hardware() && one.report.backend == best.report.backend;
                chosen.extend(enumerate().into_iter().filter(like).map(Some));
            }
            one => chosen.push(choose(one)?),
        }
    }
    Ok(chosen)
}

/// The index in `reports` of the chosen adapter; `None` for the CPU.
///
/// # Errors
/// The errors of [`choose`].
pub fn pick(reports: &[AdapterReport], choice: &DeviceChoice) -> Result<Option<usize>, Error> {
    let best = reports.iter().enumerate().filter(|(_, report)| report.is_hardware() && report.compiles());
    let best = best.min_by_key(|(_, report)| report.rank()).map(|(at, _)| at);
    let chosen = match choice {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Auto => return Ok(best),
        _ if reports.is_empty() => return Err(none_at_all(choice)),
        DeviceChoice::Gpu | DeviceChoice::All => best.ok_or_else(|| none_usable(reports))?,
        DeviceChoice::Index(index) => match reports.iter().position(|report| report.index == *index) {
            Some(at) => at,
            None => return Err(Error::NoDevice(format!("no device {index}; available:{}", lines(reports)))),
        },
        DeviceChoice::Named(name) => named(reports, name)?,
    };
    let report = &reports[chosen];
    report.compiles().then_some(Some(chosen)).ok_or_else(|| without_dxc([report]))
}

/// The error if there is no hardware, or none whose shaders can be compiled.
fn none_usable(reports: &[AdapterReport]) -> Error {
    let mut hardware = reports.iter().filter(|report| report.is_hardware()).peekable();
    if hardware.peek().is_some() { without_dxc(hardware) } else { only_software(reports) }
}

fn without_dxc<'a>(reports: impl IntoIterator<Item = &'a AdapterReport>) -> Error {
    Error::NoDevice(format!("{NO_DXC}; without it there is only `--device cpu` instead of:{}", lines(reports)))
}

fn named(reports: &[AdapterReport], name: &str) -> Result<usize, Error> {
    let sought = name.to_lowercase();
    let mut found: Vec<&AdapterReport> =
        reports.iter().filter(|report| report.name.to_lowercase().contains(&sought)).collect();
    // If a card appears once for each backend, take Vulkan, which has the most fast paths.
    if found.iter().any(|report| report.backend == "vulkan") {
        found.retain(|report| report.backend == "vulkan");
    }
    match found[..] {
        [] => Err(Error::NoDevice(format!("no device has {name:?} in its name; available:{}", lines(reports)))),
        [one] => Ok(reports.iter().position(|report| report.index == one.index).expect("it was found there")),
        _ => Err(Error::NoDevice(format!(
            "{} devices have {name:?} in their names; choose one by its number:{}",
            found.len(),
            lines(found)
        ))),
    }
}

fn lines<'a>(reports: impl IntoIterator<Item = &'a AdapterReport>) -> String {
    reports.into_iter().map(AdapterReport::line).collect()
}

/// The hint if there is no adapter.
pub const NO_ADAPTER: &str = "no GPU is visible: install its driver (on Linux with its Vulkan part, and libvulkan1; \
                              in a container, let it see the GPU), or use `--device cpu`";

fn none_at_all(choice: &DeviceChoice) -> Error {
    Error::NoDevice(format!("device {choice}: {NO_ADAPTER}"))
}

fn only_software(reports: &[AdapterReport]) -> Error {
    let index = reports[0].index;
    Error::NoDevice(format!(
        "no hardware GPU is visible, only software that stands in for one; use `--device cpu`, which is faster, or ask \
         for the software by name or number, such as `--device {index}`:{}",
        lines(reports)
    ))
}

/// Whether there may be a GPU: on Linux, whether there is a device file of a GPU, which hardware drivers need.
fn hardware_is_likely() -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    // Direct rendering, NVIDIA and its boards, AMD compute, Windows Subsystem for Linux, Arm, Qualcomm.
    const SIGNS: [&str; 7] = ["dri", "nvidia", "nvhost", "kfd", "dxg", "mali", "kgsl"];
    let Ok(files) = std::fs::read_dir("/dev") else { return true };
    files.flatten().any(|file| SIGNS.iter().any(|sign| file.file_name().to_string_lossy().starts_with(sign)))
}

/// Whether drivers have been loaded, or are being loaded.
static LOADED: AtomicBool = AtomicBool::new(false);

/// Returns whether drivers of GPUs have been loaded in this process, or are being loaded.
pub fn has_loaded_drivers() -> bool {
    LOADED.load(Ordering::Relaxed)
}

/// Loads the drivers in the background, if the choices are sure to need them: that takes 70 ms, and nothing of a graph.
/// The first function that needs them waits for it.
pub fn load_early(choices: &[DeviceChoice]) {
    let needs = |choice: &DeviceChoice| !matches!(choice, DeviceChoice::Cpu | DeviceChoice::Auto);
    if choices.iter().any(needs) {
        // Before the thread starts, for a program that ends soon.
        LOADED.store(true, Ordering::Relaxed);
        // Without the thread they are loaded later.
        threads::start("gpu drivers", 1, || _ = instances()).ok();
    }
}

/// The instances for the whole program, never freed: drivers are loaded once.
fn instances() -> &'static [(Interface, wgpu::Instance)] {
    static INSTANCES: OnceLock<Vec<(Interface, wgpu::Instance)>> = OnceLock::new();
    INSTANCES.get_or_init(|| {
        LOADED.store(true, Ordering::Relaxed);
        interfaces::here().into_iter().map(instance).collect()
    })
}

fn instance(interface: Interface) -> (Interface, wgpu::Instance) {
    let instance = wgpu::Instance::new(interface.descriptor());
    // Windows always has a DX12 adapter in software: without any, the file was not a DXC that wgpu can use.
    let is_wrong = matches!(interface, Interface::Dx12(ShaderCompiler::Dxc(_))) && adapters_of(&instance).is_empty();
    if is_wrong { self::instance(Interface::Dx12(ShaderCompiler::Fxc)) } else { (interface, instance) }
}

fn adapters_of(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    pollster::block_on(instance.enumerate_adapters(Backends::all()))
}

fn enumerate() -> Vec<Adapter> {
    let of_one = |(interface, instance): &'static (Interface, wgpu::Instance)| {
        adapters_of(instance).into_iter().map(move |raw| (interface.compiler(), raw))
    };
    let found = instances().iter().flat_map(of_one).enumerate();
    found.map(|(index, (compiler, raw))| Adapter { report: describe(index, compiler, &raw), raw }).collect()
}

fn describe(index: usize, compiler: &ShaderCompiler, adapter: &wgpu::Adapter) -> AdapterReport {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let facts = vulkan::facts(adapter);
    AdapterReport {
        index,
        name: info.name,
        kind: match info.device_type {
            DeviceType::DiscreteGpu => AdapterKind::Discrete,
            DeviceType::IntegratedGpu => AdapterKind::Integrated,
            DeviceType::VirtualGpu => AdapterKind::Virtual,
            DeviceType::Cpu => AdapterKind::Software,
            DeviceType::Other => AdapterKind::Other,
        },
        backend: info.backend.to_string(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().into(),
        shader_compiler: compiler.clone(),
        memory_bytes: facts.as_ref().and_then(|facts| facts.memory_bytes),
        limits: AdapterLimits {
            storage_binding_bytes: limits.max_storage_buffer_binding_size,
            buffer_bytes: limits.max_buffer_size,
            workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            storage_buffers_per_stage: limits.max_storage_buffers_per_shader_stage,
            subgroup_min: info.subgroup_min_size,
            subgroup_max: info.subgroup_max_size,
        },
        fast_paths: fast_paths(features, facts.as_ref()),
    }
}

/// 64-bit integers, and every atomic operation on them.
pub(in crate::device::gpu) const WIDE_ATOMICS: Features =
    Features::SHADER_INT64.union(Features::SHADER_INT64_ATOMIC_ALL_OPS);
/// Timestamps between the commands of an encoder.
pub(in crate::device::gpu) const TIMESTAMPS: Features =
    Features::TIMESTAMP_QUERY.union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

fn fast_paths(features: Features, facts: Option<&vulkan::Facts>) -> Vec<FastPath> {
    let path = |name, available, instead| FastPath { name, available, instead };
    vec![
        path(
            "host memory import",
            facts.is_some_and(|facts| facts.import_alignment.is_some()),
            "pages are copied through staging buffers",
        ),
        path(
            "transfer queue",
            facts.is_some_and(|facts| facts.transfer_family.is_some()),
            "copies and kernels take turns on one queue",
        ),
        path("f32 atomics", features.contains(Features::SHADER_FLOAT32_ATOMIC), "compare-exchange loops"),
        path("64-bit atomics", features.contains(WIDE_ATOMICS), "pairs of 32-bit atomics"),
        path("subgroups", features.contains(Features::SUBGROUP), "reductions through workgroup memory"),
        path("timestamps", features.contains(TIMESTAMPS), "kernel times are measured from the host"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use AdapterKind::{Discrete, Integrated, Other, Software, Virtual};

    fn report(index: usize, name: &str, kind: AdapterKind, backend: &str) -> AdapterReport {
        let limits = AdapterLimits {
            storage_binding_bytes: 1 << 27,
            buffer_bytes: 1 << 28,
            workgroups_per_dimension: 65_535,
            storage_buffers_per_stage: 8,
            subgroup_min: 4,
            subgroup_max: 128,
        };
        let dxc = || ShaderCompiler::Dxc("/dxcompiler.dll".into());
        let shader_compiler = if backend == "dx12" { dxc() } else { ShaderCompiler::Driver };
        let (name, backend, driver) = (name.into(), backend.into(), String::new());
        let (memory_bytes, fast_paths) = (None, Vec::new());
        AdapterReport { index, name, kind, backend, driver, shader_compiler, memory_bytes, limits, fast_paths }
    }

    fn without_dxc(report: AdapterReport) -> AdapterReport {
        AdapterReport { shader_compiler: ShaderCompiler::Fxc, ..report }
    }

    fn all() -> Vec<AdapterReport> {
        vec![
            report(0, "llvmpipe (LLVM 15.0.6, 256 bits)", Software, "vulkan"),
            report(1, "Intel(R) UHD Graphics 770", Integrated, "vulkan"),
            report(2, "NVIDIA H200", Discrete, "dx12"),
            report(3, "NVIDIA H200", Discrete, "vulkan"),
            report(4, "NVIDIA L4", Discrete, "vulkan"),
        ]
    }

    fn refusal(reports: &[AdapterReport], choice: DeviceChoice) -> String {
        match pick(reports, &choice) {
            Err(Error::NoDevice(text)) => text,
            other => panic!("{choice}: {other:?}"),
        }
    }

    #[test]
    fn auto_takes_the_best_hardware_and_never_software() {
        let choose = |reports: &[AdapterReport]| pick(reports, &DeviceChoice::Auto).unwrap();
        assert_eq!(choose(&all()), Some(3), "discrete, and through Vulkan");
        assert_eq!(choose(&all()[..2]), Some(1), "integrated before nothing");
        assert_eq!(choose(&all()[..1]), None, "software is not chosen over the CPU device");
        assert_eq!(choose(&[]), None);
        let odd =
            [report(0, "a", Other, "vulkan"), report(1, "b", Virtual, "vulkan"), report(2, "c", Integrated, "dx12")];
        assert_eq!((choose(&odd), choose(&odd[..2]), choose(&odd[..1])), (Some(2), Some(1), Some(0)));
    }

    #[test]
    fn dx12_without_dxc_is_refused() {
        let card = |index, backend| report(index, "card", Discrete, backend);
        let alone = [without_dxc(card(0, "dx12")), without_dxc(report(1, "basic render", Software, "dx12"))];
        assert_eq!(pick(&alone, &DeviceChoice::Auto).unwrap(), None);
        for choice in [
            DeviceChoice::Gpu,
            DeviceChoice::All,
            DeviceChoice::Index(0),
            DeviceChoice::Index(1),
            DeviceChoice::Named("card".into()),
        ] {
            let text = refusal(&alone, choice);
            for word in ["dxcompiler.dll", "github.com/microsoft/DirectXShaderCompiler", "--device cpu", "(", "dx12)"] {
                assert!(text.contains(word), "no {word:?} in {text}");
            }
        }
        // Vulkan is taken before, whatever DX12 has.
        let both = [without_dxc(card(0, "dx12")), report(1, "weak", Integrated, "vulkan")];
        assert_eq!(pick(&both, &DeviceChoice::Gpu).unwrap(), Some(1));
        assert_eq!(pick(&[card(0, "dx12")], &DeviceChoice::Gpu).unwrap(), Some(0));
    }

    #[test]
    fn the_cpu_needs_no_adapter() {
        assert_eq!(pick(&all(), &DeviceChoice::Cpu).unwrap(), None);
        assert!(choose(&DeviceChoice::Cpu).unwrap().is_none());
    }

    #[test]
    fn gpu_means_hardware() {
        assert_eq!(pick(&all(), &DeviceChoice::Gpu).unwrap(), Some(3));
        let text = refusal(&all()[..1], DeviceChoice::Gpu);
        for word in ["only software", "llvmpipe", "--device 0", "--device cpu"] {
            assert!(text.contains(word), "no {word:?} in {text}");
        }
    }

    #[test]
    fn names_and_numbers_reach_software_too() {
        let named = |name: &str| pick(&all(), &DeviceChoice::Named(name.into())).unwrap();
        assert_eq!((named("LLVMpipe"), named("uhd"), named("l4")), (Some(0), Some(1), Some(4)));
        assert_eq!(named("h200"), Some(3), "the same card through two backends is not ambiguous");
        for index in 0..5 {
            assert_eq!(pick(&all(), &DeviceChoice::Index(index)).unwrap(), Some(index));
        }
        // Numbers are the printed ones, independent of the position in the list.
        assert_eq!(pick(&all()[3..], &DeviceChoice::Index(4)).unwrap(), Some(1));
    }

    #[test]
    fn refusals_list_all_adapters() {
        let text = refusal(&all(), DeviceChoice::Named("nvidia".into()));
        assert!(
            text.contains("2 devices") && text.contains("3: NVIDIA H200") && text.contains("4: NVIDIA L4"),
            "{text}"
        );
        assert!(!text.contains("llvmpipe"), "{text}");
        let text = refusal(&all(), DeviceChoice::Named("radeon".into()));
        assert!(text.contains("\"radeon\"") && text.contains("0: llvmpipe") && text.contains("4: NVIDIA L4"), "{text}");
        let text = refusal(&all(), DeviceChoice::Index(5));
        assert!(text.contains("no device 5") && text.contains("4: NVIDIA L4"), "{text}");
    }

    #[test]
    fn without_any_adapter_the_driver_is_missing() {
        for choice in [DeviceChoice::Gpu, DeviceChoice::Named("h200".into()), DeviceChoice::Index(0)] {
            let text = refusal(&[], choice);
            assert!(text.contains("libvulkan1") && text.contains("--device cpu"), "{text}");
        }
    }
}
