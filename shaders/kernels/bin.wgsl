// Bin: sorts the lists of a table of pages into bins by their length, for `binned`, once for all supersteps that visit
// all of them. The first launch counts (`fills` is 0), the second one writes the entries. A thread takes a list.

// The workgroup's number of entries in each bin, and the index of its first one.
var<workgroup> wanted: array<atomic<u32>, BINS>;
var<workgroup> bases: array<u32, BINS>;

// The bin of a list.
fn bin_of(length: u32) -> u32 {
    return u32(length > BIN_ALONE) + u32(length > BIN_FEW) + u32(length > HUB_EDGES);
}

// Writes the entries of a list: parts of a long list, otherwise one.
fn write_parts(begin: u32, parts: u32, whole: HubEntry) {
    // rounds: edges of a list in a page / 2048: 2^13 at most.
    for (var part = 0u; part < parts; part += 1u) {
        let first = part * HUB_EDGES;
        let edges = min(HUB_EDGES, whole.edge_count - first);
        binning.entries[begin + part] =
            HubEntry(whole.page, whole.first_edge + first, edges, whole.vertex, whole.length);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    if unit >= batch.unit_count {
        return;
    }
    let number = page_of_unit(unit);
    let page = batch.pages[number];
    if lane < BINS {
        atomicStore(&wanted[lane], 0u);
    }
    workgroupBarrier();
    let slot = (unit - page.first_unit) * WORKGROUP + lane;
    var list = HubEntry();
    if page.degree != 0u {
        // A large page is one part of one list; its first unit takes all of it.
        if slot == 0u {
            list = HubEntry(number, 0u, page.edge_count, page.start_vertex, page.degree);
        }
    } else if slot < page.slot_count {
        let begin = slot_begin(page, slot);
        let length = slot_begin(page, slot + 1u) - begin;
        list = HubEntry(number, begin, length, page.start_vertex + slot, length);
    }
    let bin = select(bin_of(list.edge_count), BINS - 1u, page.degree != 0u);
    let parts = select(u32(list.edge_count != 0u), (list.edge_count + HUB_EDGES - 1u) / HUB_EDGES, bin == BINS - 1u);
    var at = 0u;
    if parts != 0u {
        at = atomicAdd(&wanted[bin], parts);
    }
    workgroupBarrier();
    if lane < BINS {
        bases[lane] = binning.begins[lane];
        let here = atomicLoad(&wanted[lane]);
        if here != 0u {
            bases[lane] += atomicAdd(&binning.counts[lane], here);
        }
    }
    workgroupBarrier();
    if binning.fills != 0u && parts != 0u {
        write_parts(bases[bin] + at, parts, list);
    }
}
