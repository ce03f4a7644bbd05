// Shortest paths in double precision: dist[v] is the smallest sum of float weights along edges from the source, each
// addition rounded to the nearest double, by the bits of a non-negative double: as 64-bit integers in the same order.

alias Value = U64;

const UNREACHED = U64(0xffffffffu, 0xffffffffu);

fn value_of(vertex: u32) -> U64 {
    return dist_load(vertex);
}

// The distance over one more edge. An infinite weight leads nowhere.
fn extended(dist: U64, weight: u32) -> U64 {
    if weight == FLOAT_INFINITY || all(dist == UNREACHED) {
        return UNREACHED;
    }
    return double_sum(dist, weight);
}

// With CUTOFF a distance above the limit, which is in step.integers.zw, is not taken.
fn improve(vertex: u32, dist: U64) -> bool {
    if CUTOFF {
        if u64_less(step.integers.zw, dist) {
            return false;
        }
    }
    return dist_min(vertex, dist);
}

// Whether a vertex's distance is below a number.
fn is_before(vertex: u32, end: U64) -> bool {
    return u64_less(dist_load(vertex), end);
}
