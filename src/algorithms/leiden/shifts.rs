//! Moves of vertices from one community to another, as sums of both.

use super::objective::{Mass, Totals};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Communities whose changes a thread gathers.
const GATHERED: usize = 64;

/// The sums of communities.
pub struct Sums {
    /// The masses.
    pub totals: Totals,
    /// The numbers of vertices.
    pub sizes: Vec<AtomicU32>,
}

impl Sums {
    /// The number of vertices of a community.
    #[inline(always)]
    pub fn size(&self, community: u32) -> u32 {
        self.sizes[community as usize].load(Relaxed)
    }
}

/// Changes of sums by a thread, which gathers a community's changes before it makes them: many moves are from and to
/// few communities, and all threads would contend for these.
pub struct Shifts<'a> {
    sums: &'a Sums,
    /// A community, the change of its mass and of its size, which wrap.
    gathered: [(u32, Mass, u32); GATHERED],
}

impl<'a> Shifts<'a> {
    /// None so far.
    pub fn of(sums: &'a Sums) -> Self {
        Self { sums, gathered: [(0, [0, 0], 0); GATHERED] }
    }

    /// Moves a vertex of this mass.
    #[inline(always)]
    pub fn shift(&mut self, from: u32, to: u32, mass: Mass) {
        self.add(from, mass.map(u64::wrapping_neg), u32::MAX);
        self.add(to, mass, 1);
    }

    #[inline(always)]
    fn add(&mut self, community: u32, mass: Mass, size: u32) {
        let place = &mut self.gathered[community as usize % GATHERED];
        if place.0 != community {
            let before = std::mem::replace(place, (community, [0, 0], 0));
            change(self.sums, before);
        }
        let place = &mut self.gathered[community as usize % GATHERED];
        for (sum, mass) in place.1.iter_mut().zip(mass) {
            *sum = sum.wrapping_add(mass);
        }
        place.2 = place.2.wrapping_add(size);
    }
}

fn change(sums: &Sums, (community, mass, size): (u32, Mass, u32)) {
    if mass != [0, 0] {
        sums.totals.add(community, mass);
    }
    if size != 0 {
        sums.sizes[community as usize].fetch_add(size, Relaxed);
    }
}

impl Drop for Shifts<'_> {
    fn drop(&mut self) {
        self.gathered.iter().for_each(|&change_of| change(self.sums, change_of));
    }
}

#[cfg(test)]
mod tests {
    use super::super::objective::Masses;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As one move after another.
        #[test]
        fn sums_are_those_of_all_moves(moves in prop::collection::vec((0usize..300, 0u32..300), 0..500)) {
            let masses = Masses { out: (0..300).map(|vertex| vertex % 7).collect(), into: (0..300).collect() };
            let sums = Sums { totals: Totals::of(&masses), sizes: (0..300).map(|_| AtomicU32::new(1)).collect() };
            let mut of: Vec<u32> = (0..300).collect();
            let mut shifts = Shifts::of(&sums);
            for (vertex, to) in moves {
                shifts.shift(std::mem::replace(&mut of[vertex], to), to, masses.get(vertex as u32));
            }
            drop(shifts);
            for community in 0..300 {
                let members: Vec<u32> = (0..300).filter(|&vertex| of[vertex as usize] == community).collect();
                let mass = members.iter().fold([0, 0], |sum, &vertex| {
                    let mass = masses.get(vertex);
                    [sum[0] + mass[0], sum[1] + mass[1]]
                });
                prop_assert_eq!((sums.totals.get(community), sums.size(community)), (mass, members.len() as u32));
            }
        }
    }
}
