//! Where edges go as they are read: as they are, or in both directions.
//!
//! ```text
//!  directed      u → v ─▶ sorter
//!  mirrored      u → v ─▶ sorter: u → v, v → u           the input has each edge once, by its kind
//!  symmetrized, in memory: as they are; the union is taken where they are (`pairs`)
//!  symmetrized   u → v ─┬─ u ≤ v ─▶ ascending  (u, v) ─┬─▶ union ─▶ sorter: u → v, v → u
//!                       └─ u > v ─▶ descending (v, u) ─┘
//! ```
//!
//! A list that is to be symmetrized may have both directions of some edges already. Each edge is then kept as often as
//! it is there in one direction: the union of two multisets has the larger of both counts. Edges with other weights are
//! other edges.

use crate::sorting::record::Record;
use crate::sorting::sorter::{Collected, Sorter};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use topostream_formats::{Error, Result};

/// Blocks of records between the thread that reads a collection and the one that takes them.
const BLOCKS_AHEAD: usize = 2;
/// The records of such a block, or more.
const BLOCK_RECORDS: usize = 1 << 14;

/// The edges of an input, on their way into a sorted collection.
pub enum Intake<R> {
    /// Every edge, and its reverse if `mirror`.
    Plain { sorter: Sorter<R>, mirror: bool },
    /// Edges to be symmetrized, as they are as long as they fit in memory; then the union, with the settings of `both`.
    Once { sorter: Sorter<R>, both: Sorter<R> },
    /// The union of the edges and their reverses.
    Union {
        /// Edges from the smaller to the larger vertex, and self-loops.
        ascending: Sorter<R>,
        /// The reverses of the others.
        descending: Sorter<R>,
        /// Takes the union.
        both: Sorter<R>,
    },
}

/// Which edges the sorters take of an edge of the input.
#[derive(Clone, Copy)]
pub enum Way {
    /// The edge.
    AsTheyAre,
    /// The edge and its reverse.
    Mirrored,
    /// The edge from the smaller to the larger vertex.
    Union,
}

/// Edges of the input on their way into an intake, made by any thread.
pub struct Batch<R> {
    edges: Vec<R>,
    /// Of a union: the reverses of edges from the larger to the smaller vertex.
    descending: Vec<R>,
}

impl<R> Default for Batch<R> {
    fn default() -> Self {
        Self { edges: Vec::new(), descending: Vec::new() }
    }
}

impl<R: Record> Batch<R> {
    /// Forgets all edges.
    pub fn clear(&mut self) {
        self.edges.clear();
        self.descending.clear();
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.edges.len() + self.descending.len()
    }

    /// Adds an edge of the input.
    #[inline]
    pub fn push(&mut self, way: Way, source: u32, dest: u32, weight: u64) {
        match way {
            Way::Union if source > dest => self.descending.push(R::new(dest, source, weight)),
            _ => self.edges.push(R::new(source, dest, weight)),
        }
        if matches!(way, Way::Mirrored) && source != dest {
            self.edges.push(R::new(dest, source, weight));
        }
    }
}

impl<R: Record> Intake<R> {
    /// Edges as they are, with their reverses if `mirror`.
    pub fn plain(sorter: Sorter<R>, mirror: bool) -> Self {
        Self::Plain { sorter, mirror }
    }

    /// The union of edges and their reverses, in the memory of `sorter`.
    pub fn union(sorter: Sorter<R>) -> Self {
        let part = || sorter.renewed().sorted().with_share(4);
        Self::Union { ascending: part(), descending: part(), both: sorter.renewed().with_share(2) }
    }

    /// Edges as they are in one sorter, which only collects, as long as they fit in its memory; otherwise their union
    /// with their reverses, in another sorter.
    pub fn once(sorter: Sorter<R>, both: Sorter<R>) -> Self {
        Self::Once { sorter: sorter.unsorted(), both }
    }

    /// The sorter of the result.
    pub fn sorter(&self) -> &Sorter<R> {
        match self {
            Self::Plain { sorter, .. } | Self::Once { sorter, .. } | Self::Union { both: sorter, .. } => sorter,
        }
    }

    /// The number of edges of the input for which there is room, if there must be room for all of them.
    pub fn room(&self) -> usize {
        match self {
            Self::Once { sorter, .. } => sorter.room(),
            Self::Plain { .. } | Self::Union { .. } => usize::MAX,
        }
    }

    /// Moves edges that are kept as they are to a union.
    ///
    /// # Errors
    /// Errors of the sorters.
    pub fn unite(&mut self) -> Result<()> {
        let Self::Once { sorter, both } = self else { return Ok(()) };
        let (sorter, both) = (std::mem::replace(sorter, both.renewed()), both.renewed());
        let Collected::Memory(edges) = sorter.finish()? else {
            unreachable!("edges are kept as they are only as long as there is room for them")
        };
        *self = Self::union_of(edges, both)?;
        Ok(())
    }

