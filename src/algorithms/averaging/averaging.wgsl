// Averaging: value[v] is computed from the mean of in-neighbours' values by weight. In the first superstep all values
// are 1, so the sums are those of weights, and are stored as norm[v]. With HELD seeds (sources) keep the value that
// norm[v] has from the beginning. With FLOAT refused[v] says that the weight of an edge to v is negative, infinite or
// NaN, or that their sum is too large.

struct Record {
    // The value that each out-neighbour receives by weight (push), or the sum over in-neighbours so far (pull).
    value: f32,
}

fn list_open(list: List) -> Record {
    var record: Record;
    if !PULL {
        record.value = value_load(list.vertex);
    }
    return record;
}

// Pull reads its neighbour's value; push needs no more than the neighbour.
fn list_gather(neighbour: u32) -> u32 {
    if PULL {
        return bitcast<u32>(value_load(neighbour));
    }
    return neighbour;
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    var factor = 1.0;
    if FLOAT {
        factor = bitcast<f32>(select(0u, weight, weight < FLOAT_INFINITY));
        if weight >= FLOAT_INFINITY && weight != FLOAT_NEGATIVE_ZERO {
            if PULL {
                refused_insert(list.vertex);
            } else {
                refused_insert(neighbour);
            }
        }
    } else {
        if WEIGHTED {
            factor = f32(weight);
        }
    }
    if PULL {
        (*record).value += factor * bitcast<f32>(neighbour);
    } else {
        sum_add(neighbour, factor * (*record).value);
    }
    return true;
}

// Joins the records of two threads that share a list.
fn list_join(a: Record, b: Record) -> Record {
    return Record(a.value + b.value);
}

fn list_shuffle(record: Record, mask: u32) -> Record {
    return Record(subgroupShuffleXor(record.value, mask));
}

fn list_close(record: Record, list: List) {
    if PULL {
        if list.whole {
            sum_store(list.vertex, record.value);
        } else {
            sum_add(list.vertex, record.value);
        }
    }
}

// The first values are the same for all vertices.
fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    let sum = sum_load(vertex);
    sum_store(vertex, 0.0);
    let is_seed = seed_test(vertex);
    if step.superstep == 0u {
        return vec4<f32>(0.0, first_value(vertex, sum, is_seed), 0.0, 0.0);
    }
    if HELD {
        if is_seed {
            return vec4<f32>(0.0);
        }
    }
    let norm = norm_load(vertex);
    let mean = select(0.0, sum / max(norm, SMALLEST_NORMAL), norm >= SMALLEST_NORMAL);
    let before = value_load(vertex);
    let after = step.scalars.x * before + step.scalars.y * mean + select(0.0, step.scalars.z, is_seed);
    value_store(vertex, after);
    return vec4<f32>(abs(after - before), 0.0, 0.0, 0.0);
}

// Sets a vertex's first value, given the sum of its weights; returns 1 if that is rejected.
fn first_value(vertex: u32, norm: f32, is_seed: bool) -> f32 {
    if HELD {
        if is_seed {
            value_store(vertex, norm_load(vertex));
        } else {
            norm_store(vertex, norm);
            value_store(vertex, 0.0);
        }
    } else {
        norm_store(vertex, norm);
        value_store(vertex, select(0.0, 1.0, is_seed));
    }
    if FLOAT {
        if bitcast<u32>(norm) > bitcast<u32>(NORM_MAX) {
            refused_insert(vertex);
        }
        return select(0.0, 1.0, refused_test(vertex));
    } else {
        return 0.0;
    }
}
