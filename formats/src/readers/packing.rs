//! Compression formats: how they are recognised, and what they may cost.

use std::io::{self, BufReader, Read};
use std::path::Path;

/// How much of a compressed file is read at a time.
const PACKED_BUFFER_BYTES: usize = 256 << 10;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

/// The file-name extensions of compression formats.
pub(super) const PACKED_EXTENSIONS: [&str; 4] = ["gz", "zst", "bz2", "xz"];

impl Packing {
    /// The compression whose first bytes `head` are; six bytes suffice.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0x00] => Some(Self::Xz),
            _ => None,
        }
    }

    /// The extension that names of such files end in.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
            Self::Bzip2 => "bz2",
            Self::Xz => "xz",
        }
    }

    /// What the decompressor may allocate, given `memory_bytes` for the whole reader: a quarter, but what the common
    /// compression levels need in any case.
    pub(super) fn memory_bytes(self, memory_bytes: u64) -> u64 {
        let window_bytes = match self {
            Self::Gzip => 128 << 10,
            Self::Bzip2 => 5 << 20,
            Self::Zstd => (1 << zstd_window_log(memory_bytes)) + (1 << 20),
            Self::Xz => xz_limit(memory_bytes),
        };
        window_bytes + PACKED_BUFFER_BYTES as u64
    }

    /// Unpacks `packed`; concatenated members are one stream.
    pub(super) fn decoder(
        self,
        packed: impl Read + Send + 'static,
        memory_bytes: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        let packed = BufReader::with_capacity(PACKED_BUFFER_BYTES, packed);
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Self::Zstd => {
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

/// The largest Zstandard window allowed: a quarter of the memory, and at least what level 19 uses.
fn zstd_window_log(memory_bytes: u64) -> u32 {
    (memory_bytes / 4).checked_ilog2().unwrap_or(0).clamp(23, 31)
}

/// The memory limit for xz: a quarter of the memory, and at least what level 9 uses.
fn xz_limit(memory_bytes: u64) -> u64 {
    (memory_bytes / 4).max(80 << 20)
}

/// `path` without the extension of a compression format.
pub(super) fn strip(path: &Path) -> &Path {
    match path.extension() {
        Some(extension) if PACKED_EXTENSIONS.iter().any(|packed| extension == *packed) => {
            path.file_stem().map_or(path, Path::new)
        }
        _ => path,
    }
}
