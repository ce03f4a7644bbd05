//! A simple coordinator of devices that share a run: every device sends everything to all others.

use crate::adapter;
use crate::common::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use topostream::device::exchange::message::{BLOCK_VERTICES, MessageLayout};
use topostream::device::exchange::{ExchangeMemory, Move, Moves, Values, listed_role};
use topostream::device::gpu::{GpuDevice, Home, RunSetup, adapters};
use topostream::device::settings::GpuSettings;
use topostream::device::{CpuDevice, CpuSetup, Member, PageTask, Workers};
use topostream::model::Part;
use topostream::model::algorithm::{Algorithm, Declaration, Graph, State, Step, Summary, rule_of};
use topostream::model::attributes::{Attribute, AttributeType, Role};
use topostream::pages::cache::Policy;
use topostream::pages::fetch::{Frame, PagePool, PageRef};
use topostream::{Direction, Error, PageId, Store};
use topostream_formats::store::PageReader;

/// The kind of a device of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Gpu,
    Cpu,
}

/// Pieces of exchange memory: many, since the coordinator reuses none before two supersteps have passed.
const PIECES: u64 = 96;

pub struct Team<A: Algorithm> {
    pub members: Vec<Box<dyn Member>>,
    /// Dropped after the members, which leave their adapters here.
    _kept: Vec<Kept>,
    pub parts: Vec<Part>,
    pub memory: Arc<ExchangeMemory>,
    pub graph: Arc<Graph>,
    pub losers: Vec<Box<dyn FnMut() + Send>>,
    pub algorithm: Arc<A>,
    pub declaration: Arc<Declaration>,
    pub attributes: Vec<Attribute>,
    frames: HashMap<PageRef, Arc<Frame>>,
    /// The offset of the next piece.
    at: u64,
}

/// An open adapter, which goes to the next test that wants one.
struct Kept(Arc<Mutex<Option<Home>>>);

impl Drop for Kept {
    fn drop(&mut self) {
        let home = self.0.lock().ok().and_then(|mut home| home.take());
        home.into_iter().for_each(|home| open_gpus().give(home));
    }
}

/// Parts with arbitrary boundaries, the second one slightly smaller.
fn parts(vertices: u64, count: u64, sharded: bool) -> Vec<Part> {
    let border =
        |number: u64| if number == count { vertices } else { (number * vertices / count).saturating_sub(4 * number) };
    (0..count).map(|number| Part { vertices, own: border(number)..border(number + 1), sharded }).collect()
}

/// Every page of a store, each in its frame.
fn load(store: &Store) -> (Arc<PagePool>, HashMap<PageRef, Arc<Frame>>) {
    let pages: u32 = store.topologies().map(|topology| topology.page_count()).sum();
    let page_bytes = store.topology(Direction::Out).unwrap().page_bytes();
    let mut free = PagePool::frames(pages.max(1), page_bytes, 0).unwrap().into_iter();
    let pool = Arc::clone(free.as_slice()[0].pool());
    let mut frames = HashMap::new();
    for topology in store.topologies() {
        let reader = PageReader::open(topology).unwrap();
        for page in (0..topology.page_count()).map(PageId) {
            let mut frame = free.next().unwrap();
            reader.read(page, frame.bytes_mut(), &mut []).unwrap();
            frame.arrived();
            frames.insert(PageRef { direction: topology.direction(), page }, Arc::new(frame));
        }
    }
    (pool, frames)
}

impl<A: Algorithm> Team<A> {
    /// Devices with different parts.
    pub fn new(
        store: &TestStore,
        algorithm: A,
        kinds: &[Kind],
        sharded: bool,
        gpu: &GpuSettings,
        piece_bytes: u64,
    ) -> Result<Self, Error> {
        let parts = parts(store.open().vertices(), kinds.len() as u64, sharded);
        Self::with_parts(store, algorithm, kinds, parts, gpu, piece_bytes)
    }

