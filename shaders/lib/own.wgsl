// The device's own vertices. Where devices split what edges write, it is held for these only, from held_first() on: a
// multiple of 64, so that bits stand in the same places of words.

fn is_own(vertex: u32) -> bool {
    return vertex >= step.own_first && vertex <= step.own_last;
}

// Where buffers of own vertices begin.
fn held_first() -> u32 {
    return step.own_first & 0xffffffc0u;
}

// Which of the 32 vertices of a word are from first to last.
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

// Which of the vertices of a word are its own.
fn own_bits(word: u32) -> u32 {
    return bits_between(word, step.own_first, step.own_last);
}

// A workgroup's share of the own vertices, counted from held_first() on.
fn own_blocks(unit: u32, units: u32) -> Blocks {
    if step.own_first > step.own_last {
        return Blocks(unit, 0u, units);
    }
    return blocks_of(unit, units, step.own_last - held_first());
}
