// Widest paths: width[v] is the largest, over paths from the source, of the smallest weight on the path, as 32 bits in
// the same order as weights. With FLOAT they are the bits of non-negative floats; refused[v] then says that the weight
// of an edge to v is negative or NaN.

struct Record {
    width: u32,
}

fn list_open(list: List) -> Record {
    return Record(width_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if FLOAT {
        if weight <= FLOAT_INFINITY {
            offer(neighbour, min((*record).width, weight));
        } else if weight != FLOAT_NEGATIVE_ZERO {
            refuse(neighbour);
        }
    } else {
        offer(neighbour, min((*record).width, weight));
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn offer(vertex: u32, width: u32) {
    if width_max(vertex, width) {
        activate(vertex);
    }
}

fn refuse(vertex: u32) {
    if refused_insert(vertex) {
        activate(vertex);
    }
}

fn step_next(now: Step, visit: u32, found: Found) -> Next {
    return next_while_active(now, found, visit);
}
