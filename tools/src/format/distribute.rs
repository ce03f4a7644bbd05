//! Sorting by distribution: all threads make the edges of a range of sources, put them in buckets, and sort these,
//! while the caller's thread packs sorted lists.
//!
//! ```text
//!  parts of the input ─▶ edges of the range ─▶ blocks of their buckets ─▶ bucket by bucket: sorted ─▶ lists ─▶ pages
//!   (generated or read)                           (one allocation)            └─ its blocks are free for the next one
//! ```
//!
//! There are no phases: a thread sorts the next bucket of a complete range unless the packer is too far behind, and
//! otherwise makes edges of the range after it as long as blocks are free. A range fits in the blocks, and sorting
//! frees the blocks of the range before, so threads never wait for each other in a circle.

use super::blocks::{Block, RecordLayout};
use super::ranges::Ranges;
use crate::progress::Cancel;
use crate::sorting::partition::Scratch;
use crate::sorting::record::{Record, unsortable};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Builder;
use topostream_formats::packed::{PackedParameters, SharedLists};
use topostream_formats::{Error, Result, WeightType};

/// Parts that a thread makes at a time.
const PARTS: u64 = 8;
/// Free blocks that a thread holds at most.
const STASH: usize = 16;

/// The blocks of a range of this many buckets and edges: each thread fills one of each bucket in part, and holds
/// others.
pub fn block_count(records: u64, buckets: usize, capacity: u64, threads: usize) -> u64 {
    records.div_ceil(capacity) + (threads * (buckets + STASH + 1)) as u64
}

/// Edges as they come out of an input: under the numbers by which they are sorted.
#[derive(Default)]
pub struct Edges {
    pub ends: Vec<(u32, u32)>,
    /// Sortable bits of weights, which have 32 bits in generated graphs; empty without weights.
    pub weights: Vec<u32>,
    /// What the input needs to make them.
    pub raw_ends: Vec<(u32, u32)>,
    pub raw_weights: Vec<u32>,
    pub bytes: Vec<u8>,
}

/// The edges of each range, by parts.
pub trait Input: Sync {
    /// The number of parts of a range.
    fn parts(&self, range: usize) -> u64;

    /// Replaces `edges` with the edges of a part whose sources are in the range.
    ///
    /// # Errors
    /// Errors from reading.
    fn part(&self, range: usize, number: u64, edges: &mut Edges) -> Result<()>;
}

/// The sorted lists of a bucket.
#[derive(Default)]
pub struct Lists {
    /// By source. Packed pages may refer to them until they are written.
    pub shared: Arc<SharedLists>,
    /// Empty without weights.
    pub weights: Vec<u32>,
    /// The number of duplicates that were dropped.
    pub dropped: u64,
}

impl Lists {
    /// Main memory of an edge in sorted lists at most, in bytes: its dest, its weight, and a list of its own.
    pub const RECORD_BYTES: u64 = 16;

    /// Replaces the contents with the lists of sorted records.
    fn fill<R: Record>(&mut self, records: &[R], work: &Work<'_>) {
        let Work { weights, unique, .. } = *work;
        let Self { shared, weights: found, dropped } = self;
        let shared = Arc::get_mut(shared).expect("no page refers to lists that are filled");
        shared.clear();
        let SharedLists { lengths, dests, .. } = shared;
        found.clear();
        *dropped = 0;
        dests.reserve_exact(records.len());
        found.reserve_exact(if weights.is_some() { records.len() } else { 0 });
        let mut last = None;
        for record in records {
            let (source, dest, weight) = record.parts();
            if unique && last.replace((source, dest)) == Some((source, dest)) {
                *dropped += 1;
                continue;
            }
            dests.push(dest);
            if let Some(of) = weights {
                found.push(unsortable(weight, of) as u32);
            }
            match lengths.last_mut() {
                Some((vertex, length)) if *vertex == source => *length += 1,
                _ => lengths.push((source, 1)),
            }
        }
        if let Some(parameters) = work.shares {
            shared.measure(parameters, 0, None);
        }
    }
}

