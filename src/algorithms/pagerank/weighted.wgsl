// PageRank by weights: rank[v] = base + damping * (sum of weight(u -> v) * share[u] over edges u -> v). A share is the
// rank over the total weight of the out-edges (the rank itself where that is 0). The first superstep adds up every
// list's weights. With FLOAT refused[v] says that a weight of v is negative, infinite or NaN, or their sum too large.

struct Record {
    // The share for a unit of weight, or the sum of the list's weights so far.
    value: f32,
}

fn list_open(list: List) -> Record {
    if step.superstep == 0u {
        return Record(0.0);
    }
    return Record(share_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    var factor = f32(weight);
    if FLOAT {
        let is_refused = weight >= FLOAT_INFINITY && weight != FLOAT_NEGATIVE_ZERO;
        factor = bitcast<f32>(select(weight, 0u, is_refused));
        if is_refused {
            refused_insert(list.vertex);
        }
    }
    if step.superstep == 0u {
        (*record).value += factor;
    } else {
        sum_add(neighbour, factor * (*record).value);
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if step.superstep == 0u {
        sum_add(list.vertex, record.value);
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

// Totals: the rank of dangling vertices, the change, and the vertices with a rejected weight.
fn vertex_update(vertex: u32) -> vec4<f32> {
    let sum = sum_load(vertex);
    sum_store(vertex, 0.0);
    if step.superstep > 0u {
        return set_rank(vertex, step.scalars.x + step.scalars.y * sum);
    }
    strength_store(vertex, sum);
    var totals = set_rank(vertex, 1.0 / (f32(step.vertices_last) + 1.0));
    if FLOAT {
        if bitcast<u32>(sum) > bitcast<u32>(STRENGTH_MAX) {
            refused_insert(vertex);
        }
        totals.z = select(0.0, 1.0, refused_test(vertex));
    }
    return totals;
}

// Sets a vertex's rank; returns the rank if it is dangling, and its change.
fn set_rank(vertex: u32, rank: f32) -> vec4<f32> {
    let strength = strength_load(vertex);
    let dangling = strength < SMALLEST_NORMAL;
    let parts = select(strength, 1.0, dangling);
    let share = rank / parts;
    let change = abs(share - share_load(vertex)) * parts;
    share_store(vertex, share);
    return vec4<f32>(select(0.0, rank, dangling), change, 0.0, 0.0);
}
