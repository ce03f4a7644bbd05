// PageRank by residuals: rank[v] is what has arrived at v and been passed on, residual[v] what has arrived since. Where that is
// more than a threshold it moves to the rank, and share[v] is what each out-neighbour is given of it in the next superstep.
// Sums are in fixed point: the same bits whichever thread comes first.

struct Record {
    given: Fixed,
}

fn list_open(list: List) -> Record {
    return Record(fixed_from(share_load(list.vertex)));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    // Where all lists are read, many have nothing to give.
    if ((*record).given.x | (*record).given.y) == 0u {
        return false;
    }
    residual_add(neighbour, (*record).given);
    return true;
}

fn list_close(record: Record, list: List) {}

// Ranks begin in the vertex phase of the first superstep.
fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn vertex_update(vertex: u32) -> vec4<f32> {
    // Its share is still to be given.
    if left_out_test(vertex) {
        left_out_remove(vertex);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    var taken = fixed_to_f32(residual_load(vertex)) + step.scalars.z;
    if taken > step.scalars.x {
        residual_store(vertex, Fixed());
        rank_store(vertex, rank_load(vertex) + taken);
    } else {
        taken = 0.0;
    }
    let degree = degree_out(vertex);
    let share = select(step.scalars.y * taken / f32(max(degree, 1u)), 0.0, degree == 0u);
    share_store(vertex, share);
    if share > 0.0 {
        pushing_insert(vertex);
        return vec4<f32>(1.0, 0.0, 0.0, 0.0);
    }
    pushing_remove(vertex);
    return vec4<f32>(0.0);
}
