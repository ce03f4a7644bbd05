var<storage, read_write> deciding: array<u32>;

// The turn is over: batches may share a word, of which only one has vertices that decide.
fn after(vertex: u32) {
    if vertex % 32u == 0u || vertex == turn.first {
        deciding[vertex / 32u] = 0u;
    }
}
