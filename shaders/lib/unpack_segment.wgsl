// Packed neighbours of a unit of `segments`, decoded to workgroup memory.

// Of packed pages: a bit for each edge with which a list begins.
var<workgroup> head_bits: array<atomic<u32>, EDGES_PER_UNIT / 32u>;
// Threads of packed pages whose sums are added up first: 8 such groups are a block.
const SUM_GROUP = 4u;

// Marks the edges with which lists begin; the unit's slots are known.
fn mark_list_heads(segment: Segment, packed: InflatePage, edges: u32, lane: u32) {
    // rounds: 1.
    for (var word = lane; word < EDGES_PER_UNIT / 32u; word += WORKGROUP) {
        atomicStore(&head_bits[word], 0u);
    }
    workgroupBarrier();
    if edges > 0u {
        // rounds: slots of a unit / 256, as above.
        for (var slot = segment.low + lane; slot <= segment.high; slot += WORKGROUP) {
            let at = begin_of(segment, slot) - segment.first;
            // A page that continues a list begins in its middle.
            if at < edges && begin_of(segment, slot + 1u) > at + segment.first && (slot > 0u || packed.continues == 0u) {
                atomicOr(&head_bits[at / 32u], 1u << (at & 31u));
            }
        }
    }
}

// The sum of gaps up to edge `at` of the unit, and whether it begins in the thread's four: after the one before.
fn edge_sum(segment: Segment, packed: InflatePage, before: vec2<u32>, at: u32, gap: u32) -> vec2<u32> {
    if ((atomicLoad(&head_bits[at / 32u]) >> (at & 31u)) & 1u) != 0u {
        var slot = 0u;
        if GAPS_OWN {
            slot = slot_of(segment, segment.low, segment.first + at);
        }
        return vec2<u32>(1u, first_value(packed, slot, gap));
    }
    let sum = gap + GAP_STEP;
    if at % PACK_BLOCK == 0u {
        return vec2<u32>(1u, block_entries[at % PACK_UNIT / PACK_BLOCK * 2u] + sum);
    }
    return vec2<u32>(before.x, before.y + sum);
}

// The sum behind the edges of the threads before this one in the block, whose own is `own`. Sums take the place of the
// unit's words, which no thread needs any more.
fn edge_sum_before(lane: u32, own: vec2<u32>) -> u32 {
    var before = vec2<u32>(0u);
    workgroupBarrier();
    unit_words[2u * lane] = own.x;
    unit_words[2u * lane + 1u] = own.y;
    workgroupBarrier();
    // rounds: 3.
    for (var at = lane; at % SUM_GROUP != 0u && before.x == 0u; at -= 1u) {
        before = continued(vec2<u32>(unit_words[2u * at - 2u], unit_words[2u * at - 1u]), before);
    }
    let groups = 2u * WORKGROUP;
    if lane % SUM_GROUP == SUM_GROUP - 1u {
        let sum = continued(before, own);
        unit_words[groups + lane / SUM_GROUP * 2u] = sum.x;
        unit_words[groups + lane / SUM_GROUP * 2u + 1u] = sum.y;
    }
    workgroupBarrier();
    // rounds: 7.
    for (var at = lane / SUM_GROUP; at % (32u / SUM_GROUP) != 0u && before.x == 0u; at -= 1u) {
        before = continued(vec2<u32>(unit_words[groups + 2u * at - 2u], unit_words[groups + 2u * at - 1u]), before);
    }
    return before.y;
}

// Decodes the unit's neighbours, 1024 at a time, and loads their values to workgroup memory.
fn load_packed(segment: Segment, packed: InflatePage, edges: u32, lane: u32) {
    mark_list_heads(segment, packed, edges, lane);
    let block = lane / 32u;
    // rounds: 4.
    for (var done = 0u; done < EDGES_PER_UNIT; done += PACK_UNIT) {
        let first = done + 4u * lane;
        // High parts of exceptions are where the values will be.
        // rounds: 4.
        for (var i = 0u; i < 4u; i += 1u) {
            gathered[place(first + i)] = 0u;
        }
        if done < edges {
            load_unit(packed, (segment.first + done) / PACK_UNIT, lane);
        }
        workgroupBarrier();
        let shape = shape_of(block);
        if done < edges {
            // rounds: 4.
            for (var number = lane % 32u; number < shape.exceptions; number += 32u) {
                let found = exception(shape, number);
                gathered[place(done + block * PACK_BLOCK + found.x)] = found.y;
            }
        }
        workgroupBarrier();
        let gap_a = low_gap(shape, lane, 0u) | gathered[place(first)];
        let gap_b = low_gap(shape, lane, 1u) | gathered[place(first + 1u)];
        let gap_c = low_gap(shape, lane, 2u) | gathered[place(first + 2u)];
        let gap_d = low_gap(shape, lane, 3u) | gathered[place(first + 3u)];
        let a = edge_sum(segment, packed, vec2<u32>(0u), first, gap_a);
        let b = edge_sum(segment, packed, a, first + 1u, gap_b);
        let c = edge_sum(segment, packed, b, first + 2u, gap_c);
        let d = edge_sum(segment, packed, c, first + 3u, gap_d);
        let before = edge_sum_before(lane, d);
        let began = vec4<u32>(a.x, b.x, c.x, d.x) != vec4<u32>(0u);
        let values = vec4<u32>(a.y, b.y, c.y, d.y) + select(vec4<u32>(before), vec4<u32>(0u), began);
        // rounds: 4.
        for (var i = 0u; i < 4u; i += 1u) {
            if first + i < edges {
                gathered[place(first + i)] = list_gather(checked_vertex(packed, values[i]));
            }
        }
        workgroupBarrier();
    }
}
