// Takes the vertices of a batch that decide in a turn, and sorts them into bins by the lengths of their lists: for each
// bin a number in `counters` and entries of `queue`. Of long lists, `parts` has the parts, and `queue` the number of
// the first one.

var<storage, read_write> queue: array<u32>;
var<storage, read_write> counters: array<atomic<u32>>;
var<storage, read_write> parts: array<Part>;
// A bit for each vertex that has to decide.
var<storage, read_write> bits: array<atomic<u32>>;

// The workgroup's number of vertices in each bin, and the place of the first one.
var<workgroup> wanted: array<atomic<u32>, BINS>;
var<workgroup> bases: array<u32, BINS>;

// The bin of a list.
fn bin_of(length: u32) -> u32 {
    return u32(length > LENGTH_0) + u32(length > LENGTH_1) + u32(length > LENGTH_2) + u32(length > LENGTH_3);
}

// Whether a vertex with this list decides.
fn goes(vertex: u32) -> bool {
    let bit = 1u << (vertex % 32u);
    if (atomicLoad(&bits[vertex / 32u]) & bit) == 0u || !may_go(vertex) {
        return false;
    }
    if turn.all_go == 0u && (scattered(vertex, turn.chance).x & 1u) != 0u {
        return false;
    }
    atomicAnd(&bits[vertex / 32u], ~bit);
    return true;
}

// Adds the parts of a long list; returns the number of the first one.
fn parts_add(vertex: u32, length: u32) -> u32 {
    let count = (length + PART - 1u) / PART;
    let first = atomicAdd(&counters[turn.counters + PARTS], count);
    // rounds: edges of a list / 2048.
    for (var part = 0u; part < count; part += 1u) {
        parts[first + part] = Part(vertex, first, count);
    }
    return first;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if lane < BINS {
        atomicStore(&wanted[lane], 0u);
    }
    workgroupBarrier();
    let vertex = vertex_of(workgroup_id, workgroups, lane);
    let is_taken = vertex < turn.end && goes(vertex);
    var bin = 0u;
    var at = 0u;
    if is_taken {
        bin = bin_of(length_of(vertex));
        at = atomicAdd(&wanted[bin], 1u);
    }
    workgroupBarrier();
    if lane < BINS {
        let here = atomicLoad(&wanted[lane]);
        if here != 0u {
            bases[lane] = atomicAdd(&counters[turn.counters + lane], here);
        }
    }
    workgroupBarrier();
    if is_taken {
        var entry = vertex;
        if bin == BINS - 1u {
            entry = parts_add(vertex, length_of(vertex));
        }
        queue[bin * turn.room + bases[bin] + at] = entry;
        taken(vertex);
    }
}
