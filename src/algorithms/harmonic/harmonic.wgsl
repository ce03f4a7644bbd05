// Harmonic centrality, one source after another: found[v] says that an edge from the last level leads to v, reached[v]
// that v has a level, visited[v] that v's list is read. A superstep (step.integers.x) goes a level OUT, where
// step.scalars.x is 1 over the level that it reaches, or may BEGIN with a source.

struct Record {
    unused: u32,
}

fn list_open(list: List) -> Record {
    return Record();
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    found_insert(neighbour);
    return true;
}

fn list_close(record: Record, list: List) {}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    if step.integers.x == BEGIN {
        begin(vertex, vertex == step.integers.y);
        return vec4<f32>();
    }
    let is_found = found_test(vertex);
    if is_found {
        found_remove(vertex);
    }
    if is_found && !reached_test(vertex) {
        reached_insert(vertex);
        visited_insert(vertex);
        sum_store(vertex, sum_load(vertex) + step.scalars.x);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    if visited_test(vertex) {
        visited_remove(vertex);
    }
    return vec4<f32>();
}

fn begin(vertex: u32, is_source: bool) {
    if is_source {
        reached_insert(vertex);
        visited_insert(vertex);
    } else if reached_test(vertex) {
        reached_remove(vertex);
    }
}

// A level out leaves vertices as they are that are neither found nor visited.
fn step_updates(before: Step, now: Step) -> u32 {
    return select(UPDATES_TOUCHED, UPDATES_ALL, now.integers.x == BEGIN);
}
