//! Several sets over the same vertices, as one.

use super::{BLOCK, Bits, FEW, WORD};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Several sets over the same vertices, as one: for work on the vertices that are in any of them.
pub(crate) struct Union<'a>(pub Vec<&'a Bits>);

impl Union<'_> {
    /// The blocks of 4096 vertices that have vertices of `vertices`, and may have some of the sets.
    pub(crate) fn blocks(&self, vertices: &Range<u64>) -> Vec<u64> {
        let (first, end) = (vertices.start / BLOCK, vertices.end.div_ceil(BLOCK));
        let mut blocks = Vec::new();
        for at in first / WORD..end.div_ceil(WORD) {
            let mut rest = self.0.iter().fold(0, |any, set| any | set.summary[at as usize].load(Relaxed));
            while rest != 0 {
                blocks.push(at * WORD + u64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        blocks.retain(|block| (first..end).contains(block));
        blocks
    }

    /// Calls `take` with ranges that hold all vertices of a block that are in any of the sets, and few others, cut to
    /// `vertices`; then corrects the summaries, since `take` may have removed some. It may add vertices of its range,
    /// and nobody else may add vertices of the block.
    pub(crate) fn for_each_run(&self, block: u64, vertices: &Range<u64>, mut take: impl FnMut(Range<u64>)) {
        let words = self.0.first().map_or(0, |set| set.words.len() as u64);
        let any = |at: u64| self.0.iter().fold(0, |any, set| any | set.words[at as usize].load(Relaxed));
        let mut cut = |run: Range<u64>| {
            let run = run.start.max(vertices.start)..run.end.min(vertices.end);
            if !run.is_empty() {
                take(run);
            }
        };
        let mut run = 0..0;
        for at in block * WORD..((block + 1) * WORD).min(words) {
            let mut rest = any(at);
            if rest.count_ones() > FEW {
                run = if run.end == at * WORD { run.start } else { at * WORD }..(at + 1) * WORD;
                continue;
            }
            cut(std::mem::take(&mut run));
            while rest != 0 {
                let vertex = at * WORD + u64::from(rest.trailing_zeros());
                cut(vertex..vertex + 1);
                rest &= rest - 1;
            }
        }
        cut(run);
        self.0.iter().for_each(|set| set.settle(block));
    }
}
