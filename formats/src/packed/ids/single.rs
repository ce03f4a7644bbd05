//! Single ids of a file, looked up without decoding all into memory.

use super::{BLOCK, Blocks, Taken};
use crate::defect::PageDefect;
use std::io::Read;

/// Finds the ids of some vertices, ascending, in a file's bytes: a bit of memory for each of the `all` vertices, and
/// none if the vertices are among the listed ones. Safe for any bytes.
///
/// # Errors
/// A defect, if what was read is not part of a file with this many ids, or cannot be read.
pub fn look_up(from: impl Read, all: u64, vertices: &[u32]) -> Result<Vec<u64>, PageDefect> {
    let mut blocks = Blocks::open(from, all)?;
    let (listed, first) = (blocks.listed, blocks.first);
    let (mut found, mut wanted) = (Vec::with_capacity(vertices.len()), vertices.iter().map(|&at| u64::from(at)));
    let mut next = wanted.next();
    let mut taken =
        Taken::new(first, if vertices.last().is_some_and(|&last| u64::from(last) >= listed) { all } else { 0 });
    for begin in (0..listed).step_by(BLOCK) {
        if next.is_none() {
            return Ok(found);
        }
        let block = blocks.read()?;
        if taken.count > 0 {
            block.iter().try_for_each(|&id| taken.add(id))?;
        }
        while let Some(vertex) = next.filter(|&vertex| vertex < begin + block.len() as u64) {
            found.push(block[(vertex - begin) as usize]);
            next = wanted.next();
        }
    }
    // The others have what is left of the range of all ids, in order.
    let mut left = taken.left();
    while let Some(vertex) = next {
        let missing = || PageDefect::new("an id for every vertex", format!("none for vertex {vertex}"));
        found.push(left.at(vertex - listed).ok_or_else(missing)?);
        next = wanted.next();
    }
    Ok(found)
}

/// Finds the vertices with these ids in a file's bytes. Safe for any bytes.
///
/// # Errors
/// The errors of [`look_up`].
pub fn find(from: impl Read, all: u64, ids: &[u64]) -> Result<Vec<Option<u32>>, PageDefect> {
    let mut blocks = Blocks::open(from, all)?;
    let (listed, first) = (blocks.listed, blocks.first);
    let mut sorted: Vec<(u64, usize)> = ids.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let mut found = vec![None; ids.len()];
    // Of the listed ids, how many come after one of the wanted ids and not after a later one, by place in `sorted`.
    let mut between = vec![0u64; ids.len() + 1];
    for begin in (0..listed).step_by(BLOCK) {
        for (at, &id) in (begin..).zip(blocks.read()?) {
            let place = sorted.partition_point(|&(wanted, _)| wanted <= id);
            between[place] += 1;
            let same = sorted[..place].iter().rev().take_while(|&&(wanted, _)| wanted == id);
            same.for_each(|&(_, place)| found[place] = Some(at as u32));
        }
    }
    let mut below = 0;
    for (&(id, place), smaller) in sorted.iter().zip(between) {
        below += smaller;
        let at = id.wrapping_sub(first);
        if found[place].is_none() && listed < all && at < all {
            // Its rank among the ids that are not listed.
            let vertex = listed + at.saturating_sub(below);
            found[place] = (vertex < all).then_some(vertex as u32);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{encoded, groups};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Of ids of any kind, and of permutations of a range, of which the last ones are not listed.
        #[test]
        fn single_ids_are_those_of_all(
            ids in prop_oneof![
                prop::collection::hash_set(prop_oneof![0u64..2000, any::<u64>()], 1..500)
                    .prop_map(|ids| ids.into_iter().collect::<Vec<_>>()),
                (0u64..1000, 1u64..700, 1u64..9).prop_map(|(first, count, of)| groups(first, count, of)),
            ],
            mut vertices in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
            others in prop::collection::vec(prop_oneof![0u64..2000, any::<u64>()], 0..4),
        ) {
            let (words, all) = (encoded(&ids), ids.len() as u64);
            let bytes = || bytemuck::cast_slice::<u32, u8>(&words);
            vertices.sort_unstable_by_key(|vertex| vertex.index(ids.len()));
            let vertices: Vec<u32> = vertices.iter().map(|vertex| vertex.index(ids.len()) as u32).collect();
            let expected: Vec<u64> = vertices.iter().map(|&vertex| ids[vertex as usize]).collect();
            prop_assert_eq!(&look_up(bytes(), all, &vertices).unwrap(), &expected);
            let wanted = [expected, others].concat();
            let places = wanted.iter().map(|&id| ids.iter().position(|&one| one == id).map(|at| at as u32));
            prop_assert_eq!(find(bytes(), all, &wanted).unwrap(), places.collect::<Vec<_>>());
        }

        #[test]
        fn any_words_have_ids_or_are_an_error(
            mut words in prop::collection::vec(prop_oneof![0u32..9, any::<u32>()], 0..200),
            listed in 0u32..300,
            count in 0usize..300,
        ) {
            if words.len() >= 4 {
                words[..4].copy_from_slice(&[listed, 0, 0, 0]);
            }
            let bytes = || bytemuck::cast_slice::<u32, u8>(&words);
            let last = count.saturating_sub(1) as u32;
            look_up(bytes(), count as u64, &[0, last / 2, last][..count.min(3)]).ok();
            let found = find(bytes(), count as u64, &[0, 7, 200]).into_iter().flatten().flatten();
            prop_assert!(found.into_iter().all(|vertex| (vertex as usize) < count));
        }
    }
}
