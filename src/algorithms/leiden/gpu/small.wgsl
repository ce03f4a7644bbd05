// Short lists: WIDTH threads a list, one an edge. Each sums the edges to the group of its own, and the first edge to a
// group considers it.

var<storage, read> queue: array<u32>;
var<storage, read> counters: array<u32>;

var<workgroup> groups: array<u32, THREADS>;
var<workgroup> low_weights: array<u32, THREADS>;
var<workgroup> high_weights: array<u32, THREADS>;
var<workgroup> chosen: array<u32, THREADS / WIDTH>;

// The weight of all edges to the group of this thread's edge; none unless it is the first.
fn sum_of(lane: u32, group: u32) -> U64 {
    let begin = lane / WIDTH * WIDTH;
    var sum = U64(0u, 0u);
    // rounds: 32.
    for (var at = 0u; at < WIDTH; at += 1u) {
        if groups[begin + at] == group {
            if begin + at < lane {
                return U64(0u, 0u);
            }
            if WIDE {
                sum = u64_add(sum, U64(low_weights[begin + at], high_weights[begin + at]));
            } else {
                sum.x += low_weights[begin + at];
            }
        }
    }
    return sum;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let count = counters[turn.counters + BIN];
    let lists_each = THREADS / WIDTH;
    // rounds: lists of the bin, by workgroup.
    for (var begin = workgroup_id.x * lists_each; begin < count; begin += workgroups.x * lists_each) {
        let at = begin + lane / WIDTH;
        let vertex = queue[BIN * turn.room + min(at, count - 1u)];
        let list = lists[vertex];
        let place = list.x + lane % WIDTH;
        let is_edge = at < count && place < list.y;
        let decider = decider_begin(vertex);
        var neighbour = vertex;
        var group = NO_GROUP;
        var weight = U64(0u, 0u);
        if is_edge {
            neighbour = neighbours[place];
            weight = weight_at(place);
            if has_weight(weight) {
                group = group_of(decider, neighbour);
            }
        }
        groups[lane] = group;
        low_weights[lane] = weight.x;
        if WIDE {
            high_weights[lane] = weight.y;
        }
        workgroupBarrier();
        var choice = choice_begin(decider);
        if group != NO_GROUP {
            let sum = sum_of(lane, group);
            if has_weight(sum) {
                choice = considered(decider, choice, group, sum);
            }
        }
        choice = choice_among(lane, choice);
        if lane % WIDTH == 0u && at < count {
            let goes_to = decided(decider, choice);
            next[vertex] = goes_to;
            chosen[lane / WIDTH] = goes_to;
        }
        if !REFINES {
            workgroupBarrier();
            let goes_to = chosen[lane / WIDTH];
            if is_edge && goes_to != decider.own {
                activate(neighbour, goes_to);
            }
        }
        workgroupBarrier();
    }
}
