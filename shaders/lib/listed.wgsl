// Small frontiers as lists of vertices, two in turn: one of the current superstep, and one that it writes.

// Maximum number of vertices whose lists have a workgroup each, or several; 32 threads each if there are more.
const LISTED_WHOLE = 1024u;

// Vertex number `at` of a list.
fn listed_vertex(list: u32, at: u32) -> u32 {
    return atomicLoad(&course.listed[list * LISTED_MAX + at]);
}

// Lists a vertex that has just been activated. If there are too many, the list is incomplete, and `decide` sees that
// from the census.
fn note_activated(vertex: u32) {
    if course.listing == 0u {
        return;
    }
    let next = (step.superstep + 1u) & 1u;
    let at = atomicAdd(&course.listed_counts[next], 1u);
    if at < LISTED_MAX {
        atomicStore(&course.listed[next * LISTED_MAX + at], vertex);
    }
}
