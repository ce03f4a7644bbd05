// Counting the neighbours of opened lists: in the workgroup, then once for all of it.

var<workgroup> counted: atomic<u32>;

// Begins to count; a barrier must follow.
fn count_begin(lane: u32) {
    if lane == 0u {
        atomicStore(&counted, 0u);
    }
}

// Adds what every thread has counted. In uniform control flow.
fn count_end(lane: u32, edges: u32) {
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
        count_edges(atomicLoad(&counted));
    }
}

// Adds to the number of edges, of 64 bits.
fn count_edges(edges: u32) {
    let before = atomicAdd(&counters.edges_low, edges);
    if before + edges < before {
        atomicAdd(&counters.edges_high, 1u);
    }
}
