//! All shaders, without a GPU: each kernel of each algorithm is valid for each kind of store and device, and translates
//! to SPIR-V, MSL and HLSL.

#![cfg(feature = "gpu")]

mod cases;
mod declared;
mod dx12;
mod plans;
#[path = "../sample/mod.rs"]
mod sample;
mod texts;
mod written;

use std::mem::offset_of;

use cases::{Abilities, PORTABLE, RECORD_ID, Valid, cases, modules, options, runs};
use declared::{algorithms, catalogued};
use naga::back::{msl, spv};
use rayon::prelude::*;
use sample::some;
use topostream::VertexId;
use topostream::algorithms::{Bfs, Radius};
use topostream::device::gpu::compose::layout::{self, edges_per_unit};
use topostream::device::gpu::compose::{Access, Declared, KernelName, ModuleOptions, Resource, check, compose};
use topostream::model::algorithm::Algorithm;
use topostream_formats::Encoding;

/// What lowers 64-bit numbers is not made for devices without 64-bit atomics.
#[test]
fn modules_that_need_64_bit_atomics_are_refused_without() {
    let mut refused = 0;
    for (algorithm, visits) in algorithms().into_iter().filter(|(algorithm, _)| algorithm.needs_wide_atomics()) {
        for kernel in [KernelName::Lists, KernelName::Segments, KernelName::Hubs] {
            let module = compose(&algorithm, kernel, &options(Encoding::VertexId, visits[0], 1, PORTABLE));
            let error = check(&module).expect_err("it compares two words");
            assert!(error.message.contains("64-bit atomics"), "{error}");
            refused += 1;
        }
    }
    // Shortest paths, also up to a distance and by buckets of two widths, and the algorithm with every kind of message.
    assert_eq!(refused, 18);
}

/// Kernels are kept by their canonical options.
#[test]
fn canonical_options_make_the_same_module() {
    some(cases(), 149).collect::<Vec<_>>().par_iter().for_each(|(algorithm, kernel, options)| {
        // More that a kernel may not heed. The last buffer is far from full.
        let (vertices, held_vertices) = (options.vertices - 300, options.held_vertices - 300);
        let (in_place, clears, lists) = (options.weights, true, true);
        let other = ModuleOptions { vertices, held_vertices, in_place, clears, lists, ..options.clone() };
        let options = &other;
        let canonical = options.canonical(*kernel);
        let (one, other) = (compose(algorithm, *kernel, options), compose(algorithm, *kernel, &canonical));
        assert_eq!((one.text, one.bindings), (other.text, other.bindings), "{kernel}: {options:?}");
        assert_eq!(canonical.canonical(*kernel), canonical, "{kernel}: {options:?}");
    });
}

#[test]
fn modules_are_valid_and_their_bindings_match() {
    let modules = modules();
    assert!(modules.len() > 300, "only {} modules", modules.len());
    for Valid { module, parsed, info } in modules {
        let used = info.get_entry_point(0);
        let mut bound = Vec::new();
        for (handle, global) in parsed.global_variables.iter() {
            let Some(binding) = global.binding else { continue };
            let name = global.name.clone().unwrap();
            assert!(!used[handle].is_empty(), "{}: {name} is bound and not used", module.label);
            let access = match global.space {
                naga::AddressSpace::Uniform => Access::Uniform,
                naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
                    Access::ReadWrite
                }
                naga::AddressSpace::Storage { .. } => Access::Read,
                other => panic!("{name} in {other:?}"),
            };
            bound.push((binding.group, binding.binding, name, access));
        }
        let listed: Vec<_> =
            module.bindings.iter().map(|one| (one.group, one.binding, one.name.clone(), one.access)).collect();
        bound.sort_by_key(|&(group, binding, ..)| (group, binding));
        assert_eq!(bound, listed, "{}", module.label);
    }
}

