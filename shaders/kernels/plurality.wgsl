// Plurality: finds the most frequent value of each list's neighbours, the smallest of several. A unit is as many lists
// of a small page as a workgroup has threads, or a chunk of a large page.
//
// Of the lists of a unit, those of up to 8 neighbours have a thread each, which compares them with each other. Those of
// up to 256 have 32 threads, which count values in an eighth of a table in workgroup memory. Those of up to
// PLURALITY_MAX have all threads and the whole table, one list after another. If a list has more values than the table
// has room for, values are counted in several parts by their hash, and the list is read once for each. Longer lists,
// and chunks of large pages, are given to the edge function.

// Maximum length of a list for one thread.
const SHORT_MAX = 8u;
// Threads for a list of middle length.
const MIDDLE_LANES = 32u;
// Maximum length of a list for these.
const MIDDLE_MAX = 256u;
// Slots of the table.
const SLOTS = 4096u;
// Slots that are tried for a value before there are more parts.
const TRIES = 32u;

// Where the records of a unit's lists begin and end.
var<workgroup> begins: array<u32, WORKGROUP + 1u>;
// The lists for more than one thread: of middle length from the first place on, long ones from the last one on.
var<workgroup> sorted: array<u32, WORKGROUP>;
var<workgroup> sorted_counts: array<atomic<u32>, 2>;
var<workgroup> sorted_numbers: vec2<u32>;
// Values plus one, and their numbers: two of 16 bits a word.
var<workgroup> keys: array<atomic<u32>, SLOTS>;
var<workgroup> numbers: array<atomic<u32>, SLOTS / 2u>;
// For each group of threads, 1 if its list is counted.
var<workgroup> wanted_lists: array<atomic<u32>, FINDERS>;
// Whether a value has found no slot.
var<workgroup> overflow: atomic<u32>;
// A number that all threads need.
var<workgroup> shared_number: u32;

// Values of up to four neighbours, and whether the list is counted because of them.
struct Values {
    values: vec4<u32>,
    needed: bool,
}

// The values of neighbours first, first + stride, … below end: `first` is one of them. All are loaded at once.
fn values_at(page: BatchPage, first: u32, stride: u32, end: u32) -> Values {
    let last = end - 1u;
    let places = vec4<u32>(first, first + stride, first + 2u * stride, first + 3u * stride);
    let a = gathered_of(page, first);
    let b = gathered_of(page, min(places.y, last));
    let c = gathered_of(page, min(places.z, last));
    let d = gathered_of(page, min(places.w, last));
    let values = vec4<u32>(plurality_value(a), plurality_value(b), plurality_value(c), plurality_value(d));
    let needed = plurality_needed(a) || plurality_needed(b) || plurality_needed(c) || plurality_needed(d);
    return Values(select(vec4<u32>(NO_VALUE), values, places < vec4<u32>(end)), needed);
}

// The number of four values that are one.
fn number_of(value: u32, among: vec4<u32>) -> u32 {
    let same = select(vec4<u32>(0u), vec4<u32>(1u), among == vec4<u32>(value));
    return same.x + same.y + same.z + same.w;
}

// The better of a value and the best one so far, of eight.
fn better_of_eight(best: Frequent, value: u32, low: vec4<u32>, high: vec4<u32>) -> Frequent {
    if value == NO_VALUE {
        return best;
    }
    return more_frequent(best, Frequent(value, number_of(value, low) + number_of(value, high)));
}

