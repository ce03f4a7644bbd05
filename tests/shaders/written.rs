//! All modules as files, for compilers that are no libraries of Rust.

use crate::cases::modules;
use crate::dx12::{all, hlsl, model_of};
use naga::back::hlsl::ShaderModel;
use std::collections::HashSet;
use std::fs::{create_dir_all, remove_dir_all, write};
use std::path::{Path, PathBuf};

/// Whether FXC is given an algorithm's kernels.
fn is_for_fxc(label: &str) -> bool {
    label.starts_with("bfs ") || label.starts_with("pagerank ")
}

/// Writes modules to the folder that `TOPOSTREAM_WRITE_SHADERS` names, for `tools/shaders/check.mjs`: as WGSL, and as
/// HLSL in a folder for each target. DXC gets the least shader model that wgpu asks for a module's features.
#[test]
fn modules_are_written_for_other_compilers() {
    let Some(folder) = std::env::var_os("TOPOSTREAM_WRITE_SHADERS").map(PathBuf::from) else { return };
    for kind in ["wgsl", "cs_6_0", "cs_6_6", "cs_5_1"] {
        // Modules of an earlier run may have other names.
        remove_dir_all(folder.join(kind)).ok();
        create_dir_all(folder.join(kind)).unwrap();
    }
    let file = |number: usize, label: &str, kind: &str, end: &str| {
        let name = format!("{number:04}-{}.{end}", label.replace(' ', "-"));
        Path::new(&folder).join(kind).join(name)
    };
    let mut by_fxc = HashSet::new();
    for (number, valid) in modules().iter().enumerate() {
        let module = &valid.module;
        let Some(text) = module.standard() else { continue };
        write(file(number, &module.label, "wgsl", "wgsl"), text).unwrap();
        if is_for_fxc(&module.label) && !module.text.contains("subgroup") && by_fxc.insert(&module.label) {
            let text = hlsl(valid, ShaderModel::V5_1).expect("it has no atomics on floats");
            write(file(number, &module.label, "cs_5_1", "hlsl"), text).unwrap();
        }
    }
    for (number, (valid, text)) in all().iter().enumerate() {
        let kind = model_of(valid).to_str();
        write(file(number, &valid.module.label, &format!("cs_{kind}"), "hlsl"), text).unwrap();
    }
}
