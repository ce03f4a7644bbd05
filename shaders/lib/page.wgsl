// A page: header, neighbours forward, slots backward (formats/SPEC.md, section 6). Pages begin at a multiple of 32
// words.

const HEADER_WORDS = 8u;
const WEIGHTS_HEADER_WORDS = 4u;

// The number of neighbours in the page before the record of a slot.
fn slot_begin(page: BatchPage, slot: u32) -> u32 {
    return pages[page.word + PAGE_WORDS - 1u - slot];
}

// The index of the word of the buffer in which neighbour n begins.
fn neighbour_word(page: BatchPage, n: u32) -> u32 {
    return page.word + HEADER_WORDS + ((n * WIDTH) >> 2u);
}

// Neighbour n of a page, as a vertex.
fn neighbour(page: BatchPage, n: u32) -> u32 {
    let at = neighbour_word(page, n);
    if ALIGNED {
        return vertex_of(pages[at], 0u);
    } else {
        var words = vec3<u32>(pages[at], pages[at + 1u], 0u);
        if THREE_WORDS {
            words.z = pages[at + 2u];
        }
        return vertex_within(words, n);
    }
}

// The vertex of neighbour n, whose first byte is in the first of three words.
fn vertex_within(words: vec3<u32>, n: u32) -> u32 {
    let shift = ((n * WIDTH) & 3u) * 8u;
    return vertex_of(from_bit(words.x, words.y, shift), from_bit(words.y, words.z, shift));
}

// Decodes a neighbour from its little-endian bytes; other bytes may follow.
fn vertex_of(low: u32, high: u32) -> u32 {
    if RECORD_IDS {
        let slot = from_bit(low, high, SLOT_SHIFT) & SLOT_MASK;
        return starts[low & PAGE_ID_MASK] + slot;
    } else {
        return low;
    }
}

// 32 bits of two words, starting at a bit.
fn from_bit(low: u32, high: u32, bit: u32) -> u32 {
    if bit >= 32u {
        return high >> (bit - 32u);
    }
    if bit == 0u {
        return low;
    }
    return (low >> bit) | (high << (32u - bit));
}

// The weight of neighbour n: its page follows the page of neighbours.
fn weight_of(page: BatchPage, n: u32) -> u32 {
    if WEIGHTS {
        return pages[page.word + PAGE_WORDS + WEIGHTS_HEADER_WORDS + n];
    } else {
        return 0u;
    }
}
