// Weights, and what is made of them, by their bits: those of a float from 0 on order as it does. What may be infinite
// or no number is looked at by its bits only: shaders need not know infinity.

const FLOAT_INFINITY = 0x7f800000u;
const FLOAT_NEGATIVE_ZERO = 0x80000000u;
const FLOAT_SMALLEST_NORMAL = 0x00800000u;

// A whole distance and a whole weight; TOO_FAR where 32 bits cannot say it.
fn whole_sum(distance: u32, weight: u32) -> u32 {
    let sum = distance + weight;
    return select(min(sum, TOO_FAR), TOO_FAR, sum < distance);
}

// A distance and a weight that is neither negative nor infinite, of floats.
fn float_sum(distance: u32, weight: u32) -> u32 {
    let is_zero = weight < FLOAT_SMALLEST_NORMAL || weight == FLOAT_NEGATIVE_ZERO;
    let length = bitcast<f32>(select(weight, 0u, is_zero));
    return bitcast<u32>(bitcast<f32>(distance) + length);
}
