// Segments: a unit is EDGES_PER_UNIT edges of a page, of any lists, and each thread takes EDGES_PER_THREAD
// of them (warp segmentation, Khorasani, Gupta and Bhuyan, PACT 2015, here for workgroups): it finds the list that
// its first edge belongs to, and walks from there. Page memory is read once and in whole lines.
//
// Over in-lists (PULL), values are gathered for the list's own vertex: a thread takes consecutive edges, so that it has
// few lists. All threads first load neighbours' values to workgroup memory together, so that no thread waits for one
// neighbour before it loads the next.
//
// Over out-lists, values are scattered to the neighbours: 32 threads take 32 adjacent edges, so that the neighbours of
// a list, which are sorted, share lines of memory. If a neighbour is a word, each thread reads its own.
//
// If neighbours go through workgroup memory and not all lists are visited, only the lines of memory with visited lists
// are read (BY_LINE): over a bus, these reads are the bottleneck of a search (EMOGI, Min et al., VLDB 2021).
//
// Of packed pages (UNPACKS), `pages` are images that have slots only, and each thread decodes four neighbours in turn to
// workgroup memory, from pages in main memory or in slots: nothing waits for an image.
//
// `rows`, from the host, has the slot of each unit's first edge.

const ROUND = 1024u;
// Words of a bit set of the unit's lines. The first edge may begin inside a line, so that there is one line more.
const LINE_SET_WORDS = EDGES_PER_UNIT / 1024u + 1u;

// Values of the unit's neighbours. One word is left unused after each thread's share, to avoid bank conflicts.
var<workgroup> gathered: array<u32, WORKGROUP * (EDGES_PER_THREAD + 1u)>;
var<workgroup> weights: array<u32, WORKGROUP * (EDGES_PER_THREAD + 1u)>;
// Raw neighbours that are not one word wide, ROUND of them at a time, at most 8 bytes each. Later the unit's slots.
var<workgroup> scratch: array<u32, SLOTS_CACHED + 8u>;
// Whether a list of the unit is visited.
var<workgroup> wanted: atomic<u32>;
// Lines of memory with neighbours in visited lists, counted from the line of the unit's first edge.
var<workgroup> lines: array<atomic<u32>, LINE_SET_WORDS>;
// A unit's edges: from `first` on, in the records of slots low to high.
struct Segment {
    page: BatchPage,
    first: u32,
    low: u32,
    high: u32,
    // Whether the slots are in workgroup memory.
    cached: bool,
}

fn place(i: u32) -> u32 {
    return i + i / EDGES_PER_THREAD;
}

// Whether any list of the segment is visited, for all threads alike.
fn is_wanted(segment: Segment, lane: u32) -> bool {
    if lane == 0u {
        atomicStore(&wanted, 0u);
    }
    if BY_LINE && lane < LINE_SET_WORDS {
        atomicStore(&lines[lane], 0u);
    }
    workgroupBarrier();
    // rounds: slots of a unit / 256: 2^16 at most, in a page of 64 MiB of lists without edges.
    for (var slot = segment.low + lane; slot <= segment.high; slot += WORKGROUP) {
        if visits(segment.page.start_vertex + slot) {
            atomicStore(&wanted, 1u);
            break;
        }
    }
    workgroupBarrier();
    return atomicLoad(&wanted) != 0u;
}

// Marks the lines of visited lists.
fn mark_lines(segment: Segment, edges: u32, lane: u32) {
    let skip = neighbour_word(segment.page, segment.first) & 31u;
    // rounds: slots of a unit / 256, as above.
    for (var slot = segment.low + lane; slot <= segment.high; slot += WORKGROUP) {
        let begin = max(begin_of(segment, slot), segment.first);
        let end = min(begin_of(segment, slot + 1u), segment.first + edges);
        if begin < end && visits(segment.page.start_vertex + slot) {
            mark((begin - segment.first + skip) >> 5u, (end - 1u - segment.first + skip) >> 5u);
        }
    }
}

// Marks lines low to high.
fn mark(low: u32, high: u32) {
    // rounds: words of a unit's lines: 5.
    for (var word = low >> 5u; word <= high >> 5u; word += 1u) {
        var bits = 0xffffffffu;
        if word == low >> 5u {
            bits = bits << (low & 31u);
        }
        if word == high >> 5u {
            bits = bits & (0xffffffffu >> (31u - (high & 31u)));
        }
        atomicOr(&lines[word], bits);
    }
}

// Whether a word is needed, counted from the line of the unit's first edge.
fn is_marked(word: u32) -> bool {
    if BY_LINE {
        let line = word >> 5u;
        return ((atomicLoad(&lines[line >> 5u]) >> (line & 31u)) & 1u) != 0u;
    } else {
        return true;
    }
}

