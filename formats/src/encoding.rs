//! How a neighbour is written in a page.

use crate::error::{Error, Result};
use crate::header::{HEADER_BYTES, PAGE_BYTES_DEFAULT};
use serde::{Deserialize, Serialize};

/// How a neighbour is written in a page: a property of the store that no algorithm sees.
///
/// Packed pages hold no array of neighbours: [`PackedPage`](crate::packed::PackedPage) decodes them, to their *plain
/// image* if they are to be read like other pages. [`plain`](Self::plain) is the encoding of the image, and
/// [`plain_bytes`](Self::plain_bytes) its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Encoding {
    /// The neighbour's vertex id in 4 bytes.
    VertexId,
    /// The address of the neighbour's own record, as GTS (Kim et al., SIGMOD 2016, §2 and 6.1) writes it: `page_bytes`
    /// of page id (GTS's p), then `slot_bytes` of slot number (its q). The vertex is the page's first vertex + slot.
    /// Earlier versions wrote it: it is only read.
    RecordId {
        /// Bytes of the page id: 1 to 7.
        page_bytes: u8,
        /// Bytes of the slot number: 1 to 7.
        slot_bytes: u8,
    },
    /// Gaps between neighbours, bit-packed in blocks of 128 ([`packed`](crate::packed)).
    Packed {
        /// The maximum number of neighbours of a page: a multiple of 1,024.
        edges_max: u32,
        /// Whether gaps are stored less one: smaller where no edge is repeated.
        step: bool,
        /// Whether a list's first neighbour is relative to the list's own vertex: smaller where neighbours have close
        /// numbers.
        own: bool,
    },
}

/// Neighbours of a unit of a packed page: decoding can begin at any unit.
pub const UNIT: usize = 1024;
/// Bytes of a plain image beyond its neighbours: header and slots. A memory page, so that images and pages of weights
/// can be read and imported directly.
pub(crate) const IMAGE_EXTRA_BYTES: u64 = 4096;
/// The largest `edges_max`.
pub(crate) const EDGES_MAX_MAX: u32 = (1 << 28) - UNIT as u32;
/// Bytes of a packed page's plain image as a multiple of the page's, unless another number is requested.
pub const PLAIN_PAGES: u32 = 4;

impl Encoding {
    /// The packed encoding of pages of the default size, the default of new stores.
    pub const PACKED: Self =
        Self::Packed { edges_max: PAGE_BYTES_DEFAULT / 4 * PLAIN_PAGES - UNIT as u32, step: false, own: false };

    /// A record-id encoding of the given widths.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless both widths are at least 1 and their sum at most 8.
    pub fn record_id(page_bytes: u8, slot_bytes: u8) -> Result<Self> {
        let encoding = Self::RecordId { page_bytes, slot_bytes };
        encoding.validate()?;
        Ok(encoding)
    }

    /// The packed encoding for pages of `page_bytes` whose plain images have `plain_pages` times as many bytes. Pages
    /// with less than 4 / `plain_pages` bytes an edge are not filled.
    ///
    /// # Errors
    /// [`Error::Invalid`] if such images are too large or too small.
    pub fn packed(page_bytes: u32, plain_pages: u32) -> Result<Self> {
        // Header and slots take the rest of the image.
        let edges_max = page_bytes.saturating_mul(plain_pages) / 4;
        let edges_max = edges_max.saturating_sub(UNIT as u32);
        let encoding = Self::Packed { edges_max, step: false, own: false };
        encoding.validate()?;
        Ok(encoding)
    }

