// Decide: one workgroup ends a superstep that the device runs without the host, and begins the next one. It adds up the
// results of the census or the vertex phase, logs them, applies the algorithm's rule (step_next), and sets the
// workgroup counts of the next dispatches.

// The number of neighbours from each counter, then their sums: low and high half, and zeros.
var<workgroup> edge_counts: array<vec4<u32>, EDGE_COUNTS>;
// The number of pages with a visited vertex, unless whole pages were read.
var<workgroup> pages_visited: atomic<u32>;
// The first thread's decision: RUNS, ENDS or WAITS, visit, mode, and the sizes that scaled dispatches use for lists and
// for a census.
var<workgroup> decided: array<u32, 5>;

// There is a next superstep.
const RUNS = 0u;
// There is none.
const ENDS = 1u;
// There is one, and this submission cannot run it: what was decided before stays.
const WAITS = 2u;

// The largest exponents of the partial sums of the vertex phase.
var<workgroup> exponents: array<vec4<u32>, WORKGROUP>;
// Their sums in units of 2^-27 of the last bit of the largest ones: four U64 in two's complement, low and high words.
var<workgroup> sums_low: array<vec4<u32>, WORKGROUP>;
var<workgroup> sums_high: array<vec4<u32>, WORKGROUP>;

// Edges of a list, at least, for each of the workgroups that share it.
const LISTED_SHARE = 2048u;

// The exponents of floats; subnormal numbers have that of the smallest normal ones.
fn exponents_of(bits: vec4<u32>) -> vec4<u32> {
    return max((bits >> vec4<u32>(23u)) & vec4<u32>(0xffu), vec4<u32>(1u));
}

// Adds the sums of all workgroups of the vertex phase, in integers, so that their order does not matter; the result is
// in exponents[0], sums_low[0] and sums_high[0]. In uniform control flow.
fn sum_totals(lane: u32) {
    var largest = vec4<u32>(1u);
    // rounds: 16.
    for (var at = lane; at < course.totals; at += WORKGROUP) {
        largest = max(largest, exponents_of(bitcast<vec4<u32>>(totals[at])));
    }
    exponents[lane] = largest;
    // rounds: 8.
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            exponents[lane] = max(exponents[lane], exponents[lane + half]);
        }
    }
    workgroupBarrier();
    largest = exponents[0];
    var low = vec4<u32>(0u);
    var high = vec4<u32>(0u);
    // rounds: 16.
    for (var at = lane; at < course.totals; at += WORKGROUP) {
        let bits = bitcast<vec4<u32>>(totals[at]);
        let exponent = exponents_of(bits);
        let normal = vec4<u32>((bits & vec4<u32>(0x7f800000u)) != vec4<u32>(0u)) << vec4<u32>(23u);
        let mantissa = (bits & vec4<u32>(0x7fffffu)) | normal;
        // 27 bits below the mantissa, then down to the largest exponent: 51 bits, so that 4096 terms fit.
        let down = largest - exponent;
        let few = down & vec4<u32>(31u);
        let begun_low = mantissa << vec4<u32>(27u);
        let begun_high = mantissa >> vec4<u32>(5u);
        let far = down >= vec4<u32>(32u);
        let near_low = (begun_low >> few) | ((begun_high << vec4<u32>(1u)) << (vec4<u32>(31u) - few));
        var more_low = select(near_low, begun_high >> few, far);
        let more_high = select(begun_high >> few, vec4<u32>(0u), far);
        more_low = select(more_low, vec4<u32>(0u), down >= vec4<u32>(64u));
        // The sign: the complement, and 1.
        let sign = vec4<u32>(0u) - (bits >> vec4<u32>(31u));
        let term = (more_low ^ sign) - sign;
        let carried = vec4<u32>(more_low == vec4<u32>(0u)) & (sign & vec4<u32>(1u));
        low += term;
        high += (more_high ^ sign) + carried + vec4<u32>(low < term);
    }
    sums_low[lane] = low;
    sums_high[lane] = high;
    // rounds: 8.
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            let sum = sums_low[lane] + sums_low[lane + half];
            sums_high[lane] += sums_high[lane + half] + vec4<u32>(sum < sums_low[lane]);
            sums_low[lane] = sum;
        }
    }
}

// With SETS: whether the sums have to be added up.
var<workgroup> adds_up: u32;

// Whether the vertex phase of the superstep has left sums for all workgroups, and not changes of `course.counts`.
fn has_totals() -> bool {
    return course.listing == 0u && course.updates != UPDATES_NONE;
}

// The sums of terms that are 0 or 1, if the vertex phase has counted them.
fn tallied(at: u32) -> F64 {
    let count = select(0u, atomicLoad(&course.counts[at]), course.updates != UPDATES_NONE);
    return f64_pack(0u, 62 + 1023, U64(count, 0u));
}

