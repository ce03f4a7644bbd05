// For every vertex, the sum of weight * (neighbour + 1) over its list, times 2^10. Weights are below 2^20 and
// neighbours below 2^16 - 1, so that the product of a half of the weight and a neighbour is a word.

struct Record {
    sum: U64,
}

fn list_open(list: List) -> Record {
    return Record(U64(0u, 0u));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    let low = (weight & 0xffffu) * (neighbour + 1u);
    let high = (weight >> 16u) * (neighbour + 1u);
    (*record).sum = u64_add((*record).sum, u64_add(U64(low, 0u), U64(high << 16u, high >> 16u)));
    return true;
}

fn list_close(record: Record, list: List) {
    sum_add(list.vertex, U64(record.sum.x << 10u, (record.sum.y << 10u) | (record.sum.x >> 22u)));
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}