    /// The union of edges and their reverses, in the memory of `both` and of the edges.
    ///
    /// # Errors
    /// Errors of the sorters.
    pub fn union_of(edges: Vec<R>, both: Sorter<R>) -> Result<Self> {
        let (mut union, mut batch) = (Self::union(both), Batch::default());
        drain_from_end(edges, |edges| {
            batch.clear();
            for (source, dest, weight) in edges.iter().map(|edge| edge.parts()) {
                batch.push(Way::Union, source, dest, weight);
            }
            union.extend(&batch)
        })?;
        Ok(union)
    }

    /// Which edges the sorters take.
    pub fn way(&self) -> Way {
        match self {
            Self::Plain { mirror: false, .. } | Self::Once { .. } => Way::AsTheyAre,
            Self::Plain { mirror: true, .. } => Way::Mirrored,
            Self::Union { .. } => Way::Union,
        }
    }

    /// Adds edges of the input.
    ///
    /// # Errors
    /// The errors of [`Sorter::extend`].
    pub fn extend(&mut self, batch: &Batch<R>) -> Result<()> {
        match self {
            Self::Plain { sorter, .. } | Self::Once { sorter, .. } => sorter.extend(&batch.edges),
            Self::Union { ascending, descending, .. } => {
                ascending.extend(&batch.edges)?;
                descending.extend(&batch.descending)
            }
        }
    }

    /// Discards all edges.
    pub fn clear(&mut self) {
        match self {
            Self::Plain { sorter, .. } | Self::Once { sorter, .. } => sorter.clear(),
            Self::Union { ascending, descending, .. } => {
                ascending.clear();
                descending.clear();
            }
        }
    }

    /// Takes the edges of the input so far, in any order, each once: reverses that were added are left out.
    ///
    /// # Errors
    /// Errors of the sorters and of `take`.
    pub fn drain(&mut self, mut take: impl FnMut(u32, u32, u64) -> Result<()>) -> Result<()> {
        let each = |sorter: &mut Sorter<R>, take: &mut dyn FnMut(u32, u32, u64) -> Result<()>| {
            let renewed = sorter.renewed();
            std::mem::replace(sorter, renewed).finish()?.for_each_unordered(|records| {
                records.iter().try_for_each(|record| {
                    let (source, dest, weight) = record.parts();
                    take(source, dest, weight)
                })
            })
        };
        match self {
            Self::Plain { sorter, mirror: false } | Self::Once { sorter, .. } => each(sorter, &mut take),
            // Of an edge and its reverse one is taken: as many lead up as down.
            Self::Plain { sorter, mirror: true } => each(sorter, &mut |source, dest, weight| match source <= dest {
                true => take(source, dest, weight),
                false => Ok(()),
            }),
            Self::Union { ascending, descending, .. } => {
                each(ascending, &mut take)?;
                each(descending, &mut |source, dest, weight| take(dest, source, weight))
            }
        }
    }

    /// The collected edges, and the number of edges whose reverse was in the input too, unless they are kept as they
    /// are.
    ///
    /// # Errors
    /// Errors of the sorters.
    pub fn finish(self) -> Result<(Collected<R>, u64)> {
        match self {
            Self::Plain { sorter, .. } | Self::Once { sorter, .. } => Ok((sorter.finish()?, 0)),
            Self::Union { ascending, descending, mut both } => {
                let (ascending, descending) = (ascending.finish()?, descending.finish()?);
                let met = union(&ascending, &descending, |record| {
                    let (source, dest, weight) = record.parts();
                    both.push(record)?;
                    if source == dest { Ok(()) } else { both.push(R::new(dest, source, weight)) }
                })?;
                drop((ascending, descending));
                Ok((both.finish()?, met))
            }
        }
    }
}

/// Records that are passed on at a time while the memory of those behind them is given back.
const DRAINED_RECORDS: usize = 1 << 16;

