// 64-bit integers, modulo 2^64: x is the low word, y the high word. Signed ones are in two's complement.

alias U64 = vec2<u32>;

// A number as a float.
fn u64_to_f32(number: U64) -> f32 {
    return f32(number.y) * 4294967296.0 + f32(number.x);
}

fn u64_add(a: U64, b: U64) -> U64 {
    let low = a.x + b.x;
    return U64(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// The additive inverse of a number.
fn u64_negative(value: U64) -> U64 {
    return u64_add(~value, U64(1u, 0u));
}
