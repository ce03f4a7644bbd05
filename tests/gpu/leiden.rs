//! Communities by Leiden's and Louvain's algorithms: the same bits as on the CPU.

use crate::adapter;
use crate::common::*;
use crate::gpu_test;
use crate::reference::*;
use crate::setting::{Setting, on_cpu, with_memory};
use std::sync::Arc;
use topostream::algorithms::leiden::{Clock, Count, Leiden, Objective};
use topostream::device::gpu::compose::plain::{Parts, U64, plain};
use topostream::device::gpu::compute::{Command, Compute};
use topostream::device::gpu::{Gpu, GpuOptions, adapters};
use topostream::engine::EngineOptions;
use topostream::model::algorithm::{Answer, AnswerValues};
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

/// What a run has found.
struct Outcome {
    /// For each resolution.
    labels: Vec<Vec<u32>>,
    qualities: Vec<u64>,
    devices: String,
    /// The levels that a GPU has moved, and made.
    moved: u64,
    made: u64,
}

fn run(store: &TestStore, leiden: &Leiden, options: EngineOptions) -> Outcome {
    let clock = Arc::new(Clock::default());
    let leiden = Leiden { qualities: Arc::default(), clock: Arc::clone(&clock), ..leiden.clone() };
    let found = leiden.run(&store.engine(options), &mut |_| {}).unwrap();
    let labels = |answer: &Answer<'_>| {
        let AnswerValues::Vertex(values) = &answer.values else { panic!("communities are vertices") };
        values.iter(store.open().vertices()).map(|of| of.unwrap().0).collect()
    };
    Outcome {
        labels: found.answers().iter().map(labels).collect(),
        qualities: found.qualities().iter().map(|quality| quality.value.to_bits()).collect(),
        devices: found.report.device.clone(),
        moved: clock.levels(Count::Moved),
        made: clock.levels(Count::Made),
    }
}

/// Runs it on both devices; returns the levels that the GPU has moved, and made.
fn same_by(store: &TestStore, leiden: &Leiden, options: EngineOptions, what: &str) -> (u64, u64) {
    let expected = run(store, leiden, on_cpu(Setting::default().options()));
    let found = run(store, leiden, options);
    let device = format!(" and {}", adapter::report().name);
    assert!(found.devices.ends_with(&device), "{what}: {}", found.devices);
    assert_eq!((expected.moved, expected.made), (0, 0));
    for (expected, found) in expected.labels.iter().zip(&found.labels) {
        let wrong = expected.iter().zip(found).filter(|(expected, found)| expected != found).count();
        assert_eq!(wrong, 0, "{what}: of {} labels", expected.len());
    }
    assert_eq!(expected.qualities, found.qualities, "{what}");
    (found.moved, found.made)
}

/// The same; the GPU makes all levels after the first, and moves their vertices.
fn same(store: &TestStore, leiden: &Leiden, what: &str) {
    let (moved, made) = same_by(store, leiden, Setting::default().options(), what);
    assert!(moved > made && made > 0, "{what}: {moved} levels, of which {made} were made");
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
        // By default, only several resolutions take another iteration.
        let iterations = if thorough() { base.iterations } else { 1 };
        let cpm = Leiden { objective: Objective::Cpm, resolutions: vec![0.05], iterations: 1, ..base.clone() };
        for (what, leiden) in [
            ("leiden", Leiden { iterations, ..base.clone() }),
            ("another seed", Leiden { seed: 5, resolutions: vec![2.5], iterations, ..base.clone() }),
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
            // By default, each kind of weights with one kind of graph.
            for directed in [false, true].into_iter().filter(|&one| thorough() || one == (what == "large")) {
                let options = FormatOptions { symmetrize: !directed, ..small_pages(Encoding::VertexId) };
                let store = TestStore::weighted(&weighted, directed, &options);
                let leiden = Leiden { weights: true, iterations: 1, ..Leiden::default() };
                same(&store, &leiden, &format!("{what}, directed {directed}"));
            }
        }
    }
}

gpu_test! {
    fn several_resolutions() {
        let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::new(&graph(2000, 24_000), &options);
        // What is left of a level for the next resolution is seen with two of them.
        let resolutions = if thorough() { vec![2.0, 0.5, 8.0] } else { vec![2.0, 0.5] };
        same(&store, &Leiden { resolutions, iterations: 2, ..Leiden::default() }, "leiden");
    }
}

gpu_test! {
    /// Levels of few edges between groups are the CPU's, which reads the lists that the GPU has made.
    fn small_levels() {
        let pairs: Vec<(u32, u32)> = (1..6).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let cliques = (0..2000).flat_map(|clique| pairs.iter().map(move |(a, b)| (6 * clique + a, 6 * clique + b)));
        let mut edges: Vec<_> = cliques.collect();
        edges.extend(random_edges(12_000..12_300, 3000, 5));
        let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::new(&EdgeList::new(12_300, edges), &options);
        for refines in [true, false] {
            let leiden = Leiden { refines, iterations: 1, ..Leiden::default() };
            let (moved, made) = same_by(&store, &leiden, Setting::default().options(), "leiden");
            assert!(made > 0 && moved <= made, "{moved} levels, of which {made} were made");
        }
    }
}

gpu_test! {
    /// Levels that do not fit in device memory are the CPU's, and so is a next one for which there is no room.
    fn little_device_memory() {
        let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
        let store = TestStore::new(&graph(2000, 24_000), &options);
        let leiden = Leiden { iterations: 1, ..Leiden::default() };
        let levels = some([1, 2, 3, 5, 7, 10, 15], 3).map(|part| {
            let options = with_memory(Setting::default().options(), part << 16);
            same_by(&store, &leiden, options, &format!("{part} times 64 KiB"))
        });
        let levels: Vec<_> = levels.collect();
        let [least, most] = [levels[0], levels[levels.len() - 1]];
        assert!(least.0 < most.0 && least.1 < most.1, "{levels:?}");
    }
}
