// Collect: finds the activated vertices of a message, and their values, a block at a time.
// Blocks are in the order in which workgroups process them; within a block, vertices ascend.

var<workgroup> block_base: u32;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let units = workgroups.x * workgroups.y;
    // rounds: blocks of a piece of exchange memory / 1024: 64 at most.
    for (var block = unit_number(workgroup_id, workgroups); block < message_blocks(); block += units) {
        let first = message.first + block * BLOCK_VERTICES;
        let total = rank_words(lane, activated(first / 32u + lane));
        if lane == 0u {
            block_base = atomicAdd(&collected.count, total);
            collected.words[block] = block_base;
        }
        workgroupBarrier();
        // Of messages without values, a dense one has only bits.
        let listed = select(total, 0u, MESSAGE_VALUES == 0u && block_base >= message.sparse_max);
        // rounds: 32.
        for (var i = lane; i < listed; i += WORKGROUP) {
            let vertex = first + ranked(i);
            let number = block_base + i;
            // Where there are more, no vertex is listed.
            if number < message.sparse_max {
                collected.words[collected_vertices() + number] = vertex;
                if MESSAGE_FLAGS {
                    collected.words[collected_flags() + number] = flags_of(vertex);
                }
            }
            collect_values(vertex, number);
        }
        workgroupBarrier();
    }
}
