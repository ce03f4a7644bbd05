// Whole numbers of 128 bits, modulo 2^128 and lowest word first; hashes.

// A number times a word.
fn u128_times_word(number: vec4<u32>, word: u32) -> vec4<u32> {
    let first = u64_product(number.x, word);
    let second = u64_add(u64_product(number.y, word), U64(first.y, 0u));
    let third = u64_add(u64_product(number.z, word), U64(second.y, 0u));
    return vec4<u32>(first.x, second.x, third.x, number.w * word + third.y);
}

fn u128_add(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = a.xy + b.xy;
    let carry_y = u32(low.x < a.x);
    let y = low.y + carry_y;
    let carry_z = u32(low.y < a.y) | u32(y < carry_y);
    let high = u64_add(u64_add(a.zw, b.zw), U64(carry_z, 0u));
    return vec4<u32>(low.x, y, high);
}

fn u128_minus(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    // a − b is a + !b + 1, and !(!a + b) is a − b.
    return ~u128_add(~a, b);
}

// A number times one of 64 bits.
fn u128_times(number: vec4<u32>, factor: U64) -> vec4<u32> {
    var product = u128_times_word(number, factor.x);
    if WIDE {
        product = u128_add(product, vec4<u32>(0u, u128_times_word(number, factor.y).xyz));
    }
    return product;
}

// Whether one number is larger than another, both signed.
fn i128_above(a: vec4<u32>, b: vec4<u32>) -> bool {
    if a.w != b.w {
        return bitcast<i32>(a.w) > bitcast<i32>(b.w);
    }
    if a.z != b.z {
        return a.z > b.z;
    }
    if a.y != b.y {
        return a.y > b.y;
    }
    return a.x > b.x;
}

// A product modulo 2^64.
fn u64_times(a: U64, b: U64) -> U64 {
    let low = u64_product(a.x, b.x);
    return U64(low.x, low.y + a.x * b.y + a.y * b.x);
}

fn u64_minus(a: U64, b: U64) -> U64 {
    return U64(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

// A number that has nothing to do with the vertex's, as `hash` in turns.rs.
fn scattered(vertex: u32, seed: U64) -> U64 {
    let number = u64_add(U64(vertex, 0u), U64(1u, 0u));
    var bits = u64_add(seed, u64_times(number, U64(0x7f4a7c15u, 0x9e3779b9u)));
    bits = u64_times(bits ^ u64_down(bits, 30u), U64(0x1ce4e5b9u, 0xbf58476du));
    bits = u64_times(bits ^ u64_down(bits, 27u), U64(0x133111ebu, 0x94d049bbu));
    return bits ^ u64_down(bits, 31u);
}
