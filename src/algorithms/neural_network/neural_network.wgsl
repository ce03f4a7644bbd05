// A neural network: value[v] becomes an activation function of sum[v], unless held[v]. step.integers.x is the function,
// step.scalars.x the tolerance. Totals: vertices that change by the tolerance or more; vertices that are rejected.

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let sum = sum_load(vertex);
    sum_store(vertex, 0.0);
    var refusals = 0.0;
    if FLOAT {
        refusals = select(0.0, 1.0, refused_test(vertex));
    }
    if held_test(vertex) {
        return vec4<f32>(0.0, refusals, 0.0, 0.0);
    }
    let before = value_load(vertex);
    let after = activation(sum);
    value_store(vertex, after);
    let is_changed = abs(after - before) >= step.scalars.x;
    refusals += select(1.0, 0.0, abs(after) <= LARGEST);
    return vec4<f32>(select(0.0, 1.0, is_changed), refusals, 0.0, 0.0);
}

fn activation(x: f32) -> f32 {
    switch step.integers.x {
        case TANH: { return tangent(x); }
        case SIGMOID: { return 1.0 / (1.0 + exp(-clamp(x, -80.0, 80.0))); }
        default: { return max(x, 0.0); }
    }
}

// The hyperbolic tangent. Near 0 the quotient of exponentials loses precision; Taylor's series does not.
fn tangent(x: f32) -> f32 {
    let square = x * x;
    let series = 1.0
        + square * (-1.0 / 3.0 + square * (2.0 / 15.0 + square * (-17.0 / 315.0 + square * (62.0 / 2835.0))));
    let quotient = 1.0 - 2.0 / (exp(2.0 * clamp(x, -40.0, 40.0)) + 1.0);
    return select(quotient, x * series, abs(x) < 0.25);
}
