//! The system's interfaces to GPUs, and the compilers of shaders that they need.
//!
//! | system | interfaces | shaders are |
//! | --- | --- | --- |
//! | Linux | Vulkan | SPIR-V, compiled by the driver |
//! | macOS | Metal; Vulkan, if a driver is installed | MSL, compiled by the system; SPIR-V |
//! | Windows | Vulkan | SPIR-V, compiled by the driver |
//! | | DX12 | HLSL, compiled by DXC or FXC to what drivers take |
//!
//! DXC is `dxcompiler.dll`, which Windows does not have: it is looked for beside the program and in PATH. FXC is part
//! of Windows; it has neither 64-bit integers nor subgroups, ends with an error of its own at some kernels, and is
//! refused.

use serde::{Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};
use wgpu::{Backends, Dx12Compiler, InstanceDescriptor, InstanceFlags};

/// What compiles the shaders that an adapter is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShaderCompiler {
    /// The driver, or the system.
    Driver,
    /// The DirectX Shader Compiler of this file.
    Dxc(PathBuf),
    /// The compiler of Windows, which is refused.
    Fxc,
}

impl fmt::Display for ShaderCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver => f.write_str("the driver"),
            Self::Dxc(file) => write!(f, "DXC, {}", file.display()),
            Self::Fxc => f.write_str("FXC"),
        }
    }
}

impl Serialize for ShaderCompiler {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The hint if there is no DXC.
pub const NO_DXC: &str = "DX12 needs DXC: put dxcompiler.dll, version 1.8.2502 or newer, beside topostream.exe or into \
                          a folder of PATH (https://github.com/microsoft/DirectXShaderCompiler/releases, in bin\\x64 \
                          or bin\\arm64); FXC, which Windows has, cannot compile all kernels";

/// Interfaces that are opened with the same settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Vulkan and Metal.
    Drivers,
    /// DX12, with its compiler.
    Dx12(ShaderCompiler),
}

impl Interface {
    /// The interfaces of a system. `dxc` is the path of DXC's library, if it was found.
    pub fn all(is_windows: bool, dxc: Option<PathBuf>) -> Vec<Self> {
        let compiler = dxc.map_or(ShaderCompiler::Fxc, ShaderCompiler::Dxc);
        let dx12 = is_windows.then_some(Self::Dx12(compiler));
        [Self::Drivers].into_iter().chain(dx12).collect()
    }

    /// What compiles its shaders.
    pub fn compiler(&self) -> &ShaderCompiler {
        match self {
            Self::Drivers => &ShaderCompiler::Driver,
            Self::Dx12(compiler) => compiler,
        }
    }

    /// Whether wgpu checks the arguments of indirect dispatches, by an extra dispatch for each. They are written by
    /// trusted kernels, and never exceed the workgroups in the host's table. But HLSL has no number of workgroups, by
    /// which kernels divide their work: wgpu-hal 30 passes it as constants, which it leaves zero in an indirect
    /// dispatch without these checks.
    pub fn checks_indirect_calls(&self) -> bool {
        matches!(self, Self::Dx12(_))
    }

    /// What wgpu is asked for.
    pub(super) fn descriptor(&self) -> InstanceDescriptor {
        let mut descriptor = InstanceDescriptor::new_without_display_handle();
        // The same in every build, so that tests run what users run. WGPU_DEBUG=1 and WGPU_VALIDATION=1 change them.
        descriptor.flags = InstanceFlags::empty().with_env();
        descriptor.flags.set(InstanceFlags::VALIDATION_INDIRECT_CALL, self.checks_indirect_calls());
        descriptor.backends = match self {
            Self::Drivers => Backends::VULKAN | Backends::METAL,
            Self::Dx12(_) => Backends::DX12,
        };
        descriptor.backend_options.dx12.shader_compiler = match self.compiler() {
            ShaderCompiler::Dxc(file) => Dx12Compiler::DynamicDxc { dxc_path: file.display().to_string() },
            ShaderCompiler::Driver | ShaderCompiler::Fxc => Dx12Compiler::Fxc,
        };
        descriptor
    }
}

