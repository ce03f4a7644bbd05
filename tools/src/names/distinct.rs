//! The distinct names of a part, and a perfect hash of them.

use super::perfect::Perfect;
use super::spool::Spool;
use super::{Key, key};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::Path;
use topostream_formats::{Error, Result};
use topostream_readers::NameList;

/// Parts by the next bits of a hash.
pub const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 8;
/// Bytes of tables for a name: its hash in a list, in the map and in the perfect hash being made.
const NAME_BYTES: u64 = 112;

/// The part of a key at a depth.
#[inline]
pub fn part_of(key: Key, depth: u32) -> usize {
    (key << (PART_BITS * depth) >> (128 - PART_BITS)) as usize
}

/// The distinct names of a part, or of a part of one.
pub struct Leaf {
    /// In the order of first appearance.
    pub names: NameList,
    /// Where each appeared first.
    pub places: Vec<u64>,
    /// The number of each.
    pub numbers: Vec<u32>,
    /// The numbers by key.
    pub perfect: Perfect,
}

/// Why a part has no distinct names.
pub enum Trouble {
    /// Two names have the same hash.
    Collision,
    /// An error of the system.
    Failed(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What came of a part.
pub enum Outcome {
    /// Its names.
    Leaf(Leaf),
    /// Its names do not fit in memory.
    TooLarge,
}

/// What leaves may take, and where larger ones are divided.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Main memory of one leaf, in bytes.
    pub memory_bytes: u64,
    /// The key of the hash.
    pub seed: u64,
    /// A mask over hashes: all bits, except in tests of collisions.
    pub mask: Key,
    /// The folder of temporary files.
    pub folder: &'a Path,
}

/// Hashes are their own hash.
#[derive(Default)]
struct OwnHash(u64);

impl Hasher for OwnHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are numbers of 128 bits");
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// The distinct names of a part of a spool. Bits of `depth` have chosen the part.
///
/// # Errors
/// [`Trouble`].
pub fn distinct(spool: &Spool, part: usize, depth: u32, limits: Limits<'_>) -> Result<Outcome, Trouble> {
    let mut map: HashMap<Key, u32, BuildHasherDefault<OwnHash>> = HashMap::default();
    let (mut names, mut places, mut keys) = (NameList::default(), Vec::new(), Vec::new());
    let (mut is_collision, mut is_full) = (false, false);
    let stop = || Error::Invalid("stop".into());
    let read = spool.for_each(part, |place, name| {
        let key = key(name, limits.seed) & limits.mask;
        match map.get(&key) {
            Some(&at) if names.get(at as usize) == name => {}
            Some(_) => {
                is_collision = true;
                return Err(stop());
            }
            None => {
                map.insert(key, names.len() as u32);
                names.push(name);
                places.push(place);
                keys.push(key);
                is_full = names.text_bytes() as u64 + NAME_BYTES * names.len() as u64 > limits.memory_bytes;
                // A part of one name cannot be divided.
                if is_full && names.len() > 1 && depth + 1 < Key::BITS / PART_BITS {
                    return Err(stop());
                }
            }
        }
        Ok(())
    });
    match read {
        Err(_) if is_collision => Err(Trouble::Collision),
        Err(_) if is_full => Ok(Outcome::TooLarge),
        Err(error) => Err(error.into()),
        Ok(()) => {
            drop(map);
            let perfect = Perfect::new(&keys);
            let numbers = keys.iter().map(|&key| perfect.number(key)).collect();
            Ok(Outcome::Leaf(Leaf { names, places, numbers, perfect }))
        }
    }
}

/// The records of a part that does not fit in memory, in parts by the next bits.
///
/// # Errors
/// Errors of temporary files.
pub fn divide(spool: &Spool, part: usize, depth: u32, limits: Limits<'_>) -> Result<Spool> {
    let mut smaller = Spool::new(limits.folder, PARTS)?;
    spool.for_each(part, |place, name| {
        smaller.push(part_of(key(name, limits.seed) & limits.mask, depth), place, name)
    })?;
    smaller.finish()?;
    Ok(smaller)
}
