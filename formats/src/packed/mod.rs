//! Packed pages: lists of gaps in blocks of 128, bit-packed, decoded from any 1,024th neighbour on. SPEC.md, section 7,
//! specifies them.
//!
//! ```text
//!  ┌────────────┬──────────────┬────────┬───────────────┬───────┬──────────────┬──────────────┬───────┐
//!  │ PageHeader │ PackedHeader │ blocks │ degree blocks │ units │ packed gaps  │ packed       │ zeros │
//!  │ 32 bytes   │ 16 bytes     │ 8 each │ 8 each        │ 4 each│ + exceptions │ degrees      │       │
//!  └────────────┴──────────────┴────────┴───────────────┴───────┴──────────────┴──────────────┴───────┘
//!
//!  lists    3 7 9 │ 4 │ │ 5 6 8 8        a unit of neighbours ─▶ unpack, add exceptions ─▶ prefix sums of the whole
//!  gaps     3 4 2   4     5 1 2 0                              ─▶ less the sum before each list
//! ```
//!
//! Blocks belong to the page and not to lists, so that short lists cost no headers. A list may begin anywhere in a
//! block: the prefix sum runs over all lists, and the sum before a list is subtracted from its values, eight at a
//! time, without a branch for each neighbour. [`PackedPage::inflate`] writes the *plain image*, the same page in the
//! vertex-id encoding, over which every reader of plain pages works.
//!
//! [`PackedPage::check`] takes time proportional to blocks and slots. Decoding is safe for any bytes: offsets are
//! checked where they are used, and neighbours against the page's destinations.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bits;
mod block;
mod check;
mod decode;
mod degrees;
mod encoder;
mod estimate;
pub mod ids;
mod kernels;
mod layout;
mod page;
mod page_degrees;
mod partial;
mod parts;
pub mod weights;

pub use decode::UnitDecoder;
pub use encoder::{PageEncoder, SharedLists};
pub use estimate::PackedEstimate;
pub(crate) use layout::table_words;
pub use layout::{BLOCK, PackedHeader};
pub use page::{PackedPage, edges_max_of};
pub(crate) use page_degrees::add_degrees;
pub use partial::PartialPage;
pub(crate) use partial::{stored_units, unit_entries};
pub use parts::PackedParts;

pub use crate::encoding::{PackedParameters, UNIT};
