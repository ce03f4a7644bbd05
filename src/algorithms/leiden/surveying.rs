//! Reads all lists for what the vertices weigh: of a graph whose lists do not fit in memory. With weights twice, since
//! how they become whole numbers depends on the largest.

use super::objective::{Masses, TOTAL_BITS};
use super::quantum::{Quantum, ordered};
use crate::model::algorithm::Weights as Read;
use crate::model::algorithm::{
    Algorithm, Answer, Conclusion, Declaration, Ends, Kernel, List, Refusal, State, Step, Visit,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use topostream_formats::Direction;
use topostream_formats::edge::WeightType;
use topostream_formats::huge::{plain, zeroed};

/// What is found out about the vertices.
pub struct Survey {
    directed: bool,
    weights: Option<WeightType>,
    entries: u64,
    /// The numbers of neighbours, loops left out, in both directions.
    degrees: Vec<AtomicU32>,
    /// The sums of weights, out and in.
    strengths: [Vec<AtomicU64>; 2],
    /// The bits of the largest weight.
    largest: AtomicU64,
    /// The smallest vertex with a weight that is not a number of at least 0.
    invalid: AtomicU64,
}

impl Survey {
    /// Of a graph with this many vertices and edges.
    pub fn of(directed: bool, weights: Option<WeightType>, (vertices, edges): (u64, u64)) -> Self {
        Self {
            directed,
            weights,
            entries: if directed { 2 * edges } else { edges },
            degrees: zeroed(vertices),
            strengths: [zeroed(vertices), zeroed(if directed { vertices } else { 0 })],
            largest: AtomicU64::new(0),
            invalid: AtomicU64::new(u64::MAX),
        }
    }

    /// The bits of the largest weight.
    pub fn largest(&self) -> u64 {
        self.largest.load(Relaxed)
    }

    /// How weights become whole numbers while communities are looked for, once the largest is known.
    pub fn quantum(&self) -> Quantum {
        Quantum::of(self.weights, self.largest(), 2 * self.entries.max(1), TOTAL_BITS)
    }

    /// The degrees, the strengths, and the sum of all strengths (of a directed graph, of all weights).
    pub fn finish(self) -> (Vec<u32>, Masses, u64) {
        let [out, into] = self.strengths.map(plain);
        let strengths = Masses { out, into };
        let total = strengths.total(0);
        (plain(self.degrees), strengths, total)
    }
}

/// A reading of all lists.
pub struct Surveying {
    /// `leiden` or `louvain`.
    pub(super) name: &'static str,
    pub(super) survey: Arc<Survey>,
    /// How weights become whole numbers; while it is not known, the largest is looked for.
    pub(super) quantum: Option<Quantum>,
    /// Bytes of the survey.
    pub(super) held_bytes: u64,
}

/// Counts and adds up edges.
pub struct SurveyingKernel<'a> {
    survey: &'a Survey,
    quantum: Option<Quantum>,
}

/// A list, and what it has so far.
pub struct Surveyed {
    vertex: u32,
    neighbours: u32,
    strength: u64,
}

impl SurveyingKernel<'_> {
    #[inline(always)]
    fn add(&self, list: &mut Surveyed, neighbour: u32, bits: u64) {
        let Survey { directed, weights, degrees, strengths, .. } = self.survey;
        let mut order = 0;
        if let Some(weights) = *weights {
            let Some(of) = ordered(weights, bits) else {
                self.survey.invalid.fetch_min(list.vertex.into(), Relaxed);
                return;
            };
            order = of;
        }
        let Some(quantum) = self.quantum else {
            if order > self.survey.largest.load(Relaxed) {
                self.survey.largest.fetch_max(order, Relaxed);
            }
            return;
        };
        let (weight, is_loop) = (quantum.whole(order), list.vertex == neighbour);
        // A loop of an undirected graph is stored once, and has two ends.
        list.strength += if is_loop && !directed { 2 * weight } else { weight };
        list.neighbours += u32::from(!is_loop);
        if *directed {
            strengths[1][neighbour as usize].fetch_add(weight, Relaxed);
            degrees[neighbour as usize].fetch_add(u32::from(!is_loop), Relaxed);
        }
    }
}

impl Kernel for SurveyingKernel<'_> {
    type Record = Surveyed;
    const IS_WIDE: bool = true;
    const SKIPS_EMPTY: bool = true;
    const DIVIDES: bool = true;

    #[inline(always)]
    fn open(&self, List { vertex, .. }: List) -> Option<Surveyed> {
        Some(Surveyed { vertex, neighbours: 0, strength: 0 })
    }

    #[inline(always)]
    fn edge(&self, list: &mut Surveyed, neighbour: u32, weight: u32) -> ControlFlow<()> {
        self.add(list, neighbour, weight.into());
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn wide_edge(&self, list: &mut Surveyed, neighbour: u32, weight: u64) -> ControlFlow<()> {
        self.add(list, neighbour, weight);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn close(&self, list: Surveyed) {
        self.survey.degrees[list.vertex as usize].fetch_add(list.neighbours, Relaxed);
        self.survey.strengths[0][list.vertex as usize].fetch_add(list.strength, Relaxed);
    }
}

impl Algorithm for Surveying {
    type Kernel<'a> = SurveyingKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        Declaration {
            command: self.name,
            alone: true,
            on_cpu: true,
            weights: if self.survey.weights.is_some() { Read::Wide } else { Read::None },
            writes: Ends::Both.into(),
            held_bytes: self.held_bytes,
            ..Declaration::new(self.name, Vec::new(), vec![(Direction::Out, Visit::All)])
        }
    }

    fn kernel<'a>(&'a self, _state: &'a State, _step: &Step) -> SurveyingKernel<'a> {
        SurveyingKernel { survey: &self.survey, quantum: self.quantum }
    }

    fn conclude(&self, _state: &State) -> Result<Conclusion, Refusal> {
        let vertex = u32::try_from(self.survey.invalid.load(Relaxed)).ok();
        Refusal::of(vertex, super::loading::no_weight)?;
        Ok(Conclusion::default())
    }

    fn answers<'a>(&'a self, _state: &'a State) -> Vec<Answer<'a>> {
        Vec::new()
    }
}
