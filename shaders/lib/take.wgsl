// A thread's share of a list, from page memory: edges first, first + stride, … below end. Four at a time: what they
// touch is asked for side by side.
fn take_edges(record: ptr<function, Record>, page: BatchPage, list: List, first: u32, end: u32, stride: u32) {
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
}

// A list that has `length` neighbours here: all of them, or, where lists are grouped for shards, those of one shard.
fn list_here(vertex: u32, length: u32, whole: bool) -> List {
    return List(vertex, length, whole && !GROUPED);
}

// What neighbour n of a page brings.
fn gathered_of(page: BatchPage, n: u32) -> u32 {
    return list_gather(neighbour(page, n));
}

// How many threads side by side can join their records: as many as share a list, where a subgroup has so many, and has
// them as they stand in the workgroup. In uniform control flow.
fn joinable(lanes: u32, lane: u32) -> u32 {
    let size = subgroupAdd(1u);
    let in_order = subgroupAll(lane % size == subgroupExclusiveAdd(1u));
    return select(1u, min(lanes, size), in_order);
}

// The records of 2^k threads side by side as one, for each of them. In uniform control flow.
fn joined(record: Record, lanes: u32) -> Record {
    var sum = record;
    // rounds: 5.
    for (var mask = 1u; mask < lanes; mask *= 2u) {
        sum = list_join(sum, list_shuffle(sum, mask));
    }
    return sum;
}
