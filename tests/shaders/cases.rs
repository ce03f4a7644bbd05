//! Every kernel of every algorithm, for every kind of store and device that affects its text.

use crate::declared::algorithms;
use crate::sample::some;
use naga::valid::ModuleInfo;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use topostream::Direction;
use topostream::algorithms::leiden::gpu_modules;
use topostream::device::gpu::compose::{Declared, KernelName, Module, ModuleOptions, check, compose};
use topostream::model::algorithm::Visit;
use topostream_formats::Encoding;

/// The layout of earlier stores.
pub const RECORD_ID: Encoding = Encoding::RecordId { page_bytes: 2, slot_bytes: 2 };

const fn packed(step: bool, own: bool) -> Encoding {
    Encoding::Packed { edges_max: 63 << 10, step, own }
}

const ENCODINGS: [Encoding; 4] = [Encoding::VertexId, RECORD_ID, packed(false, false), packed(true, true)];

/// Capabilities of devices.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    pub float_atomics: bool,
    pub wide_integers: bool,
    pub subgroups: bool,
}

pub const PORTABLE: Abilities = Abilities { float_atomics: false, wide_integers: false, subgroups: false };

fn all_abilities() -> impl Iterator<Item = Abilities> {
    let bit = |number: u32, at: u32| number >> at & 1 != 0;
    (0..8).map(move |number| Abilities {
        float_atomics: bit(number, 0),
        wide_integers: bit(number, 1),
        subgroups: bit(number, 2),
    })
}

pub fn options(encoding: Encoding, visit: (Direction, Visit), chunks: u64, abilities: Abilities) -> ModuleOptions {
    let Abilities { float_atomics, wide_integers, subgroups } = abilities;
    ModuleOptions {
        encoding,
        page_bytes: 64 << 10,
        weights: false,
        direction: visit.0,
        visit: visit.1,
        grouped: false,
        attribute_chunk_vertices_log2: 10,
        vertices: chunks * 1024 - 7,
        sharded: false,
        held_vertices: chunks * 1024 - 7,
        bordering: None,
        float_atomics,
        wide_integers,
        in_place: false,
        unpacks: false,
        loops_limited: float_atomics,
        levels: 0,
        clears: false,
        lists: false,
        tabled: false,
        subgroups,
    }
}

/// Whether an algorithm has the hooks of a kernel.
pub fn runs(algorithm: &Declared, kernel: KernelName) -> bool {
    match kernel {
        KernelName::Initialise | KernelName::VertexPhase => algorithm.shader.text.contains("vertex_update"),
        KernelName::Plurality => algorithm.plurality.is_some(),
        KernelName::Census | KernelName::Defer => algorithm.traversal,
        KernelName::Decide => algorithm.decides(),
        KernelName::Select | KernelName::Sweep => algorithm.decides() && algorithm.traversal,
        kernel if kernel.is_of_messages() => algorithm.traversal && algorithm.name != "everything",
        _ => true,
    }
}

/// Whether devices with these abilities have a module of a kernel: 64-bit numbers are lowered by 64-bit atomics only.
pub fn is_for(algorithm: &Declared, kernel: KernelName, abilities: Abilities) -> bool {
    abilities.wide_integers || !(algorithm.needs_wide_atomics() && kernel.is_over_pages())
}

/// A case: a kernel of an algorithm, and all options that affect its text.
pub fn cases() -> Vec<(Arc<Declared>, KernelName, ModuleOptions)> {
    let mut cases = Vec::new();
    for (algorithm, visits) in algorithms() {
        let algorithm = Arc::new(algorithm);
        for kernel in KernelName::ALL.into_iter().filter(|&kernel| runs(&algorithm, kernel)) {
            let mut add = |options| cases.push((Arc::clone(&algorithm), kernel, options));
            let able = |abilities: &Abilities| is_for(&algorithm, kernel, *abilities);
            let least = all_abilities().find(able).expect("a device has all abilities");
            for &visit in &visits {
                for (encoding, weights) in ENCODINGS.into_iter().flat_map(|one| [(one, false), (one, true)]) {
                    let options = ModuleOptions { weights, ..options(encoding, visit, 1, least) };
                    add(ModuleOptions { grouped: true, ..options.clone() });
                    if encoding.is_packed() {
                        add(ModuleOptions { unpacks: true, ..options.clone() });
                    }
                    add(options);
                }
                for chunks in [1, 2, 5] {
                    for abilities in all_abilities().filter(able) {
                        let options = options(Encoding::VertexId, visit, chunks, abilities);
                        // A device has one or both of the vertices' two buffers.
                        for held_vertices in [800, 1200].into_iter().filter(|_| chunks == 2) {
                            let options = ModuleOptions { sharded: true, held_vertices, ..options.clone() };
                            // The border has one or two, too.
                            let bordering = Some(2000 - held_vertices);
                            add(ModuleOptions { bordering, ..options.clone() });
                            add(options);
                        }
                        if kernel.is_over_pages() {
                            add(ModuleOptions { tabled: true, ..options.clone() });
                        }
                        if kernel == KernelName::VertexPhase {
                            add(ModuleOptions { lists: true, ..options.clone() });
                        }
                        if kernel == KernelName::Census {
                            add(ModuleOptions { levels: options.vertices, clears: true, ..options.clone() });
                        }
                        add(options);
                    }
                }
            }
        }
    }
    cases
}

/// All modules, each text once, and those of Leiden's algorithm. By default every 37th case: each kernel of each
/// algorithm, which has 40 cases or more, with changing devices and stores.
fn composed() -> Vec<Module> {
    let mut seen = HashSet::new();
    let cases: Vec<_> = some(cases(), 37).collect();
    let modules = cases.into_par_iter().map(|(algorithm, kernel, options)| compose(&algorithm, kernel, &options));
    let modules = modules.collect::<Vec<_>>().into_iter().chain(some(gpu_modules(), 13));
    modules.filter(|module| seen.insert(module.text.clone())).collect()
}

/// A module, parsed and validated by naga.
pub struct Valid {
    pub module: Module,
    pub parsed: naga::Module,
    pub info: ModuleInfo,
}

/// All modules, composed and checked once for all tests: each is valid for a device with what its options say.
pub fn modules() -> &'static [Valid] {
    static MODULES: LazyLock<Vec<Valid>> = LazyLock::new(|| {
        let valid = |module: Module| {
            let (parsed, info) = check(&module).unwrap_or_else(|error| panic!("{}: {error}", module.label));
            Valid { module, parsed, info }
        };
        composed().into_par_iter().map(valid).collect()
    });
    &MODULES
}
