//! A superstep as plain data: the lists that it reads, its numbers, and its results.

use serde::Serialize;
use topostream_formats::Direction;

/// A few sums over vertices, or a few numbers that a superstep needs; their meaning is up to the algorithm.
pub type Scalars = [f64; 4];

/// Integers that a superstep needs: phases, levels, vertices, bits.
pub type Integers = [u32; 4];

/// The vertices whose lists a superstep reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visit {
    /// All vertices.
    All,
    /// The active vertices.
    Frontier,
    /// The vertices in a bit attribute (by its index in the declaration) that edges do not write: initial values and
    /// vertex phases define the set.
    Within(usize),
    /// The vertices that are not in a bit attribute.
    Without(usize),
    /// No vertices: the superstep reads no page and is a vertex phase only. For algorithms that are not traversals,
    /// with [`Direction::Out`]; [`Declaration::visits`](crate::model::algorithm::Declaration::visits) need not list it.
    None,
}

/// One superstep, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The number of the superstep, from 0.
    pub superstep: u32,
    /// The lists that are read.
    pub direction: Direction,
    /// The vertices whose lists are read.
    pub visit: Visit,
    /// Numbers that the edge function and the vertex phase need; GPUs receive them rounded to `f32`.
    pub scalars: Scalars,
    /// Integers that they need; every device receives them unchanged.
    pub integers: Integers,
}

impl Step {
    /// A superstep whose numbers are 0.
    pub fn new(superstep: u32, direction: Direction, visit: Visit) -> Self {
        Self { superstep, direction, visit, scalars: Scalars::default(), integers: Integers::default() }
    }

    /// A superstep that reads no page, whose numbers are 0.
    pub fn without_pages(superstep: u32) -> Self {
        Self::new(superstep, Direction::Out, Visit::None)
    }

    /// Sets the numbers.
    #[must_use]
    pub fn with_scalars(self, scalars: Scalars) -> Self {
        Self { scalars, ..self }
    }

    /// Sets the integers.
    #[must_use]
    pub fn with_integers(self, integers: Integers) -> Self {
        Self { integers, ..self }
    }
}

/// A superstep that may run in the place of another one, and its expected work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternative {
    /// The superstep.
    pub step: Step,
    /// Its expected work, in edges; an estimate.
    pub edges: f64,
}

/// The state of an algorithm that iterates, after an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// The number of iterations so far.
    pub iterations: u32,
    /// How much the last one changed, in the unit of the algorithm's tolerance.
    pub residual: f64,
    /// The run ends once the residual is within this; `None` if a number of iterations was requested.
    pub tolerance: Option<f64>,
}

impl Iteration {
    /// Whether the residual is within the tolerance.
    pub fn converged(&self) -> Option<bool> {
        self.tolerance.map(|tolerance| self.residual <= tolerance)
    }
}

/// The results of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The sums of the vertex phase, in vertex order: the same bits on every run.
    pub totals: Scalars,
    /// The number of vertices that are active in the next superstep.
    pub activated: u64,
    /// The sum of the lengths of their out-lists.
    pub activated_edges: u64,
}
