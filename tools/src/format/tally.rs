//! Counting the edges of a source by parts: by step of their sources, and by vertex if an order needs degrees.
//!
//! ```text
//!  parts, on all threads ─▶ ids ─▶ a buffer for each region of vertices ── full ─▶ counted, under the region's lock
//! ```
//!
//! Atomic additions, or tables for each thread, would take more time or memory: a region's counts are touched by one
//! thread at a time, many at once.

use super::ranges::{step, steps};
use crate::progress::Cancel;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::edge::EdgeParts;
use topostream_formats::{Result, huge};

/// Parts between two reports of progress.
const PARTS: u64 = 16;
/// The maximum number of regions.
const REGIONS_LOG2: u32 = 9;
/// The ids of a region's buffer.
const BUFFER_MIN: usize = 1 << 8;
const BUFFER_MAX: usize = 1 << 14;

/// What is kept of a source's edges.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub keep_loops: bool,
    /// Whether the reverse of each edge is added.
    pub mirror: bool,
}

/// Edges by step of their source, and of their dest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Edges of the source.
    pub edges: u64,
    pub loops_dropped: u64,
    /// Edges that are kept, with the reverse ones.
    pub out_steps: Vec<u64>,
    pub in_steps: Vec<u64>,
}

impl Tally {
    fn new(vertices: u64) -> Self {
        let none = vec![0; steps(vertices)];
        Self { in_steps: none.clone(), out_steps: none, ..Self::default() }
    }

    fn add(&mut self, source: u32, dest: u32) {
        self.out_steps[step(source)] += 1;
        self.in_steps[step(dest)] += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.edges += other.edges;
        self.loops_dropped += other.loops_dropped;
        self.out_steps.iter_mut().zip(&other.out_steps).for_each(|(sum, more)| *sum += more);
        self.in_steps.iter_mut().zip(&other.in_steps).for_each(|(sum, more)| *sum += more);
    }

    /// Increases all counts by one part in this many.
    pub fn increase(&mut self, part: u64) {
        self.out_steps.iter_mut().chain(&mut self.in_steps).for_each(|count| *count += count.div_ceil(part));
    }

    fn scale(&mut self, by: u64) {
        self.out_steps.iter_mut().chain(&mut self.in_steps).for_each(|count| *count *= by);
        self.edges *= by;
    }
}

/// Passes the kept edges of each `stride`th part to an element of `own` of the thread that makes it; `advance` is told
/// how many edges of the source are done.
///
/// # Errors
/// The errors of `advance`, and of `each`.
pub fn for_each_part<T: Send>(
    parts: &dyn EdgeParts,
    stride: u64,
    own: &mut [T],
    each: impl Fn(&mut T, &[(u32, u32)]) -> Result<()> + Sync,
    advance: impl Fn(u64) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicU64::new(0);
    own.par_iter_mut().with_max_len(1).try_for_each(|own| {
        let (mut ends, mut weights, mut done) = (Vec::new(), Vec::new(), 0);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number * stride >= parts.count() {
                return advance(done);
            }
            parts.part(number * stride, &mut ends, &mut weights);
            each(own, &ends)?;
            done += ends.len() as u64;
            if number.is_multiple_of(PARTS) {
                advance(std::mem::take(&mut done))?;
            }
        }
    })
}

/// Counts the edges of each `stride`th part, as if the others were like them.
///
/// # Errors
/// The errors of `advance`.
pub fn by_steps(
    parts: &dyn EdgeParts,
    vertices: u64,
    rules: Rules,
    stride: u64,
    advance: impl Fn(u64) -> Result<()> + Sync,
) -> Result<Tally> {
    let mut own = vec![Tally::new(vertices); rayon::current_num_threads()];
    for_each_part(
        parts,
        stride,
        &mut own,
        |tally, ends| {
            tally.edges += ends.len() as u64;
            for &(source, dest) in ends {
                if source == dest && !rules.keep_loops {
                    tally.loops_dropped += 1;
                    continue;
                }
                tally.add(source, dest);
                if rules.mirror && source != dest {
                    tally.add(dest, source);
                }
            }
            Ok(())
        },
        advance,
    )?;
    let mut tally = Tally::new(vertices);
    own.iter().for_each(|some| tally.merge(some));
    tally.scale(stride);
    Ok(tally)
}

/// The degrees of all vertices.
pub struct Degrees {
    pub out: Vec<u32>,
    pub into: Vec<u32>,
    pub edges: u64,
    pub loops_dropped: u64,
}

/// Main memory of counting without the degrees, in bytes, for a thread with buffers of this many ids.
fn thread_bytes(buffer: usize) -> u64 {
    (2 * buffer * size_of::<u32>()) as u64 * (2 << REGIONS_LOG2)
}

