// Weights and sums of weights by their bits: those of non-negative floats have the same order as the floats. Values
// that may be infinite or NaN are tested by their bits only: shaders need not support infinity.

const FLOAT_INFINITY = 0x7f800000u;
const FLOAT_NEGATIVE_ZERO = 0x80000000u;
const FLOAT_SMALLEST_NORMAL = 0x00800000u;

// Adds an integer distance and an integer weight; TOO_FAR if 32 bits cannot hold the sum.
fn whole_sum(distance: u32, weight: u32) -> u32 {
    let sum = distance + weight;
    return select(min(sum, TOO_FAR), TOO_FAR, sum < distance);
}

// Adds a distance and a weight that is neither negative nor infinite, of floats.
fn float_sum(distance: u32, weight: u32) -> u32 {
    let is_zero = weight < FLOAT_SMALLEST_NORMAL || weight == FLOAT_NEGATIVE_ZERO;
    let length = bitcast<f32>(select(weight, 0u, is_zero));
    return bitcast<u32>(bitcast<f32>(distance) + length);
}

// Adds a distance in double precision and a float weight that is neither negative nor infinite: all of it counts.
fn double_sum(distance: U64, weight: u32) -> U64 {
    return f64_add(distance, f64_from_bits(weight & ~FLOAT_NEGATIVE_ZERO));
}
