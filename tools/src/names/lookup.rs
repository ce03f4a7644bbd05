//! The numbers of names, by their hashes.

use super::distinct::part_of;
use super::perfect::Perfect;
use super::{Key, key};

/// Where the numbers of a part's names are.
pub(super) enum Node {
    Leaf(u32),
    Split(Vec<Node>),
}

/// The numbers of names.
pub struct Lookup {
    pub(super) root: Vec<Node>,
    /// The perfect hash of each leaf, and the number of names in the leaves before it.
    pub(super) leaves: Vec<(u32, Perfect)>,
    /// The place of each number in the order of first appearance, if it is known.
    pub(super) ranks: Option<Vec<u32>>,
    pub(super) seed: u64,
    pub(super) mask: Key,
    /// The number of names in each table, and the sum of their hashes.
    pub occurrences: Vec<(u64, u64)>,
}

impl Lookup {
    /// The hash of a name.
    #[inline]
    pub fn key(&self, name: &[u8]) -> Key {
        key(name, self.seed) & self.mask
    }

    /// The number of a name by its hash; the number of any name if it is not in the dictionary.
    pub fn number(&self, key: Key) -> u32 {
        let mut number = [0];
        self.numbers(&[key], &mut number);
        number[0]
    }

    /// The numbers of names by their hashes. Memory is waited for once for several names.
    #[inline]
    pub fn numbers(&self, keys: &[Key], numbers: &mut [u32]) {
        keys.iter().zip(numbers.iter_mut()).for_each(|(&key, number)| *number = self.index(key));
        if let Some(ranks) = &self.ranks {
            numbers.iter_mut().for_each(|number| *number = ranks.get(*number as usize).copied().unwrap_or(0));
        }
    }

    #[inline]
    fn index(&self, key: Key) -> u32 {
        let (mut nodes, mut depth) = (&self.root, 0);
        loop {
            match &nodes[part_of(key, depth)] {
                Node::Leaf(leaf) => {
                    let (first, perfect) = &self.leaves[*leaf as usize];
                    return first.wrapping_add(perfect.number(key));
                }
                Node::Split(parts) => (nodes, depth) = (parts, depth + 1),
            }
        }
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let perfect: u64 = self.leaves.iter().map(|(_, perfect)| perfect.memory_bytes() + 128).sum();
        perfect + self.ranks.as_ref().map_or(0, |ranks| 4 * ranks.len() as u64)
    }
}
