// Shortest paths by buckets. pending[v] says that dist[v] has decreased since v's list was read; visited[v] that the
// list is read now.

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

// Returns the number of lists that are read next, and the number that wait for a later bucket.
fn vertex_update(vertex: u32) -> vec4<f32> {
    // The end of the bucket, low word first.
    let end = step.integers.xy;
    let waits = pending_test(vertex);
    if waits && is_before(vertex, end) {
        pending_remove(vertex);
        visited_insert(vertex);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    if visited_test(vertex) {
        visited_remove(vertex);
    }
    return vec4<f32>(0.0, select(0.0, 1.0, waits), 0.0, 0.0);
}

