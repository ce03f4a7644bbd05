// Results of a superstep and the choice of the next one, for supersteps that the device runs without the host.

// The results of a superstep: Summary of src/model/step.rs.
struct Found {
    // The number of vertices that are active in the next superstep.
    activated: U64,
    // The total length of their out-lists.
    activated_edges: U64,
    // The sums of the vertex phase, rounded.
    sums: vec4<f32>,
    // The same as the host has them: Summary::totals.
    totals: array<F64, 4>,
    // The number of visits that the algorithm declares, and so the index of the visit without lists.
    visits: u32,
}

// The next superstep: its visit, by index among those that the algorithm declares, and its numbers.
struct Next {
    visit: u32,
    scalars: vec4<f32>,
    integers: vec4<u32>,
    // For a visit of a set: the maximum number of its vertices, MANY or SAME.
    vertices: u32,
}

// The visit that ends the run.
const STOP = 0xffffffffu;
// An unknown number of vertices.
const MANY = 0xffffffffu;
// The same number of vertices as in the superstep before.
const SAME = 0xfffffffeu;
