//! Edges in blocks of bytes: as few bytes an edge as the sources of a bucket and the dests need.
//!
//! ```text
//!  source - first of the bucket │ dest        5 to 8 bytes, the lowest first; then 4 bytes of weight, if there are any
//! ```

use std::ops::Range;

/// How the edges of a bucket, or of a range, are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    dest_bits: u32,
    key_bytes: usize,
    weight_bytes: usize,
}

/// Bytes that are read and written at once.
const KEY_BYTES_MAX: usize = 8;
const WEIGHT_BYTES: usize = 4;

impl RecordLayout {
    /// The layout for this many consecutive sources and this many dests.
    pub fn new(sources: u64, dests: u64, weighted: bool) -> Self {
        let bits = |count: u64| u64::BITS - count.saturating_sub(1).leading_zeros();
        let (dest_bits, weight_bytes) = (bits(dests), if weighted { WEIGHT_BYTES } else { 0 });
        Self { dest_bits, key_bytes: (bits(sources) + dest_bits).div_ceil(8).max(1) as usize, weight_bytes }
    }

    /// Whether edges have weights.
    pub fn is_weighted(self) -> bool {
        self.weight_bytes > 0
    }

    /// Bytes of an edge.
    pub fn record_bytes(self) -> usize {
        self.key_bytes + self.weight_bytes
    }

    /// The number of edges for which a block of this many bytes has room. The last one needs more room than its bytes.
    pub fn capacity(self, block_bytes: usize) -> usize {
        (block_bytes - KEY_BYTES_MAX) / self.record_bytes()
    }

    /// Writes an edge; the source is relative to the first one.
    #[inline(always)]
    pub fn write(self, block: &mut [u8], at: usize, source: u32, dest: u32, weight: u32) {
        let key = u64::from(source) << self.dest_bits | u64::from(dest);
        let begin = at * self.record_bytes();
        // As an array: copying a slice may become a call.
        let record = block[begin..].first_chunk_mut::<KEY_BYTES_MAX>().expect("blocks end behind the last key");
        *record = key.to_le_bytes();
        if self.weight_bytes > 0 {
            let begin = begin + self.key_bytes;
            block[begin..begin + WEIGHT_BYTES].copy_from_slice(&weight.to_le_bytes());
        }
    }

    /// Passes the edges with these numbers.
    #[inline(always)]
    pub fn read(self, block: &[u8], edges: Range<usize>, mut take: impl FnMut(u32, u32, u32)) {
        let mask = u64::MAX >> (64 - 8 * self.key_bytes);
        for at in edges {
            let begin = at * self.record_bytes();
            let key: [u8; KEY_BYTES_MAX] = block[begin..begin + KEY_BYTES_MAX].try_into().expect("8 bytes");
            let key = u64::from_le_bytes(key) & mask;
            let mut weight = 0;
            if self.weight_bytes > 0 {
                let begin = begin + self.key_bytes;
                let bytes = block[begin..begin + WEIGHT_BYTES].try_into().expect("4 bytes");
                weight = u32::from_le_bytes(bytes);
            }
            take((key >> self.dest_bits) as u32, (key & ((1 << self.dest_bits) - 1)) as u32, weight);
        }
    }
}

/// A block, and the number of edges in it.
pub struct Block<'a> {
    /// The block.
    pub bytes: &'a mut [u8],
    /// The number of edges.
    pub records: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edges_are_read_as_written(
            source_bits in 0u32..=32,
            dest_bits in 0u32..=32,
            weighted: bool,
            edges in prop::collection::vec(any::<(u32, u32, u32)>(), 1..60),
        ) {
            let layout = RecordLayout::new(1 << source_bits, 1 << dest_bits, weighted);
            let cut = |value: u32, bits: u32| (u64::from(value) & ((1 << bits) - 1)) as u32;
            let edges: Vec<_> = edges
                .into_iter()
                .map(|(s, d, w)| (cut(s, source_bits), cut(d, dest_bits), if weighted { w } else { 0 }))
                .collect();
            let mut block = vec![0xAA; 1024];
            let count = edges.len().min(layout.capacity(block.len()));
            for (at, &(source, dest, weight)) in edges[..count].iter().enumerate() {
                layout.write(&mut block, at, source, dest, weight);
            }
            let mut found = Vec::new();
            layout.read(&block, 0..count, |source, dest, weight| found.push((source, dest, weight)));
            prop_assert_eq!(&found, &edges[..count]);
            let needed = (source_bits + dest_bits).div_ceil(8).max(1) as usize + if weighted { 4 } else { 0 };
            prop_assert_eq!(layout.record_bytes(), needed);
        }
    }
}
