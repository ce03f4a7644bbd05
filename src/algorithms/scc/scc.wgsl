// Strongly connected components by colours: label[v] is the largest colour that reaches v along edges. The vertex that
// a colour belongs to is a root; its component consists of the vertices of that colour that reach it along edges.

// A superstep (step.integers.x) may PAINT along edges, FIND_ROOTS, CONFIRM against edges the members of a root's
// component, or RESTART with the remaining vertices.

struct Record {
    label: u32,
}

fn list_open(list: List) -> Record {
    return Record(label_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if done_test(neighbour) {
        return true;
    }
    if PULL {
        if label_load(neighbour) == (*record).label {
            changed_insert(neighbour);
        }
    } else {
        if label_max(neighbour, (*record).label) {
            changed_insert(neighbour);
        }
    }
    return true;
}

fn list_close(record: Record, list: List) {}

// A vertex's own colour.
fn colour_of(vertex: u32) -> u32 {
    return mixed(vertex);
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    label_store(vertex, colour_of(vertex));
    if degree_out(vertex) == 0u {
        done_insert(vertex);
        return vec4<f32>();
    }
    return visit_next(vertex, true);
}

// Marks whether a vertex's list is read next, and counts it.
fn visit_next(vertex: u32, is_in: bool) -> vec4<f32> {
    if is_in {
        visited_insert(vertex);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    if visited_test(vertex) {
        visited_remove(vertex);
    }
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let mode = step.integers.x;
    if mode == PAINT || mode == CONFIRM {
        let is_in = changed_test(vertex);
        if is_in {
            changed_remove(vertex);
            if mode == CONFIRM {
                done_insert(vertex);
            }
        }
        return visit_next(vertex, is_in);
    }
    if done_test(vertex) {
        return vec4<f32>();
    }
    if mode == RESTART {
        label_store(vertex, colour_of(vertex));
        return visit_next(vertex, true);
    }
    let is_root = label_load(vertex) == colour_of(vertex);
    if is_root {
        done_insert(vertex);
    }
    return visit_next(vertex, is_root);
}

// After a superstep that reads lists, the others are neither changed nor visited.
fn step_updates(before: Step, now: Step) -> u32 {
    let reads = now.integers.x == PAINT || now.integers.x == CONFIRM;
    return select(UPDATES_ALL, UPDATES_TOUCHED, reads);
}
