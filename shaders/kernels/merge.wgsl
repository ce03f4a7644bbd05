// Merge: merges words of exchange memory into words of an attribute. Exchange memory is read once, four words at a
// time.

fn merged_number(old: u32, other: u32) -> u32 {
    switch merge.operation {
        case MERGE_ADD: { return old + other; }
        case MERGE_MIN: { return min(old, other); }
        case MERGE_MAX: { return max(old, other); }
        case MERGE_OR: { return old | other; }
        case MERGE_REPLACE: { return other; }
        default: { return 0u; }
    }
}

fn merged_float(old: u32, other: u32) -> u32 {
    let a = bitcast<f32>(old);
    let b = bitcast<f32>(other);
    switch merge.operation {
        case MERGE_ADD: { return bitcast<u32>(a + b); }
        case MERGE_MIN: { return bitcast<u32>(min(a, b)); }
        case MERGE_MAX: { return bitcast<u32>(max(a, b)); }
        default: { return merged_number(old, other); }
    }
}

fn merged_wide(old: U64, other: U64) -> U64 {
    let is_less = old.y < other.y || (old.y == other.y && old.x < other.x);
    switch merge.operation {
        case MERGE_ADD: { return u64_add(old, other); }
        case MERGE_MIN: { return select(other, old, is_less); }
        case MERGE_MAX: { return select(old, other, is_less); }
        default: { return U64(merged_number(old.x, other.x), merged_number(old.y, other.y)); }
    }
}

// Merges a word that holds one value, or 32 bits.
fn merge_word(at: u32, other: u32) {
    if merge.operation == MERGE_REPLACE && merge.kind != WORDS_BIT {
        merged[merge.to + at] = other;
        return;
    }
    let old = merged[merge.to + at];
    if merge.kind == WORDS_F32 {
        merged[merge.to + at] = merged_float(old, other);
        return;
    }
    var mask = 0xffffffffu;
    if merge.kind == WORDS_BIT {
        if at == 0u {
            mask &= merge.first_mask;
        }
        if at + 1u == merge.words {
            mask &= merge.last_mask;
        }
    }
    merged[merge.to + at] = (old & ~mask) | (merged_number(old, other) & mask);
}

// Merges the two words of a 64-bit number.
fn merge_wide(at: u32, other: U64) {
    let sum = merged_wide(U64(merged[merge.to + at], merged[merge.to + at + 1u]), other);
    merged[merge.to + at] = sum.x;
    merged[merge.to + at + 1u] = sum.y;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let stride = workgroups.x * workgroups.y * WORKGROUP * 4u;
    // rounds: words of a piece of exchange memory / 2^20: 16 at most.
    for (var at = (unit_number(workgroup_id, workgroups) * WORKGROUP + lane) * 4u; at < merge.words; at += stride) {
        let four = received[(merge.begin + at) / 4u];
        if merge.kind == WORDS_WIDE {
            merge_wide(at, four.xy);
            if at + 2u < merge.words {
                merge_wide(at + 2u, four.zw);
            }
        } else {
            // rounds: 4.
            for (var i = 0u; i < 4u && at + i < merge.words; i += 1u) {
                merge_word(at + i, four[i]);
            }
        }
    }
}
