// The sum of in-neighbours' values: sum[v] is the sum of weight(u -> v) * value[u].

struct Record {
    // The value that each out-neighbour receives (push), or the sum of what has been received so far (pull).
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
        // Infinite or NaN; below 0 too, unless SIGNED.
        var is_refused = (weight & FLOAT_INFINITY) == FLOAT_INFINITY;
        if !SIGNED {
            is_refused = weight >= FLOAT_INFINITY && weight != FLOAT_NEGATIVE_ZERO;
        }
        factor = bitcast<f32>(select(weight, 0u, is_refused));
        if is_refused {
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
