
// The next superstep, as in PageRank::next_among. Its scalars: the base rank, the damping factor, the base rank without
// dangling vertices, and what it grows by with the sum of their ranks. Its integers: the number of iterations, and what
// rounding has taken from the last two scalars, so that the base rank is that of the host, which computes in f64.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    if now.superstep + 1u >= now.integers.x {
        return Next(STOP, now.scalars, now.integers, MANY);
    }
    let bare = vec2<f32>(now.scalars.z, bitcast<f32>(now.integers.y));
    let growth = vec2<f32>(now.scalars.w, bitcast<f32>(now.integers.z));
    let base = next_base(bare, growth, vec2<f32>(found.sums.x, found.rounded.x));
    return Next(visit, vec4<f32>(base, now.scalars.yzw), now.integers, MANY);
}

// bare + growth * mass, where each is a number and what rounding has taken from it (Dekker, Numerische Mathematik 1971).
fn next_base(bare: vec2<f32>, growth: vec2<f32>, mass: vec2<f32>) -> f32 {
    let product = growth.x * mass.x;
    // Products of halves are exact.
    let a = halves(growth.x);
    let b = halves(mass.x);
    let product_rest = ((a.x * b.x - product) + a.x * b.y + a.y * b.x) + a.y * b.y;
    let sum = bare.x + product;
    let part = sum - bare.x;
    let sum_rest = (bare.x - (sum - part)) + (product - part);
    return sum + (sum_rest + (product_rest + (bare.y + (growth.x * mass.y + growth.y * mass.x))));
}

// The upper 12 bits of a number, and the others.
fn halves(number: f32) -> vec2<f32> {
    let upper = bitcast<f32>(bitcast<u32>(number) & 0xfffff000u);
    return vec2<f32>(upper, number - upper);
}
