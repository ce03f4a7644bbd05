//! Double precision in integer operations (shaders/lib/f64.wgsl), compared with the processor's.

use super::graph::Chance;
use super::{HashMap, gpu};
use topostream::device::gpu::compose::layout::Step;
use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, Resource, compose};
use topostream::model::algorithm::Shader;
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};

/// Computes everything of each pair of numbers.
const PAIRS: &str = "
fn vertex_update(vertex: u32) -> vec4<f32> {
    let a = a_load(vertex);
    let b = b_load(vertex);
    sum_store(vertex, f64_add(a, b));
    product_store(vertex, f64_mul(a, b));
    quotient_store(vertex, f64_div(a, b));
    root_store(vertex, f64_sqrt(a));
    wide_store(vertex, f64_from(bitcast<f32>(a.y)));
    let comparison = u32(f64_less(a, b)) | (u32(f64_at_most(a, b)) << 1u) | (u32(f64_is_finite(a)) << 2u);
    whole_store(vertex, f64_to_u64(a));
    count_store(vertex, f64_pack(0u, 62 + 1023, a));
    difference_store(vertex, f64_add(a, f64_negative(b)));
    single_store(vertex, U64(bitcast<u32>(f64_to_f32(a)), comparison));
    return vec4<f32>();
}
";
const NAMES: [&str; 11] =
    ["a", "b", "sum", "product", "quotient", "root", "wide", "single", "whole", "count", "difference"];

/// Zeros, infinities, no number, ties, neighbours of powers of two, and the largest and smallest numbers.
const SPECIAL: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MAX,
    1e-300,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    9007199254740992.0,
    9007199254740994.0,
    f64::EPSILON / 2.0,
    f64::EPSILON / 4.0,
    3.0,
    0.1,
    f32::MAX as f64,
    // Halfway to 2^128.
    3.4028235677973366e38,
    f32::MIN_POSITIVE as f64,
    1.401298464324817e-45,
    1.0 + f32::EPSILON as f64 / 2.0,
];

/// Special numbers with each other, numbers of many magnitudes, pairs that are close to each other, and rounding ties.
fn pairs() -> Vec<[f64; 2]> {
    let mut pairs: Vec<_> = SPECIAL.iter().flat_map(|&a| SPECIAL.map(|b| [a, b])).collect();
    let mut chance = Chance(17);
    let mantissa = (1u64 << 52) - 1;
    for _ in 0..2000 {
        let mut number = || chance.next() & (1 << 63 | mantissa) | u64::from(800 + chance.below(450)) << 52;
        let (a, b) = (number(), number());
        let near = a & !mantissa | b & mantissa;
        let close = a ^ b & 0xff;
        let few = f64::from(chance.below(1 << 24)) * f64::from(chance.below(60)).exp2();
        let odd = f64::from(chance.below(1 << 16) | 1);
        pairs.extend([[a, b], [a, near], [a, close], [a, close ^ 1 << 63]].map(|pair| pair.map(f64::from_bits)));
        pairs.extend([[few, odd], [odd * odd, odd], [f64::from_bits(a) as f32 as f64, few]]);
    }
    pairs
}

/// The words of a result; numbers below the smallest normal one count as 0.
fn words(number: f64) -> [u32; 2] {
    let number = if number.is_subnormal() { 0.0 * number.signum() } else { number };
    [number.to_bits() as u32, (number.to_bits() >> 32) as u32]
}

/// Whether a result has the expected bits, or is no number if that is expected.
fn agrees(found: [u32; 2], expected: f64) -> bool {
    let value = f64::from_bits(u64::from(found[1]) << 32 | u64::from(found[0]));
    found == words(expected) || value.is_nan() && expected.is_nan()
}

#[test]
fn double_precision_has_the_bits_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    let pairs = pairs();
    let attribute = |name| {
        let (of, role) = (AttributeType::U64, Role::Own);
        Attribute { name, of, role, merge: Merge::Add, initial: Initial::Bits(0), lane: None }
    };
    let attributes = NAMES.map(attribute).to_vec();
    let shader = Shader::new("pairs.wgsl", PAIRS);
    let declared = Declared::new("pairs", shader, attributes, false);
    let vertices = pairs.len() as u64;
    let options = ModuleOptions { vertices, held_vertices: vertices, ..ModuleOptions::default() };
    let last = vertices as u32 - 1;
    let step = Step { vertices_last: last, own_last: last, part_last: last, ..Step::default() };
    let mut buffers = HashMap::from([
        (Resource::Step, gpu.buffer(bytemuck::cast_slice(&[step]))),
        (Resource::Totals, gpu.buffer(&[0; 4])),
    ]);
    for place in 0..NAMES.len() {
        let column: Vec<u32> = pairs.iter().flat_map(|pair| pair.get(place).map_or([0; 2], |&one| bits(one))).collect();
        buffers.insert(Resource::Attribute { place, chunk: 0 }, gpu.buffer(&column));
    }
    gpu.run(&compose(&declared, KernelName::VertexPhase, &options), &buffers, [1, 1]);
    let columns: Vec<Vec<u32>> =
        (0..NAMES.len()).map(|place| gpu.read(&buffers[&Resource::Attribute { place, chunk: 0 }])).collect();
    for (at, &[a, b]) in pairs.iter().enumerate() {
        let found = |place: usize| [columns[place][2 * at], columns[place][2 * at + 1]];
        // Subnormal operands count as 0; there are none but from f32.
        let wide = f32::from_bits((a.to_bits() >> 32) as u32);
        let arithmetic = [(2, a + b), (3, a * b), (4, a / b), (5, a.sqrt()), (10, a - b)];
        for (place, expected) in arithmetic.into_iter().chain([(6, wide.into()), (9, a.to_bits() as f64)]) {
            let what = NAMES[place];
            assert!(agrees(found(place), expected), "{what} of {a:e} and {b:e}: {:x?}, not {expected:e}", found(place));
        }
        assert_eq!(found(8), [a as u64 as u32, (a as u64 >> 32) as u32], "{a:e} as u64");
        let [single, comparison] = found(7);
        let same = single == (a as f32).to_bits() || a.is_nan() && f32::from_bits(single).is_nan();
        assert!(same, "{a:e} as f32: {single:x}");
        let expected = u32::from(a < b) | u32::from(a <= b) << 1 | u32::from(a.is_finite()) << 2;
        assert_eq!(comparison, expected, "{a:e} compared with {b:e}");
    }
}

fn bits(number: f64) -> [u32; 2] {
    [number.to_bits() as u32, (number.to_bits() >> 32) as u32]
}
