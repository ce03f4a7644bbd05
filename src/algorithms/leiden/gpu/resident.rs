//! A level's graph in device memory, and the batches of its vertices.

use super::away::Held;
use super::modules::{BINS, PART, PLACES_MAX, Shape};
use crate::algorithms::leiden::graph::Graph;
use crate::algorithms::leiden::lists::{Lists, Weights};
use crate::algorithms::leiden::objective::Masses;
use crate::algorithms::leiden::paged::Edges;
use crate::device::gpu::compute::{Compute, Memory};
use crate::error::Result;
use rayon::prelude::*;

/// A level's graph in device memory.
pub struct Resident {
    /// What its kernels depend on.
    pub shape: Shape,
    /// The number of vertices.
    pub vertices: u32,
    /// The edges of all lists, and room between them.
    pub places: u32,
    /// Where lists begin and end: two words a vertex.
    pub lists: Memory,
    /// The neighbours of all vertices.
    pub neighbours: Memory,
    /// The weights of edges.
    pub weights: Memory,
    /// The masses of vertices.
    pub masses: Memory,
    /// The memory of all.
    pub _held: Held,
}

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

impl Resident {
    /// The bytes of the buffers of a graph of so many vertices and places of edges; none if they are too many for
    /// numbers of 32 bits.
    pub fn bytes((vertices, places): (u32, u64), shape: Shape) -> Option<[u64; 4]> {
        let of_vertices = |words: u32| u64::from(vertices) * u64::from(words);
        let words = [of_vertices(2), places, places * u64::from(shape.weight_words), of_vertices(shape.mass_words())];
        (places <= PLACES_MAX).then(|| words.map(|words| 4 * words))
    }

    /// Room for a graph with these masses.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::error::GpuError::OutOfMemory); other errors of the device.
    pub fn new(
        compute: &Compute,
        (masses, places): (&Masses, u32),
        shape: Shape,
        (bytes, held): ([u64; 4], Held),
    ) -> Result<Self> {
        let resident = Self {
            shape,
            vertices: masses.out.len() as u32,
            places,
            lists: compute.memory("leiden lists", bytes[0])?,
            neighbours: compute.memory("leiden neighbours", bytes[1])?,
            weights: compute.memory("leiden weights", bytes[2])?,
            masses: compute.memory("leiden masses", bytes[3])?,
            _held: held,
        };
        compute.write(&resident.masses, bytemuck::cast_slice(&mass_words(masses, shape)))?;
        Ok(resident)
    }

    /// Copies lists in main memory to the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn send(&self, compute: &Compute, lists: &Lists) -> Result<()> {
        compute.write(&self.lists, bytemuck::cast_slice(&ranges(lists)))?;
        compute.write(&self.neighbours, bytemuck::cast_slice(&lists.neighbours))?;
        match &lists.weights {
            Weights::Ones => Ok(()),
            Weights::Narrow(weights) => compute.write(&self.weights, bytemuck::cast_slice(weights)),
            Weights::Wide(weights) => compute.write(&self.weights, bytemuck::cast_slice(weights)),
        }
    }
}

/// Where lists begin and end.
fn ranges(lists: &Lists) -> Vec<[u32; 2]> {
    let of = |vertex: u32| {
        let start = lists.starts[vertex as usize];
        [start as u32, (start + lists.degree(vertex) as u64) as u32]
    };
    (0..lists.vertices()).into_par_iter().map(of).collect()
}

/// The words of the masses of all vertices.
fn mass_words(masses: &Masses, shape: Shape) -> Vec<u32> {
    let count = shape.mass_words() as usize;
    let mut words = vec![0; masses.out.len() * count];
    words.par_chunks_mut(count).enumerate().for_each(|(vertex, words)| {
        let sides = words.chunks_mut(count / (1 + usize::from(shape.is_directed)));
        for (side, mass) in sides.zip(masses.get(vertex as u32)) {
            side[0] = mass as u32;
            if let Some(high) = side.get_mut(1) {
                *high = (mass >> 32) as u32;
            }
        }
    });
    words
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
