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
// Threads for a list of middle length: a workgroup has FINDERS times as many.
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

fn table_add_four(base: u32, slots: u32, portion: Portion, four: vec4<u32>) -> bool {
    var values = four;
    var fits = true;
    // rounds: 4.
    for (var i = 0u; i < 4u; i += 1u) {
        fits = table_add(base, slots, portion, values[i]) && fits;
    }
    return fits;
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

// A thread's share of a list that `lanes` threads have: its neighbours first, first + lanes, … below end.
struct Share {
    first: u32,
    end: u32,
    lanes: u32,
}

// A thread's first four values, and whether its list is counted because of the thread's share: as a rule because of
// these, or not at all.
fn first_values(page: BatchPage, share: Share) -> Values {
    var all = Values(vec4<u32>(NO_VALUE), false);
    // rounds: edges of a thread / 4: 64.
    for (var n = share.first; !all.needed && n < share.end; n += 4u * share.lanes) {
        let more = values_at(page, n, share.lanes, share.end);
        all.needed = more.needed;
        if n == share.first {
            all.values = more.values;
        }
    }
    return all;
}

// Counts a portion of a thread's share, of which it has the first four values. False if one has found no slot.
fn count_portion(page: BatchPage, share: Share, base: u32, slots: u32, portion: Portion, first: vec4<u32>) -> bool {
    var fits = true;
    // rounds: edges of a thread / 4: 64.
    for (var n = share.first; fits && n < share.end; n += 4u * share.lanes) {
        var values = first;
        if n != share.first {
            if atomicLoad(&overflow) != 0u {
                break;
            }
            values = values_at(page, n, share.lanes, share.end).values;
        }
        fits = table_add_four(base, slots, portion, values);
    }
    return fits;
}

// Takes a list for each group of `lanes` threads, which may be empty. In uniform control flow.
fn take_lists(page: BatchPage, vertex: u32, begin: u32, end: u32, lanes: u32, lane: u32) {
    let group = lane / lanes;
    let own = lane % lanes;
    if own == 0u {
        found_begin(group);
        atomicStore(&wanted_lists[group], 0u);
    }
    workgroupBarrier();
    let share = Share(begin + own, end, lanes);
    let first = first_values(page, share);
    if first.needed {
        atomicStore(&wanted_lists[group], 1u);
    }
    // A list of middle length leaves half of its slots free: its values have room.
    let slots = min(slots_for(end - begin), SLOTS / (WORKGROUP / lanes));
    let base = group * (SLOTS / (WORKGROUP / lanes));
    var best = Frequent(NO_VALUE, 0u);
    var portion = Portion(0u, 1u);
    // rounds: portions, and those that had to be divided: 128.
    while portion.part < portion.parts {
        table_clear(base, slots, own, lanes);
        if lane == 0u {
            atomicStore(&overflow, 0u);
        }
        workgroupBarrier();
        let is_wanted = atomicLoad(&wanted_lists[group]) != 0u;
        if is_wanted && !count_portion(page, share, base, slots, portion, first.values) {
            atomicStore(&overflow, 1u);
        }
        workgroupBarrier();
        if lane == 0u {
            shared_number = atomicLoad(&overflow);
        }
        if workgroupUniformLoad(&shared_number) != 0u {
            // The portions before this one are twice as many now.
            portion = Portion(2u * portion.part, 2u * portion.parts);
        } else {
            best = table_best(base, slots, own, lanes, best);
            portion.part += 1u;
        }
    }
    let value = found_together(group, best);
    if own == 0u && value != NO_VALUE {
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
    let rounds = (waiting.x + FINDERS - 1u) / FINDERS;
    // rounds: lists of a unit: 256.
    for (var round = 0u; round < rounds + waiting.y; round += 1u) {
        let is_middle = round < rounds;
        let lanes = select(WORKGROUP, MIDDLE_LANES, is_middle);
        let at = select(WORKGROUP - 1u - (round - rounds), round * FINDERS + lane / MIDDLE_LANES, is_middle);
        let is_list = !is_middle || at < waiting.x;
        let slot = select(0u, sorted[at], is_list);
        let begin = begins[slot];
        var end = select(begin, begins[slot + 1u], is_list);
        let vertex = page.start_vertex + first_slot + slot;
        if end - begin > PLURALITY_MAX {
            take_entry(page, list_here(vertex, end - begin, false), begin + lane, end, WORKGROUP, lane);
            end = begin;
        }
        take_lists(page, vertex, begin, end, lanes, lane);
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
