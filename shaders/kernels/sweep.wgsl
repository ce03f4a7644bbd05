// Sweep: one thread searches each visited list until the edge function skips the rest. If it has not done so after
// ALONE_EDGES edges, 32 threads continue, until one of them ends the list. A unit is as many lists of a small page as a
// workgroup has threads, or a chunk of a large page.

// The rest of a list, from edge `first` on.
struct Waiting {
    vertex: u32,
    length: u32,
    first: u32,
    end: u32,
}

var<workgroup> waiting: array<Waiting, WORKGROUP>;
var<workgroup> waiting_count: atomic<u32>;
// Whether a thread has ended a waiting list.
var<workgroup> ended: array<atomic<u32>, WORKGROUP>;

// Searches the list of a slot with one thread; returns the number of its edges, 0 if it is not visited.
fn take_alone(page: BatchPage, slot: u32) -> u32 {
    if slot >= page.slot_count || !visits(page.start_vertex + slot) {
        return 0u;
    }
    let first = slot_begin(page, slot);
    let end = slot_begin(page, slot + 1u);
    if first == end {
        return 0u;
    }
    let vertex = page.start_vertex + slot;
    let alone = min(end, first + ALONE_EDGES);
    let list = list_here(vertex, end - first, alone == end);
    var record = list_open(list);
    let goes_on = take_edges(&record, page, list, first, alone, 1u);
    list_close(record, list);
    if goes_on && alone < end {
        let at = atomicAdd(&waiting_count, 1u);
        waiting[at] = Waiting(vertex, end - first, alone, end);
    }
    return end - first;
}

// Searches a waiting list with `lanes` threads, of which this is number `lane`.
fn take_waiting(page: BatchPage, number: u32, lane: u32, lanes: u32) {
    let rest = waiting[number];
    let list = list_here(rest.vertex, rest.length, false);
    var record = list_open(list);
    // rounds: edges of a list / 128: 2^17 at most.
    for (var first = rest.first; first < rest.end; first += 4u * lanes) {
        if atomicLoad(&ended[number]) != 0u {
            break;
        }
        if !take_edges(&record, page, list, first + lane, min(rest.end, first + 4u * lanes), lanes) {
            atomicStore(&ended[number], 1u);
        }
    }
    list_close(record, list);
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
    let page = batch.pages[page_of_unit(unit)];
    let number = unit - page.first_unit;
    count_begin(lane);
    atomicStore(&ended[lane], 0u);
    if lane == 0u {
        atomicStore(&waiting_count, 0u);
    }
    workgroupBarrier();
    var edges = 0u;
    if page.degree == 0u {
        edges = take_alone(page, number * WORKGROUP + lane);
    } else if lane == 0u && visits(page.start_vertex) {
        let first = number * LARGE_CHUNK;
        let end = min(first + LARGE_CHUNK, page.edge_count);
        waiting[0] = Waiting(page.start_vertex, page.degree, first, end);
        atomicStore(&waiting_count, 1u);
        edges = end - first;
    }
    workgroupBarrier();
    let lanes = select(32u, WORKGROUP, page.degree != 0u);
    // rounds: 32.
    for (var at = lane / lanes; at < atomicLoad(&waiting_count); at += WORKGROUP / lanes) {
        take_waiting(page, at, lane % lanes, lanes);
    }
    count_end(lane, edges);
    if LOOPS_LIMITED {
        check_loops();
    }
}
