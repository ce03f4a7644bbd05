// Radius: bitmaps of each vertex, now0 and so on, in which every vertex within some hops has set a bit by its hash. A
// superstep extends them by a hop: next0 and so on are the merged bitmaps of all out-neighbours. With WIDE there are
// eight, otherwise two.

struct Record {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn list_open(list: List) -> Record {
    return Record();
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    (*record).low |= now_low(neighbour);
    if WIDE {
        (*record).high |= now_high(neighbour);
    }
    return true;
}

fn list_close(record: Record, list: List) {
    next0_or(list.vertex, record.low.x);
    next1_or(list.vertex, record.low.y);
    if WIDE {
        next2_or(list.vertex, record.low.z);
        next3_or(list.vertex, record.low.w);
        next4_or(list.vertex, record.high.x);
        next5_or(list.vertex, record.high.y);
        next6_or(list.vertex, record.high.z);
        next7_or(list.vertex, record.high.w);
    }
}

fn now_low(vertex: u32) -> vec4<u32> {
    if WIDE {
        return vec4<u32>(now0_load(vertex), now1_load(vertex), now2_load(vertex), now3_load(vertex));
    } else {
        return vec4<u32>(now0_load(vertex), now1_load(vertex), 0u, 0u);
    }
}

fn now_high(vertex: u32) -> vec4<u32> {
    if WIDE {
        return vec4<u32>(now4_load(vertex), now5_load(vertex), now6_load(vertex), now7_load(vertex));
    } else {
        return vec4<u32>();
    }
}

fn store_now(vertex: u32, low: vec4<u32>, high: vec4<u32>) {
    now0_store(vertex, low.x);
    now1_store(vertex, low.y);
    if WIDE {
        now2_store(vertex, low.z);
        now3_store(vertex, low.w);
        now4_store(vertex, high.x);
        now5_store(vertex, high.y);
        now6_store(vertex, high.z);
        now7_store(vertex, high.w);
    }
}

fn next_low(vertex: u32) -> vec4<u32> {
    if WIDE {
        return vec4<u32>(next0_load(vertex), next1_load(vertex), next2_load(vertex), next3_load(vertex));
    } else {
        return vec4<u32>(next0_load(vertex), next1_load(vertex), 0u, 0u);
    }
}

fn next_high(vertex: u32) -> vec4<u32> {
    if WIDE {
        return vec4<u32>(next4_load(vertex), next5_load(vertex), next6_load(vertex), next7_load(vertex));
    } else {
        return vec4<u32>();
    }
}

fn clear_next(vertex: u32) {
    next0_store(vertex, 0u);
    next1_store(vertex, 0u);
    if WIDE {
        next2_store(vertex, 0u);
        next3_store(vertex, 0u);
        next4_store(vertex, 0u);
        next5_store(vertex, 0u);
        next6_store(vertex, 0u);
        next7_store(vertex, 0u);
    }
}

fn count_bits(low: vec4<u32>, high: vec4<u32>) -> u32 {
    let counts = countOneBits(low) + countOneBits(high);
    return counts.x + counts.y + counts.z + counts.w;
}

// The estimated number of vertices that have set this number of bits.
fn estimate(bits: u32) -> f32 {
    let bitmaps = BITMAPS;
    let b = f32(bits) / bitmaps;
    return bitmaps * SCALE * (exp2(b) - exp(-(FEW_0 + (FEW_1 + FEW_2 * b) * b) * b));
}

// A vertex's own bit: the first bits of its hash select the bitmap, the number of trailing zeros of another hash the
// bit.
fn begin_pass(vertex: u32, seed: u32) {
    let bitmap = mixed(vertex ^ mixed(seed)) >> BITMAP_SHIFT;
    let place = min(countTrailingZeros(mixed(vertex ^ mixed(seed + 1u))), 31u);
    let bits = vec4<u32>(1u << place);
    let places = vec4<u32>(0u, 1u, 2u, 3u);
    let none = vec4<u32>();
    store_now(
        vertex,
        select(none, bits, places == vec4<u32>(bitmap)),
        select(none, bits, places + 4u == vec4<u32>(bitmap)),
    );
}

fn vertex_initialise(vertex: u32) -> vec4<f32> {
    return vec4<f32>();
}

// Returns the number of vertices whose bitmaps have changed, and the sum of the estimates of all vertices.
fn vertex_update(vertex: u32) -> vec4<f32> {
    let old_low = now_low(vertex);
    let old_high = now_high(vertex);
    // The number of hops; at 0, a pass ends and another begins.
    if step.integers.x == 0u {
        finish_pass(vertex, count_bits(old_low, old_high));
        return vec4<f32>();
    }
    let low = old_low | next_low(vertex);
    let high = old_high | next_high(vertex);
    let bits = count_bits(low, high);
    let more = bits - count_bits(old_low, old_high);
    if more > 0u {
        let hops = step.integers.x;
        near_store(vertex, select(hops, last_load(vertex), WIDE && more == 1u && bits >= ENOUGH));
        last_store(vertex, hops);
        store_now(vertex, low, high);
    }
    return vec4<f32>(select(0.0, 1.0, more > 0u), estimate(bits), 0.0, 0.0);
}

fn finish_pass(vertex: u32, bits: u32) {
    coupons_store(vertex, coupons_load(vertex) + bits);
    nears_store(vertex, nears_load(vertex) + near_load(vertex));
    farthest_store(vertex, max(farthest_load(vertex), last_load(vertex)));
    near_store(vertex, 0u);
    last_store(vertex, 0u);
    clear_next(vertex);
    begin_pass(vertex, step.integers.y);
}
