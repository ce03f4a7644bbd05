// The edges of groups, one to each other group, in tables that hub_table.wgsl has filled.

var<storage, read> hub_keys: array<u32>;
var<storage, read> hub_sums: array<u32>;

fn edge_at(group: u32, place: u32) -> Edge {
    let key = hub_keys[place];
    return Edge(group, key - 1u, key != 0u);
}

fn weight_of(place: u32) -> U64 {
    if WIDE {
        return U64(hub_sums[2u * place], hub_sums[2u * place + 1u]);
    } else {
        return U64(hub_sums[place], 0u);
    }
}
