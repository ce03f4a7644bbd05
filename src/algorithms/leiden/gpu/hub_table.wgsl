// Hash tables in device memory: sums of weights by group.

// A slot's label plus one, or 0, and its sum, of two words if sums are wide.
var<storage, read_write> hub_keys: array<atomic<u32>>;
var<storage, read_write> hub_sums: array<atomic<u32>>;

// Adds a weight to a group's in a table in device memory, of these slots.
fn hub_add(group: u32, weight: U64, begin: u32, slots: u32) {
    var slot = u64_product(group * 2654435761u, slots).y;
    // rounds: slots of the table, and few of them since half are free.
    for (var tried = 0u; tried < 2u * slots; tried += 1u) {
        var key = atomicLoad(&hub_keys[begin + slot]);
        if key == 0u {
            let exchange = atomicCompareExchangeWeak(&hub_keys[begin + slot], 0u, group + 1u);
            key = select(exchange.old_value, group + 1u, exchange.exchanged);
        }
        if key == group + 1u {
            if WIDE {
                let before = atomicAdd(&hub_sums[2u * (begin + slot)], weight.x);
                let high = weight.y + u32(before + weight.x < before);
                if high != 0u {
                    atomicAdd(&hub_sums[2u * (begin + slot) + 1u], high);
                }
            } else {
                atomicAdd(&hub_sums[begin + slot], weight.x);
            }
            return;
        }
        if key != 0u {
            slot = select(slot + 1u, 0u, slot + 1u == slots);
        }
    }
}
