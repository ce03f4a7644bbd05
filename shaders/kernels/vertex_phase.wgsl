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

// With PLURALITY: the vertices of a block of which all threads look through the room.
var<workgroup> shared_rooms: array<u32, WORKGROUP>;
var<workgroup> shared_count: atomic<u32>;
var<workgroup> shared_number: u32;

// Finds the most frequent value in the rooms of a block's vertices that have several places, with all threads, before
// the vertices are updated: a room may have millions. In uniform control flow.
fn share_rooms(begin: u32, lane: u32) {
    let own = begin + lane;
    if lane == 0u {
        atomicStore(&shared_count, 0u);
        found_begin(0u);
    }
    workgroupBarrier();
    if is_updated(own) {
        let room = room_places(own);
        if room.y - room.x > 1u {
            shared_rooms[atomicAdd(&shared_count, 1u)] = own;
        }
    }
    workgroupBarrier();
    if lane == 0u {
        shared_number = atomicLoad(&shared_count);
    }
    let count = workgroupUniformLoad(&shared_number);
    // rounds: vertices of a block: 256.
    for (var at = 0u; at < count; at += 1u) {
        let vertex = shared_rooms[at];
        let value = found_together(0u, best_of_room(room_places(vertex), lane));
        // All places are empty by now, and the answer goes to the first one.
        storageBarrier();
        if lane == 0u {
            if value != NO_VALUE {
                list_plurality(vertex, value);
            }
            found_begin(0u);
        }
        workgroupBarrier();
    }
    storageBarrier();
}

// A value and its number at a place of a room; none from `end` on.
fn place_of_room(place: u32, end: u32) -> Frequent {
    if place < end {
        let found = room_load(place);
        return Frequent(found.x, found.y);
    }
    return Frequent(NO_VALUE, 0u);
}

// The better of a place and the best one so far. The place is emptied.
fn better_of_room(best: Frequent, place: u32, found: Frequent) -> Frequent {
    if found.number == 0u {
        return best;
    }
    room_empty(place);
    return more_frequent(best, found);
}

// The best value of a thread's places of a room: four at a time, so that their loads overlap.
fn best_of_room(room: vec2<u32>, lane: u32) -> Frequent {
    var best = Frequent(NO_VALUE, 0u);
    // rounds: places of a room / 1024.
    for (var at = room.x + lane; at < room.y; at += 4u * WORKGROUP) {
        let a = place_of_room(at, room.y);
        let b = place_of_room(at + WORKGROUP, room.y);
        let c = place_of_room(at + 2u * WORKGROUP, room.y);
        let d = place_of_room(at + 3u * WORKGROUP, room.y);
        best = better_of_room(best, at, a);
        best = better_of_room(best, at + WORKGROUP, b);
        best = better_of_room(best, at + 2u * WORKGROUP, c);
        best = better_of_room(best, at + 3u * WORKGROUP, d);
    }
    return best;
}

// Updates the vertices of the part, and adds their terms. In uniform control flow.
fn update_all(unit: u32, units: u32, lane: u32) {
    let blocks = updated_blocks(unit, units);
    var sum: Sum;
    // rounds: vertices / 2^20: 4096 at most.
    for (var block = blocks.first; block < blocks.end; block += blocks.stride) {
        let vertex = updated_begin() + block * WORKGROUP + lane;
        if PLURALITY {
            share_rooms(updated_begin() + block * WORKGROUP, lane);
        }
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
