//! The bodies of accessors in WGSL. `CELL` is a vertex's element of `BUFFER`.

use super::operation::Operation::{
    self, Add, Claim, Clear, Insert, Join, Learn, Load, Max, Min, Or, Remove, Store, Take, Test, Word,
};
use crate::model::attributes::{AttributeType, Merge};

/// Values that only one thread accesses.
pub(super) fn plain_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return CELL;",
        Store => "CELL = value;",
        Add => "CELL += value;",
        Min => "if CELL <= value { return false; }\nCELL = value;\nreturn true;",
        Max => "if CELL >= value { return false; }\nCELL = value;\nreturn true;",
        Or => "if (value & ~CELL) == 0u { return false; }\nCELL |= value;\nreturn true;",
        Claim => "if CELL != expected { return false; }\nCELL = value;\nreturn true;",
        Take => "let value = CELL;\nCELL = ZERO;\nreturn value;",
        Test | Word | Insert | Remove | Join | Clear => unreachable!("of bits"),
        Learn => unreachable!("see learn_body"),
    }
}

/// Values of 64 bits that only one thread accesses.
pub(super) fn plain_wide_body(operation: Operation) -> &'static str {
    match operation {
        Add => WIDE_ADD,
        Min => {
            "let old = CELL;
if old.y < value.y || (old.y == value.y && old.x <= value.x) { return false; }
CELL = value;
return true;"
        }
        Max => {
            "let old = CELL;
if old.y > value.y || (old.y == value.y && old.x >= value.x) { return false; }
CELL = value;
return true;"
        }
        _ => plain_body(operation),
    }
}

/// Addition to a 64-bit number that only one thread accesses.
const WIDE_ADD: &str = "let low = CELL.x + value.x;
CELL = vec2<u32>(low, CELL.y + value.y + select(0u, 1u, low < value.x));";

/// Values that several threads write. A test before the write avoids most writes.
pub(super) fn atomic_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return atomicLoad(&CELL);",
        Store => "atomicStore(&CELL, value);",
        Add => "atomicAdd(&CELL, value);",
        Min => "if atomicLoad(&CELL) <= value { return false; }\nreturn atomicMin(&CELL, value) > value;",
        Max => "if atomicLoad(&CELL) >= value { return false; }\nreturn atomicMax(&CELL, value) < value;",
        Or => {
            "if (value & ~atomicLoad(&CELL)) == 0u { return false; }\nreturn (value & ~atomicOr(&CELL, value)) != 0u;"
        }
        Claim => {
            "var seen = atomicLoad(&CELL);
// rounds: 1, and one for each spurious failure.
while seen == expected {
    let result = atomicCompareExchangeWeak(&CELL, expected, value);
    if result.exchanged { return true; }
    seen = result.old_value;
}
return false;"
        }
        Take | Test | Word | Insert | Remove | Learn | Join | Clear => unreachable!("not in page kernels"),
    }
}

/// Floats without native atomics.
pub(super) fn float_bits_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return bitcast<f32>(atomicLoad(&CELL));",
        Store => "atomicStore(&CELL, bitcast<u32>(value));",
        Add => {
            "var seen = atomicLoad(&CELL);
// rounds: 1, and one for each thread that adds concurrently.
loop {
    let sum = bitcast<u32>(bitcast<f32>(seen) + value);
    let result = atomicCompareExchangeWeak(&CELL, seen, sum);
    if result.exchanged { break; }
    seen = result.old_value;
}"
        }
        _ => unreachable!("not of floats in page kernels"),
    }
}

