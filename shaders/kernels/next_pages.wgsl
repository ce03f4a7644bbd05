// Next pages: sets the bit of every page that has a vertex to visit. 32 threads look at a page, each at every 32nd word of
// the set, and stop at the first vertex that they find. The pages of a long list have one vertex each, the same.

// The bits of a word that are for vertices first to last, and to be visited.
fn visited_bits(word: u32, first: u32, last: u32) -> u32 {
    var mask = 0xffffffffu;
    if word == first / 32u {
        mask <<= first % 32u;
    }
    if word == last / 32u {
        mask &= 0xffffffffu >> (31u - last % 32u);
    }
    return visit_word(word) & mask;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let pages_a_round = workgroups.x * workgroups.y * (WORKGROUP / 32u);
    var number = unit_number(workgroup_id, workgroups) * (WORKGROUP / 32u) + lane / 32u;
    for (; number < step.page_count; number += pages_a_round) {
        let page = directory[number];
        let first = page.start_vertex;
        let last = first + (page.slot_count - 1u);
        for (var word = first / 32u + lane % 32u; word <= last / 32u; word += 32u) {
            if visited_bits(word, first, last) != 0u {
                atomicOr(&next_pages[number / 32u], 1u << (number % 32u));
                break;
            }
        }
    }
}