/// DXC's file, if there is one: in the program's folder, or else in the first folder of PATH that has it.
pub fn find_dxc(
    program: Option<&Path>,
    path: impl Iterator<Item = PathBuf>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let beside = program.and_then(Path::parent).map(Path::to_path_buf);
    // A relative folder would depend on the place that the program is started in.
    let folders = beside.into_iter().chain(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join("dxcompiler.dll")).find(|file| is_file(file))
}

/// The interfaces of this system.
pub(super) fn here() -> Vec<Interface> {
    if !cfg!(windows) {
        return Interface::all(false, None);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::current_exe().ok();
    Interface::all(true, find_dxc(program.as_deref(), std::env::split_paths(&path), Path::is_file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_windows_has_dx12() {
        assert_eq!(Interface::all(false, Some("/dxcompiler.dll".into())), [Interface::Drivers]);
        let file = PathBuf::from("/folder/dxcompiler.dll");
        let with = Interface::all(true, Some(file.clone()));
        assert_eq!(with, [Interface::Drivers, Interface::Dx12(ShaderCompiler::Dxc(file))]);
        assert_eq!(Interface::all(true, None)[1], Interface::Dx12(ShaderCompiler::Fxc));
    }

    #[test]
    fn wgpu_is_asked_for_the_compiler_that_was_found() {
        let [drivers, with] = &Interface::all(true, Some("/folder/dxcompiler.dll".into()))[..] else { panic!() };
        let asked = with.descriptor();
        assert_eq!(asked.backends, Backends::DX12);
        let compiler = asked.backend_options.dx12.shader_compiler;
        assert!(matches!(compiler, Dx12Compiler::DynamicDxc { dxc_path } if dxc_path == "/folder/dxcompiler.dll"));
        assert!(!drivers.descriptor().backends.contains(Backends::DX12));
        // Without this wgpu would try a dxcompiler.dll that was not found here.
        let without = Interface::Dx12(ShaderCompiler::Fxc).descriptor().backend_options.dx12.shader_compiler;
        assert!(matches!(without, Dx12Compiler::Fxc));
    }

    #[test]
    fn dx12_counts_workgroups_of_indirect_dispatches() {
        for (interface, checked) in [(Interface::Drivers, false), (Interface::Dx12(ShaderCompiler::Fxc), true)] {
            assert_eq!(interface.checks_indirect_calls(), checked);
            assert_eq!(interface.descriptor().flags.contains(InstanceFlags::VALIDATION_INDIRECT_CALL), checked);
        }
    }

    #[test]
    fn dxc_is_found_beside_the_program_first() {
        let path = || ["/first", "relative", "/second"].into_iter().map(PathBuf::from);
        let find = |program: Option<&str>, there: &[&str]| {
            find_dxc(program.map(Path::new), path(), |file| there.iter().any(|one| file == Path::new(one)))
        };
        let (beside, first, second) = ("/program/dxcompiler.dll", "/first/dxcompiler.dll", "/second/dxcompiler.dll");
        let program = Some("/program/topostream.exe");
        assert_eq!(find(program, &[second, first, beside]), Some(beside.into()));
        assert_eq!(find(program, &[second, first]), Some(first.into()));
        assert_eq!(find(None, &["relative/dxcompiler.dll", second, beside]), Some(second.into()));
        assert_eq!(find(program, &[]), None);
    }

    #[test]
    fn compilers_have_names() {
        let names = [ShaderCompiler::Driver, ShaderCompiler::Dxc("/a/dxcompiler.dll".into()), ShaderCompiler::Fxc];
        assert_eq!(names.map(|one| one.to_string()), ["the driver", "DXC, /a/dxcompiler.dll", "FXC"]);
        assert_eq!(serde_json::to_string(&ShaderCompiler::Fxc).unwrap(), "\"FXC\"");
    }
}
