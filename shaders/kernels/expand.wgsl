// Expand: runs the edge function over queued lists. SHORT_LANES threads share a short list, 32 a middle one, and a
// workgroup a part of a long one.

// A region of the queue, and the number of threads that share one of its entries.
struct Region {
    begin: u32,
    count: u32,
    lanes: u32,
    // The first unit of the region.
    first_unit: u32,
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let short_count = atomicLoad(&course.queues[batch.queue].short);
    let middle_count = atomicLoad(&course.queues[batch.queue].middle);
    let long_count = atomicLoad(&course.queues[batch.queue].long);
    let lists_short = WORKGROUP / SHORT_LANES;
    let lists_middle = WORKGROUP / 32u;
    let room = course.queue_vertices_max;
    let middle = Region(room, middle_count, 32u, (short_count + lists_short - 1u) / lists_short);
    let middle_units = (middle_count + lists_middle - 1u) / lists_middle;
    let long = Region(2u * room, long_count, WORKGROUP, middle.first_unit + middle_units);
    let units = long.first_unit + long_count;
    let stride = workgroups.x * workgroups.y;
    // rounds: entries of the queue / 2^13.
    for (var unit = unit_number(workgroup_id, workgroups); unit < units; unit += stride) {
        var region = Region(0u, short_count, SHORT_LANES, 0u);
        if unit >= long.first_unit {
            region = long;
        } else if unit >= middle.first_unit {
            region = middle;
        }
        let at = (unit - region.first_unit) * (WORKGROUP / region.lanes) + lane / region.lanes;
        var entry = HubEntry();
        if at < region.count {
            entry = queue[region.begin + at];
        }
        let list = list_here(entry.vertex, entry.length, false);
        let first = entry.first_edge + lane % region.lanes;
        take_entry(batch.pages[entry.page], list, first, entry.first_edge + entry.edge_count, region.lanes, lane);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