/// What is sorted, and how.
pub struct Work<'a> {
    pub ranges: &'a Ranges,
    pub input: &'a dyn Input,
    /// The number of dests.
    pub vertices: u64,
    pub weights: Option<WeightType>,
    /// Whether only the first of edges with the same ends is kept.
    pub unique: bool,
    /// How lists are packed, if pages may refer to them.
    pub shares: Option<PackedParameters>,
    pub threads: usize,
    pub block_bytes: usize,
    pub cancel: &'a Cancel,
}

/// Buckets that are sorted before the packer takes them, in addition to one for each thread.
pub const WINDOW_EXTRA: usize = 2;

impl Work<'_> {
    /// Sorts everything, in blocks that are parts of `memory`, and passes the lists of each bucket in order.
    ///
    /// # Errors
    /// Errors of the input and of `take`; [`Error::Threads`], [`Error::Interrupted`].
    pub fn run<R: Record>(&self, memory: &mut [u8], take: &mut dyn FnMut(&Lists) -> Result<()>) -> Result<()> {
        let mut free: Vec<&mut [u8]> = memory.chunks_exact_mut(self.block_bytes).collect();
        free.reverse();
        let shared = Shared {
            work: self,
            layouts: (0..self.ranges.ranges.len())
                .map(|range| self.ranges.bucket_layout(range, self.vertices, self.weights.is_some()))
                .collect(),
            state: Mutex::new(State { free, ..State::default() }),
            workers: Condvar::new(),
            packer: Condvar::new(),
        };
        shared.begin_range(&mut shared.lock());
        std::thread::scope(|scope| {
            let mut result = Ok(());
            for _ in 0..self.threads {
                let started = Builder::new().name("sort edges".into()).spawn_scoped(scope, || shared.worker::<R>());
                if let Err(source) = started {
                    result = Err(Error::Threads { what: "sorting edges".into(), wanted: self.threads, source });
                }
            }
            let result = result.and_then(|()| shared.pass_lists(take));
            shared.stop(None);
            result
        })
    }
}

/// What threads share.
struct Shared<'a> {
    work: &'a Work<'a>,
    /// By range.
    layouts: Vec<RecordLayout>,
    state: Mutex<State<'a>>,
    /// Wakes threads that wait for a bucket, for parts or for blocks.
    workers: Condvar,
    /// Wakes the packer, which waits for a bucket's lists.
    packer: Condvar,
}

#[derive(Default)]
struct State<'a> {
    free: Vec<&'a mut [u8]>,
    /// The range whose edges are made, the next part of it, and the number of parts.
    range: usize,
    next_part: u64,
    parts: u64,
    /// Threads that hold blocks of the range.
    joined: usize,
    /// The range's full blocks by bucket.
    full: Vec<Vec<Block<'a>>>,
    /// Buckets of complete ranges, in order.
    ready: VecDeque<(usize, Vec<Block<'a>>)>,
    sorted: BTreeMap<usize, Lists>,
    /// Memory of lists that have been packed: what the system would have to clear again costs more than sorting.
    spare: Vec<Lists>,
    /// The bucket that the packer takes next.
    packed: usize,
    stopped: bool,
    error: Option<Error>,
}

/// A thread's part in a range: a block of each bucket, full ones, and free ones.
#[derive(Default)]
struct Open<'a> {
    /// The range, if the thread has joined it.
    range: Option<usize>,
    buckets: Vec<OpenBucket<'a>>,
    /// Full blocks and their buckets in the range. Others see them when the range is complete.
    full: Vec<(usize, Block<'a>)>,
    stash: Vec<&'a mut [u8]>,
}

/// The block of a bucket that a thread fills.
struct OpenBucket<'a> {
    /// Has no bytes before the first edge.
    block: Block<'a>,
    /// The number of edges for which the block has room.
    capacity: usize,
    /// The bucket's first source.
    first: u32,
}

enum Task<'a> {
    Sort(usize, Vec<Block<'a>>),
    Make(usize, Range<u64>),
}

/// Stops the others if a thread panics, so that the panic is passed on instead of waited for.
struct StopOnPanic<'s, 'a>(&'s Shared<'a>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(None);
        }
    }
}

