// Core numbers: degree[v] is how many edges lead from v to vertices that have not gone, and once v has gone its core
// number. Those that went in the last vertex phase take themselves from their neighbours' degrees. With BOTH_ENDS an
// edge stands in one list only, which is read for either of its ends.

// A superstep (step.integers.x) may COUNT loops, and edges at their other ends, as out-lists have lengths; or PEEL away
// edges of vertices that went; PEEL_LAST, the last superstep of a round, also chooses the vertices that go next. LEAP
// and SEARCH look for the least degree, three numbers of strides above the level.

struct Record {
    // Whether the vertex is taken from its neighbours' degrees.
    goes: bool,
    // How many neighbours are taken from its own.
    lost: u32,
}

fn is_counting() -> bool {
    return step.integers.x == COUNT;
}

fn list_open(list: List) -> Record {
    if BOTH_ENDS {
        return Record(!is_counting() && went_test(list.vertex), 0u);
    } else {
        return Record(!is_counting(), 0u);
    }
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if neighbour == list.vertex {
        // In its length a loop has been counted.
        (*record).lost += select(0u, 1u, is_counting());
        return true;
    }
    if is_counting() {
        if DIRECTED {
            degree_add(neighbour, 1u);
        }
        return true;
    }
    if (*record).goes && !gone_test(neighbour) {
        // One less, modulo 2^32.
        degree_add(neighbour, 0u - 1u);
    }
    if BOTH_ENDS {
        if went_test(neighbour) {
            (*record).lost += 1u;
        }
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if record.lost > 0u && !gone_test(list.vertex) {
        degree_add(list.vertex, 0u - record.lost);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

// The degree at which vertices go, or above which the least one is looked for.
fn level() -> u32 {
    return step.integers.y;
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let mode = step.integers.x;
    if mode == PEEL {
        return vec4<f32>();
    }
    if gone_test(vertex) {
        if went_test(vertex) {
            went_remove(vertex);
        }
        return vec4<f32>();
    }
    if mode == COUNT {
        degree_store(vertex, degree_load(vertex) + degree_out(vertex));
    }
    if mode == COUNT || mode == PEEL_LAST {
        return peel(vertex);
    }
    let stride = step.integers.z;
    if mode == LEAP {
        return vec4<f32>(at_most(vertex, stride, LEAP_0), at_most(vertex, stride, LEAP_1), at_most(vertex, stride, LEAP_2), 0.0);
    }
    return vec4<f32>(at_most(vertex, stride, SEARCH_0), at_most(vertex, stride, SEARCH_1), at_most(vertex, stride, SEARCH_2), 0.0);
}

// Who went, who would go one level up, and who is left.
fn peel(vertex: u32) -> vec4<f32> {
    let above = degree_load(vertex) - min(degree_load(vertex), level());
    if above > 0u {
        return vec4<f32>(0.0, select(0.0, 1.0, above == 1u), 1.0, 0.0);
    }
    degree_store(vertex, level());
    gone_insert(vertex);
    went_insert(vertex);
    return vec4<f32>(1.0, 0.0, 0.0, 0.0);
}

// 1 where a vertex's degree is no more than so many strides above the level.
fn at_most(vertex: u32, stride: u32, times: u32) -> f32 {
    let above = degree_load(vertex) - level();
    return select(0.0, 1.0, above / stride < times || above == stride * times);
}