// A sum in double precision, as `sums` in src/device/gpu/driver/superstep.rs has it.
fn total_of(exponent: u32, low: u32, high: u32) -> F64 {
    if exponent == 0xffu {
        return F64_NAN;
    }
    let negative = high >> 31u;
    let sum = select(U64(low, high), u64_negative(U64(low, high)), negative != 0u);
    // The lowest bit stands for 2^(exponent - 150 - 27).
    return f64_pack(negative << 31u, i32(exponent) - 177 + 62 + 1023, sum);
}

// The results of the superstep.
fn found_now() -> Found {
    if TRAVERSAL {
        let activated = U64(atomicExchange(&course.found[0], 0u), atomicExchange(&course.found[1], 0u));
        let edges = U64(atomicExchange(&course.found[2], 0u), atomicExchange(&course.found[3], 0u));
        return Found(activated, edges, vec4<f32>(0.0), array<F64, 4>(), course.visits);
    } else {
        var sums = array(
            total_of(exponents[0].x, sums_low[0].x, sums_high[0].x),
            total_of(exponents[0].y, sums_low[0].y, sums_high[0].y),
            total_of(exponents[0].z, sums_low[0].z, sums_high[0].z),
            total_of(exponents[0].w, sums_low[0].w, sums_high[0].w),
        );
        if SETS {
            if !has_totals() {
                sums = array(tallied(0u), tallied(1u), tallied(2u), U64(0u, 0u));
            }
        }
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
    let edges = edge_counts[0];
    let cut = atomicExchange(&counters.loops_cut, 0u);
    let at = course.logged;
    course.logged = at + 1u;
    course.log[at] = Logged(
        course.visit,
        course.mode,
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

// How the next superstep of a traversal finds its lists; also begins the list of vertices that it activates.
fn mode_of(found: Found, visit: u32) -> u32 {
    // next_step has begun the next superstep.
    let now = next_step.superstep & 1u;
    atomicStore(&course.listed_counts[1u - now], 0u);
    if found.activated.y != 0u || found.activated_edges.y != 0u {
        course.listing = 0u;
        return MODE_WALKED;
    }
    let vertices = found.activated.x;
    let edges = found.activated_edges.x;
    let few = max(vertices, edges) <= LISTED_EDGES_MAX;
    course.listing = u32(few && course.listed_visits != 0u);
    // The list is complete if it has as many vertices as the census has found.
    let complete = atomicLoad(&course.listed_counts[now]) == vertices;
    if few && complete && ((course.listed_visits >> visit) & 1u) != 0u {
        return MODE_LISTED;
    }
    let fits = vertices <= course.queue_vertices_max && edges <= course.queue_edges_max;
    return select(MODE_WALKED, MODE_QUEUED, fits);
}

// The length of the out-lists of the listed set.
fn edges_of_set() -> u32 {
    return atomicLoad(&course.set_edges);
}

// Empties the list of the set, which the next vertex phase writes anew; its vertices are still read.
fn begin_lists() {
    if course.updates != UPDATES_NONE {
        atomicStore(&course.listed_counts[0], 0u);
        atomicStore(&course.set_edges, 0u);
    }
}

// How the next superstep of an algorithm that visits a set finds its lists, where `before` has the numbers of the one
// that ends. Also empties the list of touched vertices, unless they have yet to be updated.
fn mode_of_set(before: Step, next: Next) -> u32 {
    let updated = course.updates != UPDATES_NONE;
    course.updates = step_updates(before, next_step);
    // The list is complete if it has as many vertices as the vertex phase has counted, or has not changed.
    var complete = course.mode == MODE_LISTED && next.vertices == SAME;
    if updated {
        complete = course.listing != 0u && atomicLoad(&course.listed_counts[0]) == course.vertices;
        atomicStore(&course.listed_counts[1], 0u);
    }
    let few = course.vertices <= LISTED_MAX && edges_of_set() <= SET_EDGES_MAX;
    let may = ((course.listed_visits >> next.visit) & 1u) != 0u && course.updates != UPDATES_ALL;
    let listed = complete && few && may;
    // Marks of touched vertices have to be cleared.
    let touched = atomicLoad(&course.listed_counts[1]) != 0u;
    let near = next.visit == course.visits || course.vertices <= 4u * LISTED_MAX;
    course.listing = u32(course.listed_visits != 0u && (listed || touched || near));
    if listed {
        return MODE_LISTED;
    }
    return select(MODE_WALKED, MODE_QUEUED, course.vertices <= course.queue_vertices_max);
}

// Begins the next superstep, if there is one.
fn begin_next(found: Found) {
    let before = next_step;
    let next = step_next(before, course.visit, found);
    if next.visit == STOP {
        course.done = 1u;
        return;
    }
    next_step.superstep += 1u;
    next_step.scalars = next.scalars;
    next_step.integers = next.integers;
    course.visit = next.visit;
    if TRAVERSAL {
        course.mode = mode_of(found, next.visit);
    } else {
        course.vertices = select(next.vertices, course.vertices, next.vertices == SAME);
        if SETS {
            course.mode = mode_of_set(before, next);
        } else {
            course.mode = select(MODE_WALKED, MODE_QUEUED, course.vertices <= course.queue_vertices_max);
        }
    }
    // For queued lists, `absent` has to check missing pages first.
    if ((course.complete >> next.visit) & 1u) == 0u && course.mode == MODE_WALKED {
        atomicStore(&course.missing, 1u);
        course.done = 1u;
    }
}

// The workgroups of a dispatch. Same as Dispatch::groups in src/device/gpu/compose/layout/course.rs.
fn groups_of(dispatch: Dispatch, visit: u32, mode: u32, sizes: vec2<u32>) -> vec2<u32> {
    var wanted = MODE_QUEUED;
    if dispatch.when == WHEN_WALKED {
        wanted = MODE_WALKED;
    } else if dispatch.when == WHEN_LISTED_SCALED || dispatch.when == WHEN_LISTED_END {
        wanted = MODE_LISTED;
    } else if dispatch.when == WHEN_EITHER || dispatch.when == WHEN_EITHER_SCALED {
        wanted = mode;
    }
    if wanted != mode || (dispatch.visit != visit && dispatch.visit != EVERY_VISIT) {
        return vec2<u32>(0u);
    }
    if dispatch.when == WHEN_QUEUED_SCALED || dispatch.when == WHEN_LISTED_SCALED {
        return vec2<u32>(min(sizes.x, dispatch.x), 1u);
    }
    if dispatch.when == WHEN_LISTED_END {
        return vec2<u32>(min(sizes.y, dispatch.x), 1u);
    }
    if dispatch.when == WHEN_EITHER_SCALED && (mode == MODE_LISTED || sizes.y == 0u) {
        return vec2<u32>(min(sizes.y, dispatch.x), 1u);
    }
    return vec2<u32>(dispatch.x, dispatch.y);
}

// The sizes of scaled dispatches of a traversal: workgroups for lists, and for a census.
fn sizes_of(found: Found, mode: u32) -> vec2<u32> {
    let vertices = found.activated.x;
    let edges = found.activated_edges.x;
    let census = 1u + (vertices + edges) / WORKGROUP;
    if mode != MODE_LISTED {
        return vec2<u32>(1u + vertices / 8u + edges / 256u, census);
    }
    return vec2<u32>(select(1u + vertices / 8u, vertices, vertices <= LISTED_WHOLE), census);
}

// The same for a superstep that visits a set, and a vertex phase.
fn sizes_of_set() -> vec2<u32> {
    let vertices = course.vertices;
    if SETS {
        var phase = 1u;
        if course.updates == UPDATES_NONE {
            phase = 0u;
        }
        if course.mode == MODE_LISTED {
            let edges = edges_of_set();
            phase *= 1u + (vertices + edges) / WORKGROUP;
            // Several workgroups for each list if lists are few: any of them may be the longest.
            let shared_by = clamp(1u + edges / LISTED_SHARE, 1u, 2u * LISTED_WHOLE / max(vertices, 1u));
            return vec2<u32>(select(1u + vertices / 8u, vertices * shared_by, vertices <= LISTED_WHOLE), phase);
        }
        // The lengths of a set's lists are unknown: as many workgroups for each as make a few lists fill a device.
        return vec2<u32>(1u + 8u * min(vertices, 0xffffu), phase);
    } else {
        return vec2<u32>(1u + 8u * min(vertices, 0xffffu), 1u);
    }
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
    if SETS {
        if lane == 0u {
            adds_up = u32(has_totals());
        }
        if workgroupUniformLoad(&adds_up) != 0u {
            sum_totals(lane);
        }
    } else {
        if !TRAVERSAL {
            sum_totals(lane);
        }
    }
    // rounds: 6.
    for (var half = EDGE_COUNTS / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            edge_counts[lane] = add_counts(edge_counts[lane], edge_counts[lane + half]);
        }
    }
    workgroupBarrier();
    if lane == 0u {
        var found = Found();
        let waits = course.only_listed != 0u && course.mode != MODE_LISTED;
        if course.done == 0u && !waits {
            found = found_now();
            log_step(found);
            begin_next(found);
        }
        decided[0] = select(select(RUNS, WAITS, waits), ENDS, course.done != 0u);
        decided[1] = course.visit;
        decided[2] = course.mode;
        if TRAVERSAL {
            let sizes = sizes_of(found, course.mode);
            decided[3] = sizes.x;
            decided[4] = sizes.y;
        } else {
            let sizes = sizes_of_set();
            decided[3] = sizes.x;
            decided[4] = sizes.y;
            if SETS {
                if !waits {
                    begin_lists();
                }
            }
        }
    }
    workgroupBarrier();
    // rounds: dispatches of a superstep / 256: 1.
    for (var at = lane; at < course.dispatches && decided[0] != WAITS; at += WORKGROUP) {
        var groups = groups_of(dispatches[at], decided[1], decided[2], vec2<u32>(decided[3], decided[4]));
        if decided[0] == ENDS {
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
