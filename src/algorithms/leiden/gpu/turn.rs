//! Turns, as kernels read them.

use crate::algorithms::leiden::objective::Pull;
use bytemuck::{Pod, Zeroable};

/// A turn: `Turn` in level.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Turn {
    /// What a unit of weight counts.
    unit: [u32; 4],
    resolution: [u32; 2],
    seed: [u32; 2],
    chance: [u32; 2],
    all_go: u32,
    first: u32,
    end: u32,
    counters: u32,
    room: u32,
    vertices: u32,
}

/// Words of a number, the low one first.
fn words(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

impl Turn {
    /// Of all vertices of a level, by a seed.
    pub fn of(pull: &Pull, seed: u64, (vertices, room): (u32, u32)) -> Self {
        let (unit, resolution) = pull.parts();
        let ([a, b], [c, d]) = (words(unit as u64), words((unit >> 64) as u64));
        Self {
            unit: [a, b, c, d],
            resolution: words(resolution),
            seed: words(seed),
            chance: [0, 0],
            all_go: 1,
            first: 0,
            end: vertices,
            counters: 0,
            room,
            vertices,
        }
    }

    /// Of the vertices of a batch, with these counters.
    pub fn of_batch(self, (first, end): (u32, u32), counters: u32) -> Self {
        Self { first, end, counters, ..self }
    }

    /// Of those whose hash with this is even.
    pub fn by_chance(self, seed: u64) -> Self {
        Self { chance: words(seed), all_go: 0, ..self }
    }
}