impl<'a> Shared<'a> {
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn stop(&self, error: Option<Error>) {
        let mut state = self.lock();
        state.stopped = true;
        state.error = state.error.take().or(error);
        self.workers.notify_all();
        self.packer.notify_all();
    }

    /// Prepares the range at which the state is, and completes those without parts.
    fn begin_range(&self, state: &mut State<'a>) {
        while let Some(buckets) = self.work.ranges.ranges.get(state.range) {
            (state.next_part, state.parts) = (0, self.work.input.parts(state.range));
            state.full.resize_with(buckets.len(), Vec::new);
            if state.parts > 0 {
                return;
            }
            self.end_range(state);
        }
    }

    /// Hands over the buckets of a complete range.
    fn end_range(&self, state: &mut State<'a>) {
        let buckets = self.work.ranges.ranges[state.range].clone();
        state.ready.extend(buckets.zip(state.full.drain(..)));
        state.range += 1;
        self.workers.notify_all();
    }

    fn worker<R: Record>(&self) {
        let _stop = StopOnPanic(self);
        let (mut open, mut edges, mut scratch) = (Open::default(), Edges::default(), Scratch::<R>::default());
        let outcome = (|| {
            while let Some(task) = self.next(&mut open) {
                self.work.cancel.check()?;
                match task {
                    Task::Sort(bucket, blocks) => self.sort(bucket, blocks, &mut scratch),
                    Task::Make(range, parts) => {
                        for part in parts {
                            self.work.input.part(range, part, &mut edges)?;
                            self.put(range, &edges, &mut open, &mut scratch)?;
                        }
                    }
                }
            }
            Ok(())
        })();
        if let Err(error) = outcome {
            self.stop(Some(error));
        }
    }

