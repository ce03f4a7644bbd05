// Expand-active: runs the edge function over the lists of a small frontier whose vertices have been listed as they were
// activated, or of a small set that the vertex phase has listed. A workgroup or, for sets with few and long lists,
// several share a list if there are few, 32 threads if there are many. The pages of the batch are in the order of their
// vertices. Of a set, the vertices that edges touch are listed for the vertex phase, and those of the set with them.

// The number of pages that begin at or before a vertex. Starts where the vertex would be if all pages had as many
// vertices: where they nearly do, that takes two loads, which overlap.
fn pages_until(vertex: u32) -> u32 {
    let count = batch.page_count;
    if count == 0u {
        return 0u;
    }
    let share = f32(vertex) / (f32(step.vertices_last) + 1.0);
    let guess = min(u32(share * f32(count)), count - 1u);
    let here = batch.pages[guess].start_vertex;
    let after = batch.pages[min(guess + 1u, count - 1u)].start_vertex;
    if here <= vertex && (after > vertex || guess + 1u == count) {
        return guess + 1u;
    }
    var first = select(0u, guess + 1u, here <= vertex);
    var end = select(guess, count, here <= vertex);
    // rounds: base-2 logarithm of the number of pages: 26 at most.
    while first < end {
        let middle = (first + end) / 2u;
        if batch.pages[middle].start_vertex <= vertex {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first;
}

// A list of vertices, and their number.
struct Listed {
    list: u32,
    count: u32,
}

// The list of the current superstep.
fn listed_now() -> Listed {
    if SETS {
        return Listed(SET_LIST, course.vertices);
    } else {
        let now = step.superstep & 1u;
        return Listed(now, atomicLoad(&course.listed_counts[now]));
    }
}

// The number of workgroups that share a list, if all lists have some.
fn workgroups_of_list(count: u32, workgroups: u32) -> u32 {
    if SETS {
        return max(workgroups / max(count, 1u), 1u);
    } else {
        return 1u;
    }
}

// Processes this thread's share of the edges first..end of a page.
fn take_share(page: BatchPage, list: List, first: u32, end: u32, lane: u32, lanes: u32) {
    if first + lane < end {
        var record = list_open(list);
        take_edges(&record, page, list, first + lane, end, lanes);
        list_close(record, list);
    }
}

// Counts a page, unless it has been counted in this superstep.
fn count_page(number: u32) {
    let stamp = step.superstep + 1u;
    if atomicExchange(&course.listed[PAGES_BEGIN + batch.first_page + number], stamp) != stamp {
        atomicAdd(&course.queues[batch.queue].pages, 1u);
    }
}

// Processes a thread's share of a vertex's list; returns the number of its edges to the first thread, 0 to the others.
fn take_list(vertex: u32, lane: u32, lanes: u32) -> u32 {
    var edges = 0u;
    var number = pages_until(vertex);
    // rounds: pages of the list; 1 for a list in a small page.
    while number > 0u {
        number -= 1u;
        let page = batch.pages[number];
        let slot = vertex - page.start_vertex;
        if slot >= page.slot_count {
            break;
        }
        var first = 0u;
        var end = page.edge_count;
        if page.degree == 0u {
            first = slot_begin(page, slot);
            end = slot_begin(page, slot + 1u);
        }
        let length = select(end - first, page.degree, page.degree != 0u);
        take_share(page, list_here(vertex, length, false), first, end, lane, lanes);
        edges += end - first;
        if lane == 0u {
            count_page(number);
        }
        if page.degree == 0u {
            break;
        }
    }
    return select(0u, edges, lane == 0u);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    let listed = listed_now();
    var lanes = 32u;
    if listed.count <= LISTED_WHOLE {
        lanes = WORKGROUP * workgroups_of_list(listed.count, workgroups.x * workgroups.y);
    }
    let lists = max(workgroups.x * workgroups.y * WORKGROUP / lanes, 1u);
    let thread = unit * WORKGROUP + lane;
    var edges = 0u;
    count_begin(lane);
    if SETS {
        unlisted_begin(lane);
    }
    workgroupBarrier();
    // rounds: LISTED_MAX / 2^14: 2 at most.
    for (var at = thread / lanes; at < listed.count; at += lists) {
        let vertex = listed_vertex(listed.list, at);
        let edges_here = take_list(vertex, thread % lanes, lanes);
        edges += edges_here;
        if SETS {
            if thread % lanes == 0u {
                note_touched(vertex);
            }
        }
    }
    count_end(unit, lane, edges);
    if SETS {
        unlisted_end(TOUCHED_LIST, lane);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
