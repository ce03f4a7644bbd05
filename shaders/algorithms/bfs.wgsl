// Breadth-first search: level[v] is the number of hops from a source, parent[v] a predecessor one level up. Top-down, an
// active vertex reaches its out-neighbours; bottom-up, a vertex that is not reached looks for an active in-neighbour. AGAINST the
// edges, out- and in-neighbours change places.

struct Record {
    unused: u32,
}

fn list_open(list: List) -> Record {
    return Record();
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if AGAINST {
        if PULL {
            reach(neighbour, list.vertex);
        } else {
            return look(list, neighbour);
        }
    } else {
        if PULL {
            return look(list, neighbour);
        } else {
            reach(neighbour, list.vertex);
        }
    }
    return true;
}

// Whether there is more to look for.
fn look(list: List, neighbour: u32) -> bool {
    if is_active(neighbour) {
        reach(list.vertex, neighbour);
        return false;
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn reach(vertex: u32, source: u32) {
    if visited_insert(vertex) {
        level_store(vertex, step.superstep + 1u);
        if PARENTS {
            parent_store(vertex, source);
        }
        activate(vertex);
    }
}
