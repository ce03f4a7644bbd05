// The masses of what vertices move to: communities, or groups while these are refined.

// MASS_WORDS words each.
var<storage, read> totals: array<u32>;

fn total_of(community: u32) -> Mass {
    let at = community * MASS_WORDS;
    var mass = Mass(U64(totals[at], 0u), U64(0u, 0u));
    if WIDE {
        mass.out.y = totals[at + 1u];
    }
    if DIRECTED {
        mass.into.x = totals[at + MASS_WORDS / 2u];
        if WIDE {
            mass.into.y = totals[at + 3u];
        }
    }
    return mass;
}
