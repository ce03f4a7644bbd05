// Absent: checks whether a superstep visits a page that is not in device memory. PAGE_LANES threads share a page; each
// reads every PAGE_LANES-th word of the visited set.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let pages_a_round = workgroups.x * workgroups.y * (WORKGROUP / PAGE_LANES);
    var number = unit_number(workgroup_id, workgroups) * (WORKGROUP / PAGE_LANES) + lane / PAGE_LANES;
    // rounds: pages / 2^15.
    for (; number < batch.page_count; number += pages_a_round) {
        let page = batch.pages[number];
        let first = page.start_vertex;
        let last = first + (page.slot_count - 1u);
        // rounds: words of a page's vertices / 32: 2^14 at most, where pages are few.
        for (var word = first / 32u + lane % PAGE_LANES; word <= last / 32u; word += PAGE_LANES) {
            if (lists_read(word) & bits_between(word, first, last)) != 0u {
                atomicStore(&course.missing, 1u);
                break;
            }
        }
    }
}