    /// Waits for something to do; `None` if there is nothing more.
    fn next(&self, open: &mut Open<'a>) -> Option<Task<'a>> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if state.next_part == state.parts && open.range == Some(state.range) {
                self.leave(&mut state, open);
                continue;
            }
            if let Some((bucket, blocks)) = self.next_bucket(&mut state) {
                return Some(Task::Sort(bucket, blocks));
            }
            let is_last = state.range == self.work.ranges.ranges.len();
            if is_last && state.ready.is_empty() {
                return None;
            }
            if !is_last && state.next_part < state.parts && !state.free.is_empty() {
                let parts = state.next_part..state.parts.min(state.next_part + PARTS);
                state.next_part = parts.end;
                if open.range.is_none() {
                    self.join(state.range, open);
                    state.joined += 1;
                }
                return Some(Task::Make(state.range, parts));
            }
            state = self.workers.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Prepares a thread for making edges of a range.
    fn join(&self, range: usize, open: &mut Open<'a>) {
        open.range = Some(range);
        open.buckets.clear();
        open.buckets.extend(self.work.ranges.ranges[range].clone().map(|bucket| {
            let first = self.work.ranges.buckets[bucket].sources.start as u32;
            OpenBucket { block: Block { bytes: &mut [], records: 0 }, capacity: 0, first }
        }));
    }

    /// The next bucket to sort, if the packer is not too far behind.
    fn next_bucket(&self, state: &mut State<'a>) -> Option<(usize, Vec<Block<'a>>)> {
        let end = state.packed + self.work.threads + WINDOW_EXTRA;
        if state.ready.front().is_some_and(|&(bucket, _)| bucket < end) { state.ready.pop_front() } else { None }
    }

    /// Gives up a thread's blocks of a range of which all parts have been taken. The last thread completes it.
    fn leave(&self, state: &mut State<'a>, open: &mut Open<'a>) {
        open.full.drain(..).for_each(|(bucket, block)| state.full[bucket].push(block));
        for (full, bucket) in state.full.iter_mut().zip(open.buckets.drain(..)) {
            full.extend(Some(bucket.block).filter(|block| block.records > 0));
        }
        state.free.append(&mut open.stash);
        self.workers.notify_all();
        open.range = None;
        state.joined -= 1;
        if state.joined == 0 {
            self.end_range(state);
            self.begin_range(state);
        }
    }

    /// Puts the edges of a part into the blocks of their buckets.
    fn put<R: Record>(&self, range: usize, edges: &Edges, open: &mut Open<'a>, scratch: &mut Scratch<R>) -> Result<()> {
        let (ranges, layout) = (self.work.ranges, self.layouts[range]);
        let (capacity, first) = (layout.capacity(self.work.block_bytes), ranges.ranges[range].start);
        for (at, &(source, dest)) in edges.ends.iter().enumerate() {
            let number = ranges.bucket_of(source) - first;
            let mut bucket = &mut open.buckets[number];
            if bucket.block.records == bucket.capacity {
                let bytes = self.empty_block(open, scratch)?;
                bucket = &mut open.buckets[number];
                let full = std::mem::replace(&mut bucket.block, Block { bytes, records: 0 });
                bucket.capacity = capacity;
                open.full.extend(Some((number, full)).filter(|(_, block)| block.records > 0));
            }
            let weight = edges.weights.get(at).copied().unwrap_or(0);
            layout.write(bucket.block.bytes, bucket.block.records, source - bucket.first, dest, weight);
            bucket.block.records += 1;
        }
        Ok(())
    }

    /// A free block. While there is none, sorts buckets of the range before, which frees their blocks.
    fn empty_block<R: Record>(&self, open: &mut Open<'a>, scratch: &mut Scratch<R>) -> Result<&'a mut [u8]> {
        if let Some(bytes) = open.stash.pop() {
            return Ok(bytes);
        }
        let mut state = self.lock();
        loop {
            if state.stopped {
                return Err(Error::Interrupted);
            }
            if let Some(bytes) = state.free.pop() {
                let rest = state.free.len();
                open.stash.extend(state.free.drain(rest - (rest / self.work.threads).min(STASH)..).rev());
                return Ok(bytes);
            }
            if let Some((bucket, blocks)) = self.next_bucket(&mut state) {
                drop(state);
                self.sort(bucket, blocks, scratch);
                state = self.lock();
                continue;
            }
            state = self.workers.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Sorts the edges of a bucket.
    fn sort<R: Record>(&self, bucket: usize, blocks: Vec<Block<'a>>, scratch: &mut Scratch<R>) {
        let range = self.work.ranges.ranges.partition_point(|range| range.end <= bucket);
        let (layout, first) = (self.layouts[range], self.work.ranges.buckets[bucket].sources.start as u32);
        scratch.records.clear();
        scratch.records.reserve_exact(blocks.iter().map(|block| block.records).sum());
        for block in &blocks {
            let records = &mut scratch.records;
            layout.read(block.bytes, 0..block.records, |source, dest, weight| {
                records.push(R::new(first + source, dest, weight.into()));
            });
        }
        let mut state = self.lock();
        let was_empty = state.free.is_empty();
        state.free.extend(blocks.into_iter().map(|block| block.bytes));
        let mut lists = state.spare.pop().unwrap_or_default();
        drop(state);
        if was_empty {
            self.workers.notify_all();
        }
        scratch.sort_records(first, self.work.vertices);
        lists.fill(&scratch.records, self.work);
        self.lock().sorted.insert(bucket, lists);
        self.packer.notify_one();
    }

    /// Passes the lists of all buckets in order.
    fn pass_lists(&self, take: &mut dyn FnMut(&Lists) -> Result<()>) -> Result<()> {
        // Passed lists, of which pages may still need some.
        let mut passed = Vec::new();
        for bucket in 0..self.work.ranges.buckets.len() {
            let mut state = self.lock();
            let lists = loop {
                if state.stopped {
                    return Err(state.error.take().unwrap_or(Error::Interrupted));
                }
                if let Some(lists) = state.sorted.remove(&bucket) {
                    break lists;
                }
                state = self.packer.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
            };
            state.packed = bucket;
            drop(state);
            // One more bucket may be sorted, by any thread that waits: waking all of them costs the packer more.
            self.workers.notify_one();
            take(&lists)?;
            passed.push(lists);
            // Pages are written in any order.
            let is_free = |lists: &mut Lists| Arc::get_mut(&mut lists.shared).is_some();
            self.lock().spare.extend(passed.extract_if(.., is_free));
        }
        Ok(())
    }
}
