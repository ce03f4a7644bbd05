// Double precision (IEEE 754, rounded to the nearest, ties to even) in integer operations: the same bits as the host's
// f64, whatever a shader compiler does to floats. x is the low word, y the high word. Numbers below 2^-1022 count as 0.

alias F64 = vec2<u32>;

const F64_ONE = F64(0u, 0x3ff00000u);
const F64_NAN = F64(0u, 0x7ff80000u);

fn f64_exponent(value: F64) -> i32 {
    return i32((value.y >> 20u) & 0x7ffu);
}

fn f64_is_zero(value: F64) -> bool {
    return f64_exponent(value) == 0;
}

fn f64_is_finite(value: F64) -> bool {
    return f64_exponent(value) != 0x7ff;
}

fn f64_is_nan(value: F64) -> bool {
    return !f64_is_finite(value) && ((value.y & 0xfffffu) | value.x) != 0u;
}

// The 53 bits of a number's mantissa; 0 for zero.
fn f64_mantissa(value: F64) -> U64 {
    return select(U64(value.x, (value.y & 0xfffffu) | 0x100000u), U64(0u, 0u), f64_is_zero(value));
}

// Rounds a mantissa whose bit 62 stands for 2^(exponent - 1023).
fn f64_pack(sign: u32, exponent_of_62: i32, mantissa: U64) -> F64 {
    if all(mantissa == U64(0u, 0u)) {
        return F64(0u, 0u);
    }
    // The leading bit becomes bit 62.
    var bits = mantissa;
    var exponent = exponent_of_62;
    let zeros = select(countLeadingZeros(bits.y), 32u + countLeadingZeros(bits.x), bits.y == 0u);
    if zeros == 0u {
        bits = u64_down_sticky(bits, 1u);
        exponent += 1;
    } else {
        bits = u64_up(bits, zeros - 1u);
        exponent -= i32(zeros) - 1;
    }
    if exponent <= 0 {
        return F64(0u, sign);
    }
    let rounded = u64_add(bits, U64(0x200u, 0u));
    var low = (rounded.x >> 10u) | (rounded.y << 22u);
    if (bits.x & 0x3ffu) == 0x200u {
        low &= 0xfffffffeu;
    }
    if exponent >= 0x7ff {
        return F64(0u, sign | 0x7ff00000u);
    }
    // The leading bit adds 1 to the exponent, a carry out of the mantissa another 1.
    let high = (rounded.y >> 10u) + (u32(exponent - 1) << 20u);
    return F64(select(low, 0u, high >= 0x7ff00000u), sign | min(high, 0x7ff00000u));
}

fn f64_from(value: f32) -> F64 {
    return f64_from_bits(bitcast<u32>(value));
}

// A float by its bits.
fn f64_from_bits(bits: u32) -> F64 {
    let sign = bits & 0x80000000u;
    var exponent = (bits >> 23u) & 0xffu;
    var mantissa = bits & 0x7fffffu;
    if exponent == 0xffu {
        return F64(0u, sign | 0x7ff00000u | (u32(mantissa != 0u) << 19u));
    }
    if exponent == 0u {
        if mantissa == 0u {
            return F64(0u, sign);
        }
        let up = countLeadingZeros(mantissa) - 8u;
        mantissa = (mantissa << up) & 0x7fffffu;
        return F64(mantissa << 29u, sign | ((897u - up) << 20u) | (mantissa >> 3u));
    }
    return F64(mantissa << 29u, sign | ((exponent + 896u) << 20u) | (mantissa >> 3u));
}

fn f64_to_f32(value: F64) -> f32 {
    let sign = value.y & 0x80000000u;
    if f64_is_nan(value) {
        return bitcast<f32>(sign | 0x7fc00000u);
    }
    let exponent = f64_exponent(value) - 896;
    if exponent >= 0xff {
        return bitcast<f32>(sign | 0x7f800000u);
    }
    // The leading bit is bit 30, unless the result is subnormal; the lowest bit is set if any below it was.
    var bits = 0x40000000u | ((value.y & 0xfffffu) << 10u) | (value.x >> 22u) | u32((value.x & 0x3fffffu) != 0u);
    if exponent <= 0 {
        bits = u64_down_sticky(U64(bits, 0u), u32(min(1 - exponent, 63))).x;
    }
    var kept = (bits + 0x40u) >> 7u;
    if (bits & 0x7fu) == 0x40u {
        kept &= 0xfffffffeu;
    }
    return bitcast<f32>(sign | (kept + (u32(max(exponent, 1) - 1) << 23u)));
}

// Whether a number's magnitude is below another's.
fn f64_is_smaller(a: F64, b: F64) -> bool {
    let high_a = a.y & 0x7fffffffu;
    let high_b = b.y & 0x7fffffffu;
    return high_a < high_b || (high_a == high_b && a.x < b.x);
}

fn f64_less(a: F64, b: F64) -> bool {
    if f64_is_nan(a) || f64_is_nan(b) || (f64_is_zero(a) && f64_is_zero(b)) {
        return false;
    }
    let negative_a = (a.y >> 31u) != 0u;
    let negative_b = (b.y >> 31u) != 0u;
    if negative_a != negative_b {
        return negative_a;
    }
    return select(f64_is_smaller(a, b), f64_is_smaller(b, a), negative_a);
}

