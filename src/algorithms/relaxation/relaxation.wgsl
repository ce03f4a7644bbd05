// Relaxation: the vertex of a list offers each neighbour a value, by the weight of the edge. With TRAVERSAL a vertex
// whose value improves is active next; otherwise it is added to pending. With FLOAT refused[v] says that the weight of
// an edge to v is negative or NaN. Value is the type of a value.

struct Record {
    // The value of the list's vertex.
    value: Value,
}

fn list_open(list: List) -> Record {
    return Record(value_of(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if FLOAT {
        if weight > FLOAT_INFINITY && weight != FLOAT_NEGATIVE_ZERO {
            refuse(neighbour);
        } else {
            offer(neighbour, extended((*record).value, weight));
        }
    } else {
        offer(neighbour, extended((*record).value, weight));
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn offer(vertex: u32, value: Value) {
    if improve(vertex, value) {
        if TRAVERSAL {
            activate(vertex);
        } else {
            pending_insert(vertex);
        }
    }
}

// Only active vertices are sent to other devices.
fn refuse(vertex: u32) {
    if refused_insert(vertex) {
        if TRAVERSAL {
            activate(vertex);
        }
    }
}
