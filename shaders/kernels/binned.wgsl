// Binned: runs the edge function over all lists, which `bin` has sorted by length: a list of the first bin has one
// thread, of the second 8, of the third 32, and a part of a long list has a workgroup. So the threads of a subgroup
// have about as much to do, and a list is written once, without atomics.

// The number of units of a bin, with this many threads for each entry.
fn units_of(count: u32, lanes: u32) -> u32 {
    return (count + WORKGROUP / lanes - 1u) / (WORKGROUP / lanes);
}

// Processes a thread's share of an entry. In uniform control flow.
fn take_binned(entry: HubEntry, is_part: bool, lanes: u32, lane: u32) {
    let page = batch.pages[entry.page];
    let first = entry.first_edge + lane % lanes;
    let end = entry.first_edge + entry.edge_count;
    var list = list_here(entry.vertex, entry.length, !is_part && lanes == 1u);
    var record: Record;
    if first < end {
        record = list_open(list);
        take_edges(&record, page, list, first, end, lanes);
    }
    if JOINED {
        let together = joinable(lanes, lane);
        record = joined(record, together);
        // If any thread of a group has an edge, the first one has.
        if first < end && lane % together == 0u {
            list.whole = !is_part && together == lanes;
            list_close(record, list);
        }
    } else if first < end {
        list_close(record, list);
    }
}

// Processes a unit: as many entries of a bin as the workgroup has threads for. In uniform control flow.
fn take_unit(number: u32, lane: u32) {
    var unit = number;
    var bin = 0u;
    var lanes = 1u;
    var units = units_of(bins.counts[0], lanes);
    // rounds: 3.
    while unit >= units && bin + 1u < BINS {
        unit -= units;
        bin += 1u;
        lanes = select(select(WORKGROUP, 32u, bin == 2u), 8u, bin == 1u);
        units = units_of(bins.counts[bin], lanes);
    }
    let at = unit * (WORKGROUP / lanes) + lane / lanes;
    var entry = HubEntry();
    if unit < units && at < bins.counts[bin] {
        entry = bins.entries[bins.begins[bin] + at];
    }
    take_binned(entry, bin == BINS - 1u, lanes, lane);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let units = units_of(bins.counts[0], 1u) + units_of(bins.counts[1], 8u) + units_of(bins.counts[2], 32u)
        + bins.counts[3];
    let stride = workgroups.x * workgroups.y;
    // rounds: lists / 2^20: 2^12 at most.
    for (var unit = unit_number(workgroup_id, workgroups); unit < units; unit += stride) {
        take_unit(unit, lane);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
