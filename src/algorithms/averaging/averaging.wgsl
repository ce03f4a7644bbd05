// Averaging: value[v] is computed from the mean of in-neighbours' values by weight. In the first superstep all values
// are 1, so the sums are those of weights, and are stored as norm[v]. With HELD seeds (sources) keep the value that
// norm[v] has from the beginning. With FLOAT refused[v] says that the weight of an edge to v is negative, infinite or
// NaN, or that their sum is too large.

// The first values are the same for all vertices.
fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let sum = sum_load(vertex);
    sum_store(vertex, 0.0);
    let is_seed = seed_test(vertex);
    if step.superstep == 0u {
        return vec4<f32>(0.0, first_value(vertex, sum, is_seed), 0.0, 0.0);
    }
    if HELD {
        if is_seed {
            return vec4<f32>(0.0);
        }
    }
    let norm = norm_load(vertex);
    let mean = select(0.0, sum / max(norm, SMALLEST_NORMAL), norm >= SMALLEST_NORMAL);
    let before = value_load(vertex);
    let after = step.scalars.x * before + step.scalars.y * mean + select(0.0, step.scalars.z, is_seed);
    value_store(vertex, after);
    return vec4<f32>(abs(after - before), 0.0, 0.0, 0.0);
}

// Sets a vertex's first value, given the sum of its weights; returns 1 if that is rejected.
fn first_value(vertex: u32, norm: f32, is_seed: bool) -> f32 {
    if HELD {
        if is_seed {
            value_store(vertex, norm_load(vertex));
        } else {
            norm_store(vertex, norm);
            value_store(vertex, 0.0);
        }
    } else {
        norm_store(vertex, norm);
        value_store(vertex, select(0.0, 1.0, is_seed));
    }
    if FLOAT {
        if bitcast<u32>(norm) > bitcast<u32>(NORM_MAX) {
            refused_insert(vertex);
        }
        return select(0.0, 1.0, refused_test(vertex));
    } else {
        return 0.0;
    }
}
