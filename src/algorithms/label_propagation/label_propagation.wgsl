// Label propagation: label[v] becomes the most frequent label among the neighbours of v, the smallest in case of a tie.
// Labels are counted in a table, in which each vertex of a range has room for one pair for each of its neighbours: a
// label plus one, and its count. Without WHOLE there are several ranges, and upcoming[v] holds the chosen label until
// all ranges have been processed. With BOTH_ENDS an edge is in one list only. With RANKED a vertex's first label is not
// its own number.
//
// With PLURALITY the kernel of that name counts the labels of most lists outside of the table, in which their vertices
// have room for the winning label only. With MARKED a label has a bit that says whether it differs from that of the
// previous iteration: a list without such a label is not counted again.

struct Record {
    label: u32,
    room: Room,
}

// A vertex's places in the table, in pairs of words.
struct Room {
    begin: u32,
    end: u32,
}

fn list_open(list: List) -> Record {
    return Record(label_load(list.vertex), room_of(list.vertex));
}

// Labels of many neighbours are loaded at once.
fn list_gather(neighbour: u32) -> u32 {
    if BOTH_ENDS {
        return neighbour;
    }
    return label_load(neighbour);
}

// Whether a list with a neighbour of this label is counted.
fn plurality_needed(label: u32) -> bool {
    if MARKED {
        return step.superstep == 0u || (label & NEW) != 0u;
    } else {
        return true;
    }
}

// A label without its mark.
fn plurality_value(label: u32) -> u32 {
    if MARKED {
        return label & ~NEW;
    } else {
        return label;
    }
}

// Stores the winning label of a vertex in its room, of which all other places are empty.
fn list_plurality(vertex: u32, label: u32) {
    let room = room_of(vertex);
    if room.begin != room.end {
        counts_store(2u * room.begin, label + 1u);
        counts_store(2u * room.begin + 1u, WON);
    }
}

// The places of a vertex's room: the first one, and the one after the last.
fn room_places(vertex: u32) -> vec2<u32> {
    let room = room_of(vertex);
    return vec2<u32>(room.begin, room.end);
}

// The label at a place of a room and its count, 0 if there is none.
fn room_load(place: u32) -> vec2<u32> {
    return vec2<u32>(counts_load(2u * place) - 1u, counts_load(2u * place + 1u));
}

fn room_empty(place: u32) {
    counts_store(2u * place, 0u);
    counts_store(2u * place + 1u, 0u);
}

fn list_edge(record: ptr<function, Record>, list: List, gathered: u32, weight: u32) -> bool {
    if BOTH_ENDS {
        count((*record).room, label_load(gathered));
        count(room_of(gathered), (*record).label);
    } else {
        count((*record).room, plurality_value(gathered));
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn range_number() -> u32 {
    return step.integers.x;
}

fn is_counted(vertex: u32) -> bool {
    let own = vertex >= step.own_first && vertex <= step.own_last;
    if WHOLE {
        return own;
    }
    let number = range_number();
    return own && vertex >= bounds_load(number) && vertex < bounds_load(number + 1u);
}

// The room of a vertex; empty if its labels are not counted now.
fn room_of(vertex: u32) -> Room {
    if !is_counted(vertex) {
        return Room();
    }
    let room = Room(starts_load(vertex), starts_load(vertex + 1u));
    if WHOLE {
        return room;
    }
    let base = starts_load(bounds_load(range_number()));
    return Room(room.begin - base, room.end - base);
}

fn count(room: Room, label: u32) {
    if room.begin == room.end {
        return;
    }
    let key = label + 1u;
    // SPREAD distributes labels over slots.
    var at = room.begin + (label * SPREAD) % (room.end - room.begin);
    // rounds: places of the room, a few as a rule; where loops are limited, four places each.
    loop {
        if is_counted_at(at, key) {
            return;
        }
        at = select(at + 1u, room.begin, at + 1u == room.end);
        if LOOPS_LIMITED {
            if is_counted_at(at, key) {
                return;
            }
            at = select(at + 1u, room.begin, at + 1u == room.end);
            if is_counted_at(at, key) {
                return;
            }
            at = select(at + 1u, room.begin, at + 1u == room.end);
            if is_counted_at(at, key) {
                return;
            }
            at = select(at + 1u, room.begin, at + 1u == room.end);
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
    if PLURALITY {
        return update_winner(vertex, before);
    }
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

// The vertex takes the winning label from its room; none has won if its list was not counted.
fn update_winner(vertex: u32, before: u32) -> vec4<f32> {
    let old = plurality_value(before);
    let room = room_of(vertex);
    var chosen = old;
    if room.begin != room.end && counts_load(2u * room.begin) != 0u {
        chosen = counts_load(2u * room.begin) - 1u;
        room_empty(room.begin);
    }
    if chosen != old {
        if MARKED {
            chosen |= NEW;
        }
        label_store(vertex, chosen);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    if before != old {
        label_store(vertex, old);
    }
    return vec4<f32>();
}

// Returns the most frequent label, and empties the room.
fn choice(vertex: u32, otherwise: u32) -> u32 {
    var best = Choice(otherwise, 0u);
    let room = room_of(vertex);
    // rounds: places of the room, 16 each. All are loaded before the first is looked at: one thread reads a hub's room.
    for (var at = room.begin; at < room.end; at += 16u) {
        let a = four_at(at, room.end);
        let b = four_at(at + 4u, room.end);
        let c = four_at(at + 8u, room.end);
        let d = four_at(at + 12u, room.end);
        best = better_of_four(better_of_four(better_of_four(better_of_four(best, a), b), c), d);
        empty_four(at, a);
        empty_four(at + 4u, b);
        empty_four(at + 8u, c);
        empty_four(at + 12u, d);
    }
    return best.label;
}

// A label and its count.
struct Choice {
    label: u32,
    number: u32,
}

// Slots of the table: a label plus one and its count, zeros if it is empty or past the end of the room.
struct Four {
    a: vec2<u32>,
    b: vec2<u32>,
    c: vec2<u32>,
    d: vec2<u32>,
}

fn four_at(at: u32, end: u32) -> Four {
    return Four(slot_at(at, end), slot_at(at + 1u, end), slot_at(at + 2u, end), slot_at(at + 3u, end));
}

fn slot_at(at: u32, end: u32) -> vec2<u32> {
    if at < end {
        return vec2<u32>(counts_load(2u * at), counts_load(2u * at + 1u));
    }
    return vec2<u32>();
}

fn better_of_four(best: Choice, four: Four) -> Choice {
    return better_of(better_of(better_of(better_of(best, four.a), four.b), four.c), four.d);
}

// The label in a slot if it is more frequent than the best one so far, or as frequent and smaller.
fn better_of(best: Choice, slot: vec2<u32>) -> Choice {
    if slot.y > best.number || (slot.y == best.number && slot.y > 0u && slot.x - 1u < best.label) {
        return Choice(slot.x - 1u, slot.y);
    }
    return best;
}

fn empty_four(at: u32, four: Four) {
    empty(at, four.a);
    empty(at + 1u, four.b);
    empty(at + 2u, four.c);
    empty(at + 3u, four.d);
}

fn empty(at: u32, slot: vec2<u32>) {
    if slot.x > 0u {
        counts_store(2u * at, 0u);
        counts_store(2u * at + 1u, 0u);
    }
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