// The value of the neighbour in a word of memory, if it is needed.
fn gather_word(line: u32, i: u32) -> u32 {
    var found = 0u;
    if is_marked(i) {
        found = list_gather(vertex_of(pages[line + i], 0u));
    }
    return found;
}

// Loads the values of the first `edges` neighbours to workgroup memory. Threads read from the beginning of a line of
// memory on, four edges at a time, so that loads overlap.
fn load_gathered(segment: Segment, edges: u32, lane: u32) {
    let begin = neighbour_word(segment.page, segment.first);
    let skip = begin & 31u;
    let line = begin - skip;
    var i = lane;
    if i < skip {
        i += WORKGROUP;
    }
    // rounds: edges of a unit / 1024: 4.
    for (; i + 3u * WORKGROUP < edges + skip; i += 4u * WORKGROUP) {
        let a = gather_word(line, i);
        let b = gather_word(line, i + WORKGROUP);
        let c = gather_word(line, i + 2u * WORKGROUP);
        let d = gather_word(line, i + 3u * WORKGROUP);
        gathered[place(i - skip)] = a;
        gathered[place(i - skip + WORKGROUP)] = b;
        gathered[place(i - skip + 2u * WORKGROUP)] = c;
        gathered[place(i - skip + 3u * WORKGROUP)] = d;
    }
    // rounds: 4.
    for (; i < edges + skip; i += WORKGROUP) {
        gathered[place(i - skip)] = gather_word(line, i);
    }
}

// Loads neighbours that are not one word wide: the bytes of ROUND neighbours at a time.
fn load_unaligned(segment: Segment, edges: u32, lane: u32) {
    // rounds: 4.
    for (var done = 0u; done < EDGES_PER_UNIT; done += ROUND) {
        let count = min(edges - min(done, edges), ROUND);
        let word_count = (count * WIDTH + 3u) / 4u;
        let begin = neighbour_word(segment.page, segment.first + done);
        let skip = begin & 31u;
        // rounds: 9.
        for (var i = lane; i < word_count + skip; i += WORKGROUP) {
            if i >= skip {
                scratch[i - skip] = pages[begin + i - skip];
            }
        }
        workgroupBarrier();
        // rounds: 4.
        for (var i = lane; i < count; i += WORKGROUP) {
            let at = (i * WIDTH) >> 2u;
            let words = vec3<u32>(scratch[at], scratch[at + 1u], scratch[at + 2u]);
            gathered[place(done + i)] = list_gather(vertex_within(words, i));
        }
        workgroupBarrier();
    }
}

fn load_weights(segment: Segment, edges: u32, lane: u32) {
    let skip = WEIGHTS_HEADER_WORDS + (segment.first & 31u);
    let neighbour_skip = neighbour_word(segment.page, segment.first) & 31u;
    // rounds: 17.
    for (var i = lane; i < edges + skip; i += WORKGROUP) {
        if i >= skip && is_marked(i - skip + neighbour_skip) {
            weights[place(i - skip)] = weight_of(segment.page, segment.first + i - skip);
        }
    }
}

// The number of slots that bound the records of slots low to high.
fn slots_of(low: u32, high: u32) -> u32 {
    return high - low + 2u;
}

fn load_slots(segment: Segment, lane: u32) {
    // rounds: slots in workgroup memory / 256.
    for (var i = lane; i < slots_of(segment.low, segment.high); i += WORKGROUP) {
        scratch[i] = slot_begin(segment.page, segment.low + i);
    }
}

// The number of neighbours in the page before a slot's record.
fn begin_of(segment: Segment, slot: u32) -> u32 {
    if segment.cached {
        return scratch[slot - segment.low];
    }
    return slot_begin(segment.page, slot);
}