#[test]
fn modules_have_no_unused_functions() {
    let names = |module: &naga::Module| -> Vec<Option<String>> {
        module.functions.iter().map(|(_, function)| function.name.clone()).collect()
    };
    modules().par_iter().for_each(|Valid { module, parsed, .. }| {
        let mut called = parsed.clone();
        naga::compact::compact(&mut called, naga::compact::KeepUnused::No);
        assert_eq!(names(parsed), names(&called), "{}", module.label);
    });
}

#[test]
fn modules_translate_to_spirv() {
    for Valid { module, parsed, info } in modules() {
        let words = spv::write_vec(parsed, info, &spv::Options::default(), None);
        assert!(words.is_ok(), "{}: {:?}", module.label, words.err());
    }
}

/// Metal has 64-bit atomics for min and max only: sums are two words.
#[test]
fn modules_translate_to_msl() {
    for Valid { module, parsed, info } in modules().iter().filter(|one| !one.module.text.contains("atomic<u64>")) {
        let options = msl::Options { lang_version: (3, 0), fake_missing_bindings: true, ..msl::Options::default() };
        let text = msl::write_string(parsed, info, &options, &msl::PipelineOptions::default());
        assert!(text.is_ok(), "{}: {:?}", module.label, text.err());
    }
}

/// The limit on storage buffers per stage that every WebGPU adapter has.
#[test]
fn one_chunk_fits_every_adapter() {
    // Narrow sketches fit; wide ones need more buffers.
    let wide = Declared::of(&Radius::new(1, 1), false);
    for (algorithm, visits) in catalogued().into_iter().filter(|(algorithm, _)| wide.as_ref() != Some(algorithm)) {
        for kernel in KernelName::ALL.into_iter().filter(|&kernel| runs(&algorithm, kernel)) {
            for &visit in &visits {
                for grouped in [false, true] {
                    let options = ModuleOptions { grouped, ..options(RECORD_ID, visit, 1, PORTABLE) };
                    let module = compose(&algorithm, kernel, &options);
                    let storage = module.bindings.iter().filter(|binding| binding.access != Access::Uniform).count();
                    assert!(storage <= 10, "{} binds {storage} buffers: {:?}", module.label, module.bindings);
                }
            }
        }
    }
}

#[test]
fn modules_bind_only_what_they_use() {
    let bfs = Bfs::from(VertexId(0));
    let visits = bfs.declare(true).visits;
    let bfs = Declared::of(&bfs, true).unwrap();
    let resources = |kernel, visit| -> Vec<Resource> {
        let module = compose(&bfs, kernel, &options(Encoding::VertexId, visit, 2, PORTABLE));
        module.bindings.iter().map(|binding| binding.resource).collect()
    };
    let attribute = |place, chunk| Resource::Attribute { place, chunk };
    let expected = [
        attribute(0, 0),
        attribute(0, 1),
        Resource::NextFrontier(0),
        Resource::NextFrontier(1),
        Resource::Pages,
        Resource::Batch,
        Resource::HubQueue,
    ];
    assert_eq!(resources(KernelName::Hubs, visits[0]), expected);
    assert_eq!(resources(KernelName::Fill, visits[0]), [Resource::Fill, Resource::Filled]);
    let expected = [Resource::Step, attribute(0, 0), attribute(0, 1), Resource::Directory, Resource::NextPages];
    assert_eq!(resources(KernelName::NextPages, visits[1]), expected);
}

/// Names and offsets of a struct's members in WGSL, and its size.
fn members(module: &naga::Module, name: &str) -> (Vec<(String, u32)>, u32) {
    let of_name = |found: &&naga::Type| found.name.as_deref() == Some(name);
    let found = module.types.iter().map(|(_, found)| found).find(of_name);
    let Some(naga::TypeInner::Struct { members, span }) = found.map(|found| &found.inner) else {
        panic!("no struct {name}")
    };
    (members.iter().map(|member| (member.name.clone().unwrap(), member.offset)).collect(), *span)
}

