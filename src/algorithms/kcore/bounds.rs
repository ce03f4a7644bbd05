//! Core numbers by bounds that sink, for one CPU device and undirected graphs (the h-index iteration of Lü, Zhou, Zhang
//! and Stanley, Nature Communications 2016, with the counts of SemiCore\*: Wen, Qin, Zhang, Lin and Yu, ICDE 2016).
//!
//! A vertex's bound is its degree at first. It sinks to the largest h such that h neighbours have bounds of at least h
//! (repeated edges count each time, loops do not); where no bound sinks any more, bounds are core numbers. Peeling
//! reads each list once, but in the order of core numbers, which is no order of pages: from disk, a page is read again
//! for almost each of its vertices. Bounds sink in any order. A superstep reads the lists of the vertices that may
//! sink, and reads and lowers bounds in place, so that a value crosses many pages in one superstep.
//!
//! # Which vertices may sink
//!
//! `support[v]` is the number of `v`'s neighbours with a bound of at least `bound[v]`. Who sinks from `old` to `new`
//! takes itself from the support of the neighbours with bounds in `new + 1 ..= old`; one that has less support than its
//! bound afterwards is active in the next superstep. The first supersteps, in which most bounds sink, read all lists
//! and count no support.
//!
//! ```text
//!  open   support = MANY; fence             neighbours that sink from here on subtract from it
//!  edge   distances of neighbours' bounds from the own one are counted
//!  close  nothing sinks: support += counted - MANY
//!         it sinks:      bound = new; support = MANY; fence; its neighbours are told, and counted again
//! ```
//!
//! Neighbours sink on other threads meanwhile. Of two neighbours, each writes its bound, then reads the other's, with a
//! fence between: one at least sees what the other has written. A neighbour may be left out of the count and subtract
//! itself too, never neither: supports are too small at times, which costs a list that is read in vain, and never too
//! large.
//!
//! Lists are kept in memory until their neighbours are told, unless they are long: a long list's vertex stays active,
//! and tells them in the next superstep, which counts them again. Parts of a list of several pages are added up until
//! the last one closes.
//!
//! 8.25 bytes a vertex: the bound, the support, and two bits.

use super::histogram::Histogram;
use crate::model::algorithm::{
    Algorithm, Answer, Declaration, Graph, Kernel, List, Next, Now, Scalars, SmallSteps, State, Step, Visit,
};
use crate::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use crate::model::bits::Bits;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};
use topostream_formats::Direction;

/// Core numbers of an undirected graph, for one CPU device.
#[derive(Debug)]
pub struct CoreBounds {
    /// The length from which on a list is long.
    long: u64,
    lists: Mutex<LongLists>,
}

/// The index of the declared attribute: the bound, and above it the support.
const VALUE: usize = 0;

/// The first superstep that counts supports. On Kronecker graphs, 4 takes 0.6 to 0.9 of the time of 0.
const COUNTED: u32 = 4;

/// The bound of a vertex whose list has not been opened yet: its degree.
const UNSEEN: u32 = u32::MAX;
/// The support of a vertex whose neighbours are being counted: more than any degree.
const MANY: u32 = 1 << 30;
/// A thread keeps the neighbours of shorter lists: 256 KiB.
const LONG: u64 = 1 << 16;
/// Neighbours of a long list that are counted together.
const TOGETHER: usize = 1 << 12;

/// Long lists of which a part is still to be read, or whose neighbours are still to be told.
type LongLists = HashMap<u32, LongList>;

#[derive(Debug)]
struct LongList {
    /// The bound that its neighbours know.
    told: u32,
    /// The superstep in which it was last opened.
    superstep: u32,
    /// The edges that have been read in this superstep.
    read: u64,
    /// What the parts so far have counted, if there are several.
    counted: Histogram,
}

impl Default for CoreBounds {
    fn default() -> Self {
        Self::with_long_lists(LONG)
    }
}

impl CoreBounds {
    /// Degrees must be below this.
    pub const DEGREE_END: u32 = MANY;

    /// With another length from which on a list is long.
    #[doc(hidden)]
    pub fn with_long_lists(long: u64) -> Self {
        Self { long, lists: Mutex::default() }
    }
}

/// What a thread needs for a list.
#[derive(Debug, Default)]
struct Scratch {
    neighbours: Vec<u32>,
    counted: Histogram,
}

thread_local! {
    /// The thread's own, while it reads no list.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Lowers bounds.
#[doc(hidden)]
pub struct BoundsKernel<'a> {
    cells: &'a [AtomicU64],
    degrees: &'a [u32],
    next: &'a Bits,
    superstep: u32,
    long: u64,
    lists: &'a Mutex<LongLists>,
}

