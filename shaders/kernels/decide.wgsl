// Decide: one workgroup ends a superstep that the device runs without the host, and begins the next one. It adds up the
// results of the census or the vertex phase, logs them, calls the algorithm's step_next, and sets the workgroup counts
// of the next dispatches.

// The number of neighbours from each counter: low and high half, and zeros.
var<workgroup> edge_counts: array<vec4<u32>, EDGE_COUNTS>;
// The number of pages with a visited vertex, if lists were queued.
var<workgroup> pages_visited: atomic<u32>;
// The first thread's decision: done, visit, queued, and the size that scaled dispatches use.
var<workgroup> decided: array<u32, 4>;

// The sums of the vertex phase, in double precision.
var<workgroup> partial: array<array<F64, 4>, WORKGROUP>;

fn sums_with(a: array<F64, 4>, b: array<F64, 4>) -> array<F64, 4> {
    return array(f64_add(a[0], b[0]), f64_add(a[1], b[1]), f64_add(a[2], b[2]), f64_add(a[3], b[3]));
}

// Adds the sums of all workgroups of the vertex phase, in the same order as the host (`sums` in
// src/device/gpu/driver/superstep.rs); the result is in partial[0]. In uniform control flow.
fn sum_totals(lane: u32) {
    var sums: array<F64, 4>;
    // rounds: 16.
    for (var at = lane; at < course.totals; at += WORKGROUP) {
        let more = totals[at];
        sums = sums_with(sums, array(f64_from(more.x), f64_from(more.y), f64_from(more.z), f64_from(more.w)));
    }
    partial[lane] = sums;
    // rounds: 8.
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            partial[lane] = sums_with(partial[lane], partial[lane + half]);
        }
    }
}

// The results of the superstep.
fn found_now() -> Found {
    if TRAVERSAL {
        let activated = U64(atomicExchange(&course.found[0], 0u), atomicExchange(&course.found[1], 0u));
        let edges = U64(atomicExchange(&course.found[2], 0u), atomicExchange(&course.found[3], 0u));
        return Found(activated, edges, vec4<f32>(0.0), array<F64, 4>(), course.visits);
    } else {
        let sums = partial[0];
        let rounded = vec4<f32>(f64_to_f32(sums[0]), f64_to_f32(sums[1]), f64_to_f32(sums[2]), f64_to_f32(sums[3]));
        return Found(U64(0u, 0u), U64(0u, 0u), rounded, sums, course.visits);
    }
}

// Empties a queue, and counts its pages with a visited vertex.
fn empty_queue(number: u32) {
    if number < QUEUES_MAX {
        atomicStore(&course.queues[number].short, 0u);
        atomicStore(&course.queues[number].middle, 0u);
        atomicStore(&course.queues[number].long, 0u);
        atomicStore(&course.queues[number].units, 0u);
        let found = atomicExchange(&course.queues[number].pages, 0u);
        if found != 0u {
            atomicAdd(&pages_visited, found);
        }
    }
}

// Resets a counter of neighbours; returns its value: low and high half, and zeros.
fn take_edge_count(place: u32) -> vec4<u32> {
    let low = atomicExchange(&counters.edges[place].low, 0u);
    let high = atomicExchange(&counters.edges[place].high, 0u);
    let shifted = vec4<u32>(high << EDGE_COUNT_BITS, high >> (32u - EDGE_COUNT_BITS), 0u, 0u);
    return add_counts(shifted, vec4<u32>(low, 0u, 0u, 0u));
}

// Writes the superstep to the log.
fn log_step(found: Found) {
    var edges = vec4<u32>();
    // rounds: 64.
    for (var place = 0u; place < EDGE_COUNTS; place += 1u) {
        edges = add_counts(edges, edge_counts[place]);
    }
    let cut = atomicExchange(&counters.loops_cut, 0u);
    let at = course.logged;
    course.logged = at + 1u;
    course.log[at] = Logged(
        course.visit,
        course.queued,
        atomicLoad(&pages_visited),
        cut,
        found.activated,
        found.activated_edges,
        edges.xy,
        vec2<u32>(0u),
        vec4<u32>(found.totals[0].x, found.totals[1].x, found.totals[2].x, found.totals[3].x),
        vec4<u32>(found.totals[0].y, found.totals[1].y, found.totals[2].y, found.totals[3].y),
    );
}

// Begins the next superstep, if there is one.
fn begin_next(found: Found) {
    let next = step_next(next_step, course.visit, found);
    if next.visit == STOP {
        course.done = 1u;
        return;
    }
    next_step.superstep += 1u;
    next_step.scalars = next.scalars;
    next_step.integers = next.integers;
    course.visit = next.visit;
    if TRAVERSAL {
        let few = found.activated.y == 0u && found.activated.x <= course.queue_vertices_max;
        let short = found.activated_edges.y == 0u && found.activated_edges.x <= course.queue_edges_max;
        course.queued = u32(few && short);
    } else {
        course.vertices = select(next.vertices, course.vertices, next.vertices == SAME);
        course.queued = u32(course.vertices <= course.queue_vertices_max);
    }
    // For queued lists, `absent` has to check missing pages first.
    if (course.complete >> next.visit & 1u) == 0u && course.queued == 0u {
        atomicStore(&course.missing, 1u);
        course.done = 1u;
    }
}

// The workgroups of a dispatch. Same as Dispatch::groups in src/device/gpu/compose/layout.rs.
fn groups_of(dispatch: Dispatch, visit: u32, queued: bool, size: u32) -> vec2<u32> {
    var fits = queued;
    if dispatch.when == WHEN_WALKED {
        fits = !queued;
    } else if dispatch.when == WHEN_EITHER {
        fits = true;
    }
    if !fits || (dispatch.visit != visit && dispatch.visit != EVERY_VISIT) {
        return vec2<u32>(0u);
    }
    if dispatch.when == WHEN_QUEUED_SCALED {
        return vec2<u32>(min(size, dispatch.x), 1u);
    }
    return vec2<u32>(dispatch.x, dispatch.y);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        atomicStore(&pages_visited, 0u);
    }
    workgroupBarrier();
    empty_queue(lane);
    if lane < EDGE_COUNTS {
        edge_counts[lane] = take_edge_count(lane);
    }
    if !TRAVERSAL {
        sum_totals(lane);
    }
    workgroupBarrier();
    if lane == 0u {
        var found = Found();
        if course.done == 0u {
            found = found_now();
            log_step(found);
            begin_next(found);
        }
        decided[0] = course.done;
        decided[1] = course.visit;
        decided[2] = course.queued;
        if TRAVERSAL {
            decided[3] = 1u + found.activated.x / 8u + found.activated_edges.x / 256u;
        } else {
            // The lengths of a set's lists are unknown: as many workgroups for each as make a few lists fill a device.
            decided[3] = 1u + 8u * min(course.vertices, 0xffffu);
        }
    }
    workgroupBarrier();
    // rounds: dispatches of a superstep / 256: 1.
    for (var at = lane; at < course.dispatches; at += WORKGROUP) {
        var groups = groups_of(dispatches[at], decided[1], decided[2] != 0u, decided[3]);
        if decided[0] != 0u {
            groups = vec2<u32>(0u);
        }
        arguments[3u * at] = groups.x;
        arguments[3u * at + 1u] = groups.y;
        arguments[3u * at + 2u] = u32(groups.x != 0u);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
