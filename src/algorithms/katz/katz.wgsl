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
