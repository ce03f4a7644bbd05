// Fixed point with 63 fractional bits, for sums below 2: x is the low word, y the high word. Addition is exact, so a
// sum has the same bits whatever the order of its terms.

alias Fixed = vec2<u32>;

// Converts a number from 0 to 2, rounded to the nearest. Without branches: it may stand between loads that should not
// wait.
fn fixed_from(value: f32) -> Fixed {
    let bits = bitcast<u32>(value);
    // value = mantissa * 2^(exponent - 150), or too small to count: moved up by exponent - 87 bits, or down, where
    // beyond 24 bits nothing is left.
    let exponent = (bits >> 23u) & 0xffu;
    let up = max(exponent, 87u) - 87u;
    let down = min(87u - min(exponent, 87u), 25u);
    let mantissa = (((bits & 0x7fffffu) | 0x800000u) + ((1u << down) >> 1u)) >> down;
    let far = up >= 32u;
    let low = mantissa << (up & 31u);
    let high = (mantissa >> 1u) >> (31u - (up & 31u));
    return Fixed(select(low, 0u, far), select(high, low, far));
}

fn fixed_add(a: Fixed, b: Fixed) -> Fixed {
    return u64_add(a, b);
}

// The nearest float, except for the last bit.
fn fixed_to_f32(sum: Fixed) -> f32 {
    return f32(sum.y) * 0x1p-31f + f32(sum.x) * 0x1p-63f;
}
