// Label propagation: label[v] becomes the most frequent label among the neighbours of v, the smallest in case of a tie.
// Labels are counted in a table, in which each vertex of a range has room for one pair for each of its neighbours: a
// label plus one, and its count. Without WHOLE there are several ranges, and upcoming[v] holds the chosen label until
// all ranges have been processed. With BOTH_ENDS an edge is in one list only. With RANKED a vertex's first label is not
// its own number.

struct Record {
    label: u32,
}

fn list_open(list: List) -> Record {
    return Record(label_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    count(list.vertex, label_load(neighbour));
    if BOTH_ENDS {
        count(neighbour, (*record).label);
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn range_number() -> u32 {
    return step.integers.x;
}

fn is_counted(vertex: u32) -> bool {
    let number = range_number();
    let own = vertex >= step.own_first && vertex <= step.own_last;
    return own && vertex >= bounds_load(number) && vertex < bounds_load(number + 1u);
}

// The start of a vertex's room in the table, in pairs of words; for the next vertex, its end.
fn place_of(vertex: u32) -> u32 {
    return starts_load(vertex) - starts_load(bounds_load(range_number()));
}

fn count(vertex: u32, label: u32) {
    if !is_counted(vertex) {
        return;
    }
    let begin = place_of(vertex);
    let end = place_of(vertex + 1u);
    let key = label + 1u;
    // SPREAD distributes labels over slots.
    var at = begin + (label * SPREAD) % (end - begin);
    // rounds: places of the room, a few as a rule; where loops are limited, four places each.
    loop {
        if is_counted_at(at, key) {
            return;
        }
        at = select(at + 1u, begin, at + 1u == end);
        if LOOPS_LIMITED {
            if is_counted_at(at, key) {
                return;
            }
            at = select(at + 1u, begin, at + 1u == end);
            if is_counted_at(at, key) {
                return;
            }
            at = select(at + 1u, begin, at + 1u == end);
            if is_counted_at(at, key) {
                return;
            }
            at = select(at + 1u, begin, at + 1u == end);
        }
    }
}

// Counts a label in a slot of the table, unless another label occupies it.
fn is_counted_at(at: u32, key: u32) -> bool {
    let seen = counts_load(2u * at);
    let free = seen == 0u;
    if seen == key || (free && counts_claim(2u * at, 0u, key)) || (free && counts_load(2u * at) == key) {
        counts_add(2u * at + 1u, 1u);
        return true;
    }
    return false;
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    if RANKED {
        label_store(vertex, ranks_load(vertex));
    }
    if !WHOLE {
        upcoming_store(vertex, label_load(vertex));
        if vertex < bounds_load(1u) {
            turn_insert(vertex);
        }
    }
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let before = label_load(vertex);
    var chosen = before;
    if WHOLE {
        chosen = choice(vertex, before);
    } else {
        upcoming_store(vertex, choice(vertex, upcoming_load(vertex)));
        if step.integers.y > 0u {
            chosen = upcoming_load(vertex);
        }
        give_turn(vertex);
    }
    if chosen == before {
        return vec4<f32>();
    }
    label_store(vertex, chosen);
    return vec4<f32>(1.0, 0.0, 0.0, 0.0);
}

// Returns the most frequent label, and empties the room.
fn choice(vertex: u32, otherwise: u32) -> u32 {
    if !is_counted(vertex) {
        return otherwise;
    }
    var choice = Choice(otherwise, 0u);
    let end = place_of(vertex + 1u);
    if LOOPS_LIMITED {
        // rounds: places of the room, 16 each.
        for (var at = place_of(vertex); at < end; at += 16u) {
            choice = better_of_four(choice, at, end);
            choice = better_of_four(choice, at + 4u, end);
            choice = better_of_four(choice, at + 8u, end);
            choice = better_of_four(choice, at + 12u, end);
        }
    } else {
        // rounds: places of the room.
        for (var at = place_of(vertex); at < end; at += 1u) {
            choice = better_at(choice, at);
        }
    }
    return choice.label;
}

// A label and its count.
struct Choice {
    label: u32,
    number: u32,
}

// The label in a slot if it is more frequent than the best one so far; empties the slot.
fn better_at(best: Choice, at: u32) -> Choice {
    var better = best;
    let key = counts_load(2u * at);
    let number = counts_load(2u * at + 1u);
    if number > best.number || (number == best.number && number > 0u && key - 1u < best.label) {
        better = Choice(key - 1u, number);
    }
    counts_store(2u * at, 0u);
    counts_store(2u * at + 1u, 0u);
    return better;
}

fn better_of_four(best: Choice, at: u32, end: u32) -> Choice {
    let two = better_below(better_below(best, at, end), at + 1u, end);
    return better_below(better_below(two, at + 2u, end), at + 3u, end);
}

fn better_below(best: Choice, at: u32, end: u32) -> Choice {
    if at < end {
        return better_at(best, at);
    }
    return best;
}

// Marks the vertices whose lists are read next.
fn give_turn(vertex: u32) {
    var number = range_number() + 1u;
    if step.integers.y > 0u {
        number = 0u;
    }
    if vertex >= bounds_load(number) && vertex < bounds_load(number + 1u) {
        turn_insert(vertex);
    } else {
        turn_remove(vertex);
    }
}
