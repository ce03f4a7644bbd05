//! A fetcher for tests: real pages, with latency, order and faults from a seed.
//!
//! Time is a counter, so a run with a seed is the same on every machine. A fault is transient (the next try of the page
//! succeeds) or lasting. Over several stripes there is a fetcher for each, and a poll of all is a tick of each, so that
//! one can be slower than the others.

use super::{Fetcher, PageFiles, PageFilled, PageRead, PageRef};
use crate::error::Result;
use std::collections::HashMap;
use std::task::{Context, Poll};
use std::time::Instant;
use topostream_formats::random::SplitMix64;

/// The tick of what is never answered.
const NEVER: u64 = u64::MAX;

/// What goes wrong, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// The seed of latency, order and faults.
    pub seed: u64,
    /// A read takes 1 to this many ticks.
    pub latency_max: u32,
    /// Of a thousand reads, how many fail with an I/O error.
    pub io_errors: u32,
    /// Of a thousand reads, how many come back with one bit flipped.
    pub flipped_bits: u32,
    /// Of a thousand reads, how many end early and leave the rest of the frame as it was.
    pub short_reads: u32,
    /// Of a thousand reads, how many are never answered, as by a disk that has gone away.
    pub stuck: u32,
    /// Whether a page that has failed once fails always.
    pub lasting: bool,
    /// The only stripe that is late or faulty; the others answer in a tick, and nothing goes wrong there.
    pub stripe: Option<usize>,
}

impl Faults {
    /// Latency and order from a seed, and no faults.
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

    /// What of it happens in a stripe, with latency and order of its own.
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
    /// A fetcher over these files.
    pub fn new(files: PageFiles, faults: Faults) -> Self {
        let faults = faults.of_stripe(files.stripe());
        Self { files, faults, random: SplitMix64(faults.seed), tick: 0, in_flight: Vec::new(), failed: HashMap::new() }
    }

    /// What goes wrong with this read, if anything.
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
            let piece = self.files.pieces(page).next().expect("a page is one piece at least");
            return PageFilled { page, frame, result: Err(self.files.named(piece, error)) };
        }
        let before = (fault == Some(Fault::ShortRead)).then(|| frame.bytes_mut().to_vec());
        let result = self.files.read(page, &mut frame);
        let bytes = frame.bytes_mut();
        let at = (self.random.0 % bytes.len() as u64) as usize;
        match (fault, before) {
            (Some(Fault::FlippedBit), _) => bytes[at] ^= 1 << (self.random.0 >> 61),
            (Some(Fault::ShortRead), Some(before)) => bytes[at..].copy_from_slice(&before[at..]),
            _ => {}
        }
        PageFilled { page, frame, result }
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
        // Alone, there is nothing to wait for.
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

    fn let_go(&mut self, _until: Instant) {
        self.in_flight.clear();
    }
}
