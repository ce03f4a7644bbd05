// Fixed point with 63 fractional bits, for sums below 2: x is the low word, y the high word. Addition is exact, so that a
// sum is the same bits in whatever order its terms come.

alias Fixed = vec2<u32>;

// A number from 0 to 2, rounded to the nearest.
fn fixed_from(value: f32) -> Fixed {
    let bits = bitcast<u32>(value);
    // value = mantissa * 2^(exponent - 150), or too small to count.
    let exponent = (bits >> 23u) & 0xffu;
    let mantissa = (bits & 0x7fffffu) | 0x800000u;
    if exponent >= 119u {
        return Fixed(0u, mantissa << (exponent - 119u));
    }
    if exponent > 87u {
        let shift = exponent - 87u;
        return Fixed(mantissa << shift, mantissa >> (32u - shift));
    }
    // Below, bits fall off the end; beyond 24 of them, nothing is left.
    let off = min(87u - exponent, 25u);
    return Fixed((mantissa + ((1u << off) >> 1u)) >> off, 0u);
}

fn fixed_add(a: Fixed, b: Fixed) -> Fixed {
    let low = a.x + b.x;
    return Fixed(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// The nearest float, but for the last bit.
fn fixed_to_f32(sum: Fixed) -> f32 {
    return f32(sum.y) * 0x1p-31f + f32(sum.x) * 0x1p-63f;
}
