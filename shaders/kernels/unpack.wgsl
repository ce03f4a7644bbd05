// Unpack: sets the values of listed vertices to those that another device has packed.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let stride = workgroups.x * workgroups.y * WORKGROUP;
    // rounds: words of a piece of exchange memory / 2^18: 64 at most.
    for (var at = unit_number(workgroup_id, workgroups) * WORKGROUP + lane; at < packed.count; at += stride) {
        merged[vertex_list[packed.first + at] - packed.base] = received[packed.begin + at];
    }
}