// Takes a list of up to eight neighbours.
fn take_short(page: BatchPage, vertex: u32, begin: u32, end: u32) {
    let first = values_at(page, begin, 1u, end);
    var second = Values(vec4<u32>(NO_VALUE), false);
    if end - begin > 4u {
        second = values_at(page, begin + 4u, 1u, end);
    }
    if !first.needed && !second.needed {
        return;
    }
    let low = first.values;
    let high = second.values;
    var best = better_of_eight(Frequent(NO_VALUE, 0u), low.x, low, high);
    best = better_of_eight(best, low.y, low, high);
    best = better_of_eight(best, low.z, low, high);
    best = better_of_eight(best, low.w, low, high);
    if end - begin > 4u {
        best = better_of_eight(best, high.x, low, high);
        best = better_of_eight(best, high.y, low, high);
        best = better_of_eight(best, high.z, low, high);
        best = better_of_eight(best, high.w, low, high);
    }
    list_plurality(vertex, best.value);
}

// A power of two, twice the length of a list or more.
fn slots_for(length: u32) -> u32 {
    return min(2u << (32u - countLeadingZeros(max(length, 2u) - 1u)), SLOTS);
}

// A part of the values, by the hash: one of `parts`, a power of two.
struct Portion {
    part: u32,
    parts: u32,
}

// Clears the pairs of slots first, first + stride, … of some from `base` on.
fn table_clear(base: u32, slots: u32, first: u32, stride: u32) {
    // rounds: pairs of slots / threads: 8.
    for (var pair = first; pair < slots / 2u; pair += stride) {
        atomicStore(&keys[base + 2u * pair], 0u);
        atomicStore(&keys[base + 2u * pair + 1u], 0u);
        atomicStore(&numbers[base / 2u + pair], 0u);
    }
}

// Counts a value, in a part of the table and if it is in a part of the values. False if it has found no slot.
fn table_add(base: u32, slots: u32, portion: Portion, value: u32) -> bool {
    // Knuth's multiplicative hash. Its 32 bits are those of the slot, of the part, and others: with 2^20 parts each
    // value has a slot of its own.
    let hash = value * 2654435761u;
    if value == NO_VALUE || ((hash >> (countLeadingZeros(portion.parts) - 11u)) & (portion.parts - 1u)) != portion.part {
        return true;
    }
    var slot = hash >> (countLeadingZeros(slots) + 1u);
    let jump = (hash & (SLOTS - 1u)) | 1u;
    // rounds: 32.
    for (var tried = 0u; tried < TRIES; tried += 1u) {
        let at = base + slot;
        var key = atomicLoad(&keys[at]);
        if key == 0u {
            let exchange = atomicCompareExchangeWeak(&keys[at], 0u, value + 1u);
            key = select(exchange.old_value, value + 1u, exchange.exchanged);
        }
        if key == value + 1u {
            atomicAdd(&numbers[at / 2u], 1u << (16u * (at & 1u)));
            return true;
        }
        // An exchange may fail without a reason.
        slot = select((slot + jump) & (slots - 1u), slot, key == 0u);
    }
    return false;
}

fn table_add_four(base: u32, slots: u32, portion: Portion, values: vec4<u32>) -> bool {
    let x = table_add(base, slots, portion, values.x);
    let y = table_add(base, slots, portion, values.y);
    let z = table_add(base, slots, portion, values.z);
    let w = table_add(base, slots, portion, values.w);
    return x && y && z && w;
}

// The best value of a thread's pairs of slots and `before`.
fn table_best(base: u32, slots: u32, first: u32, stride: u32, before: Frequent) -> Frequent {
    var best = before;
    // rounds: 8.
    for (var pair = first; pair < slots / 2u; pair += stride) {
        let both = atomicLoad(&numbers[base / 2u + pair]);
        if (both & 0xffffu) != 0u {
            best = more_frequent(best, Frequent(atomicLoad(&keys[base + 2u * pair]) - 1u, both & 0xffffu));
        }
        if (both >> 16u) != 0u {
            best = more_frequent(best, Frequent(atomicLoad(&keys[base + 2u * pair + 1u]) - 1u, both >> 16u));
        }
    }
    return best;
}

