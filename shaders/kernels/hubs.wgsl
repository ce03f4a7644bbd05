// Hubs: each workgroup takes parts of long lists that `lists` has put into the queue, and all its threads share a part.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let entries = min(atomicLoad(&hub_queue.wanted), hub_queue.capacity);
    let step_size = workgroups.x * workgroups.y;
    // rounds: entries of the queue / 2048.
    for (var at = unit_number(workgroup_id, workgroups); at < entries; at += step_size) {
        let entry = hub_queue.entries[at];
        let list = List(entry.vertex, entry.length, false);
        let end = entry.first_edge + entry.edge_count;
        take_entry(batch.pages[entry.page], list, entry.first_edge + lane, end, WORKGROUP, lane);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
