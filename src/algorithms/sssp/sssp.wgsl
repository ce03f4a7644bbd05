// Shortest paths: dist[v] is the smallest sum of weights along edges from the source, as 32 bits in the same order as
// distances. With FLOAT they are the bits of non-negative floats; refused[v] then says that the weight of an edge to v
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
            refuse(neighbour);
        }
    } else {
        offer(neighbour, whole_sum((*record).dist, weight));
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn offer(vertex: u32, dist: u32) {
    if dist_min(vertex, dist) {
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
