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

// The next superstep of a traversal that continues with the same numbers until no vertex is activated.
fn next_while_active(now: Step, found: Found, visit: u32) -> Next {
    let goes_on = any(found.activated != U64(0u, 0u));
    return Next(select(STOP, visit, goes_on), now.scalars, now.integers, MANY);
}

// The next superstep of an algorithm whose vertex phase has counted the vertices of the set to visit.
fn next_of_set(now: Step, visit: u32, integers: vec4<u32>, vertices: f32) -> Next {
    // Numbers that f32 cannot represent exactly are too large for a queue.
    return Next(visit, now.scalars, integers, u32(min(vertices, 4294967040.0)));
}

// The next superstep with these numbers, or the end of the run.
fn next_unless(stops: bool, visit: u32, scalars: vec4<f32>, integers: vec4<u32>) -> Next {
    return Next(select(visit, STOP, stops), scalars, integers, MANY);
}
