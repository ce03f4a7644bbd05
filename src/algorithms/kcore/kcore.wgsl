// Core numbers: degree[v] is the number of edges between v and vertices that have not been removed, and after v has
// been removed its core number. Vertices removed in the last vertex phase are subtracted from their neighbours'
// degrees. With BOTH_ENDS an edge is in one list only, which is read for either of its ends.

// A superstep (step.integers.x) may COUNT loops, and edges at their other ends, since the lengths of out-lists are
// known; or PEEL away edges of removed vertices; PEEL_LAST, the last superstep of a round, also selects the vertices to
// be removed next. LEAP and SEARCH look for the smallest degree, three numbers of strides above the level.

struct Record {
    // Whether the vertex is subtracted from its neighbours' degrees.
    goes: bool,
    // The number of neighbours that are subtracted from its own degree.
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
        // The length of the list includes the loop.
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

// The degree up to which vertices are removed, or above which the smallest one is searched for.
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
        return vec4<f32>(
            at_most(vertex, stride, LEAP_0),
            at_most(vertex, stride, LEAP_1),
            at_most(vertex, stride, LEAP_2),
            0.0,
        );
    }
    return vec4<f32>(
        at_most(vertex, stride, SEARCH_0),
        at_most(vertex, stride, SEARCH_1),
        at_most(vertex, stride, SEARCH_2),
        0.0,
    );
}

// Counts the vertices that were removed, those that would be removed one level up, and those that are left.
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

// 1 if a vertex's degree is at most this number of strides above the level.
fn at_most(vertex: u32, stride: u32, times: u32) -> f32 {
    let above = degree_load(vertex) - level();
    return select(0.0, 1.0, above / stride < times || above == stride * times);
}

// At the same level, only vertices that edges have touched may have reached it.
fn step_updates(before: Step, now: Step) -> u32 {
    let mode = now.integers.x;
    if mode == PEEL {
        return UPDATES_NONE;
    }
    let peeled = before.integers.x != LEAP && before.integers.x != SEARCH;
    let same = mode == PEEL_LAST && peeled && before.integers.y == now.integers.y;
    return select(UPDATES_ALL, UPDATES_TOUCHED, same);
}
