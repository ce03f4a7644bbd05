//! A superstep as plain data: which lists it reads, the numbers that it needs, and what it came to.

use topostream_formats::Direction;

/// A few sums over vertices, or a few numbers that a superstep needs; what they mean is the algorithm's.
pub type Scalars = [f64; 4];

/// Whole numbers that a superstep needs: phases, levels, vertices, bits.
pub type Integers = [u32; 4];

/// Whose lists a superstep reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visit {
    /// Every vertex's.
    All,
    /// Those of the active vertices.
    Frontier,
    /// Those of vertices that are in a bit attribute (by its place in the declaration) which edges do not write: first
    /// values and vertex phases say who is in.
    Within(usize),
    /// Those of vertices that are not in a bit attribute.
    Without(usize),
    /// No vertex's: the superstep reads no page and is a vertex phase only. Of algorithms that are no traversals, with
    /// [`Direction::Out`]; [`Algorithm::visits`](crate::model::algorithm::Algorithm::visits) need not name it.
    None,
}

/// One superstep, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Counted from 0.
    pub superstep: u32,
    /// Which lists are read.
    pub direction: Direction,
    /// Whose.
    pub visit: Visit,
    /// Numbers that the edge function and the vertex phase need; GPUs have them rounded to `f32`.
    pub scalars: Scalars,
    /// Whole numbers that they need; every device has them as they are.
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

    /// Whether devices are prepared for it, where an algorithm that is a traversal or not has declared these visits.
    pub(crate) fn is_among(&self, visits: &[(Direction, Visit)], traversal: bool) -> bool {
        let without_pages = self.visit == Visit::None && self.direction == Direction::Out && !traversal;
        without_pages || visits.contains(&(self.direction, self.visit))
    }

    /// The same with these numbers.
    #[must_use]
    pub fn with_scalars(self, scalars: Scalars) -> Self {
        Self { scalars, ..self }
    }

    /// The same with these whole numbers.
    #[must_use]
    pub fn with_integers(self, integers: Integers) -> Self {
        Self { integers, ..self }
    }
}

/// What a superstep came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The sums of the vertex phase, in vertex order: the same bits on every run.
    pub totals: Scalars,
    /// How many vertices are active in the next superstep.
    pub activated: u64,
    /// The lengths of their out-lists, added up.
    pub activated_edges: u64,
}
