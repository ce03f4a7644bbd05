// Census: the number of own vertices that are active in the next superstep, and the number of their out-edges, as
// 64-bit numbers, low word first. Each workgroup writes one result, or adds it to the total for `decide` (CLEARS). Each
// thread has whole words of 32 vertices, so that it can also record when these were first active (LEVELS) and clear the
// frontier of the superstep that ends (CLEARS).

var<workgroup> partial_counts: array<vec4<u32>, WORKGROUP>;

// Records the next superstep for vertices of a word that have not been active before. The host records supersteps
// beyond 16 bits.
fn note_levels(word: u32, active_bits: u32) {
    let level = step.superstep + 2u;
    if level > 0xffffu {
        return;
    }
    let first = word * 32u - held_first();
    var bits = active_bits;
    // rounds: 16.
    while bits != 0u {
        let pair = firstTrailingBit(bits) >> 1u;
        let two = (bits >> (2u * pair)) & 3u;
        bits &= ~(3u << (2u * pair));
        let before = levels_load(first / 2u + pair);
        var after = before;
        if (two & 1u) != 0u && (before & 0xffffu) == 0u {
            after |= level;
        }
        if (two & 2u) != 0u && (before >> 16u) == 0u {
            after |= level << 16u;
        }
        if after != before {
            levels_store(first / 2u + pair, after);
        }
    }
}

// Adds to a 64-bit number of course.found.
fn add_found(at: u32, number: vec2<u32>) {
    if all(number == vec2<u32>(0u)) {
        return;
    }
    let before = atomicAdd(&course.found[at], number.x);
    let high = number.y + select(0u, 1u, before + number.x < before);
    if high != 0u {
        atomicAdd(&course.found[at + 1u], high);
    }
}

// The census of a word of the frontier.
fn counts_of_word(word: u32) -> vec4<u32> {
    var bits = own_bits(word);
    if bits != 0u {
        bits &= next_frontier_word(word);
    }
    if CLEARS {
        frontier_clear(word);
    }
    if LEVELS {
        note_levels(word, bits);
    }
    var counts = vec4<u32>(countOneBits(bits), 0u, 0u, 0u);
    // rounds: 32.
    while bits != 0u {
        let vertex = word * 32u + firstTrailingBit(bits);
        counts = add_counts(counts, vec4<u32>(0u, 0u, degree_out(vertex), 0u));
        bits &= bits - 1u;
    }
    return counts;
}

// A thread's share of the words with own vertices.
fn counts_of_words(unit: u32, units: u32, lane: u32) -> vec4<u32> {
    let last = step.own_last / 32u;
    // Words, counted from the first own one.
    var blocks = Blocks();
    if step.own_first <= step.own_last {
        blocks = blocks_of(unit, units, last - step.own_first / 32u);
    }
    var counts: vec4<u32>;
    // rounds: words of the frontier / 2^20: 128 at most.
    for (var block = blocks.first; block < blocks.end; block += blocks.stride) {
        let word = step.own_first / 32u + block * WORKGROUP + lane;
        if word <= last {
            counts = add_counts(counts, counts_of_word(word));
        }
    }
    return counts;
}

// A thread's share of the listed vertices: the frontier's, whose words are cleared, and the next frontier's.
fn counts_of_listed(unit: u32, units: u32, lane: u32) -> vec4<u32> {
    let now = step.superstep & 1u;
    let next = 1u - now;
    let old_count = atomicLoad(&course.listed_counts[now]);
    let new_count = atomicLoad(&course.listed_counts[next]);
    var counts: vec4<u32>;
    // rounds: LISTED_MAX / 256.
    for (var at = unit * WORKGROUP + lane; at < max(old_count, new_count); at += units * WORKGROUP) {
        if at < old_count {
            frontier_clear(listed_vertex(now, at) / 32u);
        }
        if at < new_count {
            let vertex = listed_vertex(next, at);
            counts = add_counts(counts, vec4<u32>(1u, 0u, degree_out(vertex), 0u));
            if LEVELS {
                // Two vertices share a word of levels: the first active one of them writes it.
                let bits = next_frontier_word(vertex / 32u) & (3u << (vertex & 30u));
                if firstTrailingBit(bits) == (vertex & 31u) {
                    note_levels(vertex / 32u, bits);
                }
            }
        }
    }
    return counts;
}

// Whether all active vertices are listed: those of the frontier and those of the next one.
fn is_listed() -> bool {
    let next = (step.superstep + 1u) & 1u;
    return course.mode == MODE_LISTED && atomicLoad(&course.listed_counts[next]) <= LISTED_MAX;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    let units = workgroups.x * workgroups.y;
    var counts: vec4<u32>;
    if LISTS {
        if is_listed() {
            counts = counts_of_listed(unit, units, lane);
        } else {
            counts = counts_of_words(unit, units, lane);
        }
    } else {
        counts = counts_of_words(unit, units, lane);
    }
    partial_counts[lane] = counts;
    // rounds: 8.
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            partial_counts[lane] = add_counts(partial_counts[lane], partial_counts[lane + half]);
        }
    }
    if lane == 0u {
        if CLEARS {
            add_found(0u, partial_counts[0].xy);
            add_found(2u, partial_counts[0].zw);
        } else {
            totals[unit] = partial_counts[0];
        }
    }
}
