//! Edges in blocks of bytes: as few bytes an edge as the sources of a bucket and the dests need.
//!
//! ```text
//!  source - first of the bucket │ dest        5 to 8 bytes, the lowest first; then 4 or 8 bytes of weight, if there
//!                                             are any
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

impl RecordLayout {
    /// The layout for so many consecutive sources and so many dests, and for weights of 0, 4 or 8 bytes.
    pub fn new(sources: u64, dests: u64, weight_bytes: usize) -> Self {
        let bits = |count: u64| u64::BITS - count.saturating_sub(1).leading_zeros();
        let dest_bits = bits(dests);
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

    /// The number of edges for which a block of so many bytes has room. The last one needs more room than its bytes.
    pub fn capacity(self, block_bytes: usize) -> usize {
        (block_bytes - KEY_BYTES_MAX) / self.record_bytes()
    }

    /// Writes an edge; the source is relative to the first one.
    #[inline(always)]
    pub fn write(self, block: &mut [u8], at: usize, source: u32, dest: u32, weight: u64) {
        let key = u64::from(source) << self.dest_bits | u64::from(dest);
        let begin = at * self.record_bytes();
        let record = &mut block[begin..begin + KEY_BYTES_MAX];
        record.copy_from_slice(&key.to_le_bytes());
        let (begin, weight) = (begin + self.key_bytes, weight.to_le_bytes());
        match self.weight_bytes {
            0 => {}
            4 => block[begin..begin + 4].copy_from_slice(&weight[..4]),
            _ => block[begin..begin + 8].copy_from_slice(&weight),
        }
    }

    /// Passes the edges with these numbers.
    #[inline(always)]
    pub fn read(self, block: &[u8], edges: Range<usize>, mut take: impl FnMut(u32, u32, u64)) {
        let mask = u64::MAX >> (64 - 8 * self.key_bytes);
        for at in edges {
            let begin = at * self.record_bytes();
            let key: [u8; KEY_BYTES_MAX] = block[begin..begin + KEY_BYTES_MAX].try_into().expect("8 bytes");
            let key = u64::from_le_bytes(key) & mask;
            let begin = begin + self.key_bytes;
            let weight = match self.weight_bytes {
                0 => 0,
                4 => u32::from_le_bytes(block[begin..begin + 4].try_into().expect("4 bytes")).into(),
                _ => u64::from_le_bytes(block[begin..begin + 8].try_into().expect("8 bytes")),
            };
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
            weight_bytes in prop::sample::select(vec![0usize, 4, 8]),
            edges in prop::collection::vec(any::<(u32, u32, u64)>(), 1..60),
        ) {
            let layout = RecordLayout::new(1 << source_bits, 1 << dest_bits, weight_bytes);
            let mask = if weight_bytes == 0 { 0 } else { u64::MAX >> (64 - 8 * weight_bytes) };
            let cut = |value: u32, bits: u32| (u64::from(value) & ((1 << bits) - 1)) as u32;
            let edges: Vec<_> = edges
                .into_iter()
                .map(|(s, d, w)| (cut(s, source_bits), cut(d, dest_bits), w & mask))
                .collect();
            let mut block = vec![0xAA; 1024];
            let count = edges.len().min(layout.capacity(block.len()));
            for (at, &(source, dest, weight)) in edges[..count].iter().enumerate() {
                layout.write(&mut block, at, source, dest, weight);
            }
            let mut found = Vec::new();
            layout.read(&block, 0..count, |source, dest, weight| found.push((source, dest, weight)));
            prop_assert_eq!(&found, &edges[..count]);
            let needed = (source_bits + dest_bits).div_ceil(8).max(1) as usize + weight_bytes;
            prop_assert_eq!(layout.record_bytes(), needed);
        }
    }
}
