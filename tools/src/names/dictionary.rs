//! The names of a graph, and their numbers.

use super::distinct::{Leaf, Limits, Outcome, PARTS, Trouble, distinct, divide};
use super::lookup::{Lookup, Node};
use super::perfect::Perfect;
use super::shards::{Hashed, Parts, Shards};
use super::spool::Spool;
use super::{Key, PIECE, key};
use crate::progress::{Cancel, Progress, Unit};
use crate::sorting::record::{Record, Weighted};
use crate::sorting::sorter::Sorter;
use rayon::prelude::*;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::{Error, Result};
use topostream_readers::{IdType, Ids, RowBatch, Table};

/// Code, stacks, and the buffers of one chunk.
const BASE_BYTES: u64 = 40 << 20;
/// Batches that are read while others are inserted, and their hashes, of each thread.
const NEXT_BYTES: u64 = 8 << 20;
/// The key of the first hash. Others are drawn: names that collide under this one do not under them.
const FIRST_SEED: u64 = 0;
/// Passes until collisions are given up: each is all but impossible.
const ATTEMPTS_MAX: u32 = 4;
/// The least for the table of recent names.
const RECENT_BYTES_MIN: u64 = 1 << 20;
/// The table of recent names does not pay beyond this.
const RECENT_BYTES_MAX: u64 = 2 << 30;
/// The most ranges of vertices whose names are written one after another.
pub(super) const RANGES_MAX: u64 = 1 << 10;

/// What naming may take.
#[derive(Clone, Debug)]
pub struct NamingBudget {
    /// Main memory, in bytes, with the readers' memory.
    pub memory_bytes: u64,
    /// The folder of temporary files.
    pub temporary: PathBuf,
    /// The most names: vertices of a graph.
    pub names_max: u64,
}

impl NamingBudget {
    /// A budget for as many names as a graph can have.
    pub fn new(memory_bytes: u64, temporary: &Path) -> Self {
        Self { memory_bytes, temporary: temporary.to_owned(), names_max: VERTICES_MAX }
    }
}

/// The distinct names of an input.
pub struct Dictionary {
    pub(super) id_type: IdType,
    pub(super) count: u64,
    /// Numbers before ranks, and names.
    pub(super) names: Spool,
    /// The bytes of all names.
    pub(super) text_bytes: u64,
    /// Ranks by number, if there are any.
    pub(super) ranks: Option<Spool>,
    pub(super) folder: PathBuf,
}

/// Opens a table; called once for each pass.
pub type OpenTable<'a> = dyn FnMut() -> Result<Table> + 'a;

