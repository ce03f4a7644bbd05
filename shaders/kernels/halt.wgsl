// Halt: if a page is missing, sets all workgroup counts to zero. The host then runs this superstep.

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) lane: u32) {
    if atomicLoad(&course.missing) == 0u {
        return;
    }
    if lane == 0u {
        course.done = 1u;
    }
    // rounds: dispatches of a superstep / 256: 1.
    for (var at = lane; at < 3u * course.dispatches; at += WORKGROUP) {
        arguments[at] = 0u;
    }
}