/// 64-bit numbers with native atomics.
pub(super) fn wide_body(operation: Operation) -> &'static str {
    match operation {
        Load => "let wide = atomicLoad(&CELL);\nreturn vec2<u32>(u32(wide & 0xfffffffflu), u32(wide >> 32u));",
        Store => "atomicStore(&CELL, u64(value.x) | (u64(value.y) << 32u));",
        Add => "atomicAdd(&CELL, u64(value.x) | (u64(value.y) << 32u));",
        Min => {
            "let wide = u64(value.x) | (u64(value.y) << 32u);
if atomicLoad(&CELL) <= wide { return false; }
return atomicMin(&CELL, wide) > wide;"
        }
        Max => {
            "let wide = u64(value.x) | (u64(value.y) << 32u);
if atomicLoad(&CELL) >= wide { return false; }
return atomicMax(&CELL, wide) < wide;"
        }
        _ => unreachable!("not of 64 bits in page kernels"),
    }
}

/// 64-bit numbers as two words: the carry of the low word is added to the high word.
pub(super) fn halves_body(operation: Operation) -> &'static str {
    match operation {
        Load => "return vec2<u32>(atomicLoad(&BUFFER[2u * at]), atomicLoad(&BUFFER[2u * at + 1u]));",
        Store => "atomicStore(&BUFFER[2u * at], value.x);\natomicStore(&BUFFER[2u * at + 1u], value.y);",
        Add => {
            "let low = atomicAdd(&BUFFER[2u * at], value.x);
let high = value.y + select(0u, 1u, low + value.x < low);
if high != 0u { atomicAdd(&BUFFER[2u * at + 1u], high); }"
        }
        // Two words cannot be compared and written at once: the module is refused.
        Min | Max => "return false;",
        _ => unreachable!("not of 64 bits in page kernels"),
    }
}

pub(super) fn bit_body(operation: Operation, atomic: bool) -> &'static str {
    match (operation, atomic) {
        (Test, false) => "return (CELL & (1u << (vertex & 31u))) != 0u;",
        (Test, true) => "return (atomicLoad(&CELL) & (1u << (vertex & 31u))) != 0u;",
        (Word, false) => "return CELL;",
        (Word, true) => "return atomicLoad(&CELL);",
        (Insert, true) => {
            "let bit = 1u << (vertex & 31u);
if (atomicLoad(&CELL) & bit) != 0u { return false; }
if (atomicOr(&CELL, bit) & bit) != 0u { return false; }
"
        }
        (Remove, true) => "atomicAnd(&CELL, ~(1u << (vertex & 31u)));",
        (Clear, true) => "if atomicLoad(&CELL) != 0u { atomicStore(&CELL, 0u); }",
        (Join, true) => "if (bits & ~atomicLoad(&CELL)) != 0u { atomicOr(&CELL, bits); }",
        _ => unreachable!("bits are inserted by atomics"),
    }
}

/// Merges another device's value into a word that only one thread accesses.
pub(super) fn learn_body(of: AttributeType, merge: Merge) -> String {
    if of == AttributeType::U64 {
        let is_less = "value.y < old.y || (value.y == old.y && value.x < old.x)";
        let is_more = "value.y > old.y || (value.y == old.y && value.x > old.x)";
        return match merge {
            Merge::Min => format!("let old = CELL;\nif {is_less} {{ CELL = value; }}"),
            Merge::Max => format!("let old = CELL;\nif {is_more} {{ CELL = value; }}"),
            Merge::Or | Merge::Activation => "CELL |= value;".into(),
            Merge::Add => WIDE_ADD.into(),
        };
    }
    let function = match merge {
        Merge::Add => None,
        Merge::Min => Some("min"),
        Merge::Max => Some("max"),
        Merge::Or | Merge::Activation if of == AttributeType::F32 => {
            return "CELL = bitcast<f32>(bitcast<u32>(CELL) | value);".into();
        }
        Merge::Or | Merge::Activation => return "CELL |= value;".into(),
    };
    let value = if of == AttributeType::F32 { "bitcast<f32>(value)" } else { "value" };
    match function {
        None => format!("CELL += {value};"),
        Some(function) => format!("CELL = {function}(CELL, {value});"),
    }
}
