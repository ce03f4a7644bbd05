// Next pages: sets the bit of every page that has a vertex to visit. 32 threads look at a page, each at every 32nd word of
// the set, and stop at the first vertex that they find. The pages of a long list have one vertex each, the same.

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
            if (visit_word(word) & bits_between(word, first, last)) != 0u {
                atomicOr(&next_pages[number / 32u], 1u << (number % 32u));
                break;
            }
        }
    }
}
