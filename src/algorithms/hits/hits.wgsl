// HITS: authority[v] is computed from the hubs that lead to v, hub[v] from the authorities that v leads to.
// step.integers.x is the mode; step.scalars.x is 1 over the sum of the vector that the superstep reads.

struct Record {
    // The hub's value, which each neighbour receives, or the sum of the neighbours' authority values so far.
    value: f32,
}

fn list_open(list: List) -> Record {
    return Record(select(hub_load(list.vertex), 0.0, step.integers.x == HUBS));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if step.integers.x == HUBS {
        (*record).value += authority_load(neighbour);
    } else {
        sum_add(neighbour, (*record).value);
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if step.integers.x == HUBS {
        sum_add(list.vertex, record.value);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let scale = step.scalars.x;
    if step.integers.x == SCALE {
        authority_store(vertex, scale * authority_load(vertex));
        return vec4<f32>(0.0);
    }
    let computed = scale * sum_load(vertex);
    sum_store(vertex, 0.0);
    if step.integers.x == HUBS {
        hub_store(vertex, computed);
        return vec4<f32>(0.0, computed, 0.0, 0.0);
    }
    let hub = scale * hub_load(vertex);
    let change = abs(hub - scaled_hub_load(vertex));
    scaled_hub_store(vertex, hub);
    authority_store(vertex, computed);
    return vec4<f32>(change, computed, 0.0, 0.0);
}