macro_rules! assert_same_layout {
    ($module:expr, $name:ident { $($member:ident),* }) => {
        assert_same_layout!($module, $name as $name { $($member),* });
        assert_eq!(members($module, stringify!($name)).1 as usize, size_of::<layout::$name>());
    };
    ($module:expr, $rust:ident as $wgsl:ident { $($member:ident),* }) => {{
        let expected = [$((stringify!($member).to_owned(), offset_of!(layout::$rust, $member) as u32)),*];
        let (mut found, _) = members($module, stringify!($wgsl));
        // An array follows the header.
        if stringify!($rust) != stringify!($wgsl) {
            assert_eq!(found.pop().unwrap().1 as usize, size_of::<layout::$rust>());
        }
        assert_eq!(found, expected);
        // If a member were missing here, the size would differ.
        assert_eq!(expected.len(), found.len());
    }};
}

#[test]
fn structs_have_the_same_layout_in_rust_and_wgsl() {
    let constants = [
        ("QUEUES_MAX", layout::QUEUES_MAX),
        ("BINS", layout::BINS),
        ("EDGE_COUNTS", layout::EDGE_COUNTS),
        ("LOG_STEPS", layout::LOG_STEPS),
    ];
    let constants = constants.map(|(name, value)| format!("const {name} = {value}u;\n")).concat();
    let module = naga::front::wgsl::parse_str(&(constants + include_str!("../../shaders/lib/layout.wgsl"))).unwrap();
    assert_same_layout!(
        &module,
        Step {
            vertices_last,
            superstep,
            page_count,
            own_first,
            own_last,
            part_first,
            part_last,
            spare,
            scalars,
            integers
        }
    );
    assert_same_layout!(
        &module,
        BatchPage { word, first_unit, start_vertex, slot_count, edge_count, degree, row, lanes_log2 }
    );
    assert_same_layout!(
        &module,
        InflatePage { packed, image, number, start_vertex, slot_count, edge_count, continues, origin, value_max }
    );
    assert_same_layout!(&module, HubEntry { page, first_edge, edge_count, vertex, length });
    assert_same_layout!(&module, Counters { hub_wanted, loops_cut, defect, deferred, edges });
    assert_same_layout!(&module, BinsHeader as Bins { counts, begins, fills, spare_0, spare_1, spare_2 });
    assert_same_layout!(&module, BinsHeader as Binning { counts, begins, fills, spare_0, spare_1, spare_2 });
    assert_same_layout!(&module, EdgeCount { low, high });
    assert_same_layout!(&module, DirectoryPage { start_vertex, slot_count });
    assert_same_layout!(&module, Fill { value, words, increment, spare });
    assert_same_layout!(&module, Merge { operation, kind, words, to, begin, first_mask, last_mask, spare });
    assert_same_layout!(&module, Pack { first, count, begin, base });
    assert_same_layout!(&module, MessageParams { first, last, begin, sparse_max });
    assert_same_layout!(&module, BatchHeader as Batch { page_count, unit_count, queue, first_page });
    assert_same_layout!(&module, HubHeader as HubQueue { wanted, capacity, spare_0, spare_1 });
    assert_same_layout!(&module, Queued { short, middle, long, pages, units });
    assert_same_layout!(
        &module,
        Logged { visit, mode, pages, loops_cut, activated, activated_edges, edges, spare, sums_low, sums_high }
    );
    assert_same_layout!(&module, Dispatch { visit, when, x, y });
    // A log and lists follow.
    let (mut course, _) = members(&module, "Course");
    assert_eq!(course.pop().unwrap().0, "listed");
    assert_eq!(course.pop().unwrap(), ("log".to_owned(), size_of::<layout::Course>() as u32));
    let expected = [
        offset_of!(layout::Course, listed_counts),
        offset_of!(layout::Course, updates),
        offset_of!(layout::Course, marks),
        offset_of!(layout::Course, set_edges),
        offset_of!(layout::Course, counts),
        offset_of!(layout::Course, only_listed),
        offset_of!(layout::Course, spare),
        offset_of!(layout::Course, queues),
    ];
    let found = course[course.len() - expected.len()..].iter().map(|member| member.1 as usize);
    assert!(found.eq(expected), "{course:?}");
    assert_eq!(size_of::<layout::CensusTotal>(), 16);
}

