// A packed page in its frame (formats/SPEC.md, section 7). Words are counted from the page's first.

// Neighbours, or slots, of a block, and neighbours of a unit.
const PACK_BLOCK = 128u;
const PACK_UNIT = 1024u;
// Blocks of a unit.
const PACK_UNIT_BLOCKS = 8u;
// The words of both headers, and the one with the payload word at which degrees begin.
const PACK_HEADER_WORDS = 12u;
const DEGREES_AT = 9u;

// A word of a page. Whatever its tables say, only the page is read.
fn packed_word(page: InflatePage, at: u32) -> u32 {
    return frames[page.packed + min(at, PACKED_WORDS - 1u)];
}

// The index of the first word of a block's entry.
fn block_at(block: u32) -> u32 {
    return PACK_HEADER_WORDS + 2u * block;
}

// The index of the first word of a degree block's entry.
fn degree_block_at(page: InflatePage, block: u32) -> u32 {
    return block_at((page.edge_count + PACK_BLOCK - 1u) / PACK_BLOCK + block);
}

// The index of a unit's word.
fn unit_at(page: InflatePage, unit: u32) -> u32 {
    return degree_block_at(page, (page.slot_count + PACK_BLOCK - 1u) / PACK_BLOCK) + unit;
}

// The number of units.
fn packed_units(page: InflatePage) -> u32 {
    return (page.edge_count + PACK_UNIT - 1u) / PACK_UNIT;
}

// The index of the payload's first word.
fn payload_at(page: InflatePage) -> u32 {
    return unit_at(page, packed_units(page));
}

// The lowest bits of a number, at most 32.
fn low_bits(value: u32, width: u32) -> u32 {
    return extractBits(value, 0u, width);
}
