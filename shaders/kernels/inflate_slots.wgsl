// Inflate slots: writes the slots of plain images from the packed degrees of packed pages (formats/SPEC.md, section 7).
// A workgroup takes two degree blocks of 128 slots, a thread one slot.

// The packed degrees of the two blocks: at most 32 bits each.
var<workgroup> degree_words: array<u32, WORKGROUP + 1u>;
// Threads whose degrees are added up first: 16 such groups are a block.
const GROUP = 8u;

// The degree of each thread's slot, and the sum of each group.
var<workgroup> degrees: array<u32, WORKGROUP>;
var<workgroup> degree_sums: array<u32, WORKGROUP / GROUP>;

// The sum of the degrees in the block before a thread's own.
fn degrees_before(lane: u32, degree: u32) -> u32 {
    var sum = 0u;
    degrees[lane] = degree;
    workgroupBarrier();
    // rounds: 7.
    for (var at = lane; at % GROUP != 0u; at -= 1u) {
        sum += degrees[at - 1u];
    }
    if lane % GROUP == GROUP - 1u {
        degree_sums[lane / GROUP] = sum + degree;
    }
    workgroupBarrier();
    // rounds: 15.
    for (var at = lane / GROUP; at % (PACK_BLOCK / GROUP) != 0u; at -= 1u) {
        sum += degree_sums[at - 1u];
    }
    return sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let page = inflation[workgroup_id.y];
    let slot = (workgroup_id.z * workgroups.x + workgroup_id.x) * WORKGROUP + lane;
    let block = slot / PACK_BLOCK;
    let number = lane % PACK_BLOCK;
    var first = 0u;
    var width = 0u;
    // Whether the block exists.
    if slot - number < page.slot_count {
        let entry = degree_block_at(page, block);
        let shape = packed_word(page, entry + 1u);
        first = packed_word(page, entry);
        width = min(shape >> 26u, 32u);
        let begin = payload_at(page) + packed_word(page, DEGREES_AT) + extractBits(shape, 0u, 26u);
        if number < 4u * width {
            degree_words[lane] = packed_word(page, begin + number);
        }
    }
    workgroupBarrier();
    var degree = 0u;
    if width > 0u {
        let bit = number * width;
        let at = lane - number + bit / 32u;
        degree = low_bits(from_bit(degree_words[at], degree_words[at + 1u], bit % 32u), width);
    }
    // Slots grow backward from the end of the image.
    let last = page.image + PAGE_WORDS - 1u;
    let sum = degrees_before(lane, degree);
    if slot < page.slot_count {
        inflated[last - slot] = min(first + sum, page.edge_count);
    }
    if slot == page.slot_count - 1u {
        inflated[last - page.slot_count] = page.edge_count;
    }
}
