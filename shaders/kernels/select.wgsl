// Select: lists the units with visited lists, for `sweep`: after the first supersteps, few units have any. One thread
// checks one unit.

// The number of units that the workgroup has found, and the index of the first one in the list.
var<workgroup> found_here: atomic<u32>;
var<workgroup> base: u32;

// Whether a unit has a visited list that is not known to be empty.
fn is_wanted(unit: u32) -> bool {
    let page = batch.pages[page_of_unit(unit)];
    if page.degree != 0u {
        return visits(page.start_vertex);
    }
    let first_slot = (unit - page.first_unit) * WORKGROUP;
    let first = page.start_vertex + first_slot;
    let last = first + min(page.slot_count - first_slot, WORKGROUP) - 1u;
    var bits = 0u;
    // rounds: 9.
    for (var word = first / 32u; word <= last / 32u; word += 1u) {
        bits |= bits_between(word, first, last) & lists_read(word) & ~atomicLoad(&swept[word]);
    }
    return bits != 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups) * WORKGROUP + lane;
    if lane == 0u {
        atomicStore(&found_here, 0u);
    }
    workgroupBarrier();
    var wanted = false;
    if unit < batch.unit_count {
        wanted = is_wanted(unit);
    }
    var at = 0u;
    if wanted {
        at = atomicAdd(&found_here, 1u);
    }
    workgroupBarrier();
    if lane == 0u && atomicLoad(&found_here) != 0u {
        base = atomicAdd(&course.queues[batch.queue].units, atomicLoad(&found_here));
    }
    workgroupBarrier();
    if wanted {
        atomicStore(&swept[EMPTY_WORDS + base + at], unit);
    }
}