impl Dictionary {
    /// Collects the names of tables, and the names of a table of vertices, which are its sources: they come first.
    /// Edges may then join only these.
    ///
    /// # Errors
    /// Defects of the input; [`Error::Io`]; [`Error::Limit`] for more names than a graph can have vertices;
    /// [`Error::Memory`]; [`Error::Interrupted`].
    pub fn collect(
        tables: &mut [&mut OpenTable<'_>],
        vertices: Option<&mut OpenTable<'_>>,
        budget: &NamingBudget,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(Self, Lookup)> {
        Self::collect_with(tables, vertices, budget, |_| Key::MAX, progress, cancel)
    }

    /// As [`Self::collect`], with a mask over hashes by the number of the attempt, to test collisions.
    pub(super) fn collect_with(
        tables: &mut [&mut OpenTable<'_>],
        mut vertices: Option<&mut OpenTable<'_>>,
        budget: &NamingBudget,
        mask: impl Fn(u32) -> Key,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(Self, Lookup)> {
        for attempt in 0..ATTEMPTS_MAX {
            let seed = if attempt == 0 { FIRST_SEED } else { RandomState::new().hash_one(attempt) };
            let mut naming = Naming { budget, seed, mask: mask(attempt), progress, cancel };
            match naming.collect(tables, vertices.as_deref_mut()) {
                Err(Trouble::Collision) => {}
                Err(Trouble::Failed(error)) => return Err(error),
                Ok(made) => return Ok(made),
            }
        }
        Err(Error::Invalid(format!("names with the same hash of 128 bits under {ATTEMPTS_MAX} keys")))
    }

    /// The number of names.
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// The least memory for numbering the names of an input that takes `reading_bytes`, and for writing them, in bytes:
/// besides the memory of each name.
pub fn needed_bytes(reading_bytes: u64) -> u64 {
    let writing_bytes = BASE_BYTES + Spool::memory_bytes(RANGES_MAX as usize);
    collecting_bytes(with_next(reading_bytes)).max(writing_bytes)
}

/// Reading, with the batches that are read while others are inserted.
fn with_next(reading_bytes: u64) -> u64 {
    reading_bytes.saturating_add(rayon::current_num_threads() as u64 * NEXT_BYTES)
}

fn collecting_bytes(reading_bytes: u64) -> u64 {
    (BASE_BYTES + Spool::memory_bytes(PARTS) + 2 * RECENT_BYTES_MIN).saturating_add(reading_bytes)
}

/// One attempt at naming.
struct Naming<'a> {
    budget: &'a NamingBudget,
    seed: u64,
    mask: Key,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

/// Collects what comes of parts.
struct Collector {
    leaves: Vec<(u32, Perfect)>,
    count: u64,
    names_max: u64,
    text_bytes: u64,
    names: Spool,
    /// First places and numbers.
    places: Sorter<Weighted>,
}

impl Collector {
    fn take(&mut self, leaf: Leaf) -> Result<Node> {
        let first = self.count;
        self.count += leaf.names.len() as u64;
        // Beyond the limit names are only counted, for the message.
        if self.count <= self.names_max {
            for ((name, &place), &number) in leaf.names.iter().zip(&leaf.places).zip(&leaf.numbers) {
                let number = first as u32 + number;
                self.names.push(0, number.into(), name)?;
                self.places.push(Weighted::new((place >> 32) as u32, place as u32, number.into()))?;
            }
            self.text_bytes += leaf.names.text_bytes() as u64;
        }
        self.leaves.push((first as u32, leaf.perfect));
        Ok(Node::Leaf(self.leaves.len() as u32 - 1))
    }
}

impl Naming<'_> {
    fn collect(
        &mut self,
        tables: &mut [&mut OpenTable<'_>],
        vertices: Option<&mut OpenTable<'_>>,
    ) -> Result<(Dictionary, Lookup), Trouble> {
        let (first, others) = tables.split_first_mut().expect("a table of edges");
        let table = first()?;
        let (id_type, place) = (table.id_type(), table.place());
        let reading_bytes = with_next(table.memory_bytes());
        let least = collecting_bytes(reading_bytes);
        let memory_bytes = self.budget.memory_bytes;
        if memory_bytes < least {
            return Err(Trouble::Failed(Error::Memory {
                what: "numbering names".into(),
                needed_bytes: least,
                budget_bytes: memory_bytes,
                parts: format!("program {BASE_BYTES}, reading {reading_bytes}, sorting names by their hashes"),
            }));
        }
        let rest = memory_bytes - least;
        let recent_bytes = (rest / 4 * 3).clamp(RECENT_BYTES_MIN, RECENT_BYTES_MAX);
        let mut shards = Shards::new(&self.budget.temporary, recent_bytes, self.seed)?;
        let check = |table: Table| {
            let expected = || format!("ids that are {}, as those of the edges", id_type.plural());
            match table.id_type() == id_type {
                true => Ok(table),
                false => Err(Error::file(table.place(), expected(), table.id_type().plural())),
            }
        };
        if let Some(open) = vertices {
            self.read(&mut check(open()?)?, &mut shards, 2)?;
        }
        let (declared, mut occurrences) = (shards.names(), Vec::new());
        occurrences.push(self.read(&mut { table }, &mut shards, 1)?);
        for open in others {
            occurrences.push(self.read(&mut check(open()?)?, &mut shards, 1)?);
        }
        let parts = shards.finish()?;
        let (root, collector) = self.divide(&parts)?;
        drop(parts);
        let (count, names_max) = (collector.count, collector.names_max);
        if count > names_max {
            return Err(Trouble::Failed(Error::Limit {
                what: format!("{place}: distinct ids"),
                found: count,
                limit: names_max,
                hint: "a graph has at most 2^32 vertices".into(),
            }));
        }
        Ok(self.finish(root, collector, id_type, occurrences, declared)?)
    }

    /// Reads all names of a table: of every row, or the first of each if `step` is 2. Returns their number and the sum
    /// of their hashes.
    fn read(&self, table: &mut Table, shards: &mut Shards, step: usize) -> Result<(u64, u64)> {
        self.progress.begin("collect names", table.info().bytes, Unit::Bytes);
        let before = shards.occurrences();
        let read = |table: &mut Table| -> Result<Hashed> {
            let mut batches = Vec::new();
            table.read(&mut batches)?;
            let keys = keys_of(&batches, |name| key(name, self.seed) & self.mask);
            Ok(Hashed { batches, keys })
        };
        let mut next = read(table)?;
        while !next.batches.is_empty() {
            self.cancel.check()?;
            // The names of these batches are inserted while the next ones are read.
            let (inserted, after) = rayon::join(|| shards.insert(&next, step), || read(table));
            inserted?;
            next = after?;
            self.progress.position(table.bytes_read());
        }
        self.progress.end();
        let after = shards.occurrences();
        Ok((after.0 - before.0, after.1.wrapping_sub(before.1)))
    }

    /// Finds the distinct names of all parts.
    fn divide(&self, parts: &Parts) -> Result<(Vec<Node>, Collector), Trouble> {
        let NamingBudget { memory_bytes, temporary, names_max } = self.budget;
        let threads = rayon::current_num_threads();
        let rest = memory_bytes.saturating_sub(BASE_BYTES);
        let mut names = Spool::new(temporary, 1)?;
        let places = Sorter::new(temporary, rest / 4, self.cancel.clone());
        let limits =
            Limits { memory_bytes: rest / 2 / threads as u64, seed: self.seed, mask: self.mask, folder: temporary };
        names.finish()?;
        let mut collector =
            Collector { leaves: Vec::new(), count: 0, names_max: *names_max, text_bytes: 0, names, places };
        let mut root = Vec::new();
        self.progress.begin("compare names", Some(PARTS as u64), Unit::Pages);
        for first in (0..PARTS).step_by(threads) {
            self.cancel.check()?;
            let some = first..PARTS.min(first + threads);
            let found = some.clone().into_par_iter().map(|part| distinct(parts.spool(part), part, 0, limits));
            let found: Vec<_> = found.collect();
            for (part, found) in some.zip(found) {
                root.push(self.settle(parts.spool(part), part, 0, found?, limits, &mut collector)?);
            }
            self.progress.position(root.len() as u64);
        }
        self.progress.end();
        collector.names.finish()?;
        Ok((root, collector))
    }

    /// Takes the names of a part, one smaller part after another if they do not fit in memory.
    fn settle(
        &self,
        spool: &Spool,
        part: usize,
        depth: u32,
        found: Outcome,
        limits: Limits<'_>,
        collector: &mut Collector,
    ) -> Result<Node, Trouble> {
        match found {
            Outcome::Leaf(leaf) => Ok(collector.take(leaf)?),
            Outcome::TooLarge => {
                let smaller = divide(spool, part, depth + 1, limits)?;
                let mut nodes = Vec::new();
                for part in 0..PARTS {
                    self.cancel.check()?;
                    let found = distinct(&smaller, part, depth + 1, limits)?;
                    nodes.push(self.settle(&smaller, part, depth + 1, found, limits, collector)?);
                }
                Ok(Node::Split(nodes))
            }
        }
    }

    /// Ranks names by their first appearance, if there is memory for that.
    fn finish(
        &self,
        root: Vec<Node>,
        collector: Collector,
        id_type: IdType,
        occurrences: Vec<(u64, u64)>,
        declared: u64,
    ) -> Result<(Dictionary, Lookup)> {
        let Collector { leaves, count, text_bytes, names, places, .. } = collector;
        let folder = self.budget.temporary.clone();
        let places = places.finish()?;
        let fits = 4 * count <= self.budget.memory_bytes.saturating_sub(BASE_BYTES) / 3;
        let places = places.shrink(self.budget.memory_bytes / 4, &folder, self.cancel)?;
        let mut ranks = fits.then(|| vec![0u32; count as usize]);
        let (mut rank, mut stranger) = (0u32, None);
        places.for_each(|some| {
            for record in some {
                let (high, low, number) = record.parts();
                if declared > 0 && stranger.is_none() && u64::from(high) << 32 | u64::from(low) >= declared {
                    stranger = Some(number as u32);
                }
                if let Some(ranks) = &mut ranks {
                    ranks[number as usize] = rank;
                    rank = rank.wrapping_add(1);
                }
            }
            Ok(())
        })?;
        drop(places);
        if let Some(stranger) = stranger {
            let mut text = String::new();
            names.for_each(0, |number, name| {
                if number == u64::from(stranger) {
                    text = id_type.text(name);
                }
                Ok(())
            })?;
            return Err(Error::Invalid(format!("the id {text:?} of an edge is not in the table of vertices")));
        }
        let of_ranks = ranks.as_ref().map(|ranks| -> Result<Spool> {
            let mut spool = Spool::new(&folder, 1)?;
            ranks.iter().try_for_each(|&rank| spool.push(0, rank.into(), b""))?;
            spool.finish()?;
            Ok(spool)
        });
        let dictionary = Dictionary { id_type, count, names, text_bytes, ranks: of_ranks.transpose()?, folder };
        let lookup = Lookup { root, leaves, ranks, seed: self.seed, mask: self.mask, occurrences };
        Ok((dictionary, lookup))
    }
}

/// The hashes of all names of some batches, made on all threads.
fn keys_of(batches: &[RowBatch], of: impl Fn(&[u8]) -> Key + Sync) -> Vec<Vec<Key>> {
    let of_batch = |batch: &RowBatch| -> Vec<Key> {
        let Ids::Names(names) = &batch.ids else { return Vec::new() };
        (0..names.len()).into_par_iter().with_min_len(PIECE).map(|at| of(names.get(at))).collect()
    };
    batches.par_iter().map(of_batch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Quiet;
    use std::collections::BTreeMap;
    use topostream_readers::{InputFile, Kind, Options, TableOptions};

    /// Collects the names `n0`, `n1`, … of a file with this many, each twice.
    fn collect(count: u64, budget: &NamingBudget, mask: impl Fn(u32) -> Key) -> Result<(Dictionary, Lookup)> {
        let path = budget.temporary.join("edges.csv");
        let text: String = (0..count).map(|at| format!("n{at},n{}\n", (at + 1) % count)).collect();
        std::fs::write(&path, text).unwrap();
        let mut open = || {
            let table = TableOptions { names: true, header: Some(false), ..TableOptions::default() };
            Table::open(
                &[InputFile::new(&path)],
                Kind::Csv,
                &Options { memory_bytes: 8 << 20, ..Options::default() },
                &table,
            )
        };
        Dictionary::collect_with(&mut [&mut open], None, budget, mask, &Quiet, &Cancel::default())
    }

    /// Each name has a number of its own, below their count.
    fn check(count: u64, lookup: &Lookup) {
        let number = |at: u64| lookup.number(lookup.key(format!("n{at}").as_bytes()));
        let numbers: BTreeMap<u32, u64> = (0..count).map(|at| (number(at), at)).collect();
        assert_eq!(numbers.len() as u64, count);
        assert!(numbers.keys().all(|&number| u64::from(number) < count));
        if lookup.ranks.is_some() {
            assert!((0..count).all(|at| u64::from(number(at)) == at), "in the order of first appearance");
        }
    }

    #[test]
    fn names_with_one_hash_are_told_apart_by_another_pass() {
        let folder = tempfile::tempdir().unwrap();
        let budget = NamingBudget::new(128 << 20, folder.path());
        // Hashes of 12 bits, or none at all, in the first attempts.
        for weak in [!(Key::MAX >> 12), 0] {
            let (names, lookup) = collect(5000, &budget, |attempt| if attempt < 2 { weak } else { Key::MAX }).unwrap();
            assert_eq!((names.count(), lookup.seed == FIRST_SEED), (5000, false));
            check(5000, &lookup);
        }
        let error = collect(10, &budget, |_| 0).map(drop).unwrap_err().to_string();
        assert!(error.contains("same hash"), "{error}");
    }

    #[test]
    fn too_many_names_are_refused_with_their_number() {
        let folder = tempfile::tempdir().unwrap();
        let budget = NamingBudget { names_max: 1000, ..NamingBudget::new(128 << 20, folder.path()) };
        check(1000, &collect(1000, &budget, |_| Key::MAX).unwrap().1);
        let error = collect(1001, &budget, |_| Key::MAX).map(drop).unwrap_err().to_string();
        assert!(error.contains("1001 is more than the limit of 1000") && error.contains("edges.csv"), "{error}");
    }

    /// Parts that do not fit in memory are divided, and numbers are as without.
    #[test]
    fn parts_are_divided() {
        let folder = tempfile::tempdir().unwrap();
        let budget = NamingBudget::new(128 << 20, folder.path());
        let naming = Naming { budget: &budget, seed: 3, mask: Key::MAX, progress: &Quiet, cancel: &Cancel::default() };
        let (mut spool, count) = (Spool::new(folder.path(), 1).unwrap(), 20_000u64);
        for at in (0..count).chain(0..count) {
            spool.push(0, at, format!("n{at}").as_bytes()).unwrap();
        }
        spool.finish().unwrap();
        let places = Sorter::new(folder.path(), 1 << 20, Cancel::default());
        let names = Spool::new(folder.path(), 1).unwrap();
        let mut collector =
            Collector { leaves: Vec::new(), count: 0, names_max: VERTICES_MAX, text_bytes: 0, names, places };
        // Two names fit.
        let limits = Limits { memory_bytes: 250, seed: 3, mask: Key::MAX, folder: folder.path() };
        let found = distinct(&spool, 0, 0, limits).map_err(|_| "trouble").unwrap();
        let Ok(Node::Split(parts)) = naming.settle(&spool, 0, 0, found, limits, &mut collector) else {
            panic!("the part is divided")
        };
        assert!(parts.iter().any(|part| matches!(part, Node::Split(_))), "and its parts are");
        assert_eq!(collector.count, count);
    }

    #[test]
    fn a_small_budget_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = collect(10, &NamingBudget::new(1 << 20, folder.path()), |_| Key::MAX).map(drop).unwrap_err();
        let Error::Memory { needed_bytes, .. } = error else { panic!("{error}") };
        check(10, &collect(10, &NamingBudget::new(needed_bytes, folder.path()), |_| Key::MAX).unwrap().1);
    }
}