/// Passes all records, the last ones first, and gives back their memory on the way.
///
/// # Errors
/// The errors of `take`.
pub fn drain_from_end<R: Record>(mut records: Vec<R>, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<()> {
    let step = (records.len() / 32).max(DRAINED_RECORDS);
    while !records.is_empty() {
        let first = records.len().saturating_sub(DRAINED_RECORDS);
        take(&records[first..])?;
        records.truncate(first);
        if records.capacity() - first > step {
            records.shrink_to_fit();
        }
    }
    Ok(())
}

/// Passes the union of two sorted collections in order: each record as often as in the collection that has it more
/// often. Returns the number of records that met an equal one.
fn union<R: Record>(one: &Collected<R>, other: &Collected<R>, mut take: impl FnMut(R) -> Result<()>) -> Result<u64> {
    let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
    thread::scope(|scope| {
        let reader =
            thread::Builder::new().name("merge edges".into()).spawn_scoped(scope, move || send(other, &sender));
        let reader = reader.map_err(|source| Error::Threads { what: "merging edges".into(), wanted: 1, source })?;
        let (mut others, mut met) = (Blocks { receiver, block: Vec::new(), at: 0 }, 0);
        let merged = one.for_each(|records| {
            for &record in records {
                while let Some(before) = others.peek().filter(|&before| before < record) {
                    others.at += 1;
                    take(before)?;
                }
                if others.peek() == Some(record) {
                    others.at += 1;
                    met += 1;
                }
                take(record)?;
            }
            Ok(())
        });
        let merged = merged.and_then(|()| {
            while let Some(record) = others.peek() {
                others.at += 1;
                take(record)?;
            }
            Ok(met)
        });
        // A reader that still sends stops, as there is no receiver.
        drop(others);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        merged.and_then(|met| read.map(|()| met))
    })
}

/// Sends the records of a collection in blocks until they end or the receiver is gone.
fn send<R: Record>(collected: &Collected<R>, sender: &SyncSender<Vec<R>>) -> Result<()> {
    let (mut is_wanted, mut block) = (true, Vec::new());
    collected.for_each(|records| {
        // Pieces are short.
        block.extend_from_slice(records);
        if block.len() >= BLOCK_RECORDS {
            is_wanted = is_wanted && sender.send(std::mem::take(&mut block)).is_ok();
        }
        Ok(())
    })?;
    sender.send(block).ok();
    Ok(())
}

/// The records that a thread sends.
struct Blocks<R> {
    receiver: Receiver<Vec<R>>,
    block: Vec<R>,
    at: usize,
}

impl<R: Record> Blocks<R> {
    /// The next record; `None` at the end.
    fn peek(&mut self) -> Option<R> {
        while self.at == self.block.len() {
            (self.block, self.at) = (self.receiver.recv().ok()?, 0);
        }
        Some(self.block[self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Cancel;
    use crate::sorting::record::Weighted;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn batch(way: Way, edges: &[(u32, u32, u64)]) -> Batch<Weighted> {
        let mut batch = Batch::default();
        edges.iter().for_each(|&(source, dest, weight)| batch.push(way, source, dest, weight));
        batch
    }

    fn collect(mut intake: Intake<Weighted>, edges: &[(u32, u32, u64)]) -> (Vec<(u32, u32, u64)>, u64) {
        intake.extend(&batch(intake.way(), edges)).unwrap();
        let (collected, met) = intake.finish().unwrap();
        let mut all = Vec::new();
        let take = |records: &[Weighted]| {
            all.extend(records.iter().map(|record| record.parts()));
            Ok(())
        };
        collected.for_each(take).unwrap();
        (all, met)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Compared with counts in a table.
        #[test]
        fn edges_are_there_as_often_as_in_one_direction(
            edges in prop::collection::vec((0u32..6, 0u32..6, 0u64..2), 0..60),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let sorter = || Sorter::<Weighted>::new(folder.path(), 0, Cancel::default());
            let mut counts = BTreeMap::new();
            edges.iter().for_each(|&edge| *counts.entry(edge).or_insert(0usize) += 1);
            let count = |edge: (u32, u32, u64)| counts.get(&edge).copied().unwrap_or(0);
            let (mut expected, mut both) = (Vec::new(), 0);
            for (source, dest, weight) in (0..6).flat_map(|s| (0..6).flat_map(move |d| [(s, d, 0), (s, d, 1)])) {
                let (there, back) = (count((source, dest, weight)), count((dest, source, weight)));
                expected.extend(vec![(source, dest, weight); there.max(back)]);
                both += if source < dest { there.min(back) as u64 } else { 0 };
            }
            prop_assert_eq!(collect(Intake::union(sorter()), &edges), (expected, both));

            let mut again = Vec::new();
            for mut intake in [Intake::union(sorter()), Intake::plain(sorter(), true), Intake::plain(sorter(), false)] {
                intake.extend(&batch(intake.way(), &edges)).unwrap();
                again.clear();
                intake.drain(|source, dest, weight| {
                    again.push((source.min(dest), source.max(dest), weight));
                    Ok(())
                }).unwrap();
                again.sort_unstable();
                let mut expected: Vec<_> = edges.iter().map(|&(s, d, w)| (s.min(d), s.max(d), w)).collect();
                expected.sort_unstable();
                prop_assert_eq!(&again, &expected);
            }
        }
    }

    #[test]
    fn an_error_ends_the_union() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorters = [(); 2].map(|()| Sorter::<Weighted>::new(folder.path(), 0, Cancel::default()));
        for number in 0..300_000 {
            sorters.iter_mut().for_each(|sorter| sorter.push(Weighted::new(number, 0, 0)).unwrap());
        }
        let [one, other] = sorters.map(|sorter| sorter.finish().unwrap());
        let mut taken = 0;
        let error = union(&one, &other, |_| {
            taken += 1;
            if taken == 1000 { Err(topostream_formats::Error::Interrupted) } else { Ok(()) }
        });
        assert!(error.is_err() && taken == 1000);
    }
}
