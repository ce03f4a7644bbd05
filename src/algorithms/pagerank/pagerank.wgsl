// PageRank: rank[v] = base + damping * (sum of rank[u] / out_degree[u] over edges u -> v). A rank is stored as the
// share that each out-neighbour receives (the rank itself if there is none). With EXACT, sums are in fixed point, for
// push and pull alike: the same bits in whatever order threads add. With PERSONAL, walks begin at the seeds, and only
// those have the base.

struct Record {
    // The share that each out-neighbour receives (push), or the sum over in-neighbours so far (pull).
    exact: Fixed,
    single: f32,
}

fn list_open(list: List) -> Record {
    var record: Record;
    if !PULL {
        record.single = share_load(list.vertex);
        if EXACT {
            record.exact = fixed_from(record.single);
        }
    }
    return record;
}

// Pull reads its neighbour's share; push needs no more than the neighbour.
fn list_gather(neighbour: u32) -> u32 {
    if PULL {
        return bitcast<u32>(share_load(neighbour));
    }
    return neighbour;
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if PULL {
        let share = bitcast<f32>(neighbour);
        if EXACT {
            (*record).exact = fixed_add((*record).exact, fixed_from(share));
        } else {
            (*record).single += share;
        }
    } else {
        if EXACT {
            sum_add(neighbour, (*record).exact);
        } else {
            sum_add(neighbour, (*record).single);
        }
    }
    return true;
}

// Joins the records of two threads that share a list.
fn list_join(a: Record, b: Record) -> Record {
    return Record(fixed_add(a.exact, b.exact), a.single + b.single);
}

fn list_shuffle(record: Record, mask: u32) -> Record {
    if EXACT {
        return Record(subgroupShuffleXor(record.exact, mask), 0.0);
    } else {
        return Record(Fixed(), subgroupShuffleXor(record.single, mask));
    }
}

fn list_close(record: Record, list: List) {
    if PULL {
        if EXACT {
            if list.whole {
                sum_store(list.vertex, record.exact);
            } else {
                sum_add(list.vertex, record.exact);
            }
        } else {
            if list.whole {
                sum_store(list.vertex, record.single);
            } else {
                sum_add(list.vertex, record.single);
            }
        }
    }
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    if PERSONAL {
        // The first values of seeds have been set before.
        return set_rank(vertex, share_load(vertex));
    } else {
        return set_rank(vertex, 1.0 / (f32(step.vertices_last) + 1.0));
    }
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    var sum: f32;
    if EXACT {
        sum = fixed_to_f32(sum_load(vertex));
    } else {
        sum = sum_load(vertex);
    }
    var base = step.scalars.x;
    if PERSONAL {
        base = select(0.0, base, seed_test(vertex));
    }
    let totals = set_rank(vertex, base + step.scalars.y * sum);
    // Last, so that no read waits for it.
    if EXACT {
        sum_store(vertex, Fixed());
    } else {
        sum_store(vertex, 0.0);
    }
    return totals;
}

// Sets a vertex's rank; returns the rank if it is dangling, and its change.
fn set_rank(vertex: u32, rank: f32) -> vec4<f32> {
    let degree = degree_out(vertex);
    let parts = f32(max(degree, 1u));
    let share = rank / parts;
    let change = abs(share - share_load(vertex)) * parts;
    share_store(vertex, share);
    return vec4<f32>(select(0.0, rank, degree == 0u), change, 0.0, 0.0);
}
