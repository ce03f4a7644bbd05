//! Names on their way to the parts on disk, on all threads: each thread has some of the parts, by hash.

use super::distinct::{PARTS, part_of};
use super::recent::Recent;
use super::spool::Spool;
use super::{Key, PIECE};
use rayon::prelude::*;
use std::path::Path;
use topostream_formats::Result;
use topostream_readers::{Ids, NameList, RowBatch};

/// Names whose slots are fetched together.
const GROUP: usize = 32;

/// Batches of rows with the hashes of their names, two for each row.
pub struct Hashed {
    pub batches: Vec<RowBatch>,
    pub keys: Vec<Vec<Key>>,
}

/// The shards that names go to.
pub struct Shards {
    all: Vec<Shard>,
    /// The number of names so far.
    names: u64,
}

/// What one thread inserts.
struct Shard {
    recent: Recent,
    spool: Spool,
    /// The sum of the hashes of its names.
    sum: u64,
}

/// The parts of all names.
pub struct Parts(Vec<Spool>);

/// A piece of a batch, divided by shards.
struct Piece<'a> {
    names: &'a NameList,
    keys: &'a [Key],
    /// The place of the first name of the batch among all names.
    first: u64,
    /// The places in the batch of the names of one shard after another, each ascending.
    places: Vec<u32>,
    /// Where the places of each shard end.
    ends: Vec<u32>,
}

impl Shards {
    /// A shard for each thread. Tables of recent names take at most `recent_bytes` in all.
    ///
    /// # Errors
    /// Errors of temporary files; likewise of the other functions.
    pub fn new(folder: &Path, recent_bytes: u64, seed: u64) -> Result<Self> {
        let count = rayon::current_num_threads().min(PARTS);
        let shard = |_| {
            let recent = Recent::new(recent_bytes / count as u64, seed);
            Ok(Shard { recent, spool: Spool::new(folder, PARTS)?, sum: 0 })
        };
        Ok(Self { all: (0..count).map(shard).collect::<Result<_>>()?, names: 0 })
    }

    /// The number of names so far.
    pub fn names(&self) -> u64 {
        self.names
    }

    /// The number of names so far, and the sum of their hashes.
    pub fn occurrences(&self) -> (u64, u64) {
        (self.names, self.all.iter().fold(0, |sum: u64, shard| sum.wrapping_add(shard.sum)))
    }

    /// Inserts all names, or the first of each row if `step` is 2.
    pub fn insert(&mut self, hashed: &Hashed, step: usize) -> Result<()> {
        let count = self.all.len();
        let mut batches = Vec::new();
        for (batch, keys) in hashed.batches.iter().zip(&hashed.keys) {
            if let Ids::Names(names) = &batch.ids {
                batches.push((names, keys.as_slice(), self.names));
                self.names += keys.len().div_ceil(step) as u64;
            }
        }
        let pieces = batches.par_iter().flat_map(|&(names, keys, first)| {
            let starts = (0..keys.len()).into_par_iter().step_by(PIECE);
            starts.map(move |start| Piece::new((names, keys, first), start, step, count))
        });
        let pieces: Vec<Piece<'_>> = pieces.collect();
        let shards = self.all.par_iter_mut().enumerate();
        shards.try_for_each(|(number, shard)| pieces.iter().try_for_each(|piece| shard.insert(piece, number, step)))
    }

    /// The parts, with all names written.
    pub fn finish(self) -> Result<Parts> {
        let mut spools: Vec<Spool> = self.all.into_iter().map(|shard| shard.spool).collect();
        spools.par_iter_mut().try_for_each(Spool::finish)?;
        Ok(Parts(spools))
    }
}

impl Parts {
    /// The file that has a part.
    pub fn spool(&self, part: usize) -> &Spool {
        &self.0[part % self.0.len()]
    }
}

impl<'a> Piece<'a> {
    fn new((names, keys, first): (&'a NameList, &'a [Key], u64), start: usize, step: usize, shards: usize) -> Self {
        let places = || (start..keys.len().min(start + PIECE)).step_by(step);
        let shard_of = |place: usize| part_of(keys[place], 0) % shards;
        let mut ends = vec![0u32; shards + 1];
        places().for_each(|place| ends[shard_of(place) + 1] += 1);
        (0..shards).for_each(|shard| ends[shard + 1] += ends[shard]);
        let mut of_shards = vec![0; *ends.last().unwrap_or(&0) as usize];
        for place in places() {
            let end = &mut ends[shard_of(place)];
            of_shards[*end as usize] = place as u32;
            *end += 1;
        }
        Self { names, keys, first, places: of_shards, ends }
    }

    /// The places of the names of a shard.
    fn of(&self, shard: usize) -> &[u32] {
        let start = if shard == 0 { 0 } else { self.ends[shard - 1] };
        &self.places[start as usize..self.ends[shard] as usize]
    }
}

impl Shard {
    /// Puts the names of a piece that are this shard's into their parts, if they are not in the table of recent ones.
    fn insert(&mut self, piece: &Piece<'_>, number: usize, step: usize) -> Result<()> {
        for places in piece.of(number).chunks(GROUP) {
            self.recent.touch(places.iter().map(|&place| piece.keys[place as usize]));
            for &place in places {
                let (name, key) = (piece.names.get(place as usize), piece.keys[place as usize]);
                self.sum = self.sum.wrapping_add(key as u64);
                if !self.recent.insert(name, key) {
                    self.spool.push(part_of(key, 0), piece.first + place as u64 / step as u64, name)?;
                }
            }
        }
        Ok(())
    }
}