// Whether the list is counted because of a thread's neighbours first, first + stride, … below end. As a rule the first
// few decide, or none.
fn is_needed(page: BatchPage, begin: u32, stride: u32, end: u32) -> bool {
    var needed = false;
    // rounds: edges of a thread / 4: 64.
    for (var n = begin; !needed && n < end; n += 4u * stride) {
        needed = values_at(page, n, stride, end).needed;
    }
    return needed;
}

// Takes the list at a place of `sorted`, or none, with the thread's group of 32. In uniform control flow.
fn take_middle(page: BatchPage, first_slot: u32, at: u32, lane: u32) {
    let group = lane / MIDDLE_LANES;
    let own = lane % MIDDLE_LANES;
    var slot = 0u;
    var begin = 0u;
    var end = 0u;
    if at < sorted_numbers.x {
        slot = sorted[at];
        begin = begins[slot];
        end = begins[slot + 1u];
    }
    let slots = slots_for(end - begin);
    let base = group * (SLOTS / FINDERS);
    table_clear(base, slots, own, MIDDLE_LANES);
    if own == 0u {
        found_begin(group);
        atomicStore(&wanted_lists[group], 0u);
    }
    workgroupBarrier();
    let n = begin + own;
    var first = Values(vec4<u32>(NO_VALUE), false);
    if n < end {
        first = values_at(page, n, MIDDLE_LANES, end);
        if first.needed || is_needed(page, n + 4u * MIDDLE_LANES, MIDDLE_LANES, end) {
            atomicStore(&wanted_lists[group], 1u);
        }
    }
    workgroupBarrier();
    var best = Frequent(NO_VALUE, 0u);
    if atomicLoad(&wanted_lists[group]) != 0u {
        // Half of the slots stay free: every value finds one.
        table_add_four(base, slots, Portion(0u, 1u), first.values);
        // rounds: 1.
        for (var more = n + 4u * MIDDLE_LANES; more < end; more += 4u * MIDDLE_LANES) {
            table_add_four(base, slots, Portion(0u, 1u), values_at(page, more, MIDDLE_LANES, end).values);
        }
    }
    workgroupBarrier();
    if atomicLoad(&wanted_lists[group]) != 0u {
        best = table_best(base, slots, own, MIDDLE_LANES, best);
    }
    let value = found_together(group, best);
    if own == 0u && value != NO_VALUE {
        list_plurality(page.start_vertex + first_slot + slot, value);
    }
}

// Counts a part of the values of a list with all threads; `first` are the thread's first ones. False if one has found
// no slot.
fn count_part(page: BatchPage, slots: u32, portion: Portion, first: Values, n: u32, end: u32) -> bool {
    var fits = table_add_four(0u, slots, portion, first.values);
    // rounds: edges of a list / 1024: 63.
    for (var more = n + 4u * WORKGROUP; fits && more < end; more += 4u * WORKGROUP) {
        if atomicLoad(&overflow) != 0u {
            break;
        }
        fits = table_add_four(0u, slots, portion, values_at(page, more, WORKGROUP, end).values);
    }
    return fits;
}

