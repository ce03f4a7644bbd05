// The border: vertices of other devices with edges to own ones. Of others, no values are held.

fn is_in_border(vertex: u32) -> bool {
    return ((border[vertex / 32u].x >> (vertex % 32u)) & 1u) != 0u;
}

// Where the values of a vertex of the border are. For other vertices it is a place, too, which may be behind the last.
fn border_place(vertex: u32) -> u32 {
    let entry = border[vertex / 32u];
    return entry.y + countOneBits(entry.x & ((1u << (vertex % 32u)) - 1u));
}
