//! CRC-32C (Castagnoli; the iSCSI polynomial), the checksum of everything in a store.

use crc_fast::CrcAlgorithm::Crc32Iscsi;

/// The CRC-32C of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::checksum(Crc32Iscsi, bytes) as u32
}

/// The CRC-32C of bytes whose two parts have these checksums; the second part has `second_bytes` bytes.
pub fn combine(first: u32, second: u32, second_bytes: u64) -> u32 {
    crc_fast::checksum_combine(Crc32Iscsi, first.into(), second.into(), second_bytes) as u32
}

/// A CRC-32C of bytes that arrive in pieces.
#[derive(Debug)]
pub struct Crc32c(crc_fast::Digest);

impl Default for Crc32c {
    fn default() -> Self {
        Self(crc_fast::Digest::new(Crc32Iscsi))
    }
}

impl Crc32c {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes so far.
    pub fn value(&self) -> u32 {
        self.0.finalize() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value and the iSCSI vectors of RFC 3720, B.4.
    #[test]
    fn published_vectors() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&ascending), 0x46DD_794E);
    }

    #[test]
    fn pieces_equal_the_whole() {
        let bytes: Vec<u8> = (0..10_000u32).map(|i| (i * 7 + i / 256) as u8).collect();
        let mut pieces = Crc32c::default();
        for piece in bytes.chunks(777) {
            pieces.update(piece);
        }
        assert_eq!(pieces.value(), crc32c(&bytes));
        for at in [0, 1, 777, 9_999, 10_000] {
            let (first, second) = bytes.split_at(at);
            assert_eq!(combine(crc32c(first), crc32c(second), second.len() as u64), crc32c(&bytes), "{at}");
        }
    }
}
