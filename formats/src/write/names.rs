//! Writes the names of a store.

use crate::checksum::{Crc32c, crc32c};
use crate::error::Result;
use crate::file::ChecksummedFile;
use crate::manifest::Ids;
use crate::names::{BLOCK_NAMES, IdType, KEY_PAGE_BYTES, KEY_PAGE_ENTRIES, name_key, push_varint};

/// Bytes of a block that are written at once, if it has more.
const BLOCK_BYTES: usize = 32 << 10;

/// Writes names in vertex order, then their keys in ascending order.
pub struct NamesWriter {
    id_type: IdType,
    names: ChecksummedFile,
    index: ChecksummedFile,
    keys: ChecksummedFile,
    /// The number of names, and of their bytes in the file.
    count: u64,
    bytes: u64,
    /// Where the current block begins, and the checksum of what has been written of it.
    block_start: u64,
    block_crc: Crc32c,
    /// The rest of it: names are short, and a file is written in larger pieces.
    block: Vec<u8>,
    page: Vec<u8>,
}

impl NamesWriter {
    pub(crate) fn new(id_type: IdType, names: ChecksummedFile, index: ChecksummedFile, keys: ChecksummedFile) -> Self {
        let (block_crc, block, page) = (Crc32c::default(), Vec::new(), Vec::with_capacity(KEY_PAGE_BYTES));
        Self { id_type, names, index, keys, count: 0, bytes: 0, block_start: 0, block_crc, block, page }
    }

    /// Appends the name of the next vertex. Returns its key, for [`Self::push_key`].
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io); likewise of the other functions.
    pub fn push(&mut self, name: &[u8]) -> Result<u32> {
        if self.count > 0 && self.count.is_multiple_of(BLOCK_NAMES) {
            self.end_block()?;
        }
        push_varint(&mut self.block, name.len() as u64);
        self.block.extend_from_slice(name);
        if self.block.len() > BLOCK_BYTES {
            self.write_block()?;
        }
        self.count += 1;
        Ok(name_key(name))
    }

    fn write_block(&mut self) -> Result<()> {
        self.block_crc.update(&self.block);
        self.names.write(&self.block)?;
        self.bytes += self.block.len() as u64;
        self.block.clear();
        // A long name does not keep its memory.
        self.block.shrink_to(2 * BLOCK_BYTES);
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        self.write_block()?;
        let mut entry = [0; 16];
        entry[..8].copy_from_slice(&self.block_start.to_le_bytes());
        entry[8..12].copy_from_slice(&std::mem::take(&mut self.block_crc).value().to_le_bytes());
        self.block_start = self.bytes;
        self.index.write(&entry)
    }

    /// Appends a key and its vertex: after all names, all of them, in ascending order.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_key(&mut self, key: u32, vertex: u32) -> Result<()> {
        self.page.extend_from_slice(&key.to_le_bytes());
        self.page.extend_from_slice(&vertex.to_le_bytes());
        if self.page.len() as u64 == 8 * KEY_PAGE_ENTRIES { self.end_page() } else { Ok(()) }
    }

    fn end_page(&mut self) -> Result<()> {
        let mut page = [0; KEY_PAGE_BYTES];
        page[4..8].copy_from_slice(&(self.page.len() as u32 / 8).to_le_bytes());
        page[8..8 + self.page.len()].copy_from_slice(&self.page);
        let crc = crc32c(&page[4..]);
        page[..4].copy_from_slice(&crc.to_le_bytes());
        self.page.clear();
        self.keys.write(&page)
    }

    /// Ends the files; returns their description for the manifest.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<Ids> {
        if self.count > 0 {
            self.end_block()?;
        }
        if !self.page.is_empty() {
            self.end_page()?;
        }
        Ok(Ids::Names {
            of: self.id_type,
            bytes: self.bytes,
            crc: self.names.finish()?,
            index_crc: self.index.finish()?,
            keys_crc: self.keys.finish()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{FILES, StoredNames};
    use proptest::prelude::*;
    use std::collections::HashSet;
    use std::fs::File;
    use std::sync::atomic::AtomicBool;

    fn ordered(names: &[Vec<u8>]) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        let [of_names, index, keys] = FILES.map(|name| {
            let path = folder.path().join(name);
            ChecksummedFile::new(path.clone(), File::create(path).unwrap())
        });
        let mut writer = NamesWriter::new(IdType::Binary, of_names, index, keys);
        let mut entries: Vec<(u32, u32)> =
            (0..).zip(names).map(|(vertex, name)| (writer.push(name).unwrap(), vertex)).collect();
        entries.sort_unstable();
        entries.into_iter().for_each(|(key, vertex)| writer.push_key(key, vertex).unwrap());
        let Ids::Names { bytes, .. } = writer.finish().unwrap() else { unreachable!("names were written") };
        let stored = StoredNames::open(folder.path(), IdType::Binary, names.len() as u64, bytes).unwrap();
        stored.ascending(&AtomicBool::new(false)).unwrap()
    }

    fn assert_ordered(names: HashSet<Vec<u8>>) {
        let names: Vec<Vec<u8>> = names.into_iter().collect();
        let mut expected: Vec<u32> = (0..names.len() as u32).collect();
        expected.sort_by_key(|&at| &names[at as usize]);
        assert_eq!(ordered(&names), expected, "{names:?}");
    }

    proptest! {
        #[test]
        fn names_are_in_the_order_of_their_bytes(
            names in prop::collection::hash_set(
                prop::collection::vec(prop_oneof![Just(0u8), Just(255), Just(b'a')], 0..20),
                0..200,
            ),
        ) {
            assert_ordered(names);
        }
    }

    #[test]
    fn names_that_agree_for_long_are_ordered_too() {
        let long = |end: &str| [vec![b'x'; 2000], end.into()].concat();
        assert_ordered(["", "a", "b", "a\0", "ab"].map(long).into_iter().chain([b"y".to_vec()]).collect());
        assert_ordered((0..1000).map(|at| format!("http://example.org/{}", at * 7919 % 1000).into_bytes()).collect());
        assert_ordered(HashSet::new());
        assert_ordered([b"one".to_vec()].into());
    }
}
