// Sweep: every visited list is searched by one thread, which passes over the rest once the edge function says so. Lists
// that are longer than ALONE_EDGES, and have not ended by then, are searched on by 32 threads each, until one of
// them ends the list. A unit is SWEPT_LISTS lists of a small page, four a thread, or a chunk of a large page.

// A list that one thread has not come to the end of.
struct Waiting {
    vertex: u32,
    length: u32,
    first: u32,
    end: u32,
}

var<workgroup> waiting: array<Waiting, SWEPT_LISTS>;
var<workgroup> waiting_count: atomic<u32>;
// Whether a thread has ended a waiting list.
var<workgroup> ended: array<atomic<u32>, SWEPT_LISTS>;

// A slot's list; without edges if it is not visited.
struct Slot {
    vertex: u32,
    first: u32,
    end: u32,
}

// Loads a slot. Nothing here is loaded only if something else says so: the loads of several slots overlap.
fn load_slot(page: BatchPage, slot: u32) -> Slot {
    let here = min(slot, page.slot_count - 1u);
    let vertex = page.start_vertex + here;
    let first = slot_begin(page, here);
    let end = slot_begin(page, here + 1u);
    let visited = visits(vertex) && slot == here;
    return Slot(vertex, first, select(first, end, visited));
}

// Searches the list of a slot with one thread.
fn take_alone(page: BatchPage, slot: Slot) {
    let alone = min(slot.end, slot.first + ALONE_EDGES);
    let list = list_here(slot.vertex, slot.end - slot.first, alone == slot.end);
    var record = list_open(list);
    let goes_on = take_edges(&record, page, list, slot.first, alone, 1u);
    list_close(record, list);
    if goes_on && alone < slot.end {
        let at = atomicAdd(&waiting_count, 1u);
        waiting[at] = Waiting(slot.vertex, slot.end - slot.first, alone, slot.end);
    }
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
    // rounds: 4.
    for (var at = lane; at < SWEPT_LISTS; at += WORKGROUP) {
        atomicStore(&ended[at], 0u);
    }
    if lane == 0u {
        atomicStore(&waiting_count, 0u);
    }
    workgroupBarrier();
    var edges = 0u;
    if page.degree == 0u {
        let slot = number * SWEPT_LISTS + lane;
        // Which of the thread's lists have edges to search. These loads overlap; the slots are loaded again below, so
        // that the search is written once and takes few registers.
        var open = 0u;
        // rounds: 4.
        for (var which = 0u; which < SWEPT_LISTS / WORKGROUP; which += 1u) {
            let here = load_slot(page, slot + which * WORKGROUP);
            edges += here.end - here.first;
            open |= select(0u, 1u << which, here.first < here.end);
        }
        // rounds: 4.
        while open != 0u {
            take_alone(page, load_slot(page, slot + firstTrailingBit(open) * WORKGROUP));
            open &= open - 1u;
        }
    } else if lane == 0u && visits(page.start_vertex) {
        let first = number * LARGE_CHUNK;
        let end = min(first + LARGE_CHUNK, page.edge_count);
        waiting[0] = Waiting(page.start_vertex, page.degree, first, end);
        atomicStore(&waiting_count, 1u);
        edges = end - first;
    }
    workgroupBarrier();
    let lanes = select(32u, WORKGROUP, page.degree != 0u);
    // rounds: 128.
    for (var at = lane / lanes; at < atomicLoad(&waiting_count); at += WORKGROUP / lanes) {
        take_waiting(page, at, lane % lanes, lanes);
    }
    count_end(lane, edges);
    if LOOPS_LIMITED {
        check_loops();
    }
}
