// Lists: a unit is as many lists of a small page as a workgroup has threads, and 2^k threads take each of them, round
// by round (each page has its own k: 0 is vertex-centric, more are edge-centric virtual warps); or it is a chunk of a
// large page, for all threads. Lists of more than HUB_EDGES edges are left to the `hubs` kernel where its queue has
// room.

// Where the records of a unit's lists begin and end.
var<workgroup> begins: array<u32, WORKGROUP + 1u>;
// For each list of the unit, 1 if this workgroup processes it.
var<workgroup> taken: array<u32, WORKGROUP>;

// Puts a list into the hub queue; false if there is no room for it.
fn queue_hub(page_number: u32, list: List, first: u32, end: u32) -> bool {
    let wanted = (end - first + HUB_EDGES - 1u) / HUB_EDGES;
    let before = atomicAdd(&hub_queue.wanted, wanted);
    atomicMax(&counters.hub_wanted, before + wanted);
    let fits = before + wanted <= hub_queue.capacity;
    // Where only a part fits, its entries are left empty.
    // rounds: edges of a list in a small page / 2048: 2^13 at most.
    for (var i = 0u; i < wanted && before + i < hub_queue.capacity; i += 1u) {
        let begin = first + i * HUB_EDGES;
        let edges = select(0u, min(HUB_EDGES, end - begin), fits);
        hub_queue.entries[before + i] = HubEntry(page_number, begin, edges, list.vertex, list.length);
    }
    return fits;
}

// A thread's part of a list: edges first, first + stride, … below end. `sharing` neighbouring threads have parts of it.
struct Part {
    list: List,
    first: u32,
    end: u32,
    sharing: u32,
}

// Processes a part, which may be empty. In uniform control flow, with as many threads to a list in each.
fn take_part(page: BatchPage, part: Part, lane: u32) {
    var record: Record;
    var list = part.list;
    let takes = part.first < part.end;
    if takes {
        record = list_open(list);
        take_edges(&record, page, list, part.first, part.end, part.sharing);
    }
    if JOINED {
        let lanes = joinable(part.sharing, lane);
        record = joined(record, lanes);
        // The first thread of each group has an edge if any of them has.
        if takes && lane % lanes == 0u {
            list.whole = list.whole || (!GROUPED && page.degree == 0u && lanes == part.sharing);
            list_close(record, list);
        }
    } else if takes {
        list_close(record, list);
    }
}

// Processes a chunk of a large page with all threads; returns the number of edges of this thread.
fn take_large(page: BatchPage, number: u32, lane: u32) -> u32 {
    let list = list_here(page.start_vertex, page.degree, false);
    let first = number * LARGE_CHUNK + lane;
    let end = select(0u, min((number + 1u) * LARGE_CHUNK, page.edge_count), visits(list.vertex));
    take_part(page, Part(list, first, end, WORKGROUP), lane);
    return select(0u, (end - first + WORKGROUP - 1u) / WORKGROUP, first < end);
}

// Processes the lists from slot first_slot on; returns the number of edges of this thread's own list, if it is visited.
fn take_small(page_number: u32, page: BatchPage, first_slot: u32, lane: u32) -> u32 {
    let count = min(page.slot_count - first_slot, WORKGROUP);
    if lane < count {
        begins[lane] = slot_begin(page, first_slot + lane);
    }
    if lane == 0u {
        begins[count] = slot_begin(page, first_slot + count);
    }
    workgroupBarrier();
    var edges = 0u;
    if lane < count {
        let begin = begins[lane];
        let end = begins[lane + 1u];
        let vertex = page.start_vertex + first_slot + lane;
        if begin < end && visits(vertex) {
            edges = end - begin;
        }
        taken[lane] = min(edges, 1u);
        if edges > HUB_EDGES && queue_hub(page_number, list_here(vertex, edges, false), begin, end) {
            taken[lane] = 0u;
        }
    }
    workgroupBarrier();
    let lanes = 1u << page.lanes_log2;
    // rounds: 32.
    for (var round = 0u; round < lanes; round += 1u) {
        let at = round * (WORKGROUP >> page.lanes_log2) + (lane >> page.lanes_log2);
        var part = Part(List(0u, 0u, false), 0u, 0u, lanes);
        if at < count && taken[min(at, WORKGROUP - 1u)] != 0u {
            let end = begins[at + 1u];
            let list = list_here(page.start_vertex + first_slot + at, end - begins[at], lanes == 1u);
            part = Part(list, begins[at] + (lane & (lanes - 1u)), end, lanes);
        }
        take_part(page, part, lane);
    }
    return edges;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    if unit >= batch.unit_count {
        return;
    }
    let page_number = page_of_unit(unit);
    let page = batch.pages[page_number];
    let number = unit - page.first_unit;
    if !VISIT_ALL {
        count_begin(lane);
    }
    var edges: u32;
    if page.degree != 0u {
        edges = take_large(page, number, lane);
    } else {
        edges = take_small(page_number, page, number * WORKGROUP, lane);
    }
    // Where all lists are visited, the host knows the number of their edges.
    if !VISIT_ALL {
        workgroupBarrier();
        count_end(unit, lane, edges);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
