// Inflate: decodes the neighbours of packed pages, in their frames, to plain images in their slots (formats/SPEC.md,
// section 7). A workgroup takes a unit of 1024 neighbours, a thread four of them; `inflate_slots` has run before.
//
// Every block of 128 neighbours is decoded by itself: its 32 threads add up the gaps since the last beginning of a
// list, or since the block's own, where the sum begins with the block's base.

// The most words of a block's payload, in any shape: those of packed gaps and exceptions.
const BLOCK_WORDS_MAX = 160u;
const UNIT_WORDS_MAX = PACK_UNIT_BLOCKS * BLOCK_WORDS_MAX;

// The payload of the unit, and the entries of its blocks.
var<workgroup> unit_words: array<u32, UNIT_WORDS_MAX + 1u>;
var<workgroup> block_entries: array<u32, 2u * PACK_UNIT_BLOCKS>;
// The gap of each neighbour; 1 + the slot of the list that begins with it, 0 if none does.
var<workgroup> gaps: array<u32, PACK_UNIT>;
var<workgroup> heads: array<u32, PACK_UNIT>;
// For each thread, whether a sum begins in its four neighbours or those before, and the sum since then; from two steps
// of the scan in turn.
var<workgroup> run_sums: array<vec2<u32>, 2u * WORKGROUP>;

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

// The number of neighbours in the page before the record of a slot, which `inflate_slots` has written.
fn inflated_begin(page: InflatePage, slot: u32) -> u32 {
    let word = page.image + PAGE_WORDS - 1u - slot;
    return inflated[word / 4u][word % 4u];
}

// The first slot that begins at a neighbour or after it; the sentinel does.
fn first_slot_from(page: InflatePage, edge: u32) -> u32 {
    var low = 0u;
    var high = page.slot_count;
    // rounds: 32.
    while low < high {
        let middle = (low + high) / 2u;
        if inflated_begin(page, middle) < edge {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// Marks the neighbours with which lists begin; `heads` are zero, and a barrier must follow.
fn mark_heads(page: InflatePage, first: u32, lane: u32) {
    // rounds: slots that begin in a unit / 256: as many as a page has / 256, if lists are empty.
    for (var slot = first_slot_from(page, first) + lane; slot < page.slot_count; slot += WORKGROUP) {
        let begin = inflated_begin(page, slot);
        if begin - first >= PACK_UNIT {
            break;
        }
        // Only one of the slots that begin here has neighbours. A page that continues a list begins in its middle.
        if inflated_begin(page, slot + 1u) > begin && (slot > 0u || page.continues == 0u) {
            heads[begin - first] = slot + 1u;
        }
    }
}

// Unpacks the thread's four gaps, without the high parts of exceptions.
fn unpack_gaps(lane: u32) {
    let shape = shape_of(lane / 32u);
    // rounds: 4.
    for (var i = 0u; i < 4u; i += 1u) {
        gaps[4u * lane + i] = payload_bits(shape.begin, (4u * (lane % 32u) + i) * shape.width, shape.width);
    }
}

// Adds the high parts of exceptions: their positions in a block differ.
fn patch_gaps(lane: u32) {
    let block = lane / 32u;
    let shape = shape_of(block);
    let begin = shape.begin + 4u * shape.width;
    // rounds: 4.
    for (var number = lane % 32u; number < shape.exceptions; number += 32u) {
        let position = payload_bits(begin, 8u * number, 8u) % PACK_BLOCK;
        let above = payload_bits(begin, 8u * shape.exceptions + shape.high * number, shape.high);
        gaps[block * PACK_BLOCK + position] |= above << (shape.width & 31u);
    }
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

// The sum of gaps up to a neighbour, and since when: after another neighbour's.
fn sum_after(page: InflatePage, before: vec2<u32>, at: u32) -> vec2<u32> {
    let head = heads[at];
    if head != 0u {
        return vec2<u32>(1u, first_value(page, head - 1u, gaps[at]));
    }
    let sum = gaps[at] + GAP_STEP;
    if at % PACK_BLOCK == 0u {
        return vec2<u32>(1u, block_entries[at / PACK_BLOCK * 2u] + sum);
    }
    return vec2<u32>(before.x, before.y + sum);
}

// The sum behind the neighbours of the threads before this one in the block, whose own is `own`.
fn sum_before(lane: u32, own: vec2<u32>) -> u32 {
    let number = lane % 32u;
    var sum = own;
    var half = 0u;
    run_sums[lane] = sum;
    workgroupBarrier();
    // rounds: 5.
    for (var distance = 1u; distance < 32u; distance *= 2u) {
        if number >= distance && sum.x == 0u {
            sum = run_sums[half + lane - distance] + vec2<u32>(0u, sum.y);
        }
        half = WORKGROUP - half;
        run_sums[half + lane] = sum;
        workgroupBarrier();
    }
    return run_sums[half + max(lane, 1u) - 1u].y;
}

// The vertex of a value. One that is not among the page's destinations is reported, and replaced.
fn checked_vertex(page: InflatePage, value: u32) -> u32 {
    if value > page.value_max {
        atomicMax(&counters.defect, page.number + 1u);
    }
    return page.origin + min(value, page.value_max);
}

// Writes the thread's neighbours, of which `left` are in the page.
fn write_neighbours(page: InflatePage, at: u32, values: vec4<u32>, left: u32) {
    let word = (page.image + HEADER_WORDS + at) / 4u;
    if left >= 4u {
        inflated[word] = vec4<u32>(
            checked_vertex(page, values.x),
            checked_vertex(page, values.y),
            checked_vertex(page, values.z),
            checked_vertex(page, values.w),
        );
        return;
    }
    // Slots may follow.
    // rounds: 3.
    for (var i = 0u; i < left; i += 1u) {
        inflated[word][i] = checked_vertex(page, values[i]);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let page = inflation[workgroup_id.y];
    let unit = workgroup_id.z * workgroups.x + workgroup_id.x;
    if unit >= packed_units(page) {
        return;
    }
    let first = unit * PACK_UNIT;
    load_unit(page, unit, lane);
    // rounds: 4.
    for (var at = lane; at < PACK_UNIT; at += WORKGROUP) {
        heads[at] = 0u;
    }
    workgroupBarrier();
    mark_heads(page, first, lane);
    unpack_gaps(lane);
    workgroupBarrier();
    patch_gaps(lane);
    workgroupBarrier();
    let at = 4u * lane;
    let a = sum_after(page, vec2<u32>(0u), at);
    let b = sum_after(page, a, at + 1u);
    let c = sum_after(page, b, at + 2u);
    let d = sum_after(page, c, at + 3u);
    // Sums that do not begin in the thread's neighbours continue those before.
    let before = sum_before(lane, d);
    let began = vec4<u32>(a.x, b.x, c.x, d.x);
    let values = vec4<u32>(a.y, b.y, c.y, d.y) + select(vec4<u32>(before), vec4<u32>(0u), began != vec4<u32>(0u));
    let edges = min(page.edge_count - first, PACK_UNIT);
    if at < edges {
        write_neighbours(page, first + at, values, edges - at);
    }
}
