//! How far neighbours' bounds are below a vertex's own: counts of distances, exact for small ones, and in 1,024 parts
//! of each power of two for large ones, so that a list of any length is counted in less than 100 KB.

/// Smaller distances are counted one by one.
const EXACT_LOG2: u32 = 11;
const EXACT: u32 = 1 << EXACT_LOG2;
/// The parts of a power of two.
const PARTS_LOG2: u32 = EXACT_LOG2 - 1;

/// Counts of distances, of which the larger ones are grouped.
#[derive(Debug, Default)]
pub(super) struct Histogram(Vec<u32>);

/// The place of a distance.
#[inline(always)]
fn place(distance: u32) -> usize {
    if distance < EXACT {
        return distance as usize;
    }
    let log2 = distance.ilog2();
    let part = (distance >> (log2 - PARTS_LOG2)) & ((1 << PARTS_LOG2) - 1);
    (EXACT + ((log2 - EXACT_LOG2) << PARTS_LOG2) + part) as usize
}

/// The smallest distance at a place.
fn first(place: usize) -> u64 {
    let Some(beyond) = (place as u32).checked_sub(EXACT) else { return place as u64 };
    let (log2, part) = (EXACT_LOG2 + (beyond >> PARTS_LOG2), beyond & ((1 << PARTS_LOG2) - 1));
    u64::from((1 << PARTS_LOG2) + part) << (log2 - PARTS_LOG2)
}

impl Histogram {
    /// Counts distances of at most `bound`.
    #[inline(always)]
    pub fn add_each(&mut self, distances: impl Iterator<Item = u32>, bound: u32) {
        let places = place(bound) + 1;
        if self.0.len() < places {
            self.0.resize(places.next_power_of_two(), 0);
        }
        let counts = &mut self.0[..places];
        if bound < EXACT {
            distances.for_each(|distance| counts[distance as usize] += 1);
        } else {
            distances.for_each(|distance| counts[place(distance)] += 1);
        }
    }

    /// Adds another one's counts of distances up to `bound`.
    pub fn add_all(&mut self, other: &Self, bound: u32) {
        let others = &other.0[..other.0.len().min(place(bound) + 1)];
        if self.0.len() < others.len() {
            self.0.resize(others.len(), 0);
        }
        self.0.iter_mut().zip(others).for_each(|(count, more)| *count += more);
    }

    /// Forgets distances up to `bound`.
    #[inline(always)]
    pub fn clear(&mut self, bound: u32) {
        let end = self.0.len().min(place(bound) + 1);
        self.0[..end].fill(0);
    }

    /// The number of neighbours at no distance: their bounds are at least the vertex's own.
    pub fn at_no_distance(&self) -> u32 {
        self.0.first().copied().unwrap_or(0)
    }

    /// The largest h of at most `bound` such that h neighbours have bounds of at least h; or, where their distances are
    /// grouped, a larger one that is below `bound`.
    #[inline(always)]
    pub fn sunk(&self, bound: u32) -> u32 {
        let mut count = 0u64;
        for (place, &more) in self.0.iter().enumerate().take(place(bound) + 1) {
            count += u64::from(more);
            let least = u64::from(bound).saturating_sub(first(place + 1) - 1);
            if count >= least {
                // At most as many as there are, and as high as the nearest of the group.
                return count.min(u64::from(bound) - first(place)) as u32;
            }
        }
        count as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_follow_each_other() {
        let places = (0..1u64 << 24).step_by(37).chain((24..32).flat_map(|log2| [(1 << log2) - 1, 1 << log2]));
        for distance in places.chain([u64::from(u32::MAX)]) {
            let at = place(distance as u32);
            assert!((first(at)..first(at + 1)).contains(&distance), "{distance} at {at}");
        }
        assert!(place(u32::MAX) < 24_000, "less than 100 KB");
    }

    proptest! {
        #[test]
        fn h_indices(bounds in prop::collection::vec(0u32..3_000, 0..3_000), own in 1u32..4_000, large: bool) {
            let scale = if large { 1_000 } else { 1 };
            let bounds: Vec<u32> = bounds.into_iter().map(|bound| bound * scale).collect();
            let own = own * scale;
            let mut counted = Histogram::default();
            counted.add_each(bounds.iter().map(|&bound| own.saturating_sub(bound)), own);
            let sunk = counted.sunk(own);
            let mut falling = bounds.clone();
            falling.sort_unstable_by(|a, b| b.cmp(a));
            let exact = falling.iter().zip(1..).map(|(&bound, rank)| bound.min(rank)).max().unwrap_or(0).min(own);
            prop_assert!(sunk >= exact && (sunk < own || exact == own), "{sunk}, not {exact} of {own}");
            prop_assert!(own - sunk >= EXACT || sunk == exact, "{sunk}, not {exact} of {own}");
            counted.clear(own);
            prop_assert_eq!(counted.0.iter().sum::<u32>(), 0);
        }
    }
}
