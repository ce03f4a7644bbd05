// What a superstep has found, and the next one: for algorithms whose supersteps a device runs by itself.

// The results of a superstep: Summary of src/model/step.rs.
struct Found {
    // The number of vertices that are active in the next superstep.
    activated: U64,
    // The lengths of their out-lists, added up.
    activated_edges: U64,
    // The sums of the vertex phase.
    sums: vec4<f32>,
    // How many visits the algorithm declares. The place of the visit that reads nothing.
    visits: u32,
}

// The next superstep: what it visits, by its place among the visits that the algorithm declares, and its numbers.
struct Next {
    visit: u32,
    scalars: vec4<f32>,
    integers: vec4<u32>,
    // For a visit of a set: how many vertices are in it, at most; or MANY, or SAME.
    vertices: u32,
}

// The visit that ends the run.
const STOP = 0xffffffffu;
// A number of vertices that is not known.
const MANY = 0xffffffffu;
// The number of vertices of the set that the superstep before has visited.
const SAME = 0xfffffffeu;

// The next superstep of a traversal that continues with the same numbers as long as vertices are activated.
fn next_while_active(now: Step, found: Found, visit: u32) -> Next {
    let goes_on = any(found.activated != U64(0u, 0u));
    return Next(select(STOP, visit, goes_on), now.scalars, now.integers, MANY);
}

// The next superstep, of an algorithm whose vertex phase has counted the vertices of the set that is visited next.
fn next_of_set(now: Step, visit: u32, integers: vec4<u32>, vertices: f32) -> Next {
    // A larger number than f32 has exactly is too large for a queue.
    return Next(visit, now.scalars, integers, u32(min(vertices, 4294967040.0)));
}
