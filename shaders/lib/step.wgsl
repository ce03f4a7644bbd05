// What a superstep has found, and the next one: for algorithms whose supersteps a device runs by itself.

// The results of a superstep: Summary of src/model/step.rs.
struct Found {
    // The number of vertices that are active in the next superstep.
    activated: U64,
    // The lengths of their out-lists, added up.
    activated_edges: U64,
    // The sums of the vertex phase.
    sums: vec4<f32>,
    // How many visits the algorithm declares.
    visits: u32,
}

// The next superstep: what it visits, by its place among the visits that the algorithm declares, and its numbers.
struct Next {
    visit: u32,
    scalars: vec4<f32>,
    integers: vec4<u32>,
}

// The visit that ends the run.
const STOP = 0xffffffffu;

// The next superstep of a traversal that continues with the same numbers as long as vertices are activated.
fn next_while_active(now: Step, found: Found, visit: u32) -> Next {
    let goes_on = any(found.activated != U64(0u, 0u));
    return Next(select(STOP, visit, goes_on), now.scalars, now.integers);
}
