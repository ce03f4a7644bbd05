// A hash table in workgroup memory: the weight of a list's edges to each group.

// Labels, and the sums of their edges: low words, and high ones if sums are wide.
var<workgroup> keys: array<atomic<u32>, SLOTS>;
var<workgroup> sums: array<atomic<u32>, SLOTS>;
var<workgroup> high_sums: array<atomic<u32>, SLOTS>;

// Clears the first slots.
fn table_clear(lane: u32, slots: u32) {
    // rounds: 2048 / 64.
    for (var slot = lane; slot < slots; slot += THREADS) {
        atomicStore(&keys[slot], NO_GROUP);
        atomicStore(&sums[slot], 0u);
        if WIDE {
            atomicStore(&high_sums[slot], 0u);
        }
    }
}

// Adds a weight to a group's, in the first slots, a power of two. False if there was no place among the tried ones.
fn table_add(group: u32, weight: U64, slots: u32, tries: u32) -> bool {
    // Knuth's multiplicative hash.
    var slot = ((group * 2654435761u) >> 16u) & (slots - 1u);
    // rounds: slots of the table, and few of them since half are free.
    for (var tried = 0u; tried < tries; tried += 1u) {
        var key = atomicLoad(&keys[slot]);
        if key == NO_GROUP {
            let exchange = atomicCompareExchangeWeak(&keys[slot], NO_GROUP, group);
            key = select(exchange.old_value, group, exchange.exchanged);
        }
        if key == group {
            let before = atomicAdd(&sums[slot], weight.x);
            if WIDE {
                let high = weight.y + u32(before + weight.x < before);
                if high != 0u {
                    atomicAdd(&high_sums[slot], high);
                }
            }
            return true;
        }
        // An exchange may fail without a reason.
        slot = select((slot + 1u) & (slots - 1u), slot, key == NO_GROUP);
    }
    return false;
}

fn table_sum(slot: u32) -> U64 {
    var sum = U64(atomicLoad(&sums[slot]), 0u);
    if WIDE {
        sum.y = atomicLoad(&high_sums[slot]);
    }
    return sum;
}
