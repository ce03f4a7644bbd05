//! Names of vertices become numbers, in bounded memory.
//!
//! ```text
//!  pass 1  names ─▶ hashes of 128 bits ─▶ recent names dropped ─▶ parts on disk, by hash
//!          part ─▶ its distinct names, compared byte by byte ─▶ a perfect hash of 5 bits a name ─▶ numbers
//!          first places ─▶ sorted ─▶ numbers in the order of first appearance, if there is memory for 4 bytes a name
//!  pass 2  names ─▶ hashes ─▶ perfect hash ─▶ numbers ─▶ the formatter, as if they were ids
//!  end     distinct names ─▶ by vertex ─▶ names.bin, keys
//! ```
//!
//! Two names with the same hash are found when they are compared; then the first pass is made again with another key
//! of the hash. Each run has a key of its own, so that such names cannot be prepared.

mod dictionary;
mod distinct;
mod lookup;
mod numbered;
mod perfect;
mod recent;
mod shards;
mod spool;
mod write;

pub use dictionary::{Dictionary, NamingBudget, OpenTable, needed_bytes};
pub use lookup::Lookup;
pub use numbered::numbered;
pub(crate) use spool::Spool;
pub(crate) use write::{copy_names, note_numbers};

/// Names that a thread takes at a time: an even number.
const PIECE: usize = 1 << 13;

/// The hash of a name.
pub type Key = u128;

/// The key of a name.
#[inline]
fn key(name: &[u8], seed: u64) -> Key {
    xxhash_rust::xxh3::xxh3_128_with_seed(name, seed)
}
