// Apply: applies a message of another device, sparse or dense. Exchange memory is read once, in whole lines.

var<workgroup> header: vec2<u32>;
var<workgroup> block_base: u32;

// A thread takes vertices at a fixed stride, with all of their values.
fn apply_sparse(places: Places, count: u32, thread: u32, threads: u32) {
    // rounds: vertices of a piece of exchange memory (2^24 at most) / 2^18.
    for (var i = thread; i < count; i += threads) {
        let vertex = received[places.vertices + i];
        activate(vertex);
        followers_insert(vertex);
        if MESSAGE_FLAGS {
            sets_learn(vertex, received[places.sets + i]);
        }
        // rounds: words of a vertex's values.
        for (var which = 0u; which < MESSAGE_VALUES; which += 1u) {
            value_learn(which, vertex, places.values + which * count + i, count);
        }
    }
}

// Applies the thread's word of a block; returns the bits of its active vertices.
fn apply_word(places: Places, at: u32) -> u32 {
    if at >= message_words() {
        return 0u;
    }
    let word = message.first / 32u + at;
    let bits = received[places.vertices + at];
    next_frontier_join(word, bits);
    followers_join(word, bits);
    sets_join(word, places.sets + at);
    return bits;
}

// A workgroup takes blocks at a fixed stride: first bits, then values, aligned to lines of memory.
fn apply_dense(places: Places, count: u32, lane: u32, unit: u32, units: u32) {
    // rounds: blocks of a piece / 1024: 64 at most.
    for (var block = unit; block < message_blocks(); block += units) {
        if MESSAGE_VALUES == 0u {
            apply_word(places, block * WORKGROUP + lane);
            continue;
        }
        if lane == 0u {
            block_base = received[places.bases + block];
        }
        let total = rank_words(lane, apply_word(places, block * WORKGROUP + lane));
        let first = message.first + block * BLOCK_VERTICES;
        // rounds: words of a vertex's values.
        for (var which = 0u; which < MESSAGE_VALUES; which += 1u) {
            let begin = places.values + which * count + block_base;
            let skip = begin & 31u;
            // rounds: 32 and 1.
            for (var i = lane; i < total + skip; i += WORKGROUP) {
                if i >= skip {
                    value_learn(which, first + ranked(i - skip), begin + (i - skip), count);
                }
            }
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if lane == 0u {
        header = vec2<u32>(received[message.begin], received[message.begin + 1u]);
    }
    let read = workgroupUniformLoad(&header);
    let count = read.x;
    if count == 0u {
        return;
    }
    let units = workgroups.x * workgroups.y;
    let unit = unit_number(workgroup_id, workgroups);
    let sparse = read.y == MESSAGE_SPARSE;
    let places = places_of(sparse, count);
    if sparse {
        apply_sparse(places, count, unit * WORKGROUP + lane, units * WORKGROUP);
    } else {
        apply_dense(places, count, lane, unit, units);
    }
}
