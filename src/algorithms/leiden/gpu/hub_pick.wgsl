// Picks the best group of a long list, a workgroup a list.

var<storage, read> queue: array<u32>;
var<storage, read> counters: array<u32>;
var<storage, read> parts: array<Part>;
var<storage, read> found: array<u32>;

fn found_word(part: u32, word: u32) -> u32 {
    return found[part * CHOICE_WORDS + word];
}

// The choice of a part.
fn found_choice(part: u32) -> Choice {
    let score = vec4<u32>(found_word(part, 0u), found_word(part, 1u), found_word(part, 2u), found_word(part, 3u));
    let tie = U64(found_word(part, 4u), found_word(part, 5u));
    return Choice(score, tie, found_word(part, 6u), U64(found_word(part, 7u), found_word(part, 8u)));
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
        let first = queue[BIN * turn.room + at];
        let part = parts[first];
        let decider = decider_begin(part.vertex);
        var choice = choice_begin(decider);
        // rounds: edges of a list / 2^19.
        for (var number = first + lane; number < first + part.count; number += THREADS) {
            let other = found_choice(number);
            let weight = u64_add(choice.weight, other.weight);
            if is_better(other, choice) {
                choice = other;
            }
            choice.weight = weight;
        }
        choice = choice_among(lane, choice);
        if lane == 0u {
            next[part.vertex] = decided(decider, choice);
        }
        workgroupBarrier();
    }
}
