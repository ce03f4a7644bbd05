//! Communities by Leiden's and Louvain's algorithms: the same bits as on the CPU.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::{Setting, on_cpu};
use std::sync::Arc;
use topostream::VertexId;
use topostream::algorithms::leiden::{Clock, Count, Leiden, Objective};
use topostream::device::gpu::compose::plain::{Parts, U64, plain};
use topostream::device::gpu::compute::{Command, Compute};
use topostream::device::gpu::{Gpu, GpuOptions, adapters};
use topostream::engine::EngineOptions;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Lists of all lengths: of one edge, of each bin's, and of parts of hubs; groups with few edges between them; loops,
/// repeated edges and vertices without edges.
fn graph(vertices: u32, edges: usize) -> EdgeList {
    let groups = vertices / 100;
    let mut all = random_edges(0..vertices, edges / 3, 1);
    for group in 0..groups {
        all.extend(random_edges(group * 100..(group + 1) * 100, edges * 2 / 3 / groups as usize, group.into()));
    }
    for (hub, length) in [(0, vertices), (1, vertices / 2), (150, 2000), (151, 1000), (152, 600), (153, 200), (154, 60)]
    {
        all.extend((0..length).map(|at| (hub, at * 13 % vertices)));
    }
    all.extend((0..50).flat_map(|vertex| [(vertex, vertex), (vertex, vertex + 1), (vertex, vertex + 1)]));
    all.extend((0..200).map(|vertex| (vertices + vertex, vertex)));
    EdgeList::new(vertices + 400, all)
}

/// The labels, the qualities' bits, the devices, and the levels that a GPU has moved and made.
fn run(store: &TestStore, leiden: &Leiden, options: EngineOptions) -> (Vec<VertexId>, Vec<u64>, String, [u64; 2]) {
    let clock = Arc::new(Clock::default());
    let leiden = Leiden { qualities: Arc::default(), clock: Arc::clone(&clock), ..leiden.clone() };
    let found = leiden.run(&store.engine(options), &mut |_| {}).unwrap();
    let labels = found.last().column::<VertexId>("community").unwrap();
    let bits = found.qualities().iter().map(|quality| quality.value.to_bits()).collect();
    let levels = [Count::Moved, Count::Made].map(|count| clock.levels(count));
    (labels.iter().copied().collect(), bits, found.report.device.clone(), levels)
}

/// Runs it on both devices.
fn same(store: &TestStore, leiden: &Leiden, what: &str) {
    let setting = Setting::default();
    let expected = run(store, leiden, on_cpu(setting.options()));
    let found = run(store, leiden, setting.options());
    let device = format!(" and {}", adapter::report().name);
    assert!(found.2.ends_with(&device), "{what}: {}", found.2);
    // Every iteration has a level after the first.
    assert!(expected.3 == [0; 2] && found.3[1] >= leiden.resolutions.len() as u64, "{what}: levels {:?}", found.3);
    assert!(found.3[0] > found.3[1] || leiden.iterations > 1, "{what}: levels {:?}", found.3);
    let wrong = expected.0.iter().zip(&found.0).filter(|(expected, found)| expected != found).count();
    assert_eq!((wrong, &expected.1), (0, &found.1), "{what}: {wrong} of {} labels", expected.0.len());
}

/// A kernel that calculates with two numbers of 128 bits each thread.
const ARITHMETIC: &str = "
var<uniform> count: vec4<u32>;
var<storage, read> numbers: array<vec4<u32>>;
var<storage, read_write> results: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < count.x {
        let a = numbers[2u * id.x];
        let b = numbers[2u * id.x + 1u];
        results[5u * id.x] = u128_times(a, b.xy);
        results[5u * id.x + 1u] = u128_add(a, b);
        results[5u * id.x + 2u] = u128_minus(a, b);
        results[5u * id.x + 3u] = vec4<u32>(scattered(a.x, b.zw), u64_times(a.xy, b.xy));
        results[5u * id.x + 4u] = vec4<u32>(u64_minus(a.xy, b.xy), u32(i128_above(a, b)), u32(i128_above(a, a)));
    }
}
";

