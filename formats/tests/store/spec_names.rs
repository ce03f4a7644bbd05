//! Names for the second reader of stores, from `SPEC.md`, section 9, alone.

use super::{crc32c, ensure, number, word};

/// The names in the bytes of `names.bin`, `names.index` and `names.keys`, after all checks.
pub fn names(names: &[u8], index: &[u8], keys: &[u8], vertices: usize) -> Result<Vec<Vec<u8>>, String> {
    let (mut all, mut at, mut starts) = (Vec::new(), 0, Vec::new());
    while at < names.len() {
        if all.len() % 64 == 0 {
            starts.push(at);
        }
        let (mut length, mut shift) = (0, 0);
        loop {
            let byte = names[at];
            at += 1;
            length |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                break;
            }
        }
        let name = names.get(at..at + length).ok_or("names.bin: a name behind the end")?;
        all.push(name.to_vec());
        at += length;
    }
    ensure(all.len() == vertices, "names.bin", "another number of names")?;
    ensure(index.len() == 16 * starts.len(), "names.index", "another length")?;
    starts.push(names.len());
    for (block, entry) in index.chunks(16).enumerate() {
        let bytes = &names[starts[block]..starts[block + 1]];
        let expected = (starts[block] as u64, u64::from(crc32c(bytes)), 0);
        ensure((number(&entry[..8]), word(entry, 8), word(entry, 12)) == expected, "names.index", "another block")?;
    }
    ensure(keys.len() == 4096 * vertices.div_ceil(511), "names.keys", "another length")?;
    let mut entries = Vec::new();
    for page in keys.chunks(4096) {
        ensure(word(page, 0) == u64::from(crc32c(&page[4..])), "names.keys", "another checksum")?;
        let count = word(page, 4) as usize;
        ensure(count == 511.min(vertices - entries.len()), "names.keys", "another number of keys")?;
        entries.extend((0..count).map(|at| (word(page, 8 + 8 * at), word(page, 12 + 8 * at))));
        ensure(page[8 + 8 * count..].iter().all(|&byte| byte == 0), "names.keys", "no zeros")?;
    }
    let key = |name: &Vec<u8>| xxhash_rust::xxh3::xxh3_64(name) >> 32;
    let mut expected: Vec<(u64, u64)> = all.iter().map(key).zip(0..).collect();
    expected.sort_unstable();
    ensure(entries == expected, "names.keys", "other keys")?;
    Ok(all)
}
