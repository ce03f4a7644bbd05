// Merge: merges words of exchange memory into words of an attribute. Exchange memory is read once, in whole lines:
// neighbouring threads take neighbouring words.

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

// A word of what was received; the last one in place of those behind it.
fn received_word(at: u32) -> u32 {
    let word = merge.begin + min(at, merge.words - 1u);
    return received[word / 4u][word % 4u];
}

// Merges four words, a workgroup's threads apart, whose loads overlap.
fn merge_words(first: u32) {
    let at = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u) * WORKGROUP;
    let four = vec4<u32>(received_word(at.x), received_word(at.y), received_word(at.z), received_word(at.w));
    if at.x < merge.words {
        merge_word(at.x, four.x);
    }
    if at.y < merge.words {
        merge_word(at.y, four.y);
    }
    if at.z < merge.words {
        merge_word(at.z, four.z);
    }
    if at.w < merge.words {
        merge_word(at.w, four.w);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let a_unit = WORKGROUP * 4u;
    let stride = workgroups.x * workgroups.y * a_unit;
    // rounds: words of a piece of exchange memory / 2^20: 16 at most.
    for (var begin = unit_number(workgroup_id, workgroups) * a_unit; begin < merge.words; begin += stride) {
        if merge.kind == WORDS_WIDE {
            let at = begin + lane * 4u;
            if at < merge.words {
                let four = received[(merge.begin + at) / 4u];
                merge_wide(at, four.xy);
                if at + 2u < merge.words {
                    merge_wide(at + 2u, four.zw);
                }
            }
        } else {
            merge_words(begin + lane);
        }
    }
}
