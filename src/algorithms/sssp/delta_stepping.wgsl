// Shortest paths by buckets: dist[v] is the smallest sum of weights along edges from the source, as 32 bits in the same
// order as distances. pending[v] says that it has decreased since v's list was read; visited[v] that the list is read
// now. With FLOAT distances are the bits of non-negative floats; refused[v] then says that the weight of an edge to v
// is negative or NaN.

struct Record {
    dist: u32,
}

fn list_open(list: List) -> Record {
    return Record(dist_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if FLOAT {
        if weight < FLOAT_INFINITY || weight == FLOAT_NEGATIVE_ZERO {
            offer(neighbour, float_sum((*record).dist, weight));
        } else if weight != FLOAT_INFINITY {
            refused_insert(neighbour);
        }
    } else {
        offer(neighbour, whole_sum((*record).dist, weight));
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn offer(vertex: u32, dist: u32) {
    if dist_min(vertex, dist) {
        pending_insert(vertex);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

// Returns the number of lists that are read next, and the number that wait for a later bucket.
fn vertex_update(vertex: u32) -> vec4<f32> {
    // The end of the bucket.
    let end = step.integers.x;
    let waits = pending_test(vertex);
    if waits && dist_load(vertex) < end {
        pending_remove(vertex);
        visited_insert(vertex);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    if visited_test(vertex) {
        visited_remove(vertex);
    }
    return vec4<f32>(0.0, select(0.0, 1.0, waits), 0.0, 0.0);
}
