// Structs that the host fills. src/device/gpu/compose/layout.rs has the same structs, and explains each member.

struct Step {
    vertices_last: u32,
    superstep: u32,
    page_count: u32,
    own_first: u32,
    own_last: u32,
    part_first: u32,
    part_last: u32,
    spare: u32,
    scalars: vec4<f32>,
    integers: vec4<u32>,
}

struct BatchPage {
    word: u32,
    first_unit: u32,
    start_vertex: u32,
    slot_count: u32,
    edge_count: u32,
    degree: u32,
    row: u32,
    lanes_log2: u32,
}

struct Batch {
    page_count: u32,
    unit_count: u32,
    queue: u32,
    first_page: u32,
    pages: array<BatchPage>,
}

struct InflatePage {
    packed: u32,
    image: u32,
    number: u32,
    start_vertex: u32,
    slot_count: u32,
    edge_count: u32,
    continues: u32,
    origin: u32,
    value_max: u32,
}

struct HubEntry {
    page: u32,
    first_edge: u32,
    edge_count: u32,
    vertex: u32,
    length: u32,
}

struct Bins {
    counts: array<u32, BINS>,
    begins: array<u32, BINS>,
    fills: u32,
    spare_0: u32,
    spare_1: u32,
    spare_2: u32,
    entries: array<HubEntry>,
}

// The same while lists are counted.
struct Binning {
    counts: array<atomic<u32>, BINS>,
    begins: array<u32, BINS>,
    fills: u32,
    spare_0: u32,
    spare_1: u32,
    spare_2: u32,
    entries: array<HubEntry>,
}

struct HubQueue {
    wanted: atomic<u32>,
    capacity: u32,
    spare_0: u32,
    spare_1: u32,
    entries: array<HubEntry>,
}

struct Counters {
    hub_wanted: atomic<u32>,
    loops_cut: atomic<u32>,
    defect: atomic<u32>,
    deferred: atomic<u32>,
    edges: array<EdgeCount, EDGE_COUNTS>,
}

struct EdgeCount {
    low: atomic<u32>,
    high: atomic<u32>,
}

struct Queued {
    short: atomic<u32>,
    middle: atomic<u32>,
    long: atomic<u32>,
    pages: atomic<u32>,
    units: atomic<u32>,
}

struct Course {
    done: u32,
    logged: u32,
    visit: u32,
    mode: u32,
    queue_vertices_max: u32,
    queue_edges_max: u32,
    dispatches: u32,
    totals: u32,
    visits: u32,
    complete: u32,
    missing: atomic<u32>,
    vertices: u32,
    found: array<atomic<u32>, 4>,
    listing: u32,
    listed_visits: u32,
    listed_counts: array<atomic<u32>, 2>,
    updates: u32,
    marks: u32,
    set_edges: atomic<u32>,
    counts: array<atomic<u32>, 3>,
    only_listed: u32,
    spare: u32,
    queues: array<Queued, QUEUES_MAX>,
    log: array<Logged, LOG_STEPS>,
    listed: array<atomic<u32>>,
}

struct Logged {
    visit: u32,
    mode: u32,
    pages: u32,
    loops_cut: u32,
    activated: vec2<u32>,
    activated_edges: vec2<u32>,
    edges: vec2<u32>,
    spare: vec2<u32>,
    sums_low: vec4<u32>,
    sums_high: vec4<u32>,
}

struct Dispatch {
    visit: u32,
    when: u32,
    x: u32,
    y: u32,
}

struct DirectoryPage {
    start_vertex: u32,
    slot_count: u32,
}

struct Fill {
    value: u32,
    words: u32,
    increment: u32,
    spare: u32,
}

struct Merge {
    operation: u32,
    kind: u32,
    words: u32,
    to: u32,
    begin: u32,
    first_mask: u32,
    last_mask: u32,
    spare: u32,
}

struct Pack {
    first: u32,
    count: u32,
    begin: u32,
    base: u32,
}

struct MessageParams {
    first: u32,
    last: u32,
    begin: u32,
    sparse_max: u32,
}

// The results of `collect`. `words` has the base of each block, then areas for the vertices of the largest sparse
// message, and as many flags if there are bits, then areas for one value of each vertex.
struct Collected {
    count: atomic<u32>,
    spare_0: u32,
    spare_1: u32,
    spare_2: u32,
    words: array<u32>,
}

// The list that is being read, or a part of it.
struct List {
    // The vertex of the list.
    vertex: u32,
    // Neighbours of the list, at most 2^32 - 1; where lists are grouped for shards, those of one shard only. Algorithms
    // call list_degree.
    length: u32,
    // Whether one thread reads the whole list at once. Otherwise each part is opened and closed, possibly concurrently:
    // parts of long lists, and of lists that are grouped for shards.
    whole: bool,
}