// Takes a list with all threads. In uniform control flow.
fn take_long(page: BatchPage, vertex: u32, begin: u32, end: u32, lane: u32) {
    if lane == 0u {
        found_begin(0u);
        atomicStore(&wanted_lists[0], 0u);
    }
    workgroupBarrier();
    let n = begin + lane;
    var first = Values(vec4<u32>(NO_VALUE), false);
    if n < end {
        first = values_at(page, n, WORKGROUP, end);
        if first.needed || is_needed(page, n + 4u * WORKGROUP, WORKGROUP, end) {
            atomicStore(&wanted_lists[0], 1u);
        }
    }
    workgroupBarrier();
    if lane == 0u {
        shared_number = atomicLoad(&wanted_lists[0]);
    }
    if workgroupUniformLoad(&shared_number) == 0u {
        return;
    }
    let slots = slots_for(end - begin);
    var portion = Portion(0u, 1u);
    var best = Frequent(NO_VALUE, 0u);
    // rounds: parts, and those that had to be divided: 128.
    while portion.part < portion.parts {
        table_clear(0u, slots, lane, WORKGROUP);
        if lane == 0u {
            atomicStore(&overflow, 0u);
        }
        workgroupBarrier();
        if !count_part(page, slots, portion, first, n, end) {
            atomicStore(&overflow, 1u);
        }
        workgroupBarrier();
        if lane == 0u {
            shared_number = atomicLoad(&overflow);
        }
        if workgroupUniformLoad(&shared_number) != 0u {
            // The parts before this one are as many parts again.
            portion = Portion(2u * portion.part, 2u * portion.parts);
        } else {
            best = table_best(0u, slots, lane, WORKGROUP, best);
            portion.part += 1u;
        }
    }
    let value = found_together(0u, best);
    if lane == 0u {
        list_plurality(vertex, value);
    }
}

// Takes a thread's list if it is short, and sorts it otherwise.
fn sort_list(page: BatchPage, first_slot: u32, lane: u32) {
    let begin = begins[lane];
    let end = begins[lane + 1u];
    let vertex = page.start_vertex + first_slot + lane;
    if begin == end || !is_own(vertex) {
        return;
    }
    if end - begin <= SHORT_MAX {
        take_short(page, vertex, begin, end);
    } else if end - begin <= MIDDLE_MAX {
        sorted[atomicAdd(&sorted_counts[0], 1u)] = lane;
    } else {
        sorted[WORKGROUP - 1u - atomicAdd(&sorted_counts[1], 1u)] = lane;
    }
}

// Takes the lists from slot first_slot on.
fn take_small(page: BatchPage, first_slot: u32, lane: u32) {
    let count = min(page.slot_count - first_slot, WORKGROUP);
    if lane < count {
        begins[lane] = slot_begin(page, first_slot + lane);
    }
    if lane == 0u {
        begins[count] = slot_begin(page, first_slot + count);
    }
    if lane < 2u {
        atomicStore(&sorted_counts[lane], 0u);
    }
    workgroupBarrier();
    if lane < count {
        sort_list(page, first_slot, lane);
    }
    workgroupBarrier();
    if lane == 0u {
        sorted_numbers = vec2<u32>(atomicLoad(&sorted_counts[0]), atomicLoad(&sorted_counts[1]));
    }
    let waiting = workgroupUniformLoad(&sorted_numbers);
    // rounds: lists of a unit / 8: 32.
    for (var at = 0u; at < waiting.x; at += FINDERS) {
        take_middle(page, first_slot, at + lane / MIDDLE_LANES, lane);
    }
    // rounds: lists of a unit: 256.
    for (var at = 0u; at < waiting.y; at += 1u) {
        let slot = workgroupUniformLoad(&sorted[WORKGROUP - 1u - at]);
        let begin = workgroupUniformLoad(&begins[slot]);
        let end = workgroupUniformLoad(&begins[slot + 1u]);
        let vertex = page.start_vertex + first_slot + slot;
        if end - begin <= PLURALITY_MAX {
            take_long(page, vertex, begin, end, lane);
        } else {
            take_entry(page, list_here(vertex, end - begin, false), begin + lane, end, WORKGROUP, lane);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = unit_number(workgroup_id, workgroups);
    if unit >= batch.unit_count {
        return;
    }
    let page = batch.pages[page_of_unit(unit)];
    let number = unit - page.first_unit;
    if page.degree != 0u {
        let first = number * LARGE_CHUNK + lane;
        let end = min((number + 1u) * LARGE_CHUNK, page.edge_count);
        take_entry(page, list_here(page.start_vertex, page.degree, false), first, end, WORKGROUP, lane);
    } else {
        take_small(page, number * WORKGROUP, lane);
    }
    if LOOPS_LIMITED {
        check_loops();
    }
}
