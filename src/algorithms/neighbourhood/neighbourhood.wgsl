// Neighbourhoods that ignore the direction of edges: level[v] is the number of hops from a source. Two supersteps to a
// hop, the second one over in-lists; the vertices whose level was set then are the outermost ones of the next hop.

struct Record {
    unused: u32,
}

fn list_open(list: List) -> Record {
    return Record();
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    level_min(neighbour, step.superstep / 2u + 1u);
    return true;
}

fn list_close(record: Record, list: List) {}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    // The first superstep of a hop has an even number.
    if (step.superstep & 1u) == 0u {
        return vec4<f32>();
    }
    if level_load(vertex) == step.superstep / 2u + 1u {
        outermost_insert(vertex);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    if outermost_test(vertex) {
        outermost_remove(vertex);
    }
    return vec4<f32>();
}
