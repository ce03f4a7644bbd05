//! How a neighbour is written in a page.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a neighbour is written in a page: a property of the store that no algorithm sees.
///
/// A later version will add an encoding of variable width; readers must therefore ask
/// [`width_bytes`](Self::width_bytes) and not assume a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Encoding {
    /// The neighbour's vertex id in 4 bytes.
    VertexId,
    /// The address of the neighbour's own record, as GTS (Kim et al., SIGMOD 2016, §3.1) writes it: `page_bytes` of
    /// page id (GTS's p), then `slot_bytes` of slot number (its q). The vertex is the page's first vertex + slot.
    RecordId {
        /// Bytes of the page id: 1 to 7.
        page_bytes: u8,
        /// Bytes of the slot number: 1 to 7.
        slot_bytes: u8,
    },
}

impl Encoding {
    /// A record-id encoding of the given widths.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless both widths are at least 1 and their sum at most 8.
    pub fn record_id(page_bytes: u8, slot_bytes: u8) -> Result<Self> {
        let encoding = Self::RecordId { page_bytes, slot_bytes };
        encoding.validate()?;
        Ok(encoding)
    }

    /// Checks the widths.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless both widths are at least 1 and their sum at most 8.
    pub fn validate(self) -> Result<()> {
        match self {
            Self::RecordId { page_bytes: p, slot_bytes: q } if p == 0 || q == 0 || p > 7 || q > 7 || p + q > 8 => {
                Err(Error::Invalid(format!("id widths {p},{q}: each must be at least 1 byte and their sum at most 8")))
            }
            _ => Ok(()),
        }
    }

    /// Bytes of a neighbour: 2 to 8.
    pub const fn width_bytes(self) -> usize {
        match self {
            Self::VertexId => 4,
            Self::RecordId { page_bytes, slot_bytes } => page_bytes as usize + slot_bytes as usize,
        }
    }

    /// The number of pages that can be addressed: at most 2^32 - 1, so that this number fits in 32 bits as well.
    pub const fn pages_max(self) -> u64 {
        match self {
            Self::RecordId { page_bytes, .. } if page_bytes < 4 => 1 << (8 * page_bytes),
            Self::VertexId | Self::RecordId { .. } => u32::MAX as u64,
        }
    }

    /// The number of slots of a page that can be addressed: at most 2^32.
    pub const fn slots_max(self) -> u64 {
        match self {
            Self::VertexId => 1 << 32,
            Self::RecordId { slot_bytes, .. } => 1 << (8 * if slot_bytes < 4 { slot_bytes } else { 4 }),
        }
    }
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::VertexId => f.write_str("vertex-id"),
            Self::RecordId { page_bytes, slot_bytes } => write!(f, "record-id ({page_bytes},{slot_bytes})"),
        }
    }
}
