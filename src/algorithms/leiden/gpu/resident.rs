//! A level's graph in device memory.

use super::card::Held;
use super::modules::{PLACES_MAX, Shape};
use crate::algorithms::leiden::lists::{Lists, Weights};
use crate::algorithms::leiden::objective::Masses;
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
    /// Errors of the device.
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
