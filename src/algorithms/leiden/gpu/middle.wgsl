// Lists of middle length: a workgroup a list, and a hash table in workgroup memory.

var<storage, read> queue: array<u32>;
var<storage, read> counters: array<u32>;

var<workgroup> chosen: u32;

// The slots of a list's table: a power of two, at least twice its length.
fn slots_for(length: u32) -> u32 {
    return min(2u << (32u - countLeadingZeros(length - 1u)), SLOTS);
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let count = counters[turn.counters + BIN];
    // rounds: lists of the bin, by workgroup.
    for (var at = workgroup_id.x; at < count; at += workgroups.x) {
        let vertex = queue[BIN * turn.room + at];
        let list = lists[vertex];
        let slots = slots_for(list.y - list.x);
        let decider = decider_begin(vertex);
        table_clear(lane, slots);
        workgroupBarrier();
        // rounds: 1024 / 64.
        for (var place = list.x + lane; place < list.y; place += THREADS) {
            let weight = weight_at(place);
            let group = group_of(decider, neighbours[place]);
            if group != NO_GROUP && has_weight(weight) {
                table_add(group, weight, slots, 2u * SLOTS);
            }
        }
        workgroupBarrier();
        var choice = choice_begin(decider);
        // rounds: 2048 / 64.
        for (var slot = lane; slot < slots; slot += THREADS) {
            let group = atomicLoad(&keys[slot]);
            if group != NO_GROUP {
                choice = considered(decider, choice, group, table_sum(slot));
            }
        }
        choice = choice_among(lane, choice);
        if lane == 0u {
            chosen = decided(decider, choice);
            next[vertex] = chosen;
        }
        workgroupBarrier();
        if !REFINES {
            let goes_to = chosen;
            if goes_to != decider.own {
                // rounds: 1024 / 64.
                for (var place = list.x + lane; place < list.y; place += THREADS) {
                    activate(neighbours[place], goes_to);
                }
            }
            workgroupBarrier();
        }
    }
}
