//! Tables whose names are replaced by their numbers, as edges.

use super::PIECE;
use super::lookup::Lookup;
use rayon::prelude::*;
use std::sync::Arc;
use topostream_formats::names::NameList;
use topostream_formats::{Error, Result};
use topostream_readers::{Ids, Numbers, RowBatch, Table};

/// The edges of a table whose names were collected: there are `count` of them. `place` is the place of the table among
/// the tables whose names were collected.
pub fn numbered(table: Table, lookup: Arc<Lookup>, count: u64, place: usize) -> Numbers {
    let memory_bytes = lookup.memory_bytes();
    // The number of names so far, and the sum of their hashes.
    let mut passed = (0u64, 0u64);
    let number = move |table: &Table, batches: &mut [RowBatch]| -> Result<()> {
        if batches.is_empty() && passed != lookup.occurrences[place] {
            let found = "others: the input has changed while it was read";
            return Err(Error::file(table.place(), "the same ids in both passes", found));
        }
        let all = batches.par_iter_mut().map(|batch| {
            let Ids::Names(names) = &batch.ids else { return (0, 0) };
            let (count, (pairs, sum)) = (names.len() as u64, pairs(names, &lookup));
            batch.ids = Ids::Integers(pairs);
            (count, sum)
        });
        passed = all.chain([passed]).reduce(|| (0, 0), |one, other| (one.0 + other.0, one.1.wrapping_add(other.1)));
        Ok(())
    };
    Numbers::of_names(table, count, memory_bytes, Box::new(number))
}

/// The numbers of the names of rows, and the sum of their hashes.
fn pairs(names: &NameList, lookup: &Lookup) -> (Vec<[u64; 2]>, u64) {
    let mut pairs = vec![[0; 2]; names.len() / 2];
    let pieces = pairs.par_chunks_mut(PIECE / 2).enumerate().map(|(piece, pairs)| {
        let first = piece * PIECE;
        let keys: Vec<_> = (first..first + 2 * pairs.len()).map(|at| lookup.key(names.get(at))).collect();
        let mut numbers = vec![0; keys.len()];
        lookup.numbers(&keys, &mut numbers);
        pairs.as_flattened_mut().iter_mut().zip(numbers).for_each(|(pair, number)| *pair = number.into());
        keys.iter().fold(0u64, |sum, &key| sum.wrapping_add(key as u64))
    });
    let sum = pieces.reduce(|| 0, u64::wrapping_add);
    (pairs, sum)
}
