// The edges of the level, under the names of groups, which `labels` has.

fn edge_at(vertex: u32, place: u32) -> Edge {
    let group = labels[vertex];
    let other = labels[neighbours[place]];
    return Edge(group, other, group != other && has_weight(weight_at(place)));
}

fn weight_of(place: u32) -> U64 {
    return weight_at(place);
}
