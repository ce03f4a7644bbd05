// A thread's share of a list, from page memory: edges first, first + stride, … below end. Four at a time: what they touch is
// asked for side by side.
fn take_edges(page: BatchPage, list: List, first: u32, end: u32, stride: u32) {
    var record = list_open(list);
    var n = first;
    var goes_on = true;
    while goes_on && n + 3u * stride < end {
        let a = gathered_of(page, n);
        let b = gathered_of(page, n + stride);
        let c = gathered_of(page, n + 2u * stride);
        let d = gathered_of(page, n + 3u * stride);
        goes_on = list_edge(&record, list, a, weight_of(page, n))
            && list_edge(&record, list, b, weight_of(page, n + stride))
            && list_edge(&record, list, c, weight_of(page, n + 2u * stride))
            && list_edge(&record, list, d, weight_of(page, n + 3u * stride));
        n += 4u * stride;
    }
    for (; goes_on && n < end; n += stride) {
        goes_on = list_edge(&record, list, gathered_of(page, n), weight_of(page, n));
    }
    list_close(record, list);
}

// What neighbour n of a page brings.
fn gathered_of(page: BatchPage, n: u32) -> u32 {
    return list_gather(neighbour(page, n));
}
