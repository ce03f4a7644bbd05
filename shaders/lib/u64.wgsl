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

fn u64_less(a: U64, b: U64) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// Shifts up by less than 64 bits.
fn u64_up(number: U64, by: u32) -> U64 {
    let few = by & 31u;
    let low = number.x << few;
    let high = (number.y << few) | ((number.x >> 1u) >> (31u - few));
    return select(U64(low, high), U64(0u, low), by >= 32u);
}

// Shifts down by less than 64 bits.
fn u64_down(number: U64, by: u32) -> U64 {
    let few = by & 31u;
    let moved = select(number, U64(number.y, 0u), by >= 32u);
    return U64((moved.x >> few) | ((moved.y << 1u) << (31u - few)), moved.y >> few);
}

// Shifts down by any number of bits; the lowest bit is set if any of those that fall out was.
fn u64_down_sticky(number: U64, by: u32) -> U64 {
    if by >= 64u {
        return U64(u32(any(number != U64(0u, 0u))), 0u);
    }
    let moved = u64_down(number, by);
    return U64(moved.x | u32(any(u64_up(moved, by) != number)), moved.y);
}

// The product of two words.
fn u64_product(a: u32, b: u32) -> U64 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
    return U64((second << 16u) | (low & 0xffffu), high);
}

// The high half of a product; its lowest bit is set if any bit of the low half is.
fn u64_product_high(a: U64, b: U64) -> U64 {
    let low = u64_product(a.x, b.x);
    let first = u64_add(u64_product(a.x, b.y), U64(low.y, 0u));
    let second = u64_add(u64_product(a.y, b.x), U64(first.x, 0u));
    let high = u64_add(u64_product(a.y, b.y), u64_add(U64(first.y, 0u), U64(second.y, 0u)));
    return U64(high.x | u32((low.x | second.x) != 0u), high.y);
}
