// Edges from one set of vertices into another: count[v] is the number of out-neighbours of v among the dests. Only
// lists of the sources are visited.

struct Record {
    count: u32,
}

fn list_open(list: List) -> Record {
    return Record();
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if dests_test(neighbour) {
        (*record).count += 1u;
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if record.count > 0u {
        count_add(list.vertex, record.count);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}
