// Neighbours, the weights of the edges to them, and the groups that they are in.

var<storage, read> neighbours: array<u32>;
// Of wide weights two words each, the low one first.
var<storage, read> weights: array<u32>;
// The community of each vertex, or its group, by label.
var<storage, read> labels: array<u32>;

// The weight of an edge, by its place.
fn weight_at(at: u32) -> U64 {
    var weight = U64(1u, 0u);
    if WEIGHTED {
        if WIDE_WEIGHTS {
            weight = U64(weights[2u * at], weights[2u * at + 1u]);
        } else {
            weight.x = weights[at];
        }
    }
    return weight;
}

// Whether an edge counts: those of weight 0 do not.
fn has_weight(weight: U64) -> bool {
    return (weight.x | weight.y) != 0u;
}
