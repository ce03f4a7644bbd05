// A unit of 1024 neighbours of a packed page in workgroup memory (formats/SPEC.md, section 7): 32 threads decode a
// block, each of them four neighbours.

// The most words of a block's payload, in any shape: those of packed gaps and exceptions.
const BLOCK_WORDS_MAX = 160u;
const UNIT_WORDS_MAX = PACK_UNIT_BLOCKS * BLOCK_WORDS_MAX;
// The payload of the unit, and the entries of its blocks.
var<workgroup> unit_words: array<u32, UNIT_WORDS_MAX + 1u>;
var<workgroup> block_entries: array<u32, 2u * PACK_UNIT_BLOCKS>;
// How the gaps of a block are written.
struct Shape {
    // The first word of its payload in the unit's.
    begin: u32,
    width: u32,
    exceptions: u32,
    high: u32,
}

// The shape of a block of the unit. Its fields are in the ranges that checked pages have.
fn shape_of(block: u32) -> Shape {
    let word = block_entries[2u * block + 1u];
    let width = min(extractBits(word, 13u, 6u), 32u);
    let high = min(word >> 26u, 32u - width);
    return Shape(extractBits(word, 0u, 13u), width, extractBits(word, 19u, 7u), high);
}

// Up to 32 bits of the unit's payload, from a bit behind a word on.
fn payload_bits(word: u32, bit: u32, width: u32) -> u32 {
    let at = min(word + bit / 32u, UNIT_WORDS_MAX - 1u);
    return low_bits(from_bit(unit_words[at], unit_words[at + 1u], bit % 32u), width);
}

// Loads the payload of a unit and the entries of its blocks; a barrier must follow.
fn load_unit(page: InflatePage, unit: u32, lane: u32) {
    let begin = packed_word(page, unit_at(page, unit));
    var end = packed_word(page, DEGREES_AT);
    if unit + 1u < packed_units(page) {
        end = packed_word(page, unit_at(page, unit + 1u));
    }
    let count = select(0u, min(end - begin, UNIT_WORDS_MAX), end > begin);
    let first = payload_at(page) + begin;
    // Whole lines of memory: they come over a bus.
    let skip = (page.packed + first) & 31u;
    // rounds: 6.
    for (var at = lane; at < count + skip; at += WORKGROUP) {
        if at >= skip {
            unit_words[at - skip] = packed_word(page, first + at - skip);
        }
    }
    if lane < 2u * PACK_UNIT_BLOCKS {
        block_entries[lane] = packed_word(page, block_at(PACK_UNIT_BLOCKS * unit) + lane);
    }
}

// The low bits of one of a thread's four gaps.
fn low_gap(shape: Shape, lane: u32, i: u32) -> u32 {
    return payload_bits(shape.begin, (4u * (lane % 32u) + i) * shape.width, shape.width);
}

// The high part of an exception's gap, in its place, and its position in the block.
fn exception(shape: Shape, number: u32) -> vec2<u32> {
    let begin = shape.begin + 4u * shape.width;
    let position = payload_bits(begin, 8u * number, 8u) % PACK_BLOCK;
    let above = payload_bits(begin, 8u * shape.exceptions + shape.high * number, shape.high);
    return vec2<u32>(position, above << (shape.width & 31u));
}

// The value of the first neighbour of a slot's list.
fn first_value(page: InflatePage, slot: u32, gap: u32) -> u32 {
    if GAPS_OWN {
        let own = page.start_vertex + slot - page.origin;
        return own + ((gap >> 1u) ^ (0u - (gap & 1u)));
    } else {
        return gap;
    }
}

// A sum that goes on with another one, which may begin anew.
fn continued(before: vec2<u32>, own: vec2<u32>) -> vec2<u32> {
    return select(vec2<u32>(before.x, before.y + own.y), own, own.x != 0u);
}

// The vertex of a value. One that is not among the page's destinations is reported, and replaced.
fn checked_vertex(page: InflatePage, value: u32) -> u32 {
    if value > page.value_max {
        atomicMax(&counters.defect, page.number + 1u);
    }
    return page.origin + min(value, page.value_max);
}
