//! Compression formats: recognition and memory limits.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use topostream_formats::error::{Error, Result};

/// Bytes of one read from a compressed file.
const PACKED_BUFFER_BYTES: usize = 256 << 10;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    /// With the window size of its first frame.
    Zstd {
        window_bytes: u64,
    },
    Bzip2,
    Xz,
}

/// The number of bytes that determine a file's compression and the decompressor's memory.
pub(super) const HEAD_BYTES: u64 = 18;

/// The file-name extensions of compression formats.
pub(super) const PACKED_EXTENSIONS: [&str; 4] = ["gz", "zst", "bz2", "xz"];

impl Packing {
    /// The compression whose first [`HEAD_BYTES`] are `head`.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, frame @ ..] => Some(Self::Zstd { window_bytes: zstd_window_bytes(frame) }),
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd { window_bytes: ZSTD_WINDOW_BYTES }),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    /// The file-name extension.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd { .. } => "zst",
            Self::Bzip2 => "bz2",
            Self::Xz => "xz",
        }
    }

    /// Memory of the decompressor, in a reader with `memory_bytes`.
    pub(super) fn memory_bytes(self, memory_bytes: u64) -> u64 {
        let window_bytes = match self {
            Self::Gzip => 128 << 10,
            Self::Bzip2 => 5 << 20,
            Self::Zstd { window_bytes } => window_bytes.saturating_add(1 << 20),
            Self::Xz => xz_limit(memory_bytes),
        };
        window_bytes.saturating_add(PACKED_BUFFER_BYTES as u64)
    }

    /// An error if the decompressor needs more than its share of a reader's `memory_bytes`.
    pub(super) fn check(self, path: &Path, memory_bytes: u64) -> Result<()> {
        let limit_bytes = 1 << zstd_window_log(memory_bytes);
        match self {
            Self::Zstd { window_bytes } if window_bytes > limit_bytes => Err(Error::Memory {
                what: format!("unpacking {}", path.display()),
                needed_bytes: window_bytes.saturating_mul(4),
                budget_bytes: memory_bytes,
                parts: format!("a Zstandard window of {window_bytes} bytes may be a quarter of it"),
            }),
            _ => Ok(()),
        }
    }

    /// Decompresses `packed`; concatenated members are one stream.
    pub(super) fn decoder(
        self,
        packed: impl Read + Send + 'static,
        memory_bytes: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        let packed = BufReader::with_capacity(PACKED_BUFFER_BYTES, packed);
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Self::Zstd { .. } => {
                let mut decoder = zstd::Decoder::with_buffer(packed)?;
                decoder.window_log_max(zstd_window_log(memory_bytes))?;
                Box::new(decoder)
            }
            Self::Xz => {
                let limit = xz_limit(memory_bytes);
                let stream = liblzma::stream::Stream::new_stream_decoder(limit, liblzma::stream::CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(packed, stream))
            }
        })
    }
}

/// The window of Zstandard's level 19: assumed if a file does not begin with a frame.
const ZSTD_WINDOW_BYTES: u64 = 8 << 20;

/// The window of the Zstandard frame with the header `frame`, less its magic number: RFC 8878, section 3.1.1.1.
fn zstd_window_bytes(frame: &[u8]) -> u64 {
    let Some((&descriptor, rest)) = frame.split_first() else { return 0 };
    let single_segment = descriptor & 0x20 != 0;
    if !single_segment {
        let window = rest.first().copied().unwrap_or(0);
        let base = 1u64 << (10 + (window >> 3));
        return base + base / 8 * u64::from(window & 7);
    }
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = 1 << (descriptor >> 6);
    let size = rest.iter().skip(dictionary_bytes).take(size_bytes);
    let size = size.rev().fold(0u64, |size, &byte| size << 8 | u64::from(byte));
    if size_bytes == 2 { size + 256 } else { size }
}

/// The largest allowed Zstandard window: a quarter of the memory, but at least the default of the `zstd` tool.
fn zstd_window_log(memory_bytes: u64) -> u32 {
    (memory_bytes / 4).checked_ilog2().unwrap_or(0).clamp(27, 31)
}

/// The memory limit for xz: a quarter of the memory, but at least the memory of level 9.
fn xz_limit(memory_bytes: u64) -> u64 {
    (memory_bytes / 4).max(80 << 20)
}

/// `path` without the extension of a compression format.
pub(super) fn strip(path: &Path) -> PathBuf {
    match path.extension() {
        Some(extension) if PACKED_EXTENSIONS.iter().any(|packed| extension == *packed) => path.with_extension(""),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_zstandard_frames() {
        let window = |bytes: &[u8]| match Packing::of(bytes) {
            Some(Packing::Zstd { window_bytes }) => window_bytes,
            other => panic!("{other:?}"),
        };
        let small = zstd::encode_all(&[7u8; 1000][..], 1).unwrap();
        assert!((1000..=512 << 10).contains(&window(&small)));
        assert_eq!(window(b"\x28\xb5\x2f\xfd\x00\x88"), 1 << 27);
        assert_eq!(window(b"\x28\xb5\x2f\xfd\x00\x89"), (1 << 27) + (1 << 24));
        assert_eq!(window(b"\x28\xb5\x2f\xfd\x20\xff"), 255);
        assert_eq!(window(b"\x28\xb5\x2f\xfd\x61\x09\x01\x01"), 257 + 256);
        assert_eq!(window(b"\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x01"), 1 << 24);
        assert_eq!(window(b"\x28\xb5\x2f\xfd"), 0);
    }

    #[test]
    fn a_window_beyond_the_budget_is_an_error() {
        let packing = Packing::of(b"\x28\xb5\x2f\xfd\x00\xa8").unwrap();
        let error = packing.check(Path::new("a.zst"), 256 << 20).unwrap_err().to_string();
        assert!(error.contains("unpacking a.zst needs 8589934592 bytes"), "{error}");
        assert!(packing.check(Path::new("a.zst"), 8 << 30).is_ok());
    }
}
