//! A fetcher for tests: real pages, with latency, completion order and faults from a seed.
//!
//! Time is a counter, so a run with a given seed is the same on every machine. A fault is transient (the next read of
//! the page succeeds) or lasting. A store with several stripes has a fetcher for each stripe. Every poll is one tick
//! for all of them, so one can be slower than the others.

use super::{Fetcher, Frame, PageFiles, PageFilled, PageRead, PageRef, Unfilled};
use crate::error::Result;
use crate::pages::parts::Parts;
use std::collections::HashMap;
use std::task::{Context, Poll};
use std::time::Instant;
use topostream_formats::chunks::ChunkSet;
use topostream_formats::random::SplitMix64;

/// The completion time of a read that never completes.
const NEVER: u64 = u64::MAX;

/// The simulated faults and their rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Faults {
    /// The seed of latency, order and faults.
    pub seed: u64,
    /// The maximum latency of a read, in ticks. The minimum is 1.
    pub latency_max: u32,
    /// Reads in a thousand that fail with an I/O error.
    pub io_errors: u32,
    /// Reads in a thousand that return data with one flipped bit.
    pub flipped_bits: u32,
    /// Reads in a thousand that end early and leave the rest of the frame unchanged.
    pub short_reads: u32,
    /// Reads in a thousand that never complete, as on a disk that was removed.
    pub stuck: u32,
    /// Whether a page that has failed once fails on every read.
    pub lasting: bool,
    /// If set, only this stripe is slow and faulty; the others complete every read in one tick.
    pub stripe: Option<usize>,
}

impl Faults {
    /// Returns random latency and order from a seed, without faults.
    pub fn none(seed: u64) -> Self {
        Self {
            seed,
            latency_max: 8,
            io_errors: 0,
            flipped_bits: 0,
            short_reads: 0,
            stuck: 0,
            lasting: false,
            stripe: None,
        }
    }

    /// Returns the faults of one stripe, with a seed of its own.
    fn of_stripe(self, stripe: usize) -> Self {
        let seed = self.seed.wrapping_add((stripe as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
        match self.stripe {
            Some(only) if only != stripe => Self { latency_max: 1, ..Self::none(seed) },
            _ => Self { seed, ..self },
        }
    }
}

/// Positioned reads with simulated latency, order and faults.
#[derive(Debug)]
pub struct SimulatedFetcher {
    files: PageFiles,
    faults: Faults,
    random: SplitMix64,
    tick: u64,
    in_flight: Vec<(u64, PageRead)>,
    failed: HashMap<PageRef, Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    IoError,
    FlippedBit,
    ShortRead,
}

impl SimulatedFetcher {
    /// Creates a fetcher over page files.
    pub fn new(files: PageFiles, faults: Faults) -> Self {
        let faults = faults.of_stripe(files.stripe());
        Self { files, faults, random: SplitMix64(faults.seed), tick: 0, in_flight: Vec::new(), failed: HashMap::new() }
    }

    /// Returns the fault of this read, if it has one.
    fn fault(&mut self, page: PageRef) -> Option<Fault> {
        let draw = (self.random.draw() % 1000) as u32;
        if let Some(&fault) = self.failed.get(&page) {
            return self.faults.lasting.then_some(fault);
        }
        let Faults { io_errors, flipped_bits, short_reads, .. } = self.faults;
        let fault = match draw {
            draw if draw < io_errors => Fault::IoError,
            draw if draw < io_errors + flipped_bits => Fault::FlippedBit,
            draw if draw < io_errors + flipped_bits + short_reads => Fault::ShortRead,
            _ => return None,
        };
        self.failed.insert(page, fault);
        Some(fault)
    }

    fn fill(&mut self, PageRead { page, mut frame }: PageRead) -> PageFilled {
        let fault = self.fault(page);
        if fault == Some(Fault::IoError) {
            let error = std::io::Error::other("simulated I/O error");
            let range = self.files.ranges(page, Parts::Whole)[0];
            return PageFilled { page, frame, result: Err(self.files.named(range, error).into()) };
        }
        let before = (fault == Some(Fault::ShortRead)).then(|| frame.bytes_mut().to_vec());
        let result = self.files.read(0, page, &mut frame);
        let at = self.place_in(page, &frame);
        let bytes = frame.bytes_mut();
        match (fault, before) {
            (Some(Fault::FlippedBit), _) => bytes[at] ^= 1 << (self.random.0 >> 61),
            (Some(Fault::ShortRead), Some(before)) => bytes[at..].copy_from_slice(&before[at..]),
            _ => {}
        }
        PageFilled { page, frame, result: result.map_err(Unfilled::Read) }
    }

    /// The place of a fault: any byte of the frame if a whole page is read. If a part is read, a byte of it or one that
    /// nothing has been read into; what is there already does not change.
    fn place_in(&self, page: PageRef, frame: &Frame) -> usize {
        let anywhere = (self.random.0 % frame.pool().frame_bytes() as u64) as usize;
        let ranges = self.files.ranges(page, frame.requested());
        let Parts::Chunks(held) = frame.held().with(frame.requested()) else { return anywhere };
        let chunk = (anywhere / self.files.chunk_bytes(page)) as u32;
        match ranges.get((self.random.0 >> 32) as usize % ranges.len().max(1)) {
            Some(range) if self.random.0 & 1 == 0 || held.contains(ChunkSet::of_range(chunk..chunk + 1)) => {
                range.at + anywhere % range.bytes
            }
            _ => anywhere,
        }
    }
}

impl Fetcher for SimulatedFetcher {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn direct(&self) -> bool {
        self.files.direct()
    }

    fn submit(&mut self, read: PageRead) {
        let latency = 1 + self.random.draw() % u64::from(self.faults.latency_max.max(1));
        let stuck = self.faults.stuck > 0 && self.random.draw() % 1000 < self.faults.stuck.into();
        self.in_flight.push((if stuck { NEVER } else { self.tick + latency }, read));
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<Result<()>> {
        let next = self.in_flight.iter().map(|(due, _)| *due).min().expect("something is in flight");
        if next == NEVER {
            return Poll::Pending;
        }
        self.tick += 1;
        if self.tick < next && self.files.stripes() > 1 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        // With a single stripe, time advances to the next completion at once.
        self.tick = self.tick.max(next);
        let (due, later): (Vec<_>, Vec<_>) = self.in_flight.drain(..).partition(|(due, _)| *due <= self.tick);
        self.in_flight = later;
        for (_, read) in due {
            let fill = self.fill(read);
            filled.push(fill);
        }
        if self.random.draw().is_multiple_of(2) {
            filled.reverse();
        }
        Poll::Ready(Ok(()))
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn shut_down(&mut self, _until: Instant) {
        self.in_flight.clear();
    }
}