/// The results of a thread.
fn arithmetic(a: u128, b: u128) -> [u128; 5] {
    let pair = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
    let hash = |vertex: u32, seed: u64| {
        let mut bits = seed.wrapping_add((u64::from(vertex) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    let (low_a, low_b) = (a as u64, b as u64);
    [
        a.wrapping_mul(low_b.into()),
        a.wrapping_add(b),
        a.wrapping_sub(b),
        pair(hash(a as u32, (b >> 64) as u64), low_a.wrapping_mul(low_b)),
        pair(low_a.wrapping_sub(low_b), u64::from(a as i128 > b as i128)),
    ]
}

gpu_test! {
    /// Random numbers, and those with words of all zeros and all ones.
    fn numbers_of_128_bits() {
        let words = [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x9e37_79b9];
        let mut state = 1u32;
        let mut word = |at: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if (state >> 13).is_multiple_of(3) { state.rotate_left(16) } else { words[((state >> 16) as usize + at) % words.len()] }
        };
        let numbers: Vec<u128> =
            (0..4000).map(|_| (0..4).fold(0, |number, at| number << 32 | u128::from(word(at)))).collect();
        let adapter = adapters::choose(&adapter::device()).unwrap().unwrap();
        let gpu = Arc::new(Gpu::open(&adapter, &GpuOptions::default()).unwrap());
        let compute = Compute::new(gpu, 1 << 30);
        let wide = ("wide.wgsl", include_str!("../../src/algorithms/leiden/gpu/wide.wgsl"));
        let files = &[U64, wide, ("test", ARITHMETIC)];
        let module = plain(&Parts { label: "arithmetic", files, switches: &[("WIDE", true)], constants: &[] });
        let kernel = compute.kernel(&module).unwrap();
        let (pairs, bytes) = (numbers.len() as u32 / 2, 16 * numbers.len() as u64);
        let (given, results) = (compute.memory("numbers", bytes).unwrap(), compute.memory("results", 5 * bytes).unwrap());
        let given_words: Vec<[u64; 2]> = numbers.iter().map(|&of| [of as u64, (of >> 64) as u64]).collect();
        compute.write(&given, bytemuck::cast_slice(&given_words)).unwrap();
        let bound = compute.bind(&kernel, |name| if name == "numbers" { &given } else { &results }).unwrap();
        let uniforms = compute.uniforms(&kernel, 1, 16).unwrap();
        compute.set(&uniforms, bytemuck::cast_slice(&[pairs, 0, 0, 0]));
        compute.submit(&[Command::Run(bound, 0, pairs.div_ceil(64))], &uniforms).unwrap();
        let found = compute.read(&results, u64::from(pairs) * 20).unwrap();
        let found: Vec<u128> = found.chunks(4).map(|of| of.iter().rev().fold(0, |sum, &word| sum << 32 | u128::from(word))).collect();
        for (pair, found) in numbers.chunks(2).zip(found.chunks(5)) {
            assert_eq!(found, arithmetic(pair[0], pair[1]), "{:x?}", pair);
        }
    }
}

gpu_test! {
    fn undirected_graphs() {
        let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::new(&graph(2000, 24_000), &options);
        let base = Leiden::default();
        let cpm = Leiden { objective: Objective::Cpm, resolutions: vec![0.05], iterations: 1, ..base.clone() };
        for (what, leiden) in [
            ("leiden", base.clone()),
            ("another seed", Leiden { seed: 5, resolutions: vec![2.5], iterations: 2, ..base.clone() }),
            ("louvain", Leiden { refines: false, iterations: 1, ..base.clone() }),
            ("a resolution of 0", Leiden { resolutions: vec![0.0], iterations: 1, ..base.clone() }),
            ("cpm", cpm),
        ] {
            same(&store, &leiden, what);
        }
    }
}

gpu_test! {
    fn directed_graphs() {
        let store = TestStore::new(&graph(2000, 26_000), &small_pages(Encoding::VertexId));
        same(&store, &Leiden { iterations: 1, ..Leiden::default() }, "leiden");
        same(&store, &Leiden { refines: false, seed: 3, iterations: 1, ..Leiden::default() }, "louvain");
    }
}

gpu_test! {
    /// Small weights, with sums of 32 bits; large ones, with sums of more; and floats.
    fn weights() {
        let graph = graph(1500, 26_000);
        let weight = |edge: u32| edge.wrapping_mul(2_654_435_761);
        for (what, shift, float) in [("small", 26, false), ("large", 4, false), ("float", 20, true)] {
            let weights = (0..graph.edges.len() as u32).map(|edge| weight(edge) >> shift);
            let weights = weights.map(|weight| if float { (weight as f32 / 128.0).to_bits() } else { weight }).collect();
            let weighted = Weighted { graph: graph.clone(), weights, float };
            for directed in [false, true] {
                let options = FormatOptions { symmetrize: !directed, ..small_pages(Encoding::VertexId) };
                let store = TestStore::weighted(&weighted, directed, &options);
                let leiden = Leiden { weights: true, iterations: 1, ..Leiden::default() };
                same(&store, &leiden, &format!("{what}, directed {directed}"));
            }
        }
    }
}
