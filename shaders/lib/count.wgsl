// Counts the neighbours of opened lists: in the workgroup, then once for the whole workgroup.

var<workgroup> counted: atomic<u32>;

// Starts counting; a barrier must follow.
fn count_begin(lane: u32) {
    if lane == 0u {
        atomicStore(&counted, 0u);
    }
}

// Adds the counts of all threads. In uniform control flow.
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

// Adds to the 64-bit number of edges.
fn count_edges(edges: u32) {
    let before = atomicAdd(&counters.edges_low, edges);
    if before + edges < before {
        atomicAdd(&counters.edges_high, 1u);
    }
}
