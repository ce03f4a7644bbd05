// Long lists: PART edges of a list a workgroup. Their sums are in hash tables in device memory, one a list, which are
// empty between turns.

// PART edges of a list.
struct Part {
    vertex: u32,
    // The number of the list's first part.
    first: u32,
    // The number of the list's parts.
    count: u32,
}

// Slots of a table for each part; the parts of a list follow one another.
const PART_SLOTS: u32 = 2u * PART;

// The slots of a list's table: twice as many as there can be keys.
fn hub_slots(length: u32) -> u32 {
    return 2u * min(length, turn.vertices);
}

// The number of parts in the queue.
fn part_count() -> u32 {
    return counters[turn.counters + PARTS];
}
