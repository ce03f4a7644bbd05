//! The rules that need only parents and values: parents form a tree, and levels grow by 1 along its edges.

use super::{Broken, Lengths, Parents, Rule, Search};
use crate::error::Result;
use crate::model::bits::Bits;
use std::ops::Range;
use topostream_formats::text::counted;

/// The number of vertices between two checks for cancellation.
const CANCEL_CHECK_VERTICES: u64 = 1 << 20;

impl Search<'_> {
    /// Checks every vertex by itself: values are not negative, the source is the root, and every reached vertex has a
    /// reached parent. Returns the number of reached vertices.
    pub(super) fn check_vertices(&self) -> Result<u64> {
        let of_chunk = |vertices: Range<u64>| {
            let mut reached = 0;
            for vertex in vertices.map(|vertex| vertex as u32) {
                if let Some((other, reason)) = self.defect(vertex) {
                    return Err(Broken { rule: Rule::Tree, vertex, other, reason, page: None });
                }
                reached += u64::from(self.is_reached(vertex));
            }
            Ok(reached)
        };
        let reached = self.by_chunk(of_chunk)?.into_iter().sum::<Result<u64, Broken>>();
        reached.map_err(|broken| self.wrong(broken))
    }

    /// Returns whether every reached vertex but the source has a larger value than its parent.
    pub(super) fn grows(&self, parent: &Parents<'_>) -> Result<bool> {
        let up = |vertex| Self::above(parent, vertex).map_or(f64::INFINITY, |above| self.value.get(above));
        let stays = |vertex| up(vertex) >= self.value.get(vertex);
        Ok(self.first_reached(stays)?.is_none())
    }

    /// Returns what is wrong with a vertex, and its parent if that is involved.
    fn defect(&self, vertex: u32) -> Option<(Option<u32>, String)> {
        let (value, noun) = (self.value.get(vertex), self.lengths.noun());
        if value.is_nan() || value < 0.0 {
            return Some((None, format!("has {noun} {value}, which is not valid")));
        }
        if value > self.cutoff && value.is_finite() {
            return Some((None, format!("has {noun} {value}, beyond the largest, {}", self.cutoff)));
        }
        let parent = self.parent.map(|parent| Self::above(parent, vertex));
        if vertex == self.source {
            let is_root = parent.is_none_or(|parent| parent == Some(vertex));
            return match (value, is_root) {
                (0.0, true) => None,
                (0.0, false) => Some((parent.flatten(), "is the source, which must be its own parent".into())),
                _ => Some((None, format!("is the source and must have {noun} 0, but has {value}"))),
            };
        }
        match (value < f64::INFINITY, parent) {
            (_, None) | (false, Some(None)) => None,
            (true, Some(None)) => Some((None, format!("is reached ({noun} {value}) but has no parent"))),
            (false, Some(parent)) => Some((parent, "is unreached".into())),
            (true, Some(Some(parent))) => {
                if u64::from(parent) >= self.store.vertices() {
                    let vertices = self.store.vertices();
                    return Some((
                        None,
                        format!("has parent number {parent} in a graph of {}", counted(vertices, "vertex")),
                    ));
                }
                (!self.is_reached(parent))
                    .then(|| (Some(parent), format!("is reached ({noun} {value}), but its parent is not")))
            }
        }
    }

    /// Checks that every path from parent to parent ends at the source. Each vertex is visited twice: once to detect a
    /// cycle, and once to mark it as safe.
    pub(super) fn check_cycles(&self, parent: &Parents<'_>) -> Result<()> {
        let (passed, safe) = (Bits::new(self.store.vertices()), Bits::new(self.store.vertices()));
        safe.insert(self.source);
        let above = |vertex| Self::above(parent, vertex).expect("a reached vertex has a parent");
        for start in self.others().filter(|&vertex| self.is_reached(vertex)) {
            if u64::from(start).is_multiple_of(CANCEL_CHECK_VERTICES) {
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

    /// Checks that a parent's level is lower by 1. Distances are checked later, with the weights.
    pub(super) fn check_tree_edges(&self, parent: &Parents<'_>) -> Result<()> {
        if self.lengths != Lengths::Hops {
            return Ok(());
        }
        let above = |vertex| Self::above(parent, vertex).expect("a reached vertex has a parent");
        let is_wrong = |vertex| self.value.get(above(vertex)) + 1.0 != self.value.get(vertex);
        let Some(vertex) = self.first_reached(is_wrong)? else { return Ok(()) };
        let (value, up) = (self.value.get(vertex), self.value.get(above(vertex)));
        let (other, reason) = (Some(above(vertex)), format!("is at level {value}, but its parent is at level {up}"));
        Err(self.wrong(Broken { rule: Rule::TreeEdge, vertex, other, reason, page: None }))
    }
}