/// Every Vulkan and Metal adapter has 32 KiB of workgroup memory.
#[test]
fn workgroup_memory_is_small() {
    for Valid { module, parsed, info } in modules() {
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(parsed.to_ctx()).unwrap();
        let used = parsed.global_variables.iter().filter(|(handle, global)| {
            global.space == naga::AddressSpace::WorkGroup && !info.get_entry_point(0)[*handle].is_empty()
        });
        let bytes: u32 = used.map(|(_, global)| layouter[global.ty].size).sum();
        assert!(bytes <= 32 << 10, "{}: {bytes} bytes of workgroup memory", module.label);
    }
    assert_eq!((edges_per_unit(false), edges_per_unit(true)), (4096, 2048));
}

/// For drivers that end loops early, kernels with an algorithm's hooks check for that at their end; for other drivers
/// the check is absent.
#[test]
fn kernels_check_for_loops_that_were_ended_early() {
    for (algorithm, visits) in algorithms() {
        for kernel in KernelName::ALL.into_iter().filter(|kernel| runs(&algorithm, *kernel)) {
            let Abilities { float_atomics, .. } = PORTABLE;
            let options = options(Encoding::VertexId, visits[0], 1, PORTABLE);
            let text = |loops_limited| {
                compose(&algorithm, kernel, &ModuleOptions { loops_limited, float_atomics, ..options.clone() }).text
            };
            let (free, limited) = (text(false), text(true));
            assert!(!free.contains("loops_cut != ") && !free.contains("check_loops"), "{} {kernel}", algorithm.name);
            let main = limited.split("fn main(").nth(1).expect("a kernel has an entry point");
            let main = &main[..main.find("\n}\n").expect("it ends")];
            let last = main.trim_end().trim_end_matches(|end: char| end == '}' || end.is_whitespace());
            assert_eq!(last.ends_with("check_loops();"), kernel.has_hooks(), "{} {kernel}: {last}", algorithm.name);
        }
    }
}

/// The comment before each loop states its maximum number of iterations: where loops are limited, only kernels with
/// hooks, which check for it, may reach 65,535.
#[test]
fn loops_state_their_iteration_count() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut loops = 0;
    let mut check = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        for (at, line) in lines.iter().enumerate() {
            // In Rust, `while` and `loop` of generated WGSL are at the beginning of a line.
            let generated = path.extension().is_some_and(|name| name == "rs");
            let begins =
                |word: &str| line.starts_with(word) && (!generated || text.lines().nth(at).unwrap().starts_with(word));
            if !["for (", "while ", "loop {"].into_iter().any(begins) {
                continue;
            }
            loops += 1;
            let before = lines[..at].iter().rev().take_while(|line| line.starts_with("//"));
            let said = before.into_iter().any(|line| line.starts_with("// rounds: "));
            assert!(said, "{}:{}: a comment `// rounds: …` before the loop says how many", path.display(), at + 1);
        }
    };
    let algorithms = std::fs::read_dir(root.join("src/algorithms")).unwrap().map(|entry| entry.unwrap().path());
    let folders = algorithms.filter(|path| path.is_dir());
    for folder in folders.chain(["shaders/lib", "shaders/kernels"].map(|folder| root.join(folder))) {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|name| name == "wgsl")).for_each(&mut check);
    }
    check(root.join("src/device/gpu/compose/accessors.rs"));
    assert!(loops > 40, "{loops} loops were found");
}
