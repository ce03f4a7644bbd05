// Betweenness, one source after another: share[v] is the number of shortest paths to v in the forward phase, and (1 +
// delta[v]) / paths in the backward phase. In the forward phase `marked` are the vertices that have been reached, in
// the backward phase those one level farther than the level that is read.

// A superstep (step.integers.x) goes a level OUT, makes the TURN after the farthest level, comes a level BACK, or may
// BEGIN with a source. PATHS_MAX is the largest number of paths by its bits: the bits of infinity and NaN are above it
// as well.

struct Record {
    // The value that each neighbour receives in the forward phase; the sum over neighbours in the backward phase.
    sum: f32,
}

fn is_back() -> bool {
    return step.integers.x == BACK;
}

fn list_open(list: List) -> Record {
    if is_back() {
        return Record(0.0);
    }
    return Record(share_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if is_back() {
        if marked_test(neighbour) {
            (*record).sum += share_load(neighbour);
        }
    } else if !marked_test(neighbour) {
        sum_add(neighbour, (*record).sum);
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if is_back() && record.sum > 0.0 {
        sum_add(list.vertex, record.sum);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn mark_if(vertex: u32, is_in: bool) {
    if is_in {
        marked_insert(vertex);
    } else if marked_test(vertex) {
        marked_remove(vertex);
    }
}

// Marks the vertices whose lists are read next.
fn visit_if(vertex: u32, is_in: bool) {
    if is_in {
        visited_insert(vertex);
    } else if visited_test(vertex) {
        visited_remove(vertex);
    }
}

// Returns the number of vertices whose lists are read next, and the number of those with too many paths.
fn vertex_update(vertex: u32) -> vec4<f32> {
    let mode = step.integers.x;
    // The level that was read; for a turn, the farthest.
    let level = step.integers.z;
    if mode == BEGIN {
        let is_source = vertex == step.integers.y;
        begin_at(vertex, is_source);
    } else if mode == OUT {
        return reach_out(vertex, level);
    } else if mode == TURN {
        let mine = level_load(vertex);
        mark_if(vertex, mine == level);
        visit_if(vertex, mine == level - 1u);
        if mine == level {
            share_store(vertex, 1.0 / share_load(vertex));
        }
        return vec4<f32>(select(0.0, 1.0, mine == level - 1u), 0.0, 0.0, 0.0);
    } else {
        return come_back(vertex, level);
    }
    return vec4<f32>();
}

fn begin_at(vertex: u32, is_source: bool) {
    level_store(vertex, select(UNREACHED, 0u, is_source));
    share_store(vertex, select(0.0, 1.0, is_source));
    sum_store(vertex, 0.0);
    mark_if(vertex, is_source);
    visit_if(vertex, is_source);
}

fn reach_out(vertex: u32, level: u32) -> vec4<f32> {
    if marked_test(vertex) {
        visit_if(vertex, false);
        return vec4<f32>();
    }
    let paths = sum_take(vertex);
    if bitcast<u32>(paths) > PATHS_MAX {
        between_store(vertex, REFUSED);
        return vec4<f32>(1.0, 1.0, 0.0, 0.0);
    }
    if paths > 0.0 {
        level_store(vertex, level + 1u);
        share_store(vertex, paths);
        mark_if(vertex, true);
        visit_if(vertex, true);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    return vec4<f32>();
}

fn come_back(vertex: u32, level: u32) -> vec4<f32> {
    let mine = level_load(vertex);
    if mine == level + 1u {
        mark_if(vertex, false);
    } else if mine == level {
        let sum = sum_take(vertex);
        let paths = share_load(vertex);
        between_store(vertex, between_load(vertex) + sum * paths);
        share_store(vertex, 1.0 / paths + sum);
        mark_if(vertex, true);
        visit_if(vertex, false);
    } else if mine == level - 1u {
        visit_if(vertex, true);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    return vec4<f32>();
}
