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

// A number of the table of limits: leftover, damping, 1 - damping, and that times LEVELLED_TO.
fn limit(number: u32) -> F64 {
    return F64(limits_load(2u * number), limits_load(2u * number + 1u));
}

// The number of vertices that share the subtracted amount, given the one so far.
fn sharing_after(now: Step, found: Found) -> F64 {
    let sharing = now.integers.zw;
    if now.superstep == 0u {
        return found.totals[0];
    }
    if now.superstep == 1u {
        let passed_first = f64_mul(f64_mul(f64_mul(f64_from(LEVELLED_ABOVE), sharing), limit(1u)), now.integers.xy);
        if f64_less(found.totals[1], passed_first) {
            return F64(0u, 0u);
        }
    }
    return select(sharing, F64(0u, 0u), now.superstep >= LEVELLED_MAX);
}

fn f64_negative(value: F64) -> F64 {
    return F64(value.x, value.y ^ 0x80000000u);
}

// The next superstep, as in DeltaPageRank::next. step.integers: the start value, and the number of vertices that share
// the subtracted amount.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    let pushed = found.totals[0];
    let vertices = f64_pack(0u, 62 + 1023, u64_add(U64(now.vertices_last, 0u), U64(1u, 0u)));
    let scans = f64_less(vertices, f64_mul(f64_from(SCAN_ABOVE), pushed));
    let sharing = sharing_after(now, found);
    var less = F64(0u, 0u);
    if now.superstep > 0u && !f64_is_zero(sharing) {
        less = f64_div(found.totals[1], sharing);
    }
    var base = f64_add(now.integers.xy, f64_negative(less));
    if !f64_at_most(f64_mul(limit(3u), f64_div(limit(2u), vertices)), base) {
        less = F64(0u, 0u);
        base = now.integers.xy;
    }
    let threshold = f64_to_f32(f64_mul(limit(0u), base));
    let scalars = vec4<f32>(threshold, now.scalars.y, f64_to_f32(f64_negative(less)), 0.0);
    let next = next_of_set(now, select(1u, 0u, scans), vec4<u32>(base, sharing), found.sums.x);
    let vertices_next = select(next.vertices, MANY, scans);
    return Next(select(next.visit, STOP, f64_is_zero(pushed)), scalars, next.integers, vertices_next);
}
