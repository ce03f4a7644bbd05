// Intersects the pages of a topology with a set of vertices: 32 threads share a page, and each reads every 32nd word of
// the set. All pages of a long list have the same single vertex.
//
// `next-pages` sets the bit of every page that has a vertex to visit: its threads stop at the first one. In
// `defer` (with DEFER) the active vertices of pages whose bits are set are deferred to later supersteps, and the
// device's own ones are counted, once each.

// Whether a page is the first of its list or lists.
fn is_first(page: u32) -> bool {
    return page == 0u || directory[page - 1u].start_vertex != directory[page].start_vertex;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let pages_a_round = workgroups.x * workgroups.y * (WORKGROUP / 32u);
    var number = unit_number(workgroup_id, workgroups) * (WORKGROUP / 32u) + lane / 32u;
    // rounds: pages / 2^15.
    for (; number < step.page_count; number += pages_a_round) {
        if DEFER {
            if ((atomicLoad(&next_pages[number / 32u]) >> (number % 32u)) & 1u) == 0u {
                continue;
            }
        }
        let page = directory[number];
        let first = page.start_vertex;
        let last = first + (page.slot_count - 1u);
        // rounds: words of a page's vertices / 32: 2^14 at most, where pages are few.
        for (var word = first / 32u + lane % 32u; word <= last / 32u; word += 32u) {
            let vertices = bits_between(word, first, last);
            if DEFER {
                let deferred = defer_vertices(word, vertices) & own_bits(word);
                if deferred != 0u && is_first(number) {
                    atomicAdd(&counters.deferred, countOneBits(deferred));
                }
            } else if (visit_word(word) & vertices) != 0u {
                atomicOr(&next_pages[number / 32u], 1u << (number % 32u));
                break;
            }
        }
    }
}
