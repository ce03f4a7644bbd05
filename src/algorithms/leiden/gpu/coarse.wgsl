// What the kernels of the next level's edges share: a thread a place of an edge.

struct Making {
    // The places of edges, or of tables.
    places: u32,
    // The number of lists, or of tables.
    vertices: u32,
    unused: vec2<u32>,
}

// An edge of a group.
struct Edge {
    group: u32,
    // The group at the other end.
    other: u32,
    // Whether it counts: not if both groups are one.
    counts: bool,
}

var<uniform> making: Making;

// The vertex with the last list that begins at a place or before: the place's, unless the list ends before it.
fn owner_of(place: u32) -> u32 {
    var first = 0u;
    var end = making.vertices;
    // rounds: 32.
    for (var round = 0u; round < 32u; round += 1u) {
        if end - first <= 1u {
            break;
        }
        let middle = first + (end - first) / 2u;
        if lists[middle].x <= place {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}
