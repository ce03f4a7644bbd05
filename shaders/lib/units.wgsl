// A unit is one workgroup's share of a batch. Units are numbered over all pages, in a two-dimensional grid, since a
// dimension has at most 2^16 workgroups.

fn unit_number(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
    return workgroup.y * workgroups.x + workgroup.x;
}

// The page that a unit belongs to: from a table, if there is one.
fn page_of_unit(unit: u32) -> u32 {
    if TABLED {
        return units[unit];
    } else {
        return searched_page(unit);
    }
}

// The last page whose first unit is not after a unit, by binary search.
fn searched_page(unit: u32) -> u32 {
    var low = 0u;
    var high = batch.page_count;
    // rounds: 32.
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if batch.pages[middle].first_unit <= unit {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
