// Sums the weights of edges between two groups, in a table for each group.

// Where each group's table begins and ends; groups without one are left out.
var<storage, read> tables: array<vec2<u32>>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = (workgroup_id.y * workgroups.x + workgroup_id.x) * THREADS + lane;
    if place < making.places {
        let vertex = owner_of(place);
        if place < lists[vertex].y {
            let edge = edge_at(vertex, place);
            let table = tables[edge.group];
            if edge.counts && table.x < table.y {
                hub_add(edge.other, weight_of(place), table.x, table.y - table.x);
            }
        }
    }
}
