//! Exchanges of the CPU device: sends and receives values.

use super::CpuDevice;
use crate::device::Member;
use crate::device::exchange::message::{BLOCK_VERTICES, DENSE, MessageLayout, SPARSE, blocks_of, words_of};
use crate::device::exchange::{ExchangeMemory, Move, Moves, Values, VertexList};
use crate::error::Result;
use crate::model::algorithm::{State, Step};
use crate::model::attributes::Attribute;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

impl Member for CpuDevice {
    fn begin_exchange(&mut self, moves: Moves) -> Result<()> {
        self.moves = moves;
        self.put()
    }

    fn end_exchange(&mut self) -> Result<()> {
        let Some(memory) = self.exchange.clone() else { return Ok(()) };
        for one in std::mem::take(&mut self.moves.take) {
            if !self.received.wait(&memory, std::slice::from_ref(&one), Duration::ZERO) {
                // The run ends with the error of the device that has failed.
                return Ok(());
            }
            self.install(|| self.make(&one))?;
        }
        Ok(())
    }

    fn begin_end(&mut self, _step: &Step, moves: Moves) -> Result<()> {
        self.moves = moves;
        Ok(())
    }

    fn contribute(&mut self, state: &State) -> Result<()> {
        self.install(|| self.shared.state.copy_own(&self.declaration.attributes, state))
    }

    fn contribute_before(&mut self, next: &Step, state: &State) -> Result<()> {
        let here = &self.shared.state;
        let own = &here.part.own;
        if here.is_traversal() && !own.is_empty() {
            let (first, last) = (own.start as u32, (own.end - 1) as u32);
            state.frontier(next.superstep).learn_from(here.frontier(next.superstep), first..=last);
        }
        self.contribute(state)
    }

    fn go_on_from(&mut self, next: &Step, state: &Arc<State>) -> Result<()> {
        self.install(|| state.give(&self.declaration.attributes, next.superstep, &self.shared.state))
    }
}

impl CpuDevice {
    /// Makes the moves that write to the exchange memory.
    pub(super) fn put(&mut self) -> Result<()> {
        let put = std::mem::take(&mut self.moves.put);
        match put.is_empty() {
            true => Ok(()),
            false => self.install(|| put.iter().for_each(|one| self.make(one))),
        }
    }

    /// Makes a move, and announces what it has written.
    fn make(&self, one: &Move) {
        let memory = self.exchange.as_ref().expect("moves need exchange memory");
        let attributes = &self.shared.state.attributes;
        let (declared, graph) = (&self.declaration.attributes, &self.shared.state.graph);
        let words = |values: &Values, at| memory.words(at, values.words(declared, graph));
        match one {
            Move::Put { values, at } => {
                let (place, words) = (values.attribute, words(values, *at));
                match self.listed(values) {
                    None => attributes.put(place, &values.vertices, words),
                    Some(listed) => attributes.pack(place, listed, words),
                }
            }
            Move::Merge { values, at } => {
                let merge = declared[values.attribute].merge;
                attributes.merge(values.attribute, merge, &values.vertices, words(values, *at));
            }
            Move::Take { values, at } => {
                let (place, words) = (values.attribute, words(values, *at));
                match self.listed(values) {
                    None => attributes.take(place, &values.vertices, words),
                    Some(listed) => attributes.unpack(place, listed, words),
                }
            }
            Move::Clear(values) => attributes.clear(values.attribute, &values.vertices),
            Move::Collect { vertices, at } => self.message(memory, vertices, *at).collect(),
            Move::Apply { vertices, at } => self.message(memory, vertices, *at).apply(),
        }
        memory.announce(one);
    }

    /// The vertices that values are of, if these are not all of a range.
    fn listed(&self, values: &Values) -> Option<&[u32]> {
        if values.list == VertexList::All {
            return None;
        }
        let lists = self.shared.state.graph.vertex_lists();
        Some(&lists.vertices()[lists.among(values.list, &values.vertices)])
    }

    fn message<'a>(&'a self, memory: &'a ExchangeMemory, vertices: &Range<u64>, at: u64) -> MessageView<'a> {
        let layout = self.layout.as_ref().expect("only traversals send messages");
        let words = memory.words(at, layout.words_max(vertices));
        let (state, superstep) = (&self.shared.state, self.step.superstep);
        MessageView {
            layout,
            declared: &self.declaration.attributes,
            state,
            superstep,
            vertices: vertices.clone(),
            words,
        }
    }
}

/// A message that is being written or read.
struct MessageView<'a> {
    layout: &'a MessageLayout,
    declared: &'a [Attribute],
    state: &'a State,
    superstep: u32,
    vertices: Range<u64>,
    words: &'a [AtomicU32],
}

