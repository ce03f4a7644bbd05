// Shortest paths: dist[v] is the smallest sum of weights along edges from the source, as 32 bits in the same order as
// distances. With FLOAT they are the bits of non-negative floats.

alias Value = u32;

fn value_of(vertex: u32) -> u32 {
    return dist_load(vertex);
}

// The distance over one more edge. An infinite weight leads nowhere.
fn extended(dist: u32, weight: u32) -> u32 {
    if FLOAT {
        return select(float_sum(dist, weight), FLOAT_INFINITY, weight == FLOAT_INFINITY);
    } else {
        return whole_sum(dist, weight);
    }
}

// With CUTOFF a distance above the limit, which is in step.integers.z, is not taken.
fn improve(vertex: u32, dist: u32) -> bool {
    if CUTOFF {
        if dist > step.integers.z {
            return false;
        }
    }
    return dist_min(vertex, dist);
}

// Whether a vertex's distance is below a number, which is in the low word.
fn is_before(vertex: u32, end: U64) -> bool {
    return dist_load(vertex) < end.x;
}