/// A list, or a part of one, that is being read.
#[doc(hidden)]
pub struct Reading {
    vertex: u32,
    bound: u32,
    /// The bound that its neighbours know.
    told: u32,
    degree: u64,
    is_long: bool,
    /// Edges that have been read and are not among `scratch`'s neighbours.
    read: u64,
    scratch: Box<Scratch>,
}

/// A vertex's value: its bound, and above it the support.
fn value(bound: u32, support: u32) -> u64 {
    u64::from(support) << 32 | u64::from(bound)
}

/// Whether a value's support, of which more may have been taken than there was, is below its bound.
#[inline(always)]
fn is_short(value: u64) -> bool {
    ((value >> 32) as i32) < value as i32
}

impl BoundsKernel<'_> {
    #[inline(always)]
    fn cell(&self, vertex: u32) -> &AtomicU64 {
        &self.cells[vertex as usize]
    }

    #[inline(always)]
    fn bound_of(&self, vertex: u32) -> u32 {
        let bound = self.cell(vertex).load(Relaxed) as u32;
        if self.superstep == 0 && bound == UNSEEN { self.degrees[vertex as usize] } else { bound }
    }

    fn lists(&self) -> MutexGuard<'_, LongLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_counted(&self) -> bool {
        self.superstep >= COUNTED
    }

    /// From here on, neighbours that sink below `bound` subtract from a support of [`MANY`].
    #[inline(always)]
    fn begin_count(&self, vertex: u32, bound: u32) {
        self.cell(vertex).store(value(bound, MANY), Relaxed);
        if self.is_counted() {
            fence(SeqCst);
        }
    }

    /// `count` neighbours have bounds as high as the vertex's own.
    #[inline(always)]
    fn end_count(&self, vertex: u32, count: u32) {
        if self.is_counted() {
            let counted = value(0, count.wrapping_sub(MANY));
            if is_short(self.cell(vertex).fetch_add(counted, SeqCst).wrapping_add(counted)) {
                self.next.insert(vertex);
            }
        }
    }

    /// Tells neighbours that a vertex has sunk from `told` to `bound`: it is taken from the support of the neighbours
    /// that had counted it.
    fn tell(&self, neighbours: &[u32], bound: u32, told: u32) {
        for &neighbour in neighbours {
            let cell = self.cell(neighbour);
            let theirs = cell.load(Relaxed) as u32;
            if theirs > bound && theirs <= told {
                let before = cell.fetch_sub(value(0, 1), SeqCst);
                // Active already if it had too little before.
                if !is_short(before) && is_short(before.wrapping_sub(value(0, 1))) {
                    self.next.insert(neighbour);
                }
            }
        }
    }

    /// Counts how far the neighbours' bounds are below `bound`.
    #[inline(always)]
    fn count(&self, neighbours: &[u32], bound: u32, counted: &mut Histogram) {
        let distances = neighbours.iter().map(|&neighbour| bound.saturating_sub(self.bound_of(neighbour)));
        counted.add_each(distances, bound);
    }

    /// Counts neighbours of a long list, and tells them if its vertex has sunk.
    fn count_part(&self, reading: &mut Reading) {
        let Reading { bound, told, read, scratch, .. } = reading;
        let Scratch { neighbours, counted } = &mut **scratch;
        self.count(neighbours, *bound, counted);
        if told > bound {
            self.tell(neighbours, *bound, *told);
        }
        *read += neighbours.len() as u64;
        neighbours.clear();
    }

    /// Lowers the bound of a vertex whose list is at hand until it does not sink any more.
    fn sink(&self, vertex: u32, mut bound: u32, scratch: &mut Scratch) {
        let Scratch { neighbours, counted } = scratch;
        loop {
            let sunk = counted.sunk(bound);
            let at_least = counted.at_no_distance();
            counted.clear(bound);
            if sunk == bound {
                return self.end_count(vertex, at_least);
            }
            self.begin_count(vertex, sunk);
            if !self.is_counted() {
                return;
            }
            self.count(neighbours, sunk, counted);
            self.tell(neighbours, sunk, bound);
            bound = sunk;
        }
    }

    /// Adds a part to a long list; with the last one, its bound may sink, which its neighbours are told when it is read
    /// again.
    fn close_long(&self, reading: &mut Reading) {
        let Reading { vertex, bound, degree, .. } = *reading;
        let counted = &mut reading.scratch.counted;
        let mut lists = self.lists();
        let list = lists.get_mut(&vertex).expect("opened before");
        list.read += reading.read;
        let is_part = reading.read < degree;
        if is_part {
            list.counted.add_all(counted, bound);
            counted.clear(bound);
            if list.read < degree {
                return;
            }
        }
        let all = if is_part { &mut list.counted } else { counted };
        let (sunk, at_least) = (all.sunk(bound), all.at_no_distance());
        all.clear(bound);
        if sunk == bound || !self.is_counted() {
            lists.remove(&vertex);
            if sunk < bound {
                self.begin_count(vertex, sunk);
            }
            return self.end_count(vertex, at_least);
        }
        *list = LongList { told: bound, superstep: self.superstep, read: 0, counted: Histogram::default() };
        self.begin_count(vertex, sunk);
        self.next.insert(vertex);
    }

    /// The bound that the neighbours of a long list know. The first of its parts begins the count.
    fn open_long(&self, vertex: u32, bound: u32) -> u32 {
        let mut lists = self.lists();
        let (told, read, counted) = (bound, 0, Histogram::default());
        let new = || LongList { told, superstep: u32::MAX, read, counted };
        let list = lists.entry(vertex).or_insert_with(new);
        if list.superstep != self.superstep {
            list.superstep = self.superstep;
            self.begin_count(vertex, bound);
        }
        list.told
    }
}

