// The vertex phase: updates every own vertex after all edges of a superstep, or the edges of a part after all edges of
// their lists, and adds sums over vertices. With SETS it may list the vertices of the set that supersteps visit; after
// a superstep over listed ones it updates these and those that edges have touched. Terms are then 0 or 1, and their
// marks tell by how much the sums change.

// With SETS: whether the vertex phase lists the set.
var<workgroup> is_listing: u32;
// By how much the workgroup changes the sums, modulo 2^32.
var<workgroup> changes: array<atomic<u32>, 3>;
// The length of the out-lists of the vertices that the workgroup lists.
var<workgroup> edges_listed: atomic<u32>;

// Updates a vertex, and lists it if it is in the set; returns by how much its terms have changed.
fn update_marked(vertex: u32) -> vec3<u32> {
    let change = remark(vertex, vertex_update(vertex).xyz);
    if is_in_set(vertex) {
        list_vertex(SET_LIST, vertex);
        atomicAdd(&edges_listed, min(degree_out(vertex), SET_EDGES_MAX + 1u));
    }
    return change;
}

// Updates a thread's share of all vertices, or of those that have been touched if all of them are listed; returns by
// how much the sums change.
fn update_listed(unit: u32, units: u32, lane: u32) -> vec3<u32> {
    var change: vec3<u32>;
    let touched = atomicLoad(&course.listed_counts[TOUCHED_LIST]);
    if course.mode == MODE_LISTED && touched <= TOUCHED_MAX {
        // rounds: TOUCHED_MAX / 256.
        for (var at = unit * WORKGROUP + lane; at < touched; at += units * WORKGROUP) {
            change += update_marked(listed_vertex(TOUCHED_LIST, at));
        }
        return change;
    }
    let blocks = own_blocks(unit, units);
    // rounds: vertices / 256 where there are few workgroups.
    for (var block = blocks.first; block < blocks.end; block += blocks.stride) {
        let vertex = held_first() + block * WORKGROUP + lane;
        if is_own(vertex) {
            change += update_marked(vertex);
        }
    }
    return change;
}

// Adds changes to the sums, by the first threads of the workgroup. In uniform control flow.
fn add_changes(lane: u32, change: vec3<u32>) {
    if any(change != vec3<u32>(0u)) {
        atomicAdd(&changes[0], change.x);
        atomicAdd(&changes[1], change.y);
        atomicAdd(&changes[2], change.z);
    }
    workgroupBarrier();
    if lane < 3u && atomicLoad(&changes[lane]) != 0u {
        atomicAdd(&course.counts[lane], atomicLoad(&changes[lane]));
    }
    if lane == 0u && atomicLoad(&edges_listed) != 0u {
        atomicAdd(&course.set_edges, atomicLoad(&edges_listed));
    }
}

// Updates vertices, and lists those of the set. In uniform control flow.
fn update_and_list(unit: u32, units: u32, lane: u32) {
    unlisted_begin(lane);
    if lane < 3u {
        atomicStore(&changes[lane], 0u);
    }
    if lane == 0u {
        atomicStore(&edges_listed, 0u);
    }
    workgroupBarrier();
    add_changes(lane, update_listed(unit, units, lane));
    unlisted_end(SET_LIST, lane);
}

// Updates the vertices of the part, and adds their terms. In uniform control flow.
fn update_all(unit: u32, units: u32, lane: u32) {
    let blocks = updated_blocks(unit, units);
    var sum: Sum;
    // rounds: vertices / 2^20: 4096 at most.
    for (var block = blocks.first; block < blocks.end; block += blocks.stride) {
        let vertex = updated_begin() + block * WORKGROUP + lane;
        if is_updated(vertex) {
            sum = sum_with(sum, vertex_update(vertex));
        }
    }
    let total = sum_of_workgroup(lane, sum.value);
    if lane == 0u {
        totals[unit] = total;
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    let units = workgroups.x * workgroups.y;
    if SETS {
        if lane == 0u {
            is_listing = course.listing;
        }
        if workgroupUniformLoad(&is_listing) != 0u {
            update_and_list(unit, units, lane);
        } else {
            update_all(unit, units, lane);
        }
    } else {
        update_all(unit, units, lane);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
