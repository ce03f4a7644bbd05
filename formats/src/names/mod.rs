//! Original ids that are names: files of a store, written in vertex order and read a few at a time (section 9 of
//! SPEC.md).
//!
//! ```text
//!  names.bin    blocks of 64 names in vertex order          vertex ─▶ name
//!  names.index  where each block begins, and its checksum
//!  names.keys   (hash, vertex), ascending, in pages         name ─▶ vertex, by binary search
//! ```

mod check;
mod list;
mod order;
mod read;

pub use check::check_names;
pub use list::{IdType, NameList};
pub use read::StoredNames;

/// Names of a block.
pub(crate) const BLOCK_NAMES: u64 = 64;
/// Bytes of an entry of `names.index`.
pub(crate) const INDEX_BYTES: u64 = 16;
/// Bytes of a page of `names.keys`.
pub(crate) const KEY_PAGE_BYTES: usize = 4096;
/// Entries of a page of `names.keys`.
pub(crate) const KEY_PAGE_ENTRIES: u64 = (KEY_PAGE_BYTES as u64 - 8) / 8;

/// The files.
pub(crate) const FILES: [&str; 3] = ["names.bin", "names.index", "names.keys"];

/// The hash by which a name is looked up: the upper half of XXH3 with 64 bits.
pub fn name_key(name: &[u8]) -> u32 {
    (xxhash_rust::xxh3::xxh3_64(name) >> 32) as u32
}

/// Bytes of `names.index` and `names.keys`.
pub fn table_bytes(vertices: u64) -> (u64, u64) {
    let index = INDEX_BYTES * vertices.div_ceil(BLOCK_NAMES);
    (index, KEY_PAGE_BYTES as u64 * vertices.div_ceil(KEY_PAGE_ENTRIES))
}

/// Appends a length in groups of seven bits, the lowest first; all but the last have the eighth bit set.
pub fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads what [`push_varint`] wrote, at the beginning of `bytes`; also returns its length.
pub fn read_varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (place, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((value, place + 1));
        }
    }
    None
}
