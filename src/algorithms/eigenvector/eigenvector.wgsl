// Eigenvector centrality: centrality[v] is the vector of the last iteration, of norm 1; value[v] the next one before it
// is scaled. step.scalars.x is 1 over the norm of value.

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let value = value_load(vertex);
    let centrality = step.scalars.x * value;
    let next = step.scalars.x * (value + sum_load(vertex));
    let change = abs(centrality - centrality_load(vertex));
    sum_store(vertex, 0.0);
    centrality_store(vertex, centrality);
    value_store(vertex, next);
    return vec4<f32>(change, next * next, 0.0, 0.0);
}
