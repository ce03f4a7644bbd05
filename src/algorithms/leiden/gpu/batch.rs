//! The batches of a level's vertices, by the lengths of their lists.

use super::modules::{BINS, PART, Shape};
use crate::algorithms::leiden::graph::Graph;
use crate::algorithms::leiden::lists::{Lists, Weights};
use crate::algorithms::leiden::paged::Edges;
use rayon::prelude::*;

/// The vertices of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch {
    /// The first one, and the one behind the last.
    pub range: (u32, u32),
    /// The number of lists in each bin.
    pub lists: [u32; BINS],
    /// The number of parts of long lists.
    pub parts: u32,
}

/// Whether a graph's masses, and the sums of its weights, have more than 32 bits.
pub fn is_wide(graph: &Graph) -> bool {
    let masses = graph.masses.total(0).saturating_add(graph.masses.total(1));
    let weights = match &graph.edges {
        Edges::Memory(Lists { weights: Weights::Narrow(of), .. }) => {
            of.par_iter().map(|&weight| u64::from(weight)).sum()
        }
        Edges::Memory(Lists { weights: Weights::Wide(of), .. }) => of.par_iter().sum(),
        _ => 0u64,
    };
    masses.max(weights) > u32::MAX.into()
}

/// The batches between these bounds, without empty ones.
pub fn batches(graph: &Graph, bounds: &[u32], shape: Shape) -> Vec<Batch> {
    let of = |bounds: &[u32]| {
        let range = (bounds[0], bounds[1]);
        let add = |mut batch: Batch, vertex: u32| {
            let degree = graph.degree(vertex);
            if degree > 0 {
                let bin = shape.bin(degree);
                batch.lists[bin] += 1;
                batch.parts += if bin + 1 == BINS { (degree as u32).div_ceil(PART) } else { 0 };
            }
            batch
        };
        let sum = |mut one: Batch, other: Batch| {
            one.lists.iter_mut().zip(other.lists).for_each(|(sum, lists)| *sum += lists);
            Batch { parts: one.parts + other.parts, ..one }
        };
        let batch = (range.0..range.1).into_par_iter().fold(Batch::default, add).reduce(Batch::default, sum);
        Batch { range, ..batch }
    };
    bounds.windows(2).filter(|bounds| bounds[0] < bounds[1]).map(of).collect()
}
