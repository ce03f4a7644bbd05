// Counts the neighbours of opened lists: in the workgroup, then once for the whole workgroup.

var<workgroup> counted: atomic<u32>;

// Starts counting; a barrier must follow.
fn count_begin(lane: u32) {
    if lane == 0u {
        atomicStore(&counted, 0u);
    }
}

// Adds the counts of all threads of workgroup `number`. In uniform control flow.
fn count_end(number: u32, lane: u32, edges: u32) {
    if SUBGROUPS {
        let sum = subgroupAdd(edges);
        if subgroupExclusiveAdd(1u) == 0u && sum != 0u {
            atomicAdd(&counted, sum);
        }
    } else {
        if edges != 0u {
            atomicAdd(&counted, edges);
        }
    }
    workgroupBarrier();
    if lane == 0u {
        count_edges(number, atomicLoad(&counted));
    }
}

// Adds two pairs of 64-bit numbers: (x, y) and (z, w), low word first.
fn add_counts(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let sum = a + b;
    let carries = select(vec2<u32>(0u), vec2<u32>(1u), sum.xz < a.xz);
    return vec4<u32>(sum.x, sum.y + carries.x, sum.z, sum.w + carries.y);
}

// Adds to the number of edges. Does not use the results of the atomics, for which the workgroup would have to wait.
fn count_edges(number: u32, edges: u32) {
    let low = extractBits(edges, 0u, EDGE_COUNT_BITS);
    let high = edges >> EDGE_COUNT_BITS;
    if low != 0u {
        atomicAdd(&counters.edges[number % EDGE_COUNTS].low, low);
    }
    if high != 0u {
        atomicAdd(&counters.edges[number % EDGE_COUNTS].high, high);
    }
}
