//! Reads all lists into memory, each edge at both of its ends.

use super::gpu::DeviceCopy;
use super::graph::Graph;
use super::lists::{Lists, Weights};
use super::objective::{Masses, Objective, TOTAL_BITS};
use super::paged::Edges;
use super::quantum::{Quantum, ordered};
use super::starts::starts;
use crate::model::algorithm::Weights as Read;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Ends, Kernel, List, Refusal, State, Step, Visit,
};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use topostream_formats::Direction;
use topostream_formats::edge::WeightType;
use topostream_formats::huge::{plain, zeroed};

/// The lists as they are read. In a directed graph, a vertex's list has the neighbours that its edges lead to from its
/// start on, and the neighbours that edges come from before its end.
pub struct Loaded {
    directed: bool,
    weights: Option<WeightType>,
    offsets: Vec<u64>,
    /// How many neighbours of each vertex have been read, from the start and from the end.
    filled: [Vec<AtomicU32>; 2],
    neighbours: Vec<AtomicU32>,
    /// The bits of weights, by their size.
    narrow: Vec<AtomicU32>,
    wide: Vec<AtomicU64>,
    /// The vertex and the weight of every loop.
    loops: Mutex<Vec<(u32, u64)>>,
    /// The bits of the largest weight.
    largest: AtomicU64,
    /// The smallest vertex with a weight that is not a number of at least 0.
    invalid: AtomicU64,
}

impl Loaded {
    /// Room for the lists of so many vertices with these numbers of neighbours.
    pub fn of(
        directed: bool,
        weights: Option<WeightType>,
        vertices: usize,
        degree: impl Fn(usize) -> u64 + Sync,
    ) -> Self {
        let offsets = starts(vertices, degree);
        let (vertices, sum) = (vertices as u64, offsets[vertices]);
        let room = |is: bool| if is { sum } else { 0 };
        Self {
            directed,
            weights,
            offsets,
            filled: [zeroed(vertices), zeroed(if directed { vertices } else { 0 })],
            neighbours: zeroed(sum),
            narrow: zeroed(room(weights.is_some_and(|weights| !weights.is_wide()))),
            wide: zeroed(room(weights.is_some_and(WeightType::is_wide))),
            loops: Mutex::default(),
            largest: AtomicU64::new(0),
            invalid: AtomicU64::new(u64::MAX),
        }
    }

    /// The bits of the largest weight.
    pub fn largest(&self) -> u64 {
        self.largest.load(Relaxed)
    }

    #[inline(always)]
    fn put(&self, at: u64, neighbour: u32, weight: u64) {
        self.neighbours[at as usize].store(neighbour, Relaxed);
        if let Some(bits) = self.narrow.get(at as usize) {
            bits.store(weight as u32, Relaxed);
        } else if let Some(bits) = self.wide.get(at as usize) {
            bits.store(weight, Relaxed);
        }
    }

    /// Adds an edge; `alone` counts those before it, where one thread reads the whole list and nothing else
    /// is added to it.
    #[inline(always)]
    fn add(&self, vertex: u32, neighbour: u32, bits: u64, alone: Option<&mut u32>) {
        let mut weight = bits;
        if let Some(weights) = self.weights {
            let Some(order) = ordered(weights, bits) else {
                self.invalid.fetch_min(vertex.into(), Relaxed);
                return;
            };
            weight = order;
            if order > self.largest.load(Relaxed) {
                self.largest.fetch_max(order, Relaxed);
            }
        }
        if vertex == neighbour {
            return self.loops.lock().expect("nothing panics while it is held").push((vertex, weight));
        }
        let place = |side: usize, vertex: u32| u64::from(self.filled[side][vertex as usize].fetch_add(1, Relaxed));
        let at = match alone {
            Some(at) => u64::from(std::mem::replace(at, *at + 1)),
            None => place(0, vertex),
        };
        self.put(self.offsets[vertex as usize] + at, neighbour, weight);
        if self.directed {
            self.put(self.offsets[neighbour as usize + 1] - 1 - place(1, neighbour), vertex, weight);
        }
    }

    /// How weights become whole numbers while communities are looked for.
    fn quantum(&self) -> Quantum {
        // A loop of an undirected graph counts twice.
        let entries = 2 * (self.neighbours.len() as u64).max(1);
        Quantum::of(self.weights, self.largest(), entries, TOTAL_BITS)
    }

    /// The lists, and the sum of all strengths (of a directed graph, of all weights).
    pub fn finish(mut self, objective: Objective) -> (Graph, u64) {
        let quantum = self.quantum();
        let loops = std::mem::take(&mut *self.loops.lock().expect("nothing panicked while it was held"));
        if !loops.is_empty() {
            self.close_gaps();
        }
        let Self { directed, weights, offsets, filled, neighbours, narrow, wide, .. } = self;
        let whole = |bits: u64| quantum.whole(bits);
        let weights = match weights {
            None => Weights::Ones,
            Some(weights) if weights.is_wide() => {
                Weights::Wide(wide.into_par_iter().map(|bits| whole(bits.into_inner())).collect())
            }
            Some(_) if quantum == Quantum::Whole(0) => Weights::Narrow(plain(narrow)),
            Some(_) => Weights::Wide(narrow.into_par_iter().map(|bits| whole(bits.into_inner().into())).collect()),
        };
        let neighbours = plain(neighbours);
        let lists = Lists { starts: offsets, neighbours, weights, ..Lists::default() };
        let mut strengths = strengths(&lists, filled, directed);
        for (vertex, bits) in loops {
            let weight = whole(bits);
            strengths.out[vertex as usize] += if directed { weight } else { 2 * weight };
            if let Some(into) = strengths.into.get_mut(vertex as usize) {
                *into += weight;
            }
        }
        let total = strengths.total(0);
        let masses = strengths.or_ones(objective);
        (Graph { edges: Edges::Memory(lists), masses, reach: Vec::new(), copy: DeviceCopy::default() }, total)
    }