/// Counts the degrees of all vertices, in 8 bytes a vertex and at most `memory_bytes` of further memory, if that is
/// possible.
///
/// # Errors
/// The errors of `advance`.
pub fn degrees(
    parts: &dyn EdgeParts,
    vertices: u64,
    rules: Rules,
    memory_bytes: u64,
    advance: impl Fn(u64) -> Result<()> + Sync,
) -> Result<Option<Degrees>> {
    let fitting = (memory_bytes / thread_bytes(BUFFER_MIN)) as usize;
    let threads = rayon::current_num_threads().min(fitting);
    if threads == 0 {
        return Ok(None);
    }
    let buffer = (memory_bytes / threads as u64 / thread_bytes(1)) as usize;
    let shift = (u64::BITS - vertices.saturating_sub(1).leading_zeros()).saturating_sub(REGIONS_LOG2);
    let (mut out, mut into) = (huge::zeroed::<u32>(vertices), huge::zeroed::<u32>(vertices));
    let sets = [&mut out, &mut into].map(|counts| Regions::new(counts, shift));
    let empty = || sets.each_ref().map(|set| Buffers::new(set, buffer.clamp(BUFFER_MIN, BUFFER_MAX)));
    let mut own: Vec<(u64, u64, [Buffers<'_, '_>; 2])> = (0..threads).map(|_| (0, 0, empty())).collect();
    for_each_part(
        parts,
        1,
        &mut own,
        |(edges, dropped, [out, into]), ends| {
            *edges += ends.len() as u64;
            for &(source, dest) in ends {
                if source == dest && !rules.keep_loops {
                    *dropped += 1;
                    continue;
                }
                out.add(source);
                into.add(dest);
                if rules.mirror && source != dest {
                    out.add(dest);
                    into.add(source);
                }
            }
            Ok(())
        },
        advance,
    )?;
    own.par_iter_mut().for_each(|(_, _, sets)| sets.iter_mut().for_each(Buffers::flush_all));
    let sum = |part: fn(&(u64, u64, [Buffers<'_, '_>; 2])) -> u64| own.iter().map(part).sum();
    let (edges, loops_dropped) = (sum(|own| own.0), sum(|own| own.1));
    drop(own);
    drop(sets);
    Ok(Some(Degrees { out, into, edges, loops_dropped }))
}

/// The counts of consecutive vertices, each region under a lock.
struct Regions<'a> {
    shift: u32,
    counts: Vec<Mutex<&'a mut [u32]>>,
}

impl<'a> Regions<'a> {
    fn new(counts: &'a mut [u32], shift: u32) -> Self {
        Self { shift, counts: counts.chunks_mut(1 << shift).map(Mutex::new).collect() }
    }
}

/// A thread's ids that are not counted yet, by region.
struct Buffers<'r, 'a> {
    regions: &'r Regions<'a>,
    capacity: usize,
    ids: Vec<u32>,
    filled: Vec<usize>,
}

impl<'r, 'a> Buffers<'r, 'a> {
    fn new(regions: &'r Regions<'a>, capacity: usize) -> Self {
        let count = regions.counts.len();
        Self { regions, capacity, ids: vec![0; count * capacity], filled: vec![0; count] }
    }

    #[inline]
    fn add(&mut self, id: u32) {
        let region = (id >> self.regions.shift) as usize;
        let filled = &mut self.filled[region];
        self.ids[region * self.capacity + *filled] = id;
        *filled += 1;
        if *filled == self.capacity {
            self.flush(region);
        }
    }

    fn flush(&mut self, region: usize) {
        let mut counts = self.regions.counts[region].lock().expect("no thread panics while it counts");
        let (begin, mask) = (region * self.capacity, (1u32 << self.regions.shift) - 1);
        for id in &self.ids[begin..begin + self.filled[region]] {
            let count = &mut counts[(id & mask) as usize];
            *count = count.saturating_add(1);
        }
        self.filled[region] = 0;
    }

    fn flush_all(&mut self) {
        (0..self.filled.len()).for_each(|region| self.flush(region));
    }
}

/// Edges by step of new numbers, from the degrees of old ones.
pub fn steps_of(order: &[u32], degrees: &[u32], cancel: &Cancel) -> Result<Vec<u64>> {
    let count = steps(order.len() as u64);
    let chunk = order.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let sums = order.par_chunks(chunk).enumerate().map(|(number, order)| {
        cancel.check()?;
        let mut sums = vec![0; count];
        for (slot, new) in order.iter().zip((number * chunk) as u64..) {
            sums[step(new as u32)] += u64::from(degrees[*slot as usize]);
        }
        Ok(sums)
    });
    let add = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    sums.try_reduce(|| vec![0; count], |a, b| Ok(add(a, b)))
}
