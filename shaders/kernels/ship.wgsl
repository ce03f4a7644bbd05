// Ship: writes the results of `collect` to exchange memory, as a message: each word once, in whole lines.

// Copies words of an area. Writes are aligned to lines of memory.
fn ship_words(to: u32, area: u32, count: u32, thread: u32, threads: u32) {
    let skip = to & 31u;
    // rounds: words of a piece of exchange memory / 2^18: 64 at most.
    for (var i = thread; i < count + skip; i += threads) {
        if i >= skip {
            sent[to + (i - skip)] = collected.words[area + (i - skip)];
        }
    }
}

// The bits of a dense message.
fn ship_bits(places: Places, thread: u32, threads: u32) {
    // rounds: words of a piece of exchange memory / 2^18: 64 at most.
    for (var at = thread; at < message_words(); at += threads) {
        let word = message.first / 32u + at;
        sent[places.vertices + at] = activated(word);
        ship_sets(word, places.sets + at);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let threads = workgroups.x * workgroups.y * WORKGROUP;
    let thread = unit_number(workgroup_id, workgroups) * WORKGROUP + lane;
    let count = atomicLoad(&collected.count);
    let sparse = count <= message.sparse_max;
    if thread < MESSAGE_HEADER {
        let header = vec4<u32>(count, select(MESSAGE_DENSE, MESSAGE_SPARSE, sparse), 0u, 0u);
        sent[message.begin + thread] = header[thread];
    }
    if count == 0u {
        return;
    }
    let places = places_of(sparse, count);
    if sparse {
        ship_words(places.vertices, collected_vertices(), count, thread, threads);
        if MESSAGE_FLAGS {
            ship_words(places.sets, collected_flags(), count, thread, threads);
        }
    } else {
        ship_bits(places, thread, threads);
        ship_words(places.bases, 0u, message_blocks(), thread, threads);
    }
    // rounds: words of a vertex's values.
    for (var which = 0u; which < MESSAGE_VALUES; which += 1u) {
        ship_words(places.values + which * count, collected_values(which), count, thread, threads);
    }
}
