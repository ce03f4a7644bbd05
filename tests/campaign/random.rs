//! Random numbers from a seed: splitmix64.

use std::ops::Range;
use topostream_formats::random::{SplitMix64, hash};

#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// The generator of one case, independent of other cases.
    pub fn of_case(seed: u64, campaign: &str, case: u64) -> Self {
        let named = campaign.bytes().fold(seed, |mixed, byte| hash(mixed ^ u64::from(byte)));
        Self(SplitMix64(hash(named) ^ case.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    pub fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// An index below `count`.
    pub fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    /// A number in 0..1.
    pub fn fraction(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64
    }

    /// True with probability 1 / `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn choose<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }
}
