// Sums the weights of a part's edges by group: in a table in workgroup memory as far as there is room, whose sums are
// then added to the list's table. Many edges are to few groups, and all workgroups would contend for these.

var<storage, read> counters: array<u32>;
var<storage, read> parts: array<Part>;

// Slots of the workgroup's table that are tried.
const TRIES: u32 = 8u;

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
        let list = lists[part.vertex];
        let decider = decider_begin(part.vertex);
        let begin = part.first * PART_SLOTS;
        let slots = hub_slots(list.y - list.x);
        let first = list.x + (at - part.first) * PART;
        let end = min(first + PART, list.y);
        table_clear(lane, SLOTS);
        workgroupBarrier();
        // rounds: 2048 / 256.
        for (var place = first + lane; place < end; place += THREADS) {
            let weight = weight_at(place);
            let group = group_of(decider, neighbours[place]);
            if group != NO_GROUP && has_weight(weight) {
                if !table_add(group, weight, SLOTS, TRIES) {
                    hub_add(group, weight, begin, slots);
                }
            }
        }
        workgroupBarrier();
        // rounds: 2048 / 256.
        for (var slot = lane; slot < SLOTS; slot += THREADS) {
            let group = atomicLoad(&keys[slot]);
            if group != NO_GROUP {
                hub_add(group, table_sum(slot), begin, slots);
            }
        }
        workgroupBarrier();
    }
}
