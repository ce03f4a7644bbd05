//! The HLSL that wgpu makes of all modules for DX12, and what it needs of a device.

use crate::cases::{Valid, modules};
use naga::back::hlsl::{BindTarget, Options, PipelineOptions, ShaderModel, Writer};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use topostream::device::gpu::compose::{Access, Binding};
use topostream::device::gpu::interfaces::{Interface, ShaderCompiler};

/// Registers as wgpu-hal 30 numbers them (`create_pipeline_layout` of its DX12): uniforms, buffers that are read, and
/// buffers that are written, each kind from 0, over all groups. The one behind the uniforms has the special constants.
fn registers(bindings: &[Binding]) -> (BTreeMap<naga::ResourceBinding, BindTarget>, BindTarget) {
    let mut next = [BindTarget::default(); 3];
    let place = |binding: &Binding| {
        let next = &mut next[binding.access as usize];
        let found = *next;
        next.register += 1;
        (naga::ResourceBinding { group: binding.group, binding: binding.binding }, found)
    };
    let map = bindings.iter().map(place).collect();
    (map, next[Access::Uniform as usize])
}

/// A module as HLSL, with wgpu's options; `None` for what HLSL does not have: atomics on floats.
pub fn hlsl(valid: &Valid, shader_model: ShaderModel) -> Option<String> {
    let Valid { module, parsed, info } = valid;
    if module.text.contains("atomic<f32>") {
        return None;
    }
    let (binding_map, special) = registers(&module.bindings);
    let options = Options {
        shader_model,
        binding_map,
        fake_missing_bindings: false,
        special_constants_binding: Some(special),
        zero_initialize_workgroup_memory: false,
        ..Options::default()
    };
    let pipeline = PipelineOptions { entry_point: Some((naga::ShaderStage::Compute, "main".into())) };
    let mut text = String::new();
    let written = Writer::new(&mut text, &options, &pipeline).write(parsed, info, None);
    let written = written.unwrap_or_else(|error| panic!("{}: {error}", module.label));
    let names: Vec<_> = written.entry_point_names.into_iter().map(Result::unwrap).collect();
    assert_eq!(names, ["main"], "{}", module.label);
    Some(text)
}

/// The least shader model that wgpu asks for a module's features: 64-bit atomics need 6.6, the others 6.0.
pub fn model_of(valid: &Valid) -> ShaderModel {
    if valid.module.text.contains("atomic<u64>") { ShaderModel::V6_6 } else { ShaderModel::V6_0 }
}

/// All modules that DX12 may be given, as HLSL.
pub fn all() -> &'static [(&'static Valid, String)] {
    static ALL: LazyLock<Vec<(&Valid, String)>> = LazyLock::new(|| {
        let written = modules().par_iter().map(|valid| Some((valid, hlsl(valid, model_of(valid))?)));
        written.flatten().collect()
    });
    &ALL
}

/// The words of HLSL.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|char: char| !char.is_alphanumeric() && char != '_').collect()
}

/// Tier 1 of resource bindings has 14 constant buffers; wgpu allows half of 64 written buffers in a kernel, and counts
/// those that are read among them.
#[test]
fn registers_are_those_of_the_bindings() {
    for (Valid { module, .. }, text) in all() {
        let count = |kind: char| text.matches(&format!(": register({kind}")).count();
        let listed = |access| module.bindings.iter().filter(|binding| binding.access == access).count();
        assert_eq!(count('t'), listed(Access::Read), "{}", module.label);
        assert_eq!(count('u'), listed(Access::ReadWrite), "{}", module.label);
        let special = usize::from(text.contains("_NagaConstants"));
        assert_eq!(count('b'), listed(Access::Uniform) + special, "{}", module.label);
        assert!(count('b') <= 14, "{}", module.label);
    }
}

/// Waves have 4 to 128 threads on DX12, known only to the device: no kernel has a number of its own for it.
#[test]
fn waves_are_used_where_there_are_subgroups() {
    let mut kernels = 0;
    for (Valid { module, .. }, text) in all() {
        let waves = words(text).into_iter().any(|word| word.starts_with("Wave"));
        assert!(!waves || module.text.contains("subgroup"), "{}", module.label);
        assert!(!text.contains("[WaveSize"), "{}", module.label);
        kernels += usize::from(waves);
    }
    assert!(kernels > 10, "{kernels} kernels use waves");
}

/// 64-bit atomics need shader model 6.6; on devices without them, no kernel has 64-bit numbers.
#[test]
fn wide_integers_are_used_where_the_device_has_them() {
    let mut kernels = 0;
    for (Valid { module, .. }, text) in all() {
        let words = words(text);
        let wide = ["uint64_t", "int64_t"].iter().any(|word| words.contains(word));
        let atomics = words.iter().any(|word| word.starts_with("Interlocked") && word.ends_with("64"));
        assert_eq!(wide, module.text.contains("atomic<u64>"), "{}", module.label);
        assert!(wide || !atomics, "{}", module.label);
        kernels += usize::from(atomics);
    }
    assert!(kernels > 10, "{kernels} kernels use 64-bit atomics");
}

/// HLSL has no number of workgroups: wgpu writes it to constants, which in an indirect dispatch it does only if it also
/// checks the arguments. Kernels divide their work by that number, so DX12 is opened with these checks.
#[test]
fn numbers_of_workgroups_are_special_constants() {
    let mut kernels = BTreeSet::new();
    for (Valid { module, .. }, text) in all() {
        // Beside their declaration.
        let special = text.matches("_NagaConstants").count() > 1;
        assert_eq!(special, module.text.contains("workgroups: vec3<u32>,\n"), "{}", module.label);
        if special {
            kernels.insert(module.label.rsplit(' ').next().unwrap());
        }
    }
    assert!(kernels.contains("census") && kernels.contains("compact"), "dispatched indirectly: {kernels:?}");
    let with_dxc = Interface::all(true, Some("dxcompiler.dll".into()));
    assert!(with_dxc.iter().any(|one| one.checks_indirect_calls() && *one.compiler() != ShaderCompiler::Driver));
}
