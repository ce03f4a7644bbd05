//! Union-find over places, by all threads at once.
//!
//! A place has 32 bits. Trees are linked by compare-and-swap, the larger root under the smaller one, and paths are
//! halved as they are walked (Jayanti and Tarjan, PODC 2016; Afforest: Sutton, Ben-Nun and Barak, IPDPS 2018, starts
//! from the same `link`). Which of two roots is smaller is the caller's order of places: in the order of ids, a root is
//! the smallest id of its tree.

use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::Result;
use topostream_formats::huge::try_zeroed;

/// The parents of places: 4 bytes each. A parent is stored as its difference (by bits) to its child, so that zeroed
/// memory, which the system hands out when it is first touched, is a forest of single places.
#[derive(Clone, Copy, Debug)]
pub struct Forest<C = Vec<AtomicU32>>(C);

impl Forest<Vec<AtomicU32>> {
    /// Single places.
    ///
    /// # Errors
    /// [`Error::Allocation`](topostream_formats::Error::Allocation).
    pub fn new(places: u64) -> Result<Self> {
        try_zeroed("components", places).map(Self)
    }
}

impl<C: Deref<Target = [AtomicU32]>> Forest<C> {
    /// The forest that cells contain, a place each.
    pub fn of(cells: C) -> Self {
        Self(cells)
    }

    /// The place above a place; a root is above itself.
    #[inline(always)]
    pub fn parent(&self, place: u32) -> u32 {
        self.0[place as usize].load(Relaxed) ^ place
    }

    /// The root of a place's tree.
    #[inline]
    pub fn root(&self, mut place: u32) -> u32 {
        loop {
            let parent = self.parent(place);
            let above = self.parent(parent);
            if above == parent {
                return parent;
            }
            // Another thread may have moved the place further up: then its parent stays.
            let (old, new) = (parent ^ place, above ^ place);
            self.0[place as usize].compare_exchange_weak(old, new, Relaxed, Relaxed).ok();
            place = above;
        }
    }

    /// Joins the trees of two places. Returns whether they were different trees.
    #[inline]
    pub fn link(&self, one: u32, other: u32, is_smaller: impl Fn(u32, u32) -> bool) -> bool {
        let (mut one, mut other) = (self.root(one), self.root(other));
        while one != other {
            let (low, high) = if is_smaller(one, other) { (one, other) } else { (other, one) };
            if self.0[high as usize].compare_exchange(0, low ^ high, Relaxed, Relaxed).is_ok() {
                return true;
            }
            (one, other) = (self.root(low), self.root(high));
        }
        false
    }

    /// Puts a place right below another one of its tree, or a single place below any.
    pub fn set_parent(&self, place: u32, parent: u32) {
        self.0[place as usize].store(parent ^ place, Relaxed);
    }
}
