// Counts the edges of each group, or writes them to its list. Edges of a vertex within a workgroup get places together,
// so that groups of many vertices are not contended for.

// The edges of each group; or the next place of its list.
var<storage, read_write> cursors: array<atomic<u32>>;
var<storage, read_write> made_neighbours: array<u32>;
// Of wide weights two words each, the low one first.
var<storage, read_write> made_weights: array<u32>;

// The number of edges that count, up to each thread's.
var<workgroup> counts: array<u32, THREADS>;
// At the first thread of each list: where its edges go.
var<workgroup> bases: array<u32, THREADS>;

fn edge_put(at: u32, other: u32, place: u32) {
    made_neighbours[at] = other;
    if MADE_WEIGHTED {
        let weight = weight_of(place);
        if MADE_WIDE {
            made_weights[2u * at] = weight.x;
            made_weights[2u * at + 1u] = weight.y;
        } else {
            made_weights[at] = weight.x;
        }
    }
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = (workgroup_id.y * workgroups.x + workgroup_id.x) * THREADS;
    let place = block + lane;
    var edge = Edge(0u, 0u, false);
    var list = vec2<u32>(0u, 0u);
    if place < making.places {
        let vertex = owner_of(place);
        list = lists[vertex];
        if place < list.y {
            edge = edge_at(vertex, place);
        }
    }
    counts[lane] = u32(edge.counts);
    workgroupBarrier();
    // rounds: 8.
    for (var by = 1u; by < THREADS; by *= 2u) {
        var before = 0u;
        if lane >= by {
            before = counts[lane - by];
        }
        workgroupBarrier();
        counts[lane] += before;
        workgroupBarrier();
    }
    let first = max(list.x, block) - block;
    var before = 0u;
    if first > 0u {
        before = counts[first - 1u];
    }
    if lane == first && place < list.y {
        let count = counts[min(list.y - block, THREADS) - 1u] - before;
        if count != 0u {
            bases[lane] = atomicAdd(&cursors[edge.group], count);
        }
    }
    workgroupBarrier();
    if PLACES {
        if edge.counts {
            edge_put(bases[first] + counts[lane] - before - 1u, edge.other, place);
        }
    }
}
