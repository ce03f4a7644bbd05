// Lists: 2^k threads take a list of a small page (k is the page's own: 0 is vertex-centric, more are edge-centric virtual
// warps), and workgroups take chunks of a large page. Lists of more than HUB_EDGES edges are left to the `hubs` kernel where
// its queue has room.

// What a thread has of a list: edges first, first + stride, … below end.
struct Part {
    list: List,
    first: u32,
    end: u32,
    stride: u32,
}

// A chunk of a large page, all threads side by side.
fn part_of_large(page: BatchPage, unit: u32, lane: u32) -> Part {
    let list = List(page.start_vertex, page.degree, false);
    let first = (unit - page.first_unit) * LARGE_CHUNK;
    return Part(list, first + lane, min(first + LARGE_CHUNK, page.edge_count), WORKGROUP);
}

// A list of a small page, 2^k threads side by side; without edges where there is no such list.
fn part_of_small(page: BatchPage, unit: u32, lane: u32) -> Part {
    let lanes_log2 = page.lanes_log2;
    let slot = (unit - page.first_unit) * (WORKGROUP >> lanes_log2) + (lane >> lanes_log2);
    if slot >= page.slot_count {
        return Part(List(0u, 0u, false), 0u, 0u, 1u);
    }
    let begin = slot_begin(page, slot);
    let end = slot_begin(page, slot + 1u);
    let list = List(page.start_vertex + slot, end - begin, lanes_log2 == 0u);
    return Part(list, begin + (lane & ((1u << lanes_log2) - 1u)), end, 1u << lanes_log2);
}

// Puts a list into the hub queue. False: there is no room for it.
fn queue_hub(page_number: u32, list: List, first: u32, end: u32) -> bool {
    let wanted = (end - first + HUB_EDGES - 1u) / HUB_EDGES;
    let before = atomicAdd(&hub_queue.wanted, wanted);
    atomicMax(&counters.hub_wanted, before + wanted);
    let fits = before + wanted <= hub_queue.capacity;
    // Where only a part fits, its entries are left empty.
    for (var i = 0u; i < wanted && before + i < hub_queue.capacity; i += 1u) {
        let begin = first + i * HUB_EDGES;
        let edges = select(0u, min(HUB_EDGES, end - begin), fits);
        hub_queue.entries[before + i] = HubEntry(page_number, begin, edges, list.vertex, list.degree);
    }
    return fits;
}

// For each list of the unit, whether it went to the queue.
var<workgroup> queued: array<u32, WORKGROUP>;

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
    var part: Part;
    var is_leader = false;
    if page.degree != 0u {
        part = part_of_large(page, unit, lane);
    } else {
        part = part_of_small(page, unit, lane);
        is_leader = (lane & (part.stride - 1u)) == 0u;
    }
    if part.first >= part.end || !visits(part.list.vertex) {
        part.end = 0u;
        is_leader = false;
    }
    count_begin(lane);
    let place = lane >> page.lanes_log2;
    if is_leader {
        queued[place] = 0u;
        if part.list.degree > HUB_EDGES {
            queued[place] = select(0u, 1u, queue_hub(page_number, part.list, part.first, part.end));
        }
    }
    workgroupBarrier();
    var edges = 0u;
    if part.first < part.end {
        if page.degree != 0u {
            edges = (part.end - part.first + WORKGROUP - 1u) / WORKGROUP;
        } else if is_leader {
            edges = part.list.degree;
        }
    }
    // Whether the list is left to the hubs kernel.
    let is_left = page.degree == 0u && queued[place] != 0u;
    if JOINED {
        let sharing = select(1u << page.lanes_log2, WORKGROUP, page.degree != 0u);
        let lanes = joinable(sharing, lane);
        var record: Record;
        var list = part.list;
        let takes = part.first < part.end && !is_left;
        if takes {
            record = list_open(list);
            take_edges(&record, page, list, part.first, part.end, part.stride);
        }
        record = joined(record, lanes);
        // The first thread of each group has an edge if any of them has.
        if takes && lane % lanes == 0u {
            list.whole = page.degree == 0u && lanes == sharing;
            list_close(record, list);
        }
    } else if part.first < part.end && !is_left {
        var record = list_open(part.list);
        take_edges(&record, page, part.list, part.first, part.end, part.stride);
        list_close(record, part.list);
    }
    count_end(lane, edges);
}
