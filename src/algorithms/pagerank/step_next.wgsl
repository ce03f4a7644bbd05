
// The next superstep, as in PageRank::next_among, but for the last bit of the base rank: the host adds up in f64. Its
// numbers: the base rank, the damping factor, the base rank without dangling vertices, and what it grows by with their
// ranks' sum; the number of iterations.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    if now.superstep + 1u >= now.integers.x {
        return Next(STOP, now.scalars, now.integers, MANY);
    }
    let base = now.scalars.z + now.scalars.w * found.sums.x;
    return Next(visit, vec4<f32>(base, now.scalars.yzw), now.integers, MANY);
}
