// Connected components: labels are trees of vertices, in which label[v] is no larger than v. An edge between two labels
// hooks the larger one to the smaller one. The vertex phase jumps to labels of labels, and notes what has changed.

struct Record {
    // The label of the list's vertex, or a smaller one that it has been hooked to.
    label: u32,
}

fn list_open(list: List) -> Record {
    return Record(label_load(list.vertex));
}

// Labels of many neighbours are loaded at once.
fn list_gather(neighbour: u32) -> u32 {
    return label_load(neighbour);
}

fn list_edge(record: ptr<function, Record>, list: List, theirs: u32, weight: u32) -> bool {
    let label = (*record).label;
    if theirs > label {
        lower(theirs, label);
    } else if theirs < label {
        lower(label, theirs);
        (*record).label = theirs;
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn lower(vertex: u32, label: u32) {
    if label_min(vertex, label) {
        lowered_insert(vertex);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

// Returns whether the label has changed.
fn vertex_update(vertex: u32) -> vec4<f32> {
    let before = label_load(vertex);
    var label = before;
    // rounds: JUMPS at most.
    for (var jump = 0u; jump < JUMPS; jump += 1u) {
        let above = label_load(label);
        if above == label {
            break;
        }
        label = above;
    }
    let is_lowered = lowered_test(vertex);
    if label != before {
        label_store(vertex, label);
    } else if !is_lowered {
        if changed_test(vertex) {
            changed_remove(vertex);
        }
        return vec4<f32>();
    }
    if is_lowered {
        lowered_remove(vertex);
    }
    changed_insert(vertex);
    return vec4<f32>(1.0, 0.0, 0.0, 0.0);
}
