// Inflate: decodes the neighbours of packed pages, in frames or slots, to plain images (formats/SPEC.md, section 7). A
// workgroup takes a unit of 1024 neighbours, a thread four of them; `inflate_slots` has run before.
//
// Every block of 128 neighbours is decoded by itself: its 32 threads add up the gaps since the last beginning of a
// list, or since the block's own, where the sum begins with the block's base.
//
// Threads wait for global memory three times: for the page's tables, for its payload and slots, and nowhere else.

// Threads whose sums are added up first: 8 such groups are a block.
const GROUP = 4u;

// The first slot of a degree block, at or before the first one that begins in the unit.
var<workgroup> slots_from: u32;
// 1 + the slot of the list that begins with each neighbour, 0 if none does; the high part of its gap if that is an
// exception. Neighbours 4n + i are at 256i + n: adjacent threads read adjacent words.
var<workgroup> heads: array<u32, PACK_UNIT>;
var<workgroup> highs: array<u32, PACK_UNIT>;
// For each thread, whether a sum begins in its four neighbours, and the sum since then; the same of each group.
var<workgroup> run_sums: array<vec2<u32>, WORKGROUP>;
var<workgroup> group_sums: array<vec2<u32>, WORKGROUP / GROUP>;

// The number of neighbours in the page before the record of a slot, which `inflate_slots` has written.
fn inflated_begin(page: InflatePage, slot: u32) -> u32 {
    let word = page.image + PAGE_WORDS - 1u - slot;
    return inflated[word / 4u][word % 4u];
}

// The place of a neighbour of the unit in `heads` and `highs`.
fn spread(at: u32) -> u32 {
    return at % 4u * WORKGROUP + at / 4u;
}

// Finds the last degree block that begins before the unit, or the page's first one; a barrier must follow.
fn find_slots(page: InflatePage, first: u32, lane: u32) {
    let blocks = (page.slot_count + PACK_BLOCK - 1u) / PACK_BLOCK;
    // rounds: slots of a page / 2^15: 512 at most, in a page of 64 MiB of lists without edges.
    for (var block = lane; block < blocks; block += WORKGROUP) {
        let begins = packed_word(page, degree_block_at(page, block));
        var next = first;
        if block + 1u < blocks {
            next = packed_word(page, degree_block_at(page, block + 1u));
        }
        if (block == 0u || begins < first) && next >= first {
            slots_from = block * PACK_BLOCK;
        }
    }
}

// Marks the neighbours with which lists begin; `heads` are zero, and a barrier must follow.
fn mark_heads(page: InflatePage, first: u32, lane: u32) {
    // rounds: slots that begin in a unit / 256: as many as a page has / 256, if lists are empty.
    for (var slot = slots_from + lane; slot < page.slot_count; slot += WORKGROUP) {
        let begin = inflated_begin(page, slot);
        let end = inflated_begin(page, slot + 1u);
        if begin >= first + PACK_UNIT {
            break;
        }
        // Only one of the slots that begin here has neighbours. A page that continues a list begins in its middle.
        if begin >= first && end > begin && (slot > 0u || page.continues == 0u) {
            heads[spread(begin - first)] = slot + 1u;
        }
    }
}

// Lays the high parts of exceptions beside their gaps: their positions in a block differ. `highs` are zero, and a
// barrier must follow.
fn lay_highs(lane: u32) {
    let block = lane / 32u;
    let shape = shape_of(block);
    // rounds: 4.
    for (var number = lane % 32u; number < shape.exceptions; number += 32u) {
        let found = exception(shape, number);
        highs[spread(block * PACK_BLOCK + found.x)] = found.y;
    }
}

// One of the thread's four gaps.
fn gap(shape: Shape, lane: u32, i: u32) -> u32 {
    return low_gap(shape, lane, i) | highs[i * WORKGROUP + lane];
}

// The sum of gaps up to one of the thread's neighbours, and whether it begins in these: after the one before.
fn sum_after(page: InflatePage, before: vec2<u32>, gap: u32, lane: u32, i: u32) -> vec2<u32> {
    let head = heads[i * WORKGROUP + lane];
    if head != 0u {
        return vec2<u32>(1u, first_value(page, head - 1u, gap));
    }
    let sum = gap + GAP_STEP;
    if i == 0u && lane % 32u == 0u {
        return vec2<u32>(1u, block_entries[lane / 16u] + sum);
    }
    return vec2<u32>(before.x, before.y + sum);
}

// The sum behind the neighbours of the threads before this one in the block, whose own is `own`.
fn sum_before(lane: u32, own: vec2<u32>) -> u32 {
    var before = vec2<u32>(0u);
    run_sums[lane] = own;
    workgroupBarrier();
    // rounds: 3.
    for (var at = lane; at % GROUP != 0u && before.x == 0u; at -= 1u) {
        before = continued(run_sums[at - 1u], before);
    }
    if lane % GROUP == GROUP - 1u {
        group_sums[lane / GROUP] = continued(before, own);
    }
    workgroupBarrier();
    // rounds: 7.
    for (var at = lane / GROUP; at % (32u / GROUP) != 0u && before.x == 0u; at -= 1u) {
        before = continued(group_sums[at - 1u], before);
    }
    return before.y;
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
    find_slots(page, first, lane);
    // rounds: 4.
    for (var at = lane; at < PACK_UNIT; at += WORKGROUP) {
        heads[at] = 0u;
        highs[at] = 0u;
    }
    workgroupBarrier();
    mark_heads(page, first, lane);
    lay_highs(lane);
    workgroupBarrier();
    let at = 4u * lane;
    let shape = shape_of(lane / 32u);
    let a = sum_after(page, vec2<u32>(0u), gap(shape, lane, 0u), lane, 0u);
    let b = sum_after(page, a, gap(shape, lane, 1u), lane, 1u);
    let c = sum_after(page, b, gap(shape, lane, 2u), lane, 2u);
    let d = sum_after(page, c, gap(shape, lane, 3u), lane, 3u);
    // Sums that do not begin in the thread's neighbours continue those before.
    let before = sum_before(lane, d);
    let began = vec4<u32>(a.x, b.x, c.x, d.x);
    let values = vec4<u32>(a.y, b.y, c.y, d.y) + select(vec4<u32>(before), vec4<u32>(0u), began != vec4<u32>(0u));
    let edges = min(page.edge_count - first, PACK_UNIT);
    if at < edges {
        write_neighbours(page, first + at, values, edges - at);
    }
}
