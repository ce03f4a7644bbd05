// Moving begins with given communities, whose masses and sizes are summed.

var<storage, read> labels: array<u32>;

fn begun(vertex: u32) -> u32 {
    let community = labels[vertex];
    group_add(community, mass_of(vertex), 1u);
    return community;
}
