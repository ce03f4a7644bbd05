// A thread's share of a list, from page memory: edges first, first + stride, … below end.
fn take_edges(page: BatchPage, list: List, first: u32, end: u32, stride: u32) {
    var record = list_open(list);
    for (var n = first; n < end; n += stride) {
        if !list_edge(&record, list, neighbour(page, n), weight_of(page, n)) {
            break;
        }
    }
    list_close(record, list);
}
