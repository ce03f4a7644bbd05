// Local clustering coefficients: links[v] is the number of edges between neighbours of v. entries[starts[x]] to entries[starts[x + 1]]
// are neighbours of x, ascending. With ORIENTED they are those that come behind it in the order of degrees, and each
// triangle is found once.

// A list this many times as long as another is searched, not read.
const SEARCH_RATIO = 16u;

struct Record {
    // Neighbours of the list's vertex.
    begin: u32,
    end: u32,
    // Triangles that it comes first in.
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
                links_add(neighbour, Fixed(2u * both, 0u));
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
            links_add(list.vertex, Fixed(2u * record.met, 0u));
        }
    }
}

fn comes_before(vertex: u32, other: u32) -> bool {
    let degree = degree_load(vertex);
    let others_degree = degree_load(other);
    return degree < others_degree || (degree == others_degree && vertex < other);
}

// Tells every vertex that is in both lists; returns how many there are.
fn meet(one: u32, one_end: u32, other: u32, other_end: u32) -> u32 {
    if one_end - one > other_end - other {
        return meet_longer(other, other_end, one, one_end);
    }
    return meet_longer(one, one_end, other, other_end);
}

// The same where loops are limited: a list is searched without a loop for each entry of a much shorter one, and of others 16 entries
// are passed in a round.
fn meet_in_few_rounds(begin: u32, end: u32, longer: u32, longer_end: u32) -> u32 {
    var merging = Merging(begin, longer, 0u);
    if (end - begin) * SEARCH_RATIO < longer_end - longer {
        // rounds: entries of the shorter list.
        for (var at = begin; at < end; at += 1u) {
            merging.one = at;
            merging.other = searched_from(merging.other, longer_end, entries_load(at));
            merging = merge_step(merging, end, longer_end);
        }
        return merging.met;
    }
    // rounds: entries of both lists, 16 each.
    while merging.one < end && merging.other < longer_end {
        merging = merge_four(merging, end, longer_end);
        merging = merge_four(merging, end, longer_end);
        merging = merge_four(merging, end, longer_end);
        merging = merge_four(merging, end, longer_end);
    }
    return merging.met;
}

// How far two lists have been held against each other.
struct Merging {
    one: u32,
    other: u32,
    met: u32,
}

// Passes an entry, or one of each list that are the same.
fn merge_step(merging: Merging, one_end: u32, other_end: u32) -> Merging {
    var after = merging;
    if merging.one < one_end && merging.other < other_end {
        let vertex = entries_load(merging.one);
        let they = entries_load(merging.other);
        if they == vertex {
            links_add(vertex, Fixed(select(1u, 2u, ORIENTED), 0u));
            after.met += 1u;
        }
        after.other += select(0u, 1u, they <= vertex);
        after.one += select(0u, 1u, vertex <= they);
    }
    return after;
}

fn merge_four(merging: Merging, one_end: u32, other_end: u32) -> Merging {
    let two = merge_step(merge_step(merging, one_end, other_end), one_end, other_end);
    return merge_step(merge_step(two, one_end, other_end), one_end, other_end);
}

// The first entry from begin on that is not less than a vertex, by steps of 2^31 to 2^0 entries.
fn searched_from(begin: u32, end: u32, vertex: u32) -> u32 {
    var at = searched_eight(begin, end, vertex, 24u);
    at = searched_eight(at, end, vertex, 16u);
    at = searched_eight(at, end, vertex, 8u);
    return searched_eight(at, end, vertex, 0u);
}

fn searched_eight(begin: u32, end: u32, vertex: u32, log2: u32) -> u32 {
    var at = step_past(begin, end, vertex, 128u << log2);
    at = step_past(at, end, vertex, 64u << log2);
    at = step_past(at, end, vertex, 32u << log2);
    at = step_past(at, end, vertex, 16u << log2);
    at = step_past(at, end, vertex, 8u << log2);
    at = step_past(at, end, vertex, 4u << log2);
    at = step_past(at, end, vertex, 2u << log2);
    return step_past(at, end, vertex, 1u << log2);
}

// Past so many entries, where all of them are less than a vertex.
fn step_past(at: u32, end: u32, vertex: u32, count: u32) -> u32 {
    if end - at >= count {
        if entries_load(at + count - 1u) < vertex {
            return at + count;
        }
    }
    return at;
}

fn meet_longer(begin: u32, end: u32, longer: u32, longer_end: u32) -> u32 {
    if LOOPS_LIMITED {
        return meet_in_few_rounds(begin, end, longer, longer_end);
    }
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
            links_add(vertex, Fixed(select(1u, 2u, ORIENTED), 0u));
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
