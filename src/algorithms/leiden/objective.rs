//! What a partition is worth, and what a move gains: in integers, so that every machine decides alike.
//!
//! With T the sum of all strengths (of a directed graph, of all weights), m a vertex's mass and M a community's, a
//! vertex is drawn to a community by
//!
//! ```text
//!  modularity   weight of its edges there · T  −  resolution · m · M        masses are strengths
//!  CPM          weight of its edges there      −  resolution · m · M        masses are numbers of vertices
//! ```
//!
//! Directed graphs have two masses a vertex, out and in: edges count both ways, and m · M is
//! m_out · M_in + m_in · M_out (Leicht and Newman, Phys. Rev. Lett. 100, 2008).

use crate::model::prefetch::line_of;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is maximized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Modularity with a resolution (Newman and Girvan, 2004; Reichardt and Bornholdt, 2006).
    #[default]
    Modularity,
    /// The constant Potts model (Traag, Van Dooren and Nesterov, Phys. Rev. E 84, 2011).
    Cpm,
}

/// Bits behind the point of a resolution.
const FRACTION: u32 = 24;

/// The largest resolution.
pub const RESOLUTION_MAX: f64 = 1000.0;

/// The sum of all strengths is below two to the power of this while communities are looked for: a score, two of them
/// and a resolution multiplied, then fits in 128 bits.
pub const TOTAL_BITS: u32 = 46;

/// A vertex's mass, or a community's: out and in. Of undirected graphs the second is 0.
pub type Mass = [u64; 2];

/// How much vertices are drawn to communities.
#[derive(Clone, Copy, Debug)]
pub struct Pull {
    /// What a unit of weight counts.
    unit: i128,
    resolution: i128,
    directed: bool,
}

impl Pull {
    /// Of a graph with this sum of strengths, or of weights where it is directed.
    pub fn new(objective: Objective, resolution: f64, total: u64, directed: bool) -> Self {
        let unit = match objective {
            Objective::Modularity => i128::from(total),
            Objective::Cpm => 1,
        };
        let resolution = (resolution * f64::from(1u32 << FRACTION)).round() as i128;
        Self { unit: unit << FRACTION, resolution, directed }
    }

    /// What a unit of weight counts, and the resolution: whole numbers.
    #[cfg(feature = "gpu")]
    pub fn parts(&self) -> (u128, u64) {
        (self.unit as u128, self.resolution as u64)
    }

    /// By edges of this weight, against a mass.
    #[inline(always)]
    pub fn of(&self, weight: u64, mass: Mass, against: Mass) -> i128 {
        let wide = |one: u64, other: u64| (u128::from(one) * u128::from(other)) as i128;
        let product = if self.directed {
            wide(mass[0], against[1]) + wide(mass[1], against[0])
        } else {
            wide(mass[0], against[0])
        };
        self.unit * i128::from(weight) - self.resolution * product
    }
}

/// The masses of vertices.
#[derive(Clone, Debug, Default)]
pub struct Masses {
    /// Out, or of undirected graphs all.
    pub out: Vec<u64>,
    /// In; empty for undirected graphs.
    pub into: Vec<u64>,
}

impl Masses {
    /// Of a vertex.
    #[inline(always)]
    pub fn get(&self, vertex: u32) -> Mass {
        [self.out[vertex as usize], self.into.get(vertex as usize).copied().unwrap_or(0)]
    }

    /// The masses of an objective, of vertices with these strengths.
    pub fn or_ones(self, objective: Objective) -> Self {
        let ones = |count: usize| vec![1; count];
        match objective {
            Objective::Modularity => self,
            Objective::Cpm => Self { out: ones(self.out.len()), into: ones(self.into.len()) },
        }
    }

    /// Of all vertices: out, or in.
    pub fn total(&self, side: usize) -> u64 {
        [&self.out, &self.into][side].par_iter().sum()
    }
}

/// The masses of communities, which many threads change.
#[derive(Debug)]
pub struct Totals {
    out: Vec<AtomicU64>,
    into: Vec<AtomicU64>,
}

impl Totals {
    /// Each vertex for itself.
    pub fn of(masses: &Masses) -> Self {
        let atomic = |values: &[u64]| values.par_iter().map(|&value| AtomicU64::new(value)).collect();
        Self { out: atomic(&masses.out), into: atomic(&masses.into) }
    }

    /// None, for as many communities as there are masses.
    pub fn none(masses: &Masses) -> Self {
        let zeros = |count: usize| topostream_formats::huge::zeroed(count as u64);
        Self { out: zeros(masses.out.len()), into: zeros(masses.into.len()) }
    }

    /// Of a community.
    #[inline(always)]
    pub fn get(&self, community: u32) -> Mass {
        let into = self.into.get(community as usize).map_or(0, |into| into.load(Relaxed));
        [self.out[community as usize].load(Relaxed), into]
    }

    /// Fetches a community's mass ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, community: u32) {
        line_of(&self.out, community as usize);
    }

    /// Adds a mass to a community's; sums wrap.
    #[inline(always)]
    pub fn add(&self, community: u32, mass: Mass) {
        self.out[community as usize].fetch_add(mass[0], Relaxed);
        if let Some(into) = self.into.get(community as usize) {
            into.fetch_add(mass[1], Relaxed);
        }
    }
}

/// The mass of a community without a vertex of it.
#[inline(always)]
pub fn without(community: Mass, vertex: Mass) -> Mass {
    [community[0] - vertex[0], community[1] - vertex[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_the_largest_numbers_fit() {
        let total = (1u64 << TOTAL_BITS) - 1;
        for directed in [false, true] {
            let pull = Pull::new(Objective::Modularity, RESOLUTION_MAX, total, directed);
            let half = [total / 2, total / 2];
            assert!(pull.of(total, half, half) > i128::MIN / 2);
            assert!(pull.of(total, [0, 0], half) > 0);
        }
    }

    #[test]
    fn a_pull_is_the_gain_of_modularity() {
        // Two triangles, 0-1-2 and 3-4-5, joined by 2-3: T is 14, and vertex 3 has strength 3.
        let pull = Pull::new(Objective::Modularity, 1.0, 14, false);
        assert_eq!(pull.of(2, [3, 0], [4, 0]), (2 * 14 - 3 * 4) << FRACTION);
        assert!(pull.of(2, [3, 0], [4, 0]) > pull.of(1, [3, 0], [7, 0]));
        let cpm = Pull::new(Objective::Cpm, 0.5, 14, false);
        assert_eq!(cpm.of(2, [1, 0], [2, 0]), 1 << FRACTION);
    }
}
