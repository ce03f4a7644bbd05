// Degrees: in_degree[v] is the number of edges that end at v. Unless COUNTED nothing is read.

struct Record {
    unused: u32,
}

fn list_open(list: List) -> Record {
    return Record();
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if COUNTED {
        in_degree_add(neighbour, 1u);
    }
    return true;
}

fn list_close(record: Record, list: List) {}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}