    /// Devices with the same part, in the middle.
    pub fn twins(
        store: &TestStore,
        algorithm: A,
        kinds: &[Kind],
        sharded: bool,
        gpu: &GpuSettings,
        piece_bytes: u64,
    ) -> Result<Self, Error> {
        let part = parts(store.open().vertices(), 3, sharded).swap_remove(1);
        Self::with_parts(store, algorithm, kinds, vec![part; kinds.len()], gpu, piece_bytes)
    }

    fn with_parts(
        store: &TestStore,
        algorithm: A,
        kinds: &[Kind],
        parts: Vec<Part>,
        gpu: &GpuSettings,
        piece_bytes: u64,
    ) -> Result<Self, Error> {
        let store = Arc::new(store.open());
        let has_in_lists = store.topology(Direction::In).is_some();
        let (vertices, edges, out_degrees) = (store.vertices(), store.edges(), store.out_degrees()?);
        let graph = Arc::new(Graph {
            vertices,
            edges,
            directed: true,
            weights: None,
            has_in_lists,
            out_degrees,
            vertex_lists: Default::default(),
        });
        let algorithm = Arc::new(algorithm);
        let declaration = Arc::new(algorithm.declare(has_in_lists));
        let attributes = declaration.attributes.clone();
        let listed = listed_role(&declaration, false);
        let memory = Arc::new(ExchangeMemory::new(PIECES, piece_bytes)?);
        let (pool, frames) = load(&store);
        let mut kept = Vec::new();
        let mut members: Vec<Box<dyn Member>> = Vec::new();
        let workers = Arc::new(Workers::new(1)?);
        let mut losers: Vec<Box<dyn FnMut() + Send>> = Vec::new();
        for (kind, part) in kinds.iter().zip(&parts) {
            let (algorithm, graph, store) = (Arc::clone(&algorithm), Arc::clone(&graph), Arc::clone(&store));
            let (part, exchange) = (part.clone(), Some(Arc::clone(&memory)));
            let declaration = Arc::clone(&declaration);
            let workers = Arc::clone(&workers);
            if *kind == Kind::Cpu {
                let setup =
                    CpuSetup { declaration, graph, store, workers, lanes: 1, trace: None, part, exchange, parts: None };
                members.push(Box::new(CpuDevice::new(algorithm, setup)));
                continue;
            }
            let adapter = adapters::choose(&adapter::device())?.expect("the choice is a GPU");
            let home = open_gpus().take(&adapter.report, gpu).map_or_else(|| Home::open(&adapter, gpu), Ok)?;
            losers.push(Box::new(home.gpu().loser()));
            let (pool, frames) = (Arc::clone(&pool), frames.len().max(1) as u32);
            let setup = RunSetup {
                algorithm,
                declaration,
                graph,
                store,
                pool,
                frames,
                workers,
                trace: None,
                part,
                exchange,
                reads_border: false,
                listed,
                runs_ahead: false,
            };
            let keep = Arc::new(Mutex::new(None));
            kept.push(Kept(Arc::clone(&keep)));
            members.push(Box::new(GpuDevice::new(home, keep, setup)?));
        }
        let _kept = kept;
        Ok(Self { members, _kept, parts, memory, graph, losers, algorithm, declaration, attributes, frames, at: 0 })
    }

    /// Runs to the end; returns the values of all vertices.
    pub fn run(&mut self) -> Result<State, Error> {
        let mut totals = [0.0; 4];
        for member in &mut self.members {
            totals.iter_mut().zip(member.initialise()?).for_each(|(total, sum)| *total += sum);
        }
        self.tell_values()?;
        let rule = rule_of(&*self.algorithm, &self.declaration);
        let mut step = self.algorithm.first(&self.graph, totals);
        while let Some(now) = step {
            let summary = self.superstep(&now)?;
            step = rule.next(self.graph.vertices, &now, &summary);
        }
        let whole = Part::whole(self.graph.vertices);
        let state = State::new(Arc::clone(&self.graph), &self.attributes, false, whole);
        let state = state.with_activations(self.declaration.keeps_activations);
        self.members.iter_mut().try_for_each(|member| member.contribute(&state))?;
        Ok(state)
    }