    /// Closes the gaps that loops have left in lists.
    fn close_gaps(&mut self) {
        let mut end = 0;
        for vertex in 0..self.filled[0].len() {
            let count = |side: usize| self.filled[side].get(vertex).map_or(0, |count| count.load(Relaxed) as usize);
            let (from, to) = (self.offsets[vertex] as usize, self.offsets[vertex + 1] as usize);
            // The offset of this vertex is final; the offset of the next one still says where it was.
            self.offsets[vertex] = end as u64;
            for at in (from..from + count(0)).chain(to - count(1)..to) {
                let neighbour = self.neighbours[at].load(Relaxed);
                let narrow = self.narrow.get(at).map(|bits| u64::from(bits.load(Relaxed)));
                let wide = self.wide.get(at).map(|bits| bits.load(Relaxed));
                self.put(end as u64, neighbour, narrow.or(wide).unwrap_or(0));
                end += 1;
            }
        }
        let last = self.filled[0].len();
        self.offsets[last] = end as u64;
        self.neighbours.truncate(end);
        self.narrow.truncate(end);
        self.wide.truncate(end);
    }
}

/// The sums of the weights of every list; of a directed graph, of its first so many neighbours, and of the others.
fn strengths(lists: &Lists, filled: [Vec<AtomicU32>; 2], directed: bool) -> Masses {
    if let Weights::Ones = lists.weights {
        let [out, into] = filled.map(|counts| counts.into_par_iter().map(|count| count.into_inner().into()).collect());
        return Masses { out, into };
    }
    let of = |vertex: u32| {
        let (mut at, mut sums) = (0, [0, 0]);
        let out = if directed { filled[0][vertex as usize].load(Relaxed) } else { u32::MAX };
        lists.list(vertex).each::<u8>(&[], |_, weight| {
            sums[usize::from(at >= out)] += weight;
            at += 1;
        });
        sums
    };
    let sums: Vec<[u64; 2]> = (0..lists.vertices()).into_par_iter().map(of).collect();
    let side = |side: usize| sums.par_iter().map(|sums| sums[side]).collect();
    Masses { out: side(0), into: if directed { side(1) } else { Vec::new() } }
}

/// Why a graph with a weight that is not one has no communities.
pub fn no_weight() -> String {
    "an edge has a weight below 0, or one that is no number: communities have none".into()
}

/// Reads all lists once.
pub struct Loading {
    /// `leiden` or `louvain`.
    pub(super) name: &'static str,
    pub(super) loaded: Arc<Loaded>,
    /// Bytes of it.
    pub(super) held_bytes: u64,
}

/// Notes edges.
pub struct LoadingKernel<'a>(&'a Loaded);

/// A list: its vertex, whether one thread reads all of it, and the neighbours so far.
pub struct Listed {
    vertex: u32,
    whole: bool,
    count: u32,
}

impl LoadingKernel<'_> {
    #[inline(always)]
    fn add(&self, list: &mut Listed, neighbour: u32, bits: u64) {
        let alone = list.whole.then_some(&mut list.count);
        self.0.add(list.vertex, neighbour, bits, alone);
    }
}

impl Kernel for LoadingKernel<'_> {
    type Record = Listed;
    const IS_WIDE: bool = true;
    const SKIPS_EMPTY: bool = true;

    #[inline(always)]
    fn open(&self, List { vertex, whole, .. }: List) -> Option<Listed> {
        Some(Listed { vertex, whole, count: 0 })
    }

    #[inline(always)]
    fn edge(&self, list: &mut Listed, neighbour: u32, weight: u32) -> ControlFlow<()> {
        self.add(list, neighbour, weight.into());
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn wide_edge(&self, list: &mut Listed, neighbour: u32, weight: u64) -> ControlFlow<()> {
        self.add(list, neighbour, weight);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, list: Listed) {
        if list.whole {
            self.0.filled[0][list.vertex as usize].store(list.count, Relaxed);
        }
    }
}

impl Algorithm for Loading {
    type Kernel<'a> = LoadingKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        Declaration {
            command: self.name,
            alone: true,
            on_cpu: true,
            weights: if self.loaded.weights.is_some() { Read::Wide } else { Read::None },
            writes: Ends::Both.into(),
            held_bytes: self.held_bytes,
            ..Declaration::new(self.name, Vec::new(), vec![(Direction::Out, Visit::All)])
        }
    }

    fn kernel<'a>(&'a self, _state: &'a State, _step: &Step) -> LoadingKernel<'a> {
        LoadingKernel(&self.loaded)
    }

    fn conclude(&self, _state: &State) -> Result<Conclusion, Refusal> {
        let vertex = u32::try_from(self.loaded.invalid.load(Relaxed)).ok();
        Refusal::of(vertex, no_weight)?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, _state: &'a State) -> Vec<Answer<'a>> {
        Vec::new()
    }
}
