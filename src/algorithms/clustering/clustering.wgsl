// Local clustering coefficients: links[v] is the number of edges between neighbours of v. entries[starts[x]] to
// entries[starts[x + 1]] are neighbours of x, ascending. With ORIENTED they are those that come after it in the order
// of degrees, and each triangle is found once. A list that is SEARCH_RATIO times as long as another is searched, not
// read.

struct Record {
    // Neighbours of the list's vertex.
    begin: u32,
    end: u32,
    // Triangles in which it comes first.
    met: u32,
}

fn list_open(list: List) -> Record {
    return Record(starts_load(list.vertex), starts_load(list.vertex + 1u), 0u);
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    let begin = (*record).begin;
    let end = (*record).end;
    if begin == end {
        return false;
    }
    let other = starts_load(neighbour);
    let other_end = starts_load(neighbour + 1u);
    if other == other_end || neighbour == list.vertex {
        return true;
    }
    if ORIENTED {
        if comes_before(list.vertex, neighbour) {
            let both = meet(begin, end, other, other_end);
            (*record).met += both;
            if both > 0u {
                links_add(neighbour, U64(2u * both, 0u));
            }
        }
    } else {
        meet(begin, end, other, other_end);
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if ORIENTED {
        if record.met > 0u {
            links_add(list.vertex, U64(2u * record.met, 0u));
        }
    }
}

fn comes_before(vertex: u32, other: u32) -> bool {
    let degree = degree_load(vertex);
    let others_degree = degree_load(other);
    return degree < others_degree || (degree == others_degree && vertex < other);
}

// Adds to every vertex that is in both lists; returns their number.
fn meet(one: u32, one_end: u32, other: u32, other_end: u32) -> u32 {
    if one_end - one > other_end - other {
        return meet_longer(other, other_end, one, one_end);
    }
    return meet_longer(one, one_end, other, other_end);
}

fn meet_longer(begin: u32, end: u32, longer: u32, longer_end: u32) -> u32 {
    var met = 0u;
    var at = begin;
    var theirs = longer;
    let is_searched = (end - begin) * SEARCH_RATIO < longer_end - longer;
    // rounds: entries of both lists.
    while at < end && theirs < longer_end {
        let vertex = entries_load(at);
        if is_searched {
            theirs = first_from(theirs, longer_end, vertex);
            if theirs == longer_end {
                break;
            }
        }
        let they = entries_load(theirs);
        if they == vertex {
            links_add(vertex, U64(select(1u, 2u, ORIENTED), 0u));
            met += 1u;
        }
        if they <= vertex {
            theirs += 1u;
        }
        if vertex <= they || is_searched {
            at += 1u;
        }
    }
    return met;
}

// The first entry from begin on that is not less than a vertex.
fn first_from(begin: u32, end: u32, vertex: u32) -> u32 {
    var low = begin;
    var high = end;
    // rounds: 32.
    while low < high {
        let middle = low + (high - low) / 2u;
        if entries_load(middle) < vertex {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    if ORIENTED {
        degree_store(vertex, degree_out(vertex));
    }
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}
