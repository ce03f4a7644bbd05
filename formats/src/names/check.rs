//! Verifies the names of a store.

use super::read::entry;
use super::{IdType, KEY_PAGE_BYTES, KEY_PAGE_ENTRIES, StoredNames, name_key};
use crate::checksum::Crc32c;
use crate::durable::open_ordinary;
use crate::error::{Error, Result};
use crate::ids::VertexId;
use crate::random::GOLDEN;
use std::io::Read;
use std::path::Path;

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

/// Checks the checksums of the three files, every name, and that the keys match the names, each vertex once and no name
/// twice.
///
/// # Errors
/// The first defect, by file.
pub fn check_names(names: &StoredNames, crcs: [u32; 3]) -> Result<()> {
    let (paths, vertices) = names.parts();
    for (path, crc) in paths.into_iter().zip(crcs) {
        check_file(path, crc)?;
    }
    // Sums of hashes do not depend on the order: names come by vertex, keys by key.
    let hash = |key: u32, vertex: u32| {
        let mixed = (u64::from(key) << 32 | u64::from(vertex)).wrapping_mul(GOLDEN);
        (mixed ^ mixed >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    let mut by_name = 0u64;
    for vertex in (0..vertices).map(|vertex| vertex as u32) {
        let (key, is_valid) =
            names.with_name(VertexId(vertex), |name| (name_key(name), is_valid(names.id_type(), name)))?;
        if !is_valid {
            let expected = format!("names that are {}", names.id_type().plural());
            return Err(Error::file(paths[0], expected, format!("other bytes for vertex {vertex}")));
        }
        by_name = by_name.wrapping_add(hash(key, vertex));
    }
    let (mut by_key, mut page, mut last, mut equal) = (0u64, [0; KEY_PAGE_BYTES], None, Vec::new());
    for number in 0..vertices.div_ceil(KEY_PAGE_ENTRIES) {
        let count = names.key_page(number, &mut page)?;
        for (key, vertex) in (0..count).map(|at| entry(&page, at)) {
            if last >= Some((key, vertex)) || u64::from(vertex) >= vertices {
                let found = format!("key {key:08x} of vertex {vertex} in page {number}");
                return Err(Error::file(paths[2], "keys in ascending order, each of a vertex", found));
            }
            if last.is_none_or(|(before, _)| before != key) {
                equal.clear();
            }
            last = Some((key, vertex));
            by_key = by_key.wrapping_add(hash(key, vertex));
            for &other in &equal {
                let name = names.with_name(VertexId(vertex), <[u8]>::to_vec)?;
                if names.with_name(VertexId(other), |of| *of == name)? {
                    let found = format!("the same one for vertices {other} and {vertex}");
                    return Err(Error::file(paths[0], "every name once", found));
                }
            }
            equal.push(vertex);
        }
    }
    if by_name != by_key {
        return Err(Error::file(paths[2], "the keys of the names", "others"));
    }
    Ok(())
}

fn is_valid(id_type: IdType, name: &[u8]) -> bool {
    match id_type {
        IdType::Integer | IdType::String => std::str::from_utf8(name).is_ok(),
        IdType::Uuid => name.len() == 16,
        IdType::Binary => true,
    }
}

fn check_file(path: &Path, crc: u32) -> Result<()> {
    let mut file = open_ordinary(path).map_err(Error::io(path, "open"))?;
    let (mut checksum, mut bytes) = (Crc32c::default(), vec![0; READ_BYTES]);
    loop {
        match file.read(&mut bytes).map_err(Error::io(path, "read"))? {
            0 => break,
            read => checksum.update(&bytes[..read]),
        }
    }
    match checksum.value() {
        found if found == crc => Ok(()),
        found => Err(Error::file(path, format!("checksum {crc:08x}"), format!("{found:08x}"))),
    }
}
