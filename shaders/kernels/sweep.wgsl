// Sweep: one thread searches each visited list until the edge function skips the rest. If it has not done so after
// ALONE_EDGES edges, 32 threads continue, until one of them ends the list: all edges before the one that ended it are
// processed, so that the first of several is found whatever the order of the threads. A unit is as many lists of a
// small page as a workgroup has threads, or a chunk of a large page; `select` has listed the units with visited lists.

// The rest of a list, from edge `first` on.
struct Waiting {
    vertex: u32,
    length: u32,
    first: u32,
    end: u32,
}

var<workgroup> waiting: array<Waiting, WORKGROUP>;
var<workgroup> waiting_count: atomic<u32>;
// The first edge of the earliest round in which a thread has ended a waiting list; 2^32 - 1 if none has.
var<workgroup> ended: array<atomic<u32>, WORKGROUP>;

// Maximum number of words, of 32 vertices each, that a unit's slots span.
const SPAN = WORKGROUP / 32u + 1u;

// The number of selected units, and the current unit, uniform across the workgroup.
var<workgroup> unit_count: u32;
var<workgroup> unit_here: u32;
// The vertices of the unit whose lists are visited and may be non-empty.
var<workgroup> wanted: array<u32, SPAN>;
// The vertices among these whose lists turned out to be empty.
var<workgroup> found_empty: array<atomic<u32>, SPAN>;

// Reads which lists from slot first_slot on are visited; a barrier must follow.
fn look_for_lists(page: BatchPage, first_slot: u32, lane: u32) {
    let first = page.start_vertex + first_slot;
    let last = first + min(page.slot_count - first_slot, WORKGROUP) - 1u;
    if lane < SPAN {
        let word = first / 32u + lane;
        var bits = bits_between(word, first, last);
        if bits != 0u {
            bits &= lists_read(word) & ~atomicLoad(&swept[word]);
        }
        wanted[lane] = bits;
        atomicStore(&found_empty[lane], 0u);
    }
}

// Records empty lists for later sweeps. After a barrier.
fn note_empties(page: BatchPage, first_slot: u32, lane: u32) {
    if lane < SPAN {
        let bits = atomicLoad(&found_empty[lane]);
        if bits != 0u {
            atomicOr(&swept[(page.start_vertex + first_slot) / 32u + lane], bits);
        }
    }
}

// Searches the list of a slot with one thread; returns the number of its edges, 0 if it is not visited.
fn take_alone(page: BatchPage, first_slot: u32, lane: u32) -> u32 {
    let slot = first_slot + lane;
    let vertex = page.start_vertex + slot;
    let at_word = vertex / 32u - (page.start_vertex + first_slot) / 32u;
    if slot >= page.slot_count || ((wanted[at_word] >> (vertex % 32u)) & 1u) == 0u {
        return 0u;
    }
    let first = slot_begin(page, slot);
    let end = slot_begin(page, slot + 1u);
    if first == end {
        atomicOr(&found_empty[at_word], 1u << (vertex % 32u));
        return 0u;
    }
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
        if first > atomicLoad(&ended[number]) {
            break;
        }
        if !take_edges(&record, page, list, first + lane, min(rest.end, first + 4u * lanes), lanes) {
            atomicMin(&ended[number], first);
            break;
        }
    }
    list_close(record, list);
}

// Searches the visited lists of a unit; returns the number of edges of this thread's own list, if it is visited. In
// uniform control flow.
fn sweep_unit(lane: u32) -> u32 {
    let unit = workgroupUniformLoad(&unit_here);
    let page = batch.pages[page_of_unit(unit)];
    let number = unit - page.first_unit;
    let first_slot = number * WORKGROUP;
    atomicStore(&ended[lane], 0xffffffffu);
    if lane == 0u {
        atomicStore(&waiting_count, 0u);
    }
    if page.degree == 0u {
        look_for_lists(page, first_slot, lane);
    }
    workgroupBarrier();
    var edges = 0u;
    if page.degree == 0u {
        edges = take_alone(page, first_slot, lane);
    } else if lane == 0u {
        let first = number * LARGE_CHUNK;
        let end = min(first + LARGE_CHUNK, page.edge_count);
        waiting[0] = Waiting(page.start_vertex, page.degree, first, end);
        atomicStore(&waiting_count, 1u);
        edges = end - first;
    }
    workgroupBarrier();
    if page.degree == 0u {
        note_empties(page, first_slot, lane);
    }
    let lanes = select(32u, WORKGROUP, page.degree != 0u);
    // rounds: 32.
    for (var at = lane / lanes; at < atomicLoad(&waiting_count); at += WORKGROUP / lanes) {
        take_waiting(page, at, lane % lanes, lanes);
    }
    workgroupBarrier();
    return edges;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = unit_number(workgroup_id, workgroups);
    let stride = workgroups.x * workgroups.y;
    count_begin(lane);
    if lane == 0u {
        unit_count = atomicLoad(&course.queues[batch.queue].units);
    }
    let count = workgroupUniformLoad(&unit_count);
    var edges = 0u;
    // rounds: units / 2^12.
    for (var at = group; at < count; at += stride) {
        if lane == 0u {
            unit_here = atomicLoad(&swept[EMPTY_WORDS + at]);
        }
        edges += sweep_unit(lane);
    }
    count_end(group, lane, edges);
    if LOOPS_LIMITED {
        check_loops();
    }
}
