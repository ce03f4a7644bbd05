// Refinement begins with every vertex alone.

var<storage, read_write> labels: array<u32>;
var<storage, read> communities: array<u32>;
var<storage, read_write> around: array<atomic<u32>>;

fn around_word_add(at: u32, number: U64) {
    let before = atomicAdd(&around[at], number.x);
    if WIDE {
        let high = number.y + u32(before + number.x < before);
        if high != 0u {
            atomicAdd(&around[at + 1u], high);
        }
    }
}

fn begun(vertex: u32) -> u32 {
    let mass = mass_of(vertex);
    let at = communities[vertex] * MASS_WORDS;
    around_word_add(at, mass.out);
    if DIRECTED {
        around_word_add(at + MASS_WORDS / 2u, mass.into);
    }
    labels[vertex] = vertex;
    atomicStore(&sizes[vertex], 1u);
    return vertex;
}
