// Widest paths: width[v] is the largest, over paths from the source, of the smallest weight on the path, as 32 bits in
// the same order as weights. With FLOAT they are the bits of non-negative floats.

alias Value = u32;

fn value_of(vertex: u32) -> u32 {
    return width_load(vertex);
}

// The width over one more edge. A weight of -0 is 0.
fn extended(width: u32, weight: u32) -> u32 {
    if FLOAT {
        return min(width, weight & ~FLOAT_NEGATIVE_ZERO);
    } else {
        return min(width, weight);
    }
}

fn improve(vertex: u32, width: u32) -> bool {
    return width_max(vertex, width);
}

