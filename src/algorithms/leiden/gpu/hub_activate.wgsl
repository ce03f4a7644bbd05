// Activates the neighbours of vertices with long lists that move.

var<storage, read> counters: array<u32>;
var<storage, read> parts: array<Part>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let count = part_count();
    // rounds: parts of the turn, by workgroup.
    for (var at = workgroup_id.x; at < count; at += workgroups.x) {
        let part = parts[at];
        let goes_to = next[part.vertex];
        if goes_to != labels[part.vertex] {
            let list = lists[part.vertex];
            let first = list.x + (at - part.first) * PART;
            let end = min(first + PART, list.y);
            // rounds: 2048 / 256.
            for (var place = first + lane; place < end; place += THREADS) {
                activate(neighbours[place], goes_to);
            }
        }
    }
}
