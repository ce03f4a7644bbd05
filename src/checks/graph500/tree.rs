//! What parents and values tell by themselves: that they are a tree, and that it goes down by levels.

use super::{Broken, Lengths, Parents, Rule, Search};
use crate::error::Result;
use crate::model::bits::Bits;

/// How often a walk over vertices asks whether it should stop.
const VERTICES_A_LOOK: u64 = 1 << 20;

impl Search<'_> {
    /// Every vertex by itself: values are lengths, the source is the root, and what is reached has a parent that is.
    /// Returns how many are reached.
    pub(super) fn check_vertices(&self) -> Result<u64> {
        let mut reached = 0;
        for vertex in 0..self.store.vertices() {
            if vertex.is_multiple_of(VERTICES_A_LOOK) {
                self.check_cancel()?;
            }
            let vertex = vertex as u32;
            if let Some((other, reason)) = self.defect(vertex) {
                return Err(self.wrong(Broken { rule: Rule::Tree, vertex, other, reason, page: None }));
            }
            reached += u64::from(self.is_reached(vertex));
        }
        Ok(reached)
    }

    /// What is wrong with a vertex, and with which parent.
    fn defect(&self, vertex: u32) -> Option<(Option<u32>, String)> {
        let (value, noun) = (self.value.get(vertex), self.lengths.noun());
        if value.is_nan() || value < 0.0 {
            return Some((None, format!("has {noun} {value}, which is none")));
        }
        let parent = self.parent.map(|parent| Self::above(parent, vertex));
        if vertex == self.source {
            let is_root = parent.is_none_or(|parent| parent == Some(vertex));
            return match (value, is_root) {
                (0.0, true) => None,
                (0.0, false) => Some((parent.flatten(), "is the source, which is its own parent".into())),
                _ => Some((None, format!("is the source and has {noun} {value}, not 0"))),
            };
        }
        match (value < f64::INFINITY, parent) {
            (_, None) | (false, Some(None)) => None,
            (true, Some(None)) => Some((None, format!("is reached ({noun} {value}) and has no parent"))),
            (false, Some(parent)) => Some((parent, "is not reached".into())),
            (true, Some(Some(parent))) => {
                if u64::from(parent) >= self.store.vertices() {
                    let vertices = self.store.vertices();
                    return Some((None, format!("has parent number {parent} of a graph of {vertices} vertices")));
                }
                (!self.is_reached(parent))
                    .then(|| (Some(parent), format!("is reached ({noun} {value}), its parent is not")))
            }
        }
    }

    /// Every way from parent to parent ends at the source. Each vertex is passed twice: once to see whether the way
    /// comes back to itself, once to know it as one that does not.
    pub(super) fn check_cycles(&self, parent: &Parents<'_>) -> Result<()> {
        let (passed, safe) = (Bits::new(self.store.vertices()), Bits::new(self.store.vertices()));
        safe.insert(self.source);
        let above = |vertex| Self::above(parent, vertex).expect("what is reached has a parent");
        for start in self.others().filter(|&vertex| self.is_reached(vertex)) {
            if u64::from(start).is_multiple_of(VERTICES_A_LOOK) {
                self.check_cancel()?;
            }
            let mut vertex = start;
            while !safe.contains(vertex) {
                if !passed.insert(vertex) {
                    let (other, reason) = (Some(above(vertex)), "is in a cycle of parents".into());
                    return Err(self.wrong(Broken { rule: Rule::Tree, vertex, other, reason, page: None }));
                }
                vertex = above(vertex);
            }
            vertex = start;
            while safe.insert(vertex) {
                vertex = above(vertex);
            }
        }
        Ok(())
    }

    /// A parent is one level up. Distances wait for the weights.
    pub(super) fn check_tree_edges(&self, parent: &Parents<'_>) -> Result<()> {
        if self.lengths != Lengths::Hops {
            return Ok(());
        }
        for vertex in self.others().filter(|&vertex| self.is_reached(vertex)) {
            let above = Self::above(parent, vertex).expect("what is reached has a parent");
            let (value, up) = (self.value.get(vertex), self.value.get(above));
            if up + 1.0 != value {
                let (other, reason) = (Some(above), format!("is at level {value}, its parent at level {up}"));
                return Err(self.wrong(Broken { rule: Rule::TreeEdge, vertex, other, reason, page: None }));
            }
        }
        Ok(())
    }
}
