// Sums over vertices, the same bits on every run: each workgroup has its own vertices, each thread adds its own in
// order, and threads are added up in a fixed tree.

// A sum and its accumulated rounding error (Kahan 1965).
struct Sum {
    value: vec4<f32>,
    excess: vec4<f32>,
}

fn sum_with(sum: Sum, term: vec4<f32>) -> Sum {
    let wanted = term - sum.excess;
    let value = sum.value + wanted;
    return Sum(value, (value - sum.value) - wanted);
}

var<workgroup> partial_sums: array<vec4<f32>, WORKGROUP>;

// The sum over a workgroup's threads, for the first of them. In uniform control flow.
fn sum_of_workgroup(lane: u32, sum: vec4<f32>) -> vec4<f32> {
    partial_sums[lane] = sum;
    // rounds: 8.
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            partial_sums[lane] += partial_sums[lane + half];
        }
    }
    return partial_sums[0];
}

// A workgroup's share of 0..=last, in blocks of one item a thread: blocks at a fixed stride, so that workgroups that
// run concurrently read adjacent memory.
struct Blocks {
    first: u32,
    end: u32,
    stride: u32,
}

fn blocks_of(unit: u32, units: u32, last: u32) -> Blocks {
    return Blocks(unit, last / WORKGROUP + 1u, units);
}
