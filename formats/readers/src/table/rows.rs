//! Rows of a table, as columns.

use topostream_formats::error::Result;
use topostream_formats::names::NameList;

/// The ends of a batch's edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Source and dest of each row.
    Integers(Vec<[u64; 2]>),
    /// Two names for each row: source, then dest.
    Names(NameList),
}

impl Ids {
    /// An empty batch of integers or names.
    pub(super) fn new(names: bool) -> Self {
        if names { Self::Names(NameList::default()) } else { Self::Integers(Vec::new()) }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Integers(pairs) => pairs.len(),
            Self::Names(names) => names.len() / 2,
        }
    }
}

/// Consecutive rows of a table.
#[derive(Clone, Debug)]
pub struct RowBatch {
    /// Both ends of each edge.
    pub ids: Ids,
    /// The bits of each weight; none without weights.
    pub weights: Vec<u64>,
    /// The position of the first row; error messages name it.
    pub start: Start,
    /// Which rows from there on these are.
    pub kept: Kept,
}

/// The rows of a batch that meet the conditions of the options, by their distances from its start. All, if there are
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept(Option<Vec<u32>>);

impl Kept {
    /// Some rows of this many.
    #[cfg(feature = "parquet")]
    pub(super) fn rows(kept: Vec<u32>, all: usize) -> Self {
        Self((kept.len() < all).then_some(kept))
    }

    /// Adds a row at a distance from the start, if rows may be left out.
    pub(super) fn push(&mut self, row: u32) {
        self.0.get_or_insert_default().push(row);
    }

    /// The distance of a row from the start.
    pub(super) fn row(&self, row: usize) -> usize {
        self.0.as_ref().map_or(row, |kept| kept.get(row).map_or(row, |&kept| kept as usize))
    }
}

/// The position of a batch's first row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The row group or record batch, if the file has them.
    pub group: Option<u64>,
    /// The first row: of the group, or of the file.
    pub row: u64,
}

/// Reads the rows of one file.
pub(super) trait Rows: Send {
    /// Replaces `batches` with the next ones; none at the end.
    fn read(&mut self, batches: &mut Vec<RowBatch>) -> Result<()>;
    /// The number of bytes of the file read so far.
    fn consumed_bytes(&self) -> u64;
    /// The number of rows so far that do not meet the conditions.
    fn left_out(&self) -> u64 {
        0
    }
    /// Maximum memory, in bytes.
    fn memory_bytes(&self) -> u64;
}

/// The value of an attribute as NetworkX writes them: `{'weight': 2.5, …}`.
pub(super) fn braced_weight<'a>(attributes: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let rest = memchr::memmem::find_iter(attributes, key).find_map(|at| {
        let quote = *attributes[..at].last().filter(|&&quote| matches!(quote, b'\'' | b'"'))?;
        attributes[at + key.len()..].strip_prefix(&[quote, b':'])
    });
    let rest = rest?.trim_ascii_start();
    let length = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b' ')).unwrap_or(rest.len());
    Some(&rest[..length])
}

/// The names of the attributes.
pub(super) fn braced_keys(attributes: &[u8]) -> impl Iterator<Item = String> {
    let parts = attributes.split(|byte| matches!(byte, b',' | b'{'));
    parts.filter_map(|part| {
        let key = part.trim_ascii_start().strip_prefix(b"'")?;
        let end = memchr::memmem::find(key, b"':")?;
        Some(String::from_utf8_lossy(&key[..end]).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_in_braces() {
        assert_eq!(braced_weight(b"{}", "weight"), None);
        assert_eq!(braced_weight(b"{'weight': 2.5}", "weight"), Some(&b"2.5"[..]));
        assert_eq!(braced_weight(b"{'x': 1, 'weight':7, 'y': 2}", "weight"), Some(&b"7"[..]));
        assert_eq!(braced_weight(b"{'x': 1, 'distance': 2.5}", "distance"), Some(&b"2.5"[..]));
        assert!(braced_keys(b"{'x': 1, 'y z': 'a, b'}").eq(["x", "y z"].map(str::to_owned)));
    }
}
