// Refining: vertices that are alone decide, and are known to do so.

var<storage, read> labels: array<u32>;
var<storage, read> sizes: array<u32>;
var<storage, read_write> deciding: array<atomic<u32>>;

fn may_go(vertex: u32) -> bool {
    return sizes[vertex] == 1u && labels[vertex] == vertex;
}

fn taken(vertex: u32) {
    atomicOr(&deciding[vertex / 32u], 1u << (vertex % 32u));
}
