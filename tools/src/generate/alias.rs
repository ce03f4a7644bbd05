//! Several R-MAT levels for one random number: an alias table over whole paths.
//!
//! ```text
//!  32 random bits = slot (12) | fraction (20)        slots[slot] = threshold (20) | alias (12)
//!  path = if fraction < threshold { slot } else { alias }
//!  path = source bits of 6 levels (6) | dest bits of 6 levels (6), top level first
//! ```
//!
//! A level is a choice among four quadrants; six independent levels are one choice among 4096 paths, whose
//! probabilities are products. Walker's alias method makes that choice with one lookup in a table of 16 KiB, which fits
//! in the first-level cache. The table is built from integers (path masses in units of 2^-32 with a sum of exactly 1),
//! so every path has its probability to within 2^-32, and paths of probability 0 never occur.

/// The number of levels that one draw resolves.
pub(super) const LEVELS: u32 = 6;

const PATH_BITS: u32 = 2 * LEVELS;
const PATHS: usize = 1 << PATH_BITS;
const FRACTION_BITS: u32 = u32::BITS - PATH_BITS;
/// The mass of one slot; all slots together have 2^32.
const SLOT_MASS: u64 = 1 << FRACTION_BITS;

/// The distribution of [`LEVELS`] consecutive quadrants.
#[derive(Debug)]
pub(super) struct PathTable {
    slots: Box<[u32; PATHS]>,
}

impl PathTable {
    /// Builds the table for quadrants of relative weights `[a, b, c, d]`: `b` sets the dest's bit, `c` the source's.
    pub(super) fn new(quadrants: [f64; 4]) -> Self {
        let mut masses = path_masses(quadrants);
        // A full slot has threshold 0 and is its own alias.
        let mut slots = Box::new([0; PATHS]);
        slots.iter_mut().zip(0..).for_each(|(slot, path)| *slot = path);
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..PATHS).partition(|&path| masses[path] < SLOT_MASS);
        while let (Some(taker), Some(&giver)) = (poor.pop(), rich.last()) {
            slots[taker] = ((masses[taker] as u32) << PATH_BITS) | giver as u32;
            masses[giver] -= SLOT_MASS - masses[taker];
            if masses[giver] < SLOT_MASS {
                rich.pop();
                poor.push(giver);
            }
        }
        Self { slots }
    }

    /// Returns the path that 32 random bits choose: source bits above dest bits, [`LEVELS`] of each.
    #[inline]
    pub(super) fn draw(&self, bits: u32) -> u32 {
        let slot = bits >> FRACTION_BITS;
        let fraction = bits & (SLOT_MASS as u32 - 1);
        let entry = self.slots[slot as usize];
        if fraction < entry >> PATH_BITS { slot } else { entry & (PATHS as u32 - 1) }
    }

    /// The heap memory of the table.
    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val(&*self.slots) as u64
    }
}

/// Each path's probability in units of 2^-32. Running totals are rounded, not the masses, so the sum is exact.
fn path_masses(quadrants: [f64; 4]) -> Vec<u64> {
    let total: f64 = (0..PATHS).map(|path| path_weight(path, quadrants)).sum();
    let mut sum = 0.0;
    let mut sum_before = 0;
    let mass_of = |path| {
        sum += path_weight(path, quadrants);
        let sum_now = if path == PATHS - 1 { 1 << 32 } else { (sum / total * 2f64.powi(32)).round() as u64 };
        let mass = sum_now - sum_before;
        sum_before = sum_now;
        mass
    };
    (0..PATHS).map(mass_of).collect()
}

/// The product of the weights of a path's quadrants.
fn path_weight(path: usize, quadrants: [f64; 4]) -> f64 {
    let (source, dest) = (path >> LEVELS, path & ((1 << LEVELS) - 1));
    (0..LEVELS).map(|level| quadrants[2 * ((source >> level) & 1) + ((dest >> level) & 1)]).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each path's mass according to the finished table.
    fn table_masses(table: &PathTable) -> Vec<u64> {
        let mut masses = vec![0; PATHS];
        for (slot, entry) in table.slots.iter().enumerate() {
            let (threshold, alias) = (u64::from(entry >> PATH_BITS), *entry as usize % PATHS);
            masses[slot] += threshold;
            masses[alias] += SLOT_MASS - threshold;
        }
        masses
    }

    #[test]
    fn table_holds_every_path_to_within_one_unit() {
        for quadrants in [[0.57, 0.19, 0.19, 0.05], [0.25; 4], [0.1, 0.2, 0.3, 0.4], [0.9, 0.1, 0.0, 0.0]] {
            let masses = table_masses(&PathTable::new(quadrants));
            assert_eq!(masses.iter().sum::<u64>(), 1 << 32);
            for (path, mass) in masses.into_iter().enumerate() {
                let exact = path_weight(path, quadrants) * 2f64.powi(32);
                assert!((mass as f64 - exact).abs() < 1.01, "path {path}: {mass}, not {exact}");
                assert!(exact > 0.0 || mass == 0, "path {path} cannot be taken, but has mass {mass}");
            }
        }
    }

    #[test]
    fn certain_quadrant_gives_one_path() {
        let path_of_c = ((1 << LEVELS) - 1) << LEVELS;
        let table = PathTable::new([0.0, 0.0, 1.0, 0.0]);
        assert!([0, 1, 0x8000_0000, 0xfff0_0000, u32::MAX].into_iter().all(|bits| table.draw(bits) == path_of_c));
    }

    #[test]
    fn draw_obeys_the_threshold() {
        let table = PathTable::new([0.57, 0.19, 0.19, 0.05]);
        let poor = PATHS as u32 - 1;
        let (threshold, alias) = (table.slots[poor as usize] >> PATH_BITS, table.slots[poor as usize] % PATHS as u32);
        let slot_start = poor << FRACTION_BITS;
        assert!(threshold > 0 && alias != poor);
        assert_eq!(table.draw(slot_start + threshold - 1), poor);
        assert_eq!(table.draw(slot_start + threshold), alias);
    }
}
