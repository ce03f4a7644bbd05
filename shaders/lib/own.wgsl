// The device's own vertices. Under sharding, the values that edges write are held for these only, from held_first()
// on: a multiple of 64, so that bits have the same positions in words.

fn is_own(vertex: u32) -> bool {
    return vertex >= step.own_first && vertex <= step.own_last;
}

// The first vertex of buffers of own vertices.
fn held_first() -> u32 {
    return step.own_first & 0xffffffc0u;
}

// The bits of a word's vertices that are in first..=last.
fn bits_between(word: u32, first: u32, last: u32) -> u32 {
    if word < first / 32u || word > last / 32u {
        return 0u;
    }
    var bits = 0xffffffffu;
    if word == first / 32u {
        bits <<= first % 32u;
    }
    if word == last / 32u {
        bits &= 0xffffffffu >> (31u - last % 32u);
    }
    return bits;
}

// The bits of a word's vertices that are its own.
fn own_bits(word: u32) -> u32 {
    return bits_between(word, step.own_first, step.own_last);
}

// Whether a dispatch of the vertex phase updates a vertex: it may update a part of the own vertices.
fn is_updated(vertex: u32) -> bool {
    return vertex >= step.part_first && vertex <= step.part_last;
}

// The first vertex of the blocks of a part.
fn updated_begin() -> u32 {
    return step.part_first & 0xffffffc0u;
}

// A workgroup's share of the part, counted from updated_begin() on.
fn updated_blocks(unit: u32, units: u32) -> Blocks {
    if step.part_first > step.part_last {
        return Blocks(unit, 0u, units);
    }
    return blocks_of(unit, units, step.part_last - updated_begin());
}

// A workgroup's share of the own vertices, counted from held_first() on.
fn own_blocks(unit: u32, units: u32) -> Blocks {
    if step.own_first > step.own_last {
        return Blocks(unit, 0u, units);
    }
    return blocks_of(unit, units, step.own_last - held_first());
}
