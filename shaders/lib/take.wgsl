// A thread's share of a list, from page memory: edges first, first + stride, … below end. Four at a time, so that their
// loads overlap. False if the edge function skips the rest.
fn take_edges(record: ptr<function, Record>, page: BatchPage, list: List, first: u32, end: u32, stride: u32) -> bool {
    var n = first;
    var goes_on = true;
    // rounds: edges of a thread / 4: 512 at most, where the hub queue has room for longer lists.
    while goes_on && n + 3u * stride < end {
        let a = gathered_of(page, n);
        let b = gathered_of(page, n + stride);
        let c = gathered_of(page, n + 2u * stride);
        let d = gathered_of(page, n + 3u * stride);
        goes_on = list_edge(record, list, a, weight_of(page, n))
            && list_edge(record, list, b, weight_of(page, n + stride))
            && list_edge(record, list, c, weight_of(page, n + 2u * stride))
            && list_edge(record, list, d, weight_of(page, n + 3u * stride));
        n += 4u * stride;
    }
    // rounds: 3.
    for (; goes_on && n < end; n += stride) {
        goes_on = list_edge(record, list, gathered_of(page, n), weight_of(page, n));
    }
    return goes_on;
}

// Processes a thread's share of a part of a list that `sharing` adjacent threads have: edges first, first + sharing, …
// below end. In uniform control flow.
fn take_entry(page: BatchPage, list: List, first: u32, end: u32, sharing: u32, lane: u32) {
    var record: Record;
    if first < end {
        record = list_open(list);
        take_edges(&record, page, list, first, end, sharing);
    }
    if JOINED {
        let lanes = joinable(sharing, lane);
        record = joined(record, lanes);
        // The first thread of each group has an edge if any of them has.
        if first < end && lane % lanes == 0u {
            list_close(record, list);
        }
    } else if first < end {
        list_close(record, list);
    }
}

// A list with `length` neighbours here: all of them or, if lists are grouped for shards, those of one shard.
fn list_here(vertex: u32, length: u32, whole: bool) -> List {
    return List(vertex, length, whole && !GROUPED);
}

// Gathers the value of neighbour n of a page.
fn gathered_of(page: BatchPage, n: u32) -> u32 {
    return list_gather(neighbour(page, n));
}

// The number of adjacent threads that can join their records: those that share a list, if a subgroup is that large and
// has its threads in the order of the workgroup. In uniform control flow.
fn joinable(lanes: u32, lane: u32) -> u32 {
    let size = subgroupAdd(1u);
    let in_order = subgroupAll(lane % size == subgroupExclusiveAdd(1u));
    return select(1u, min(lanes, size), in_order);
}

// Joins the records of 2^k adjacent threads; each of them gets the result. In uniform control flow.
fn joined(record: Record, lanes: u32) -> Record {
    var sum = record;
    // rounds: 5.
    for (var mask = 1u; mask < lanes; mask *= 2u) {
        sum = list_join(sum, list_shuffle(sum, mask));
    }
    return sum;
}
