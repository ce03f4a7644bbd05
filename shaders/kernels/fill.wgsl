// Fill: sets the words of a buffer to a constant, or to an arithmetic sequence.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let stride = workgroups.x * workgroups.y * WORKGROUP;
    // rounds: words of a buffer / 2^20: 4096 at most.
    for (var at = unit_number(workgroup_id, workgroups) * WORKGROUP + lane; at < fill.words; at += stride) {
        filled[at] = fill.value + at * fill.increment;
    }
}
