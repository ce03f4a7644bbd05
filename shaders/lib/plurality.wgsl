// The most frequent value of several, the smallest in case of a tie.

// No value.
const NO_VALUE = 0xffffffffu;

// A value, and how often it was found.
struct Frequent {
    value: u32,
    number: u32,
}

// The value that wins.
fn more_frequent(a: Frequent, b: Frequent) -> Frequent {
    if b.number > a.number || (b.number == a.number && b.value < a.value) {
        return b;
    }
    return a;
}

// Groups of threads that may find a value together.
const FINDERS = 8u;

// For each group, the greatest number of all threads, and the smallest value with it.
var<workgroup> found_numbers: array<atomic<u32>, FINDERS>;
var<workgroup> found_values: array<atomic<u32>, FINDERS>;

// One thread of a group begins; a barrier must follow.
fn found_begin(group: u32) {
    atomicStore(&found_numbers[group], 0u);
    atomicStore(&found_values[group], NO_VALUE);
}

// Joins what the threads of each group have found; NO_VALUE if they have found none. In uniform control flow.
fn found_together(group: u32, own: Frequent) -> u32 {
    if own.number != 0u {
        atomicMax(&found_numbers[group], own.number);
    }
    workgroupBarrier();
    if own.number != 0u && own.number == atomicLoad(&found_numbers[group]) {
        atomicMin(&found_values[group], own.value);
    }
    workgroupBarrier();
    return atomicLoad(&found_values[group]);
}
