// Begins to move or to refine: the vertices of the turn are those of the level.

var<storage, read_write> next: array<u32>;
// A bit for each vertex that has to decide: all that have neighbours.
var<storage, read_write> bits: array<atomic<u32>>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let vertex = vertex_of(workgroup_id, workgroups, lane);
    if vertex < turn.end {
        next[vertex] = begun(vertex);
        if length_of(vertex) != 0u {
            atomicOr(&bits[vertex / 32u], 1u << (vertex % 32u));
        }
    }
}
