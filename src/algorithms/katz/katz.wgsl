// Katz centrality: value[v] becomes alpha * sum[v] + beta; in the last superstep it is divided by the norm of all
// values. step.scalars: alpha, beta, and in the last superstep 1 over the norm.

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let before = value_load(vertex);
    if step.scalars.z > 0.0 {
        value_store(vertex, before * step.scalars.z);
        return vec4<f32>(0.0);
    }
    let after = step.scalars.x * sum_load(vertex) + step.scalars.y;
    sum_store(vertex, 0.0);
    value_store(vertex, after);
    return vec4<f32>(abs(after - before), after * after, 0.0, 0.0);
}

// The next superstep, as in Katz::next.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    let squares = found.totals[1];
    if visit == found.visits || !f64_is_finite(squares) {
        return Next(STOP, now.scalars, now.integers, MANY);
    }
    if !is_done(now, now.superstep + 1u, found.totals[0]) {
        return Next(visit, now.scalars, now.integers, MANY);
    }
    let scale = f64_to_f32(f64_div(F64_ONE, f64_sqrt(squares)));
    return Next(found.visits, vec4<f32>(0.0, 0.0, scale, 0.0), vec4<u32>(), MANY);
}