impl Kernel for BoundsKernel<'_> {
    type Record = Reading;
    const SKIPS_EMPTY: bool = true;

    #[inline(always)]
    fn open(&self, list: List) -> Option<Reading> {
        let List { vertex, degree, whole } = list;
        let bound = self.bound_of(vertex);
        let is_long = !whole || degree >= self.long;
        let told = if is_long {
            self.open_long(vertex, bound)
        } else {
            self.begin_count(vertex, bound);
            bound
        };
        let scratch = SCRATCH.take().unwrap_or_default();
        Some(Reading { vertex, bound, told, degree, is_long, read: 0, scratch })
    }

    #[inline(always)]
    fn edge(&self, reading: &mut Reading, neighbour: u32, _weight: u32) -> ControlFlow<()> {
        if neighbour == reading.vertex {
            reading.read += 1;
            return ControlFlow::Continue(());
        }
        reading.scratch.neighbours.push(neighbour);
        if reading.is_long && reading.scratch.neighbours.len() == TOGETHER {
            self.count_part(reading);
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn prefetch(&self, neighbour: u32) {
        crate::model::prefetch::line_of(self.cells, neighbour as usize);
    }

    #[inline(always)]
    fn close(&self, mut reading: Reading) {
        if reading.is_long {
            self.count_part(&mut reading);
            self.close_long(&mut reading);
        } else {
            let Scratch { neighbours, counted } = &mut *reading.scratch;
            self.count(neighbours, reading.bound, counted);
            self.sink(reading.vertex, reading.bound, &mut reading.scratch);
            reading.scratch.neighbours.clear();
        }
        SCRATCH.set(Some(reading.scratch));
    }
}

impl Algorithm for CoreBounds {
    type Kernel<'a> = BoundsKernel<'a>;

    fn declare(&self, _has_in_lists: bool) -> Declaration {
        let value = Attribute::new("bound", AttributeType::U64, Role::Writable, Merge::Min);
        let attributes = vec![value.initially(Initial::Bits(UNSEEN))];
        let visits = vec![(Direction::Out, Visit::All), (Direction::Out, Visit::Frontier)];
        Declaration {
            alone: true,
            small_steps: Some(SmallSteps::Rounds),
            ..Declaration::new("kcore", attributes, visits)
        }
    }

    fn check(&self, graph: &Graph) -> Result<(), String> {
        if graph.directed {
            return Err("core numbers by bounds: expected an undirected graph, the store has a directed one".into());
        }
        match graph.out_degrees.values().iter().max() {
            Some(&degree) if degree >= Self::DEGREE_END => {
                Err(format!("core numbers: a vertex has {degree} edges, expected less than 2^30"))
            }
            _ => Ok(()),
        }
    }

    fn first(&self, graph: &Graph, _totals: Scalars) -> Option<Step> {
        (graph.edges > 0).then(|| Step::new(0, Direction::Out, Visit::All))
    }

    fn kernel<'a>(&'a self, state: &'a State, step: &Step) -> BoundsKernel<'a> {
        BoundsKernel {
            cells: state.attributes.u64(VALUE).cells(),
            degrees: state.graph.out_degrees.values(),
            next: state.next_frontier(step.superstep),
            superstep: step.superstep,
            long: self.long,
            lists: &self.lists,
        }
    }

    fn rule<'a>(&self, now: Now<'a>) -> Next<'a> {
        let active = now.visit(Direction::Out, Visit::Frontier).unless(now.is_idle());
        now.superstep().less(COUNTED).select(now.visit(Direction::Out, Visit::All), active)
    }

    fn answers<'a>(&'a self, state: &'a State) -> Vec<Answer<'a>> {
        let value = state.attributes.u64(VALUE);
        vec![Answer::integer("core", move |vertex| {
            let bound = value.get(vertex) as u32;
            // Only lists without edges are never opened.
            Some(if bound == UNSEEN { 0 } else { bound.into() })
        })]
    }
}
