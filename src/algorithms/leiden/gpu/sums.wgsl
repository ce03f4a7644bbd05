// The masses and sizes of groups, which threads change.

var<storage, read_write> totals: array<atomic<u32>>;
var<storage, read_write> sizes: array<atomic<u32>>;

// Adds to the number at a place; sums wrap.
fn total_word_add(at: u32, number: U64) {
    let before = atomicAdd(&totals[at], number.x);
    if WIDE {
        let high = number.y + u32(before + number.x < before);
        if high != 0u {
            atomicAdd(&totals[at + 1u], high);
        }
    }
}

// Adds a mass, and vertices, to a group.
fn group_add(group: u32, mass: Mass, vertices: u32) {
    let at = group * MASS_WORDS;
    total_word_add(at, mass.out);
    if DIRECTED {
        total_word_add(at + MASS_WORDS / 2u, mass.into);
    }
    atomicAdd(&sizes[group], vertices);
}
