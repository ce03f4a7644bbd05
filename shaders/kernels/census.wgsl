// Census: the number of own vertices that are active in the next superstep, and the number of their out-edges. Numbers
// of 64 bits, low word first; one result a workgroup.

var<workgroup> partial_counts: array<vec4<u32>, WORKGROUP>;

// Adds vertices (x, y) and edges (z, w).
fn add_counts(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let sum = a + b;
    let carries = select(vec2<u32>(0u), vec2<u32>(1u), sum.xz < a.xz);
    return vec4<u32>(sum.x, sum.y + carries.x, sum.z, sum.w + carries.y);
}

// The census of a word of the frontier.
fn counts_of_word(word: u32) -> vec4<u32> {
    var bits = own_bits(word);
    if bits != 0u {
        bits &= next_frontier_word(word);
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

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    let last = step.own_last / 32u;
    // Words, counted from the first own one.
    var blocks = Blocks();
    if step.own_first <= step.own_last {
        blocks = blocks_of(unit, workgroups.x * workgroups.y, last - step.own_first / 32u);
    }
    var counts: vec4<u32>;
    // rounds: words of the frontier / 2^20: 128 at most.
    for (var block = blocks.first; block < blocks.end; block += blocks.stride) {
        let word = step.own_first / 32u + block * WORKGROUP + lane;
        if word <= last {
            counts = add_counts(counts, counts_of_word(word));
        }
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
        totals[unit] = partial_counts[0];
    }
}