    /// Checks the widths, or the maximum number of edges.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless both widths are at least 1 and their sum at most 8, or the maximum number of edges is
    /// a multiple of 1,024 below 2^28.
    pub fn validate(self) -> Result<()> {
        if let Some(parameters) = PackedParameters::of(self)
            && !parameters.is_valid()
        {
            let found = parameters.edges_max;
            return Err(Error::Invalid(format!(
                "{found} edges of a packed page: must be a multiple of 1024 below 2^28"
            )));
        }
        match self {
            Self::RecordId { page_bytes: p, slot_bytes: q } if p == 0 || q == 0 || p > 7 || q > 7 || p + q > 8 => {
                Err(Error::Invalid(format!("id widths {p},{q}: each must be at least 1 byte and their sum at most 8")))
            }
            _ => Ok(()),
        }
    }

    /// Whether pages are packed.
    pub const fn is_packed(self) -> bool {
        matches!(self, Self::Packed { .. })
    }

    /// The encoding of the plain images of packed pages; of other pages, which are their own images, their own.
    #[must_use]
    pub const fn plain(self) -> Self {
        match self {
            Self::Packed { .. } => Self::VertexId,
            other => other,
        }
    }

    /// Bytes of the plain image of any page of `page_bytes`: more than a page if pages are packed, otherwise the same.
    pub fn plain_bytes(self, page_bytes: u32) -> u64 {
        PackedParameters::of(self).map_or(page_bytes.into(), PackedParameters::image_bytes)
    }

    /// Bytes of a neighbour, 2 to 8; in packed pages those in the plain image.
    pub const fn width_bytes(self) -> usize {
        match self {
            Self::VertexId | Self::Packed { .. } => 4,
            Self::RecordId { page_bytes, slot_bytes } => page_bytes as usize + slot_bytes as usize,
        }
    }

    /// The number of pages that can be addressed: at most 2^32 - 1, so that this number fits in 32 bits as well.
    pub const fn pages_max(self) -> u64 {
        match self {
            Self::RecordId { page_bytes, .. } if page_bytes < 4 => 1 << (8 * page_bytes),
            Self::VertexId | Self::RecordId { .. } | Self::Packed { .. } => u32::MAX as u64,
        }
    }

    /// The number of slots of a page that can be addressed: at most 2^32.
    pub const fn slots_max(self) -> u64 {
        match self {
            Self::VertexId | Self::Packed { .. } => 1 << 32,
            Self::RecordId { slot_bytes, .. } => 1 << (8 * if slot_bytes < 4 { slot_bytes } else { 4 }),
        }
    }
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::VertexId => f.write_str("vertex-id"),
            Self::RecordId { page_bytes, slot_bytes } => write!(f, "record-id ({page_bytes},{slot_bytes})"),
            Self::Packed { edges_max, step, own } => {
                let (step, own) = (if *step { ", step" } else { "" }, if *own { ", own" } else { "" });
                write!(f, "packed ({edges_max} edges a page{step}{own})")
            }
        }
    }
}

/// The parameters of the packed encoding, as in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedParameters {
    /// The maximum number of neighbours of a page: a multiple of 1,024.
    pub edges_max: u32,
    /// Whether gaps are stored less one.
    pub step: bool,
    /// Whether a list's first neighbour is relative to the list's own vertex.
    pub own: bool,
}

impl PackedParameters {
    /// The parameters of an encoding, if it is packed.
    pub fn of(encoding: Encoding) -> Option<Self> {
        match encoding {
            Encoding::Packed { edges_max, step, own } => Some(Self { edges_max, step, own }),
            _ => None,
        }
    }

    /// Whether `edges_max` is allowed.
    pub(crate) fn is_valid(self) -> bool {
        self.edges_max.is_multiple_of(UNIT as u32) && (UNIT as u32..=EDGES_MAX_MAX).contains(&self.edges_max)
    }

    /// Words of a plain image behind its header: neighbours and slots.
    pub(crate) fn image_words(self) -> u64 {
        (self.image_bytes() - HEADER_BYTES as u64) / 4
    }

    /// Bytes of a plain image, and of a page of weights.
    pub(crate) fn image_bytes(self) -> u64 {
        4 * u64::from(self.edges_max) + IMAGE_EXTRA_BYTES
    }
}