    pub fn answers<'a>(&'a self, state: &'a State) -> Vec<topostream::model::algorithm::Answer<'a>> {
        self.algorithm.answers(state)
    }

    fn superstep(&mut self, step: &Step) -> Result<Summary, Error> {
        self.edges(step)?;
        if self.declaration.traversal {
            self.tell_activated()?;
        } else if !self.parts[0].sharded {
            self.add_up()?;
        }
        // Values are sent in every second superstep with its end, otherwise by an exchange of their own.
        let with_end = !self.declaration.traversal && step.superstep % 2 == 1;
        let moves = if with_end { self.values() } else { self.no_moves() };
        let mut of_members = self.members.iter_mut().zip(moves);
        of_members.try_for_each(|(member, moves)| member.begin_end(step, moves))?;
        let mut all = Summary::default();
        for member in &mut self.members {
            let Summary { totals, activated, activated_edges } = member.end(step)?.summary;
            all.totals.iter_mut().zip(totals).for_each(|(all, total)| *all += total);
            all.activated += activated;
            all.activated_edges += activated_edges;
        }
        self.members.iter_mut().try_for_each(|member| member.end_exchange())?;
        if !with_end {
            self.tell_values()?;
        }
        // Between supersteps no device holds a page.
        assert!(self.frames.values().all(|frame| Arc::strong_count(frame) == 1), "a frame is still held");
        Ok(all)
    }

