//! Lists that are in memory: pages refer to them, so that the thread that divides lists among pages reads a byte for
//! each neighbour.
//!
//! ```text
//!  any thread: lists, bits of their gaps ─▶ where pages end (bits) ─▶ a page's threads: gaps, packed (neighbours)
//! ```

use super::super::bits::bits_of;
use super::super::layout::zigzag;
use crate::encoding::PackedParameters;
use std::ops::Range;
use std::sync::Arc;

/// Lists of vertices in ascending order, none of them empty.
#[derive(Debug, Default)]
pub struct SharedLists {
    /// The vertices, and the lengths of their lists.
    pub lengths: Vec<(u32, u32)>,
    /// The neighbours of all lists.
    pub dests: Vec<u32>,
    /// Bits of each neighbour's gap, as [`measure`](Self::measure) computes them.
    pub(super) widths: Vec<u8>,
    /// Whether the first list continues the last one of the lists before.
    continues: bool,
}

impl SharedLists {
    /// Computes the bits of gaps. Values are relative to `origin`. `before` is the neighbour before the first one, if
    /// that does not begin a list.
    pub fn measure(&mut self, parameters: PackedParameters, origin: u32, before: Option<u32>) {
        let (step, mut last) = (u32::from(parameters.step), before.unwrap_or(0));
        self.continues = before.is_some();
        self.widths.clear();
        self.widths.reserve_exact(self.dests.len());
        self.widths.extend(self.dests.iter().map(|&dest| {
            let gap = dest.wrapping_sub(last).wrapping_sub(step);
            last = dest;
            bits_of(gap) as u8
        }));
        let mut at = 0;
        for (number, &(vertex, length)) in self.lengths.iter().enumerate() {
            let dest = self.dests[at];
            let gap = if parameters.own { zigzag(dest.wrapping_sub(vertex)) } else { dest.wrapping_sub(origin) };
            if number > 0 || !self.continues {
                self.widths[at] = bits_of(gap) as u8;
            }
            at += length as usize;
        }
    }

    /// The vertex and the length of the first list, if it continues the last one of the lists before.
    pub(crate) fn continued(&self) -> Option<(u32, u32)> {
        self.lengths.first().copied().filter(|_| self.continues)
    }

    /// Removes all lists.
    pub fn clear(&mut self) {
        self.lengths.clear();
        self.dests.clear();
        self.widths.clear();
    }
}

/// Neighbours of shared lists in a page.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) lists: Arc<SharedLists>,
    /// Where they are among all of the lists.
    pub(super) range: Range<usize>,
    /// The number of neighbours in the page before them.
    pub(super) at: usize,
}

impl Piece {
    /// The number of neighbours in the page before the first one behind them.
    pub(super) fn end(&self) -> usize {
        self.at + self.range.len()
    }
}
