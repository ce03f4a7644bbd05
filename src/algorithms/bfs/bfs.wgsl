// Breadth-first search: the level of a vertex is the superstep in which it is active, parent_code[v] the code of the
// smallest predecessor one level up. Top-down, an active vertex reaches its out-neighbours; bottom-up, a vertex that is
// not reached looks for an active in-neighbour. AGAINST the edges, out- and in-neighbours are swapped.

// The code of a vertex without a parent. src/algorithms/parents.rs explains codes.
const NO_PARENT = 0xffffffffu;

struct Record {
    // With PARENTS, bottom-up: an earlier superstep has reached the vertex by a part of its list.
    is_known: bool,
}

fn list_open(list: List) -> Record {
    if PARENTS {
        if AGAINST {
            if PULL {
                return Record(false);
            } else {
                return Record(is_known(list.vertex));
            }
        } else {
            if PULL {
                return Record(is_known(list.vertex));
            } else {
                return Record(false);
            }
        }
    } else {
        return Record(false);
    }
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if AGAINST {
        if PULL {
            reach(neighbour, list.vertex);
        } else {
            return look(*record, list, neighbour);
        }
    } else {
        if PULL {
            return look(*record, list, neighbour);
        } else {
            reach(neighbour, list.vertex);
        }
    }
    return true;
}

fn list_close(record: Record, list: List) {}

// Whether the search for an active in-neighbour continues.
fn look(record: Record, list: List, neighbour: u32) -> bool {
    if record.is_known {
        return false;
    }
    if is_active(neighbour) {
        reach_from_list(list, neighbour);
        return false;
    }
    return true;
}

// Reaches the vertex of a list. If only a part of the list is here, another part may still hold a smaller parent: the
// vertex must not be in the visited set yet, which would exclude that part.
fn reach_from_list(list: List, neighbour: u32) {
    if PARENTS {
        if parent_code_min(list.vertex, code_of(list.vertex, neighbour)) {
            if list.whole {
                visited_insert(list.vertex);
            }
            activate(list.vertex);
        }
    } else {
        reach(list.vertex, neighbour);
    }
}

fn reach(vertex: u32, source: u32) {
    if PARENTS {
        if is_open(vertex) && parent_code_min(vertex, code_of(vertex, source)) {
            visited_insert(vertex);
            activate(vertex);
        }
    } else {
        if visited_insert(vertex) {
            activate(vertex);
        }
    }
}

// Whether an earlier superstep has reached the vertex of a list by a part of it: it is then visited.
fn is_known(vertex: u32) -> bool {
    if is_open(vertex) {
        return false;
    }
    visited_insert(vertex);
    return true;
}

// Whether no superstep before this one has reached a vertex: it has no parent, or one that is active now, as each
// vertex is once. It may say so of a source, too, whose code no other is smaller than.
fn is_open(vertex: u32) -> bool {
    let code = parent_code_load(vertex);
    return code == NO_PARENT || is_active(parent_of(vertex, code));
}

fn code_of(vertex: u32, parent: u32) -> u32 {
    return parent - u32(parent > vertex);
}

fn parent_of(vertex: u32, code: u32) -> u32 {
    return code + u32(code >= vertex);
}