    /// Submits all pages of a superstep: to each device its share, or all pages to each device.
    pub fn edges(&mut self, step: &Step) -> Result<(), Error> {
        let (sharded, count) = (self.parts[0].sharded, self.members.len());
        let mut pages: Vec<PageRef> = Vec::new();
        for member in &mut self.members {
            pages.extend(member.pages(step)?.pages);
        }
        pages.sort_unstable_by_key(|page| page.page.0);
        pages.dedup();
        let mut under_way = Vec::new();
        for (number, member) in self.members.iter_mut().enumerate() {
            member.begin(step)?;
            let own = |page: &&PageRef| sharded || page.page.index() % count == number;
            let own: Vec<PageRef> = pages.iter().filter(own).copied().collect();
            let left = member.start_resident(own, Policy::Lru);
            under_way.push(left.len());
            for page in left {
                member.submit(PageTask { page, frame: Arc::clone(&self.frames[&page]), fresh: true });
            }
        }
        for (member, left) in self.members.iter_mut().zip(&mut under_way) {
            while *left > 0 {
                let mut done = Vec::new();
                if let Poll::Ready(result) = member.poll_done(&mut Context::from_waker(Waker::noop()), &mut done) {
                    result?;
                }
                *left -= done.len();
                assert!(done.iter().all(|page| page.result.is_ok()), "the pages are sound");
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Submits the pages of a superstep, begins its end, and drops all devices without waiting.
    pub fn leave_in_the_middle(mut self, step: &Step) -> Result<(), Error> {
        for member in &mut self.members {
            let pages = member.pages(step)?.pages;
            member.begin(step)?;
            for page in member.start_resident(pages, Policy::Lru) {
                member.submit(PageTask { page, frame: Arc::clone(&self.frames[&page]), fresh: true });
            }
            member.begin_end(step, Moves::default())?;
        }
        Ok(())
    }

    /// Makes an exchange on all devices concurrently, and waits.
    pub fn exchange(&mut self, moves: Vec<Moves>) -> Result<(), Error> {
        self.members.iter_mut().zip(moves).try_for_each(|(member, moves)| member.begin_exchange(moves))?;
        self.members.iter_mut().try_for_each(|member| member.end_exchange())
    }

    fn no_moves(&self) -> Vec<Moves> {
        vec![Moves::default(); self.members.len()]
    }

    /// The next piece: one after the other, and again from the beginning.
    fn piece(&mut self) -> u64 {
        let (at, piece) = (self.at, self.memory.piece_bytes());
        self.at = (at + piece) % (PIECES * piece);
        at
    }

    fn others(&self, number: usize) -> impl Iterator<Item = usize> + use<A> {
        (0..self.members.len()).filter(move |&other| other != number)
    }

    /// Sends each device's activated vertices to all others.
    pub fn tell_activated(&mut self) -> Result<(), Error> {
        let layout = MessageLayout::new(&self.attributes, self.parts[0].sharded);
        let vertices = self.graph.vertices;
        let by_message = BLOCK_VERTICES * layout.blocks_max(self.memory.piece_bytes());
        let mut moves = self.no_moves();
        for number in 0..self.members.len() {
            for first in (0..vertices).step_by(by_message as usize) {
                let (at, vertices) = (self.piece(), first..(first + by_message).min(vertices));
                moves[number].put.push(Move::Collect { vertices: vertices.clone(), at });
                for other in self.others(number) {
                    moves[other].take.push(Move::Apply { vertices: vertices.clone(), at });
                }
            }
        }
        self.exchange(moves)
    }

    /// Sends sums for other devices' vertices to their owners.
    fn add_up(&mut self) -> Result<(), Error> {
        let mut moves = self.no_moves();
        for attribute in self.places(Role::is_written) {
            for number in 0..self.members.len() {
                for owner in self.others(number) {
                    for vertices in self.ranges(attribute, self.parts[owner].own.clone()) {
                        let (at, values) = (self.piece(), Values::all(attribute, vertices));
                        moves[number].put.push(Move::Put { values: values.clone(), at });
                        moves[number].put.push(Move::Clear(values.clone()));
                        moves[owner].take.push(Move::Merge { values, at });
                    }
                }
            }
        }
        self.exchange(moves)
    }

    /// Sends the values of owners to all others.
    fn tell_values(&mut self) -> Result<(), Error> {
        if self.declaration.traversal {
            return Ok(());
        }
        let moves = self.values();
        self.exchange(moves)
    }

    /// The values of owners, for all others.
    fn values(&mut self) -> Vec<Moves> {
        let mut moves = self.no_moves();
        for attribute in self.places(is_told) {
            for (number, part) in self.parts.clone().into_iter().enumerate() {
                for vertices in self.ranges(attribute, part.own) {
                    let (at, values) = (self.piece(), Values::all(attribute, vertices));
                    for other in self.others(number) {
                        moves[other].take.push(Move::Take { values: values.clone(), at });
                    }
                    moves[number].put.push(Move::Put { values, at });
                }
            }
        }
        moves
    }

    fn places(&self, wanted: impl Fn(Role) -> bool) -> Vec<usize> {
        let places = 0..self.attributes.len();
        places.filter(|&place| wanted(self.attributes[place].role)).collect()
    }

    /// Splits a range of vertices into parts whose values fit in half a piece, with arbitrary boundaries.
    fn ranges(&self, place: usize, vertices: Range<u64>) -> Vec<Range<u64>> {
        let size = match self.attributes[place].of {
            AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => self.memory.piece_bytes() / 16,
            _ => self.memory.piece_bytes() / 8,
        };
        let starts = vertices.clone().step_by(size as usize);
        starts.map(|start| start..(start + size).min(vertices.end)).collect()
    }
}

/// Whether owners send their values to all others.
fn is_told(role: Role) -> bool {
    !role.is_written() || role == Role::Writable
}

pub fn words(attribute: &Attribute, vertices: &Range<u64>) -> u64 {
    match attribute.of {
        AttributeType::Bit => vertices.end.div_ceil(32) - vertices.start / 32,
        AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => 2 * (vertices.end - vertices.start),
        _ => vertices.end - vertices.start,
    }
}
