// PageRank by residuals: rank[v] is what has arrived at v and been passed on, residual[v] what has arrived since. A
// residual above a threshold moves to the rank, and share[v] is the part of it that each out-neighbour receives in the
// next superstep. Sums are in fixed point: the same bits in whatever order threads add. Residuals are positive or
// negative, in two's complement.

struct Record {
    given: U64,
}

fn signed_from(value: f32) -> U64 {
    let size = fixed_from(abs(value));
    return select(size, u64_negative(size), value < 0.0);
}

fn signed_to_f32(value: U64) -> f32 {
    let below = value.y >> 31u != 0u;
    let size = fixed_to_f32(select(value, u64_negative(value), below));
    return select(size, -size, below);
}

fn list_open(list: List) -> Record {
    return Record(signed_from(share_load(list.vertex)));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    // If all lists are read, many vertices have nothing to pass on.
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

// Returns the number of vertices that pass something on, and the amount.
fn vertex_update(vertex: u32) -> vec4<f32> {
    let waiting = u64_add(residual_load(vertex), signed_from(step.scalars.z));
    let residual = signed_to_f32(waiting);
    let takes = abs(residual) > step.scalars.x;
    if takes {
        residual_store(vertex, U64());
        rank_store(vertex, rank_load(vertex) + residual);
    } else {
        residual_store(vertex, waiting);
    }
    let degree = degree_out(vertex);
    let passed = select(0.0, step.scalars.y * residual, takes && degree > 0u);
    let share = passed / f32(max(degree, 1u));
    share_store(vertex, share);
    if share != 0.0 {
        pushing_insert(vertex);
        return vec4<f32>(1.0, passed, 0.0, 0.0);
    }
    pushing_remove(vertex);
    return vec4<f32>(0.0);
}
