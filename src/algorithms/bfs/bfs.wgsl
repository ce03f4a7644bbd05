// Breadth-first search: the level of a vertex is the superstep in which it is active, parent[v] a predecessor one level
// up. Top-down, an active vertex reaches its out-neighbours; bottom-up, a vertex that is not reached looks for an
// active in-neighbour. AGAINST the edges, out- and in-neighbours are swapped.

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

// Whether the search for an active in-neighbour continues.
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
        if PARENTS {
            parent_store(vertex, source);
        }
        activate(vertex);
    }
}

// The next superstep, as in Bfs::next. Its numbers: edges that are not explored yet, and active vertices; the most
// hops.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    if all(found.activated == U64(0u, 0u)) || now.superstep + 1u >= now.integers.x {
        return Next(STOP, now.scalars, now.integers, MANY);
    }
    let vertices = u64_to_f32(found.activated);
    let edges = u64_to_f32(found.activated_edges);
    var next = visit;
    if found.visits > 1u {
        if visit == 0u {
            next = u32(edges > now.scalars.x / ALPHA);
        } else {
            next = u32(vertices > now.scalars.y || vertices > (f32(now.vertices_last) + 1.0) / BETA);
        }
    }
    return Next(next, vec4<f32>(now.scalars.x - edges, vertices, 0.0, 0.0), now.integers, MANY);
}