fn f64_at_most(a: F64, b: F64) -> bool {
    return !f64_is_nan(a) && !f64_is_nan(b) && !f64_less(b, a);
}

fn f64_negative(value: F64) -> F64 {
    return F64(value.x, value.y ^ 0x80000000u);
}

// The whole part: 0 of negative numbers and NaN, the largest integer for larger numbers.
fn f64_to_u64(value: F64) -> U64 {
    let power = f64_exponent(value) - 1023;
    if f64_is_nan(value) || (value.y >> 31u) != 0u || power < 0 {
        return U64(0u, 0u);
    }
    if power > 63 {
        return U64(0xffffffffu, 0xffffffffu);
    }
    let mantissa = f64_mantissa(value);
    if power >= 52 {
        return u64_up(mantissa, u32(power - 52));
    }
    return u64_down(mantissa, u32(52 - power));
}

fn f64_add(a: F64, b: F64) -> F64 {
    if f64_is_zero(b) {
        return select(a, F64(0u, a.y & b.y & 0x80000000u), f64_is_zero(a));
    }
    let swap = f64_is_smaller(a, b);
    let large = select(a, b, swap);
    let small = select(b, a, swap);
    let opposite = ((large.y ^ small.y) >> 31u) != 0u;
    if !f64_is_finite(large) {
        return select(large, F64_NAN, f64_is_nan(large) || (!f64_is_finite(small) && opposite));
    }
    // Nine bits below the mantissas, the lowest of which is set if any below it was.
    let exponent = f64_exponent(large);
    let first = u64_up(f64_mantissa(large), 9u);
    let second = u64_down_sticky(u64_up(f64_mantissa(small), 9u), u32(exponent - f64_exponent(small)));
    let sum = u64_add(first, select(second, u64_negative(second), opposite));
    return f64_pack(large.y & 0x80000000u, exponent + 1, sum);
}

fn f64_mul(a: F64, b: F64) -> F64 {
    let sign = (a.y ^ b.y) & 0x80000000u;
    if !f64_is_finite(a) || !f64_is_finite(b) {
        let none = f64_is_nan(a) || f64_is_nan(b) || f64_is_zero(a) || f64_is_zero(b);
        return select(F64(0u, sign | 0x7ff00000u), F64_NAN, none);
    }
    if f64_is_zero(a) || f64_is_zero(b) {
        return F64(0u, sign);
    }
    let product = u64_product_high(u64_up(f64_mantissa(a), 10u), u64_up(f64_mantissa(b), 11u));
    return f64_pack(sign, f64_exponent(a) + f64_exponent(b) - 1022, product);
}

fn f64_div(a: F64, b: F64) -> F64 {
    let sign = (a.y ^ b.y) & 0x80000000u;
    let infinite = F64(0u, sign | 0x7ff00000u);
    if !f64_is_finite(a) || !f64_is_finite(b) {
        let none = f64_is_nan(a) || f64_is_nan(b) || f64_is_finite(a) == f64_is_finite(b);
        return select(select(infinite, F64(0u, sign), f64_is_finite(a)), F64_NAN, none);
    }
    if f64_is_zero(a) || f64_is_zero(b) {
        return select(select(infinite, F64(0u, sign), f64_is_zero(a)), F64_NAN, f64_is_zero(a) && f64_is_zero(b));
    }
    let divisor = f64_mantissa(b);
    var rest = f64_mantissa(a);
    var quotient = U64(0u, 0u);
    // rounds: 56.
    for (var bit = 0u; bit < 56u; bit += 1u) {
        quotient = u64_up(quotient, 1u);
        if !u64_less(rest, divisor) {
            rest = u64_add(rest, u64_negative(divisor));
            quotient.x |= 1u;
        }
        rest = u64_up(rest, 1u);
    }
    quotient.x |= u32(any(rest != U64(0u, 0u)));
    // Bit 55 is that of 1.
    return f64_pack(sign, f64_exponent(a) - f64_exponent(b) + 1023 + 7, quotient);
}

fn f64_sqrt(value: F64) -> F64 {
    let negative = (value.y >> 31u) != 0u;
    if f64_is_zero(value) || f64_is_nan(value) || (!f64_is_finite(value) && !negative) {
        return value;
    }
    if negative {
        return F64_NAN;
    }
    let power = f64_exponent(value) - 1023;
    // Two bits of the radicand for each bit of the root: bits 53 and 52 come first.
    var radicand = u64_up(f64_mantissa(value), u32(power & 1));
    var rest = U64(0u, 0u);
    var root = U64(0u, 0u);
    // rounds: 56.
    for (var bit = 0u; bit < 56u; bit += 1u) {
        rest = u64_up(rest, 2u);
        rest.x |= (radicand.y >> 20u) & 3u;
        radicand = u64_up(radicand, 2u);
        let tried = U64((root.x << 2u) | 1u, (root.y << 2u) | (root.x >> 30u));
        root = u64_up(root, 1u);
        if !u64_less(rest, tried) {
            rest = u64_add(rest, u64_negative(tried));
            root.x |= 1u;
        }
    }
    root.x |= u32(any(rest != U64(0u, 0u)));
    // Bit 55 is that of 1.
    return f64_pack(0u, (power >> 1u) + 1023 + 7, root);
}
