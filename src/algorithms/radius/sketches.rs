//! The bitmaps of all vertices: side by side in wide runs, columns in narrow ones.

use crate::model::algorithm::State;
use crate::model::attributes::{LANES, Row, U32Column};

/// The maximum number of bitmaps of a vertex.
pub(super) const BITMAPS_MAX: usize = LANES;

/// A vertex's bitmaps, of which a narrow run has two.
pub(super) type Bitmaps = [u32; BITMAPS_MAX];

/// The bitmaps of all vertices.
#[derive(Clone, Copy)]
pub(super) enum Sketches<'a> {
    Wide(&'a Row),
    Narrow([&'a U32Column; 2]),
}

impl<'a> Sketches<'a> {
    /// The bitmaps from an index on.
    pub fn new(state: &'a State, first: usize, wide: bool) -> Self {
        match wide {
            true => Self::Wide(state.attributes.row(first)),
            false => Self::Narrow([first, first + 1].map(|place| state.attributes.u32(place))),
        }
    }

    pub fn bitmaps(self) -> usize {
        match self {
            Self::Wide(_) => BITMAPS_MAX,
            Self::Narrow(columns) => columns.len(),
        }
    }

    #[inline(always)]
    pub fn get(self, vertex: u32) -> Bitmaps {
        match self {
            Self::Wide(row) => row.get(vertex),
            Self::Narrow([one, other]) => [one.get(vertex), other.get(vertex), 0, 0, 0, 0, 0, 0],
        }
    }

    #[inline(always)]
    pub fn set(self, vertex: u32, bitmaps: Bitmaps) {
        match self {
            Self::Wide(row) => row.set_all(vertex, bitmaps),
            Self::Narrow(columns) => {
                columns.into_iter().zip(bitmaps).for_each(|(column, bits)| column.set(vertex, bits))
            }
        }
    }

    #[inline(always)]
    pub fn or(self, vertex: u32, bitmaps: Bitmaps) {
        match self {
            Self::Wide(row) => row.or(vertex, bitmaps),
            Self::Narrow(columns) => columns.into_iter().zip(bitmaps).for_each(|(column, bits)| {
                column.or(vertex, bits);
            }),
        }
    }

    #[inline(always)]
    pub fn prefetch(self, vertex: u32) {
        match self {
            Self::Wide(row) => row.prefetch(vertex),
            Self::Narrow(columns) => columns.into_iter().for_each(|column| column.prefetch(vertex)),
        }
    }
}

/// The bits of two sketches together.
#[inline(always)]
pub(super) fn merged(one: Bitmaps, other: Bitmaps) -> Bitmaps {
    std::array::from_fn(|bitmap| one[bitmap] | other[bitmap])
}

/// The number of bits of a sketch.
pub(super) fn count(bitmaps: Bitmaps) -> u32 {
    bitmaps.into_iter().map(u32::count_ones).sum()
}
