// Sums the weights of a part's edges by group: in a table in workgroup memory as far as there is room, whose sums are
// then added to the list's table. Many edges are to few groups, and all workgroups would contend for these.

var<storage, read> counters: array<u32>;
var<storage, read> parts: array<Part>;
// A slot's label plus one, or 0, and its sum, of two words if sums are wide.
var<storage, read_write> hub_keys: array<atomic<u32>>;
var<storage, read_write> hub_sums: array<atomic<u32>>;

// Slots of the workgroup's table that are tried.
const TRIES: u32 = 8u;

// Adds a weight to a group's in a table in device memory, of these slots.
fn hub_add(group: u32, weight: U64, begin: u32, slots: u32) {
    var slot = u64_product(group * 2654435761u, slots).y;
    // rounds: slots of the table, and few of them since half are free.
    for (var tried = 0u; tried < 2u * slots; tried += 1u) {
        var key = atomicLoad(&hub_keys[begin + slot]);
        if key == 0u {
            let exchange = atomicCompareExchangeWeak(&hub_keys[begin + slot], 0u, group + 1u);
            key = select(exchange.old_value, group + 1u, exchange.exchanged);
        }
        if key == group + 1u {
            if WIDE {
                let before = atomicAdd(&hub_sums[2u * (begin + slot)], weight.x);
                let high = weight.y + u32(before + weight.x < before);
                if high != 0u {
                    atomicAdd(&hub_sums[2u * (begin + slot) + 1u], high);
                }
            } else {
                atomicAdd(&hub_sums[begin + slot], weight.x);
            }
            return;
        }
        if key != 0u {
            slot = select(slot + 1u, 0u, slot + 1u == slots);
        }
    }
}

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
