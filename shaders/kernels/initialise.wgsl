// Initialise: sets initial values that differ between vertices, for own vertices, and adds sums over vertices.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    let blocks = own_blocks(unit, workgroups.x * workgroups.y);
    var sum: Sum;
    // rounds: vertices / 2^20: 4096 at most.
    for (var block = blocks.first; block < blocks.end; block += blocks.stride) {
        let vertex = held_first() + block * WORKGROUP + lane;
        if is_own(vertex) {
            sum = sum_with(sum, vertex_initialise(vertex));
        }
    }
    let total = sum_of_workgroup(lane, sum.value);
    if lane == 0u {
        totals[unit] = total;
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
