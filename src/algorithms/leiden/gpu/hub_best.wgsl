// Finds the best group of each part of a table, and empties it.

var<storage, read> counters: array<u32>;
var<storage, read> parts: array<Part>;
var<storage, read_write> hub_keys: array<u32>;
var<storage, read_write> hub_sums: array<u32>;
// CHOICE_WORDS words a part.
var<storage, read_write> found: array<u32>;

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
        let decider = decider_begin(part.vertex);
        let begin = part.first * PART_SLOTS;
        let first = (at - part.first) * PART_SLOTS;
        let end = min(first + PART_SLOTS, hub_slots(length_of(part.vertex)));
        var choice = choice_begin(decider);
        // rounds: 4096 / 256.
        for (var slot = begin + first + lane; slot < begin + end; slot += THREADS) {
            let key = hub_keys[slot];
            if key != 0u {
                var sum = U64(0u, 0u);
                if WIDE {
                    sum = U64(hub_sums[2u * slot], hub_sums[2u * slot + 1u]);
                    hub_sums[2u * slot] = 0u;
                    hub_sums[2u * slot + 1u] = 0u;
                } else {
                    sum.x = hub_sums[slot];
                    hub_sums[slot] = 0u;
                }
                hub_keys[slot] = 0u;
                choice = considered(decider, choice, key - 1u, sum);
            }
        }
        choice = choice_among(lane, choice);
        if lane < CHOICE_WORDS {
            found[at * CHOICE_WORDS + lane] = choice_word(0u, lane);
        }
        workgroupBarrier();
    }
}