// The slot that an edge belongs to, from `low` on: the last one that begins at it or before.
fn slot_of(segment: Segment, begin: u32, edge: u32) -> u32 {
    var low = begin;
    var high = segment.high + 1u;
    // rounds: 32.
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if begin_of(segment, middle) <= edge {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// A thread's share of a segment: edges first, first + stride, … below end.
struct Share {
    first: u32,
    end: u32,
    stride: u32,
}

// The thread's consecutive edges of the first `edges`.
fn consecutive(segment: Segment, edges: u32, lane: u32) -> Share {
    let first = lane * EDGES_PER_THREAD;
    return Share(segment.first + first, segment.first + min(first + EDGES_PER_THREAD, edges), 1u);
}

// Every 32nd edge of the part that 32 threads share. It starts at the beginning of a line of memory, so that the last
// threads may have one edge more.
fn side_by_side(segment: Segment, edges: u32, lane: u32) -> Share {
    var skip = 0u;
    if ALIGNED {
        skip = neighbour_word(segment.page, segment.first) & 31u;
    }
    let part = lane / 32u;
    var first = part * 32u * EDGES_PER_THREAD + lane % 32u;
    if first < skip {
        first += 32u;
    }
    var end = edges;
    if part + 1u < WORKGROUP / 32u {
        end = min((part + 1u) * 32u * EDGES_PER_THREAD - skip, edges);
    }
    return Share(segment.first + first - skip, segment.first + end, 32u);
}

// The edges of a share that belong to one list.
struct Stretch {
    list: List,
    edges: Share,
}

// Processes a stretch, four edges at a time, so that their loads overlap.
fn take_stretch(segment: Segment, stretch: Stretch) {
    let list = stretch.list;
    let stride = stretch.edges.stride;
    var record = list_open(list);
    var edge = stretch.edges.first;
    var left = steps(stretch.edges, edge, stretch.edges.end);
    var goes_on = true;
    // rounds: 4.
    while goes_on && left >= 4u {
        goes_on = take_edge(&record, segment, list, edge)
            && take_edge(&record, segment, list, edge + stride)
            && take_edge(&record, segment, list, edge + 2u * stride)
            && take_edge(&record, segment, list, edge + 3u * stride);
        edge += 4u * stride;
        left -= 4u;
    }
    // rounds: 3.
    while goes_on && left > 0u {
        goes_on = take_edge(&record, segment, list, edge);
        edge += stride;
        left -= 1u;
    }
    list_close(record, list);
}

fn take_edge(record: ptr<function, Record>, segment: Segment, list: List, edge: u32) -> bool {
    if STAGED {
        let at = place(edge - segment.first);
        var weight = 0u;
        if WEIGHTS {
            weight = weights[at];
        }
        return list_edge(record, list, gathered[at], weight);
    } else {
        return list_edge(record, list, list_gather(neighbour(segment.page, edge)), weight_of(segment.page, edge));
    }
}

// Processes a share of a segment, which is not empty; returns the number of its edges in visited lists.
fn walk(segment: Segment, share: Share) -> u32 {
    let page = segment.page;
    let is_large = page.degree != 0u;
    var slot = slot_of(segment, segment.low, share.first);
    var edge = share.first;
    var edges = 0u;
    // rounds: lists of a thread's edges: 17.
    loop {
        let list_first = begin_of(segment, slot);
        let list_end = begin_of(segment, slot + 1u);
        let own = steps(share, edge, list_end);
        let vertex = page.start_vertex + slot;
        if visits(vertex) {
            let whole = share.stride == 1u && !is_large && list_first >= share.first && list_end <= share.end;
            let list = list_here(vertex, select(list_end - list_first, page.degree, is_large), whole);
            take_stretch(segment, Stretch(list, Share(edge, min(list_end, share.end), share.stride)));
            edges += own;
        }
        edge += own * share.stride;
        if edge >= share.end {
            break;
        }
        slot += 1u;
        if begin_of(segment, slot + 1u) <= edge {
            slot = slot_of(segment, slot + 1u, edge);
        }
    }
    return edges;
}

// The number of edges of a share from a given one to the end of its list, `list_end`.
fn steps(share: Share, edge: u32, list_end: u32) -> u32 {
    return (min(list_end, share.end) - edge + share.stride - 1u) / share.stride;
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
    let of_page = page_of_unit(unit);
    let page = batch.pages[of_page];
    let number = unit - page.first_unit;
    let first = number * EDGES_PER_UNIT;
    let end = min(first + EDGES_PER_UNIT, page.edge_count);
    let low = rows[page.row + number];
    let high = min(rows[page.row + number + 1u], page.slot_count - 1u);
    let segment = Segment(page, first, low, high, slots_of(low, high) <= SLOTS_CACHED);
    var edges = end - first;
    if !VISIT_ALL {
        edges = select(0u, edges, is_wanted(segment, lane));
    }
    if BY_LINE {
        if segment.cached && edges > 0u {
            load_slots(segment, lane);
        }
        workgroupBarrier();
        if edges > 0u {
            mark_lines(segment, edges, lane);
        }
        workgroupBarrier();
    }
    if UNPACKS {
        if segment.cached && edges > 0u {
            load_slots(segment, lane);
        }
        load_packed(segment, inflation[of_page], edges, lane);
    }
    if STAGED {
        if !UNPACKS {
            if ALIGNED {
                load_gathered(segment, edges, lane);
            } else {
                load_unaligned(segment, edges, lane);
            }
        }
        if WEIGHTS {
            load_weights(segment, edges, lane);
        }
    }
    if !BY_LINE && !UNPACKS && segment.cached && edges > 0u {
        load_slots(segment, lane);
    }
    if !VISIT_ALL {
        count_begin(lane);
    }
    workgroupBarrier();
    var share: Share;
    if PULL {
        share = consecutive(segment, edges, lane);
    } else {
        share = side_by_side(segment, edges, lane);
    }
    var visited_edges = 0u;
    if share.first < share.end {
        visited_edges = walk(segment, share);
    }
    // Where all lists are visited, the host knows the number of their edges.
    if !VISIT_ALL {
        count_end(unit, lane, visited_edges);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
