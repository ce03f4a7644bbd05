// Compact: puts the lists that a superstep visits into a queue, by length, so that `expand` gives each as many threads
// as it needs. PAGE_LANES threads share a page; each reads every PAGE_LANES-th word of the visited set.

// The workgroup's number of entries for each region, and their first position in the queue.
var<workgroup> wanted: array<atomic<u32>, 3>;
var<workgroup> bases: array<u32, 3>;
// Whether each page of the workgroup's round has a visited vertex.
var<workgroup> touched: array<atomic<u32>, WORKGROUP / PAGE_LANES>;

// The region of a list of a small page, by its length.
fn region_of(length: u32) -> u32 {
    if length <= SHORT_EDGES {
        return 0u;
    }
    return select(2u, 1u, length <= MIDDLE_EDGES);
}

// The number of entries of a list.
fn entries_of(length: u32) -> u32 {
    if length <= MIDDLE_EDGES {
        return 1u;
    }
    return (length + HUB_EDGES - 1u) / HUB_EDGES;
}

// The position of a region's first entry in the queue.
fn region_begin(region: u32) -> u32 {
    return region * course.queue_vertices_max;
}

// Adds to one component. A dynamic index would move the vector from registers to memory.
fn plus(numbers: vec3<u32>, region: u32, more: u32) -> vec3<u32> {
    return numbers + vec3<u32>(more) * vec3<u32>(u32(region == 0u), u32(region == 1u), u32(region == 2u));
}

fn at_region(numbers: vec3<u32>, region: u32) -> u32 {
    return select(select(numbers.z, numbers.y, region == 1u), numbers.x, region == 0u);
}

// A thread's words of a page: entries by region, and edges of their lists.
struct Share {
    entries: vec3<u32>,
    edges: u32,
    // Whether any of their vertices is visited, even one without edges.
    visited: bool,
}

// Counts a thread's entries of a page. If `writes`, also writes them from `begin` on.
fn take_words(number: u32, thread: u32, writes: bool, begin: vec3<u32>) -> Share {
    let page = batch.pages[number];
    let first = page.start_vertex;
    let last = first + (page.slot_count - 1u);
    var share = Share(vec3<u32>(0u), 0u, false);
    // rounds: words of a page's vertices / 32: 2^14 at most, where pages are few.
    for (var word = first / 32u + thread; word <= last / 32u; word += PAGE_LANES) {
        var bits = bits_between(word, first, last);
        if bits != 0u {
            bits &= lists_read(word);
        }
        share.visited = share.visited || bits != 0u;
        // rounds: 32.
        while bits != 0u {
            let vertex = word * 32u + firstTrailingBit(bits);
            bits &= bits - 1u;
            let slot = vertex - first;
            let begin_edge = slot_begin(page, slot);
            var length = slot_begin(page, slot + 1u) - begin_edge;
            if page.degree != 0u {
                length = page.edge_count;
            }
            if length == 0u {
                continue;
            }
            let region = select(region_of(length), 2u, page.degree != 0u);
            let entries = select(entries_of(length), (length + HUB_EDGES - 1u) / HUB_EDGES, page.degree != 0u);
            if writes {
                let entry = region_begin(region) + at_region(begin + share.entries, region);
                write_list(number, page, vertex, begin_edge, length, entry);
            }
            share = Share(plus(share.entries, region, entries), share.edges + length, true);
        }
    }
    return share;
}

// Writes the entries of a list.
fn write_list(number: u32, page: BatchPage, vertex: u32, begin_edge: u32, length: u32, begin: u32) {
    let whole = select(length, page.degree, page.degree != 0u);
    if length <= MIDDLE_EDGES && page.degree == 0u {
        queue[begin] = HubEntry(number, begin_edge, length, vertex, whole);
        return;
    }
    // rounds: edges of a list in a page / 2048: 2^13 at most.
    for (var part = 0u; part * HUB_EDGES < length; part += 1u) {
        let first = part * HUB_EDGES;
        queue[begin + part] = HubEntry(number, begin_edge + first, min(HUB_EDGES, length - first), vertex, whole);
    }
}

// Reserves room for the workgroup's entries of a region; returns their first position in it.
fn reserve(region: u32, entries: u32) -> u32 {
    if entries == 0u {
        return 0u;
    }
    if region == 0u {
        return atomicAdd(&course.queues[batch.queue].short, entries);
    }
    if region == 1u {
        return atomicAdd(&course.queues[batch.queue].middle, entries);
    }
    return atomicAdd(&course.queues[batch.queue].long, entries);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let a_round = WORKGROUP / PAGE_LANES;
    let stride = workgroups.x * workgroups.y * a_round;
    var edges = 0u;
    count_begin(lane);
    // rounds: pages / 2^15.
    for (var first = unit_number(workgroup_id, workgroups) * a_round; first < batch.page_count; first += stride) {
        if lane < 3u {
            atomicStore(&wanted[lane], 0u);
        }
        if lane < a_round {
            atomicStore(&touched[lane], 0u);
        }
        workgroupBarrier();
        let number = first + lane / PAGE_LANES;
        var share = Share(vec3<u32>(0u), 0u, false);
        if number < batch.page_count {
            share = take_words(number, lane % PAGE_LANES, false, vec3<u32>(0u));
        }
        var own = vec3<u32>(0u);
        if any(share.entries != vec3<u32>(0u)) {
            own.x = atomicAdd(&wanted[0], share.entries.x);
            own.y = atomicAdd(&wanted[1], share.entries.y);
            own.z = atomicAdd(&wanted[2], share.entries.z);
        }
        if share.visited {
            atomicStore(&touched[lane / PAGE_LANES], 1u);
        }
        workgroupBarrier();
        if lane < 3u {
            bases[lane] = reserve(lane, atomicLoad(&wanted[lane]));
        }
        if lane < a_round && atomicLoad(&touched[lane]) != 0u {
            atomicAdd(&course.queues[batch.queue].pages, 1u);
        }
        workgroupBarrier();
        if share.edges != 0u {
            let begin = own + vec3<u32>(bases[0], bases[1], bases[2]);
            edges += take_words(number, lane % PAGE_LANES, true, begin).edges;
        }
        workgroupBarrier();
    }
    count_end(unit_number(workgroup_id, workgroups), lane, edges);
}