impl MessageView<'_> {
    /// The blocks of the message: number and vertices.
    fn blocks(&self) -> impl ParallelIterator<Item = (u64, Range<u64>)> + '_ {
        (0..blocks_of(&self.vertices)).into_par_iter().map(|block| {
            let first = self.vertices.start + block * BLOCK_VERTICES;
            (block, first..(first + BLOCK_VERTICES).min(self.vertices.end))
        })
    }

    fn set(&self, at: u64, word: u32) {
        self.words[at as usize].store(word, Relaxed);
    }

    fn get(&self, at: u64) -> u32 {
        self.words[at as usize].load(Relaxed)
    }

    /// The words of the activated vertices of a block, with the first vertex of each.
    fn active(&self, vertices: &Range<u64>) -> impl Iterator<Item = (u64, u32)> + '_ {
        let next = self.state.next_frontier(self.superstep);
        let end = vertices.end;
        (vertices.start / 32..vertices.end.div_ceil(32)).map(move |word| {
            let behind = (end - 32 * word).min(32);
            (word, next.half_word(word as u32) & ((1u64 << behind) - 1) as u32)
        })
    }

    fn collect(&self) {
        let count_of =
            |vertices: &Range<u64>| self.active(vertices).map(|(_, bits)| u64::from(bits.count_ones())).sum::<u64>();
        let count: u64 = self.blocks().map(|(_, vertices)| count_of(&vertices)).sum();
        let (sparse, places) = self.layout.choose(&self.vertices, count);
        self.set(0, count as u32);
        self.set(1, if sparse { SPARSE } else { DENSE });
        if count == 0 {
            return;
        }
        let next = AtomicU64::new(0);
        let attributes = &self.state.attributes;
        self.blocks().for_each(|(block, vertices)| {
            let mut number = next.fetch_add(count_of(&vertices), Relaxed);
            if !sparse {
                self.set(places.bases + block, number as u32);
            }
            for (word, mut bits) in self.active(&vertices) {
                // Here too: an edge function may leave that to the end of the superstep.
                for &place in &self.layout.followers {
                    let set = attributes.bits(place);
                    let mut unset = bits & !set.half_word(word as u32);
                    while unset != 0 {
                        set.learn(32 * word as u32 + unset.trailing_zeros());
                        unset &= unset - 1;
                    }
                }
                if !sparse {
                    let at = word - self.vertices.start / 32;
                    self.set(places.vertices + at, bits);
                    for (which, &place) in (0..).zip(&self.layout.bits) {
                        let set = attributes.bits(place).half_word(word as u32);
                        self.set(places.bits + which * words_of(&self.vertices) + at, set);
                    }
                }
                while bits != 0 {
                    let vertex = (32 * word) as u32 + bits.trailing_zeros();
                    bits &= bits - 1;
                    if sparse {
                        self.set(places.vertices + number, vertex);
                        if !self.layout.bits.is_empty() {
                            self.set(places.bits + number, self.flags(vertex));
                        }
                    }
                    for (which, (place, below, _)) in (0..).zip(self.layout.words()) {
                        let word = (attributes.value(place, vertex) >> below) as u32;
                        self.set(places.values + which * count + number, word);
                    }
                    number += 1;
                }
            }
        });
    }

    /// A bit for each bit attribute that contains a vertex.
    fn flags(&self, vertex: u32) -> u32 {
        let bit = |(which, &place)| u32::from(self.state.attributes.bits(place).contains(vertex)) << which;
        (0..).zip(&self.layout.bits).map(bit).sum()
    }

    fn apply(&self) {
        let count = u64::from(self.get(0));
        if count == 0 {
            return;
        }
        if self.get(1) == SPARSE {
            self.apply_sparse(count);
        } else {
            self.apply_dense(count);
        }
    }

    fn apply_sparse(&self, count: u64) {
        let places = self.layout.sparse(count);
        (0..count as usize).into_par_iter().with_min_len(1 << 10).for_each(|number| {
            let number = number as u64;
            let vertex = self.get(places.vertices + number);
            for (which, &place) in (0..).zip(&self.layout.bits) {
                if self.get(places.bits + number) >> which & 1 != 0 {
                    self.state.attributes.bits(place).learn(vertex);
                }
            }
            self.meet(vertex, places.values + number, count);
        });
    }

    fn apply_dense(&self, count: u64) {
        let places = self.layout.dense(&self.vertices, count);
        let first = self.vertices.start / 32;
        self.blocks().for_each(|(block, vertices)| {
            let mut number = u64::from(self.get(places.bases + block));
            for at in vertices.start / 32 - first..vertices.end.div_ceil(32) - first {
                for (which, &place) in (0..).zip(&self.layout.bits) {
                    let set = self.get(places.bits + which * words_of(&self.vertices) + at);
                    self.state.attributes.bits(place).set_words((first + at) as usize, &[set]);
                }
                let mut bits = self.get(places.vertices + at);
                while bits != 0 {
                    let vertex = (32 * (first + at)) as u32 + bits.trailing_zeros();
                    bits &= bits - 1;
                    self.meet(vertex, places.values + number, count);
                    number += 1;
                }
            }
        });
    }

    /// Merges the values of an activated vertex, which are `stride` words apart.
    fn meet(&self, vertex: u32, at: u64, stride: u64) {
        self.state.next_frontier(self.superstep).learn(vertex);
        for &place in &self.layout.followers {
            self.state.attributes.bits(place).learn(vertex);
        }
        let mut value = 0;
        for (which, (place, below, is_last)) in (0..).zip(self.layout.words()) {
            value |= u64::from(self.get(at + which * stride)) << below;
            if is_last {
                self.state.attributes.meet(place, self.declared[place].merge, vertex, std::mem::take(&mut value));
            }
        }
    }
}
