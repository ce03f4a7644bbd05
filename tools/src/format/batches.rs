//! Sorted edges become lists on all threads while others are laid out: nothing but where pages end is sequential.
//!
//! ```text
//!  sorted edges ─▶ batches, on all threads: ids looked up, duplicates dropped, gaps measured ─▶ pages refer to them
//!  └─ one thread, which reads and merges runs, some batches ahead ─┘                            └─ the caller's
//! ```

use super::naming::Naming;
use super::state::Formatter;
use crate::progress::Unit;
use crate::sorting::record::Record;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;
use topostream_formats::packed::{PackedParameters, SharedLists};
use topostream_formats::write::{Layout, TopologyWriter};
use topostream_formats::{Error, Result};

/// Edges of a batch.
const RECORDS: usize = 1 << 15;
/// Bytes of an edge in a batch at most: its dest, the bits of its gap, and a list of its own.
const RECORD_BYTES: usize = 13;
/// Batches for each thread: being made, waiting, and being laid out; and edges that wait to be one, of up to 12 bytes.
const BATCHES: usize = 4;

/// Main memory in addition to that for writing pages, in bytes; none if pages cannot refer to lists.
pub fn memory_bytes(layout: &Layout) -> Option<u64> {
    let can_share = layout.encoding.is_packed() && layout.weights.is_none();
    let batches = BATCHES * rayon::current_num_threads() * RECORDS * RECORD_BYTES;
    can_share.then(|| TopologyWriter::shared_bytes(layout) + batches as u64)
}

/// How records become lists.
#[derive(Clone, Copy)]
struct Making<'a> {
    naming: &'a Naming,
    unique: bool,
    parameters: PackedParameters,
}

impl Making<'_> {
    /// The lists of sorted records, of which the first may continue the list of the record before. Also returns the
    /// number of duplicates, which are dropped if edges are to be unique.
    fn lists<R: Record>(self, records: &[R], before: Option<R>) -> (SharedLists, u64) {
        let Self { naming, unique, parameters } = self;
        let ends = |record: &R| (record.parts().0, record.parts().1);
        let before = before.as_ref().map(ends);
        let mut lists = SharedLists::default();
        lists.dests.reserve_exact(records.len());
        let (mut last, mut repeated) = (before, 0);
        for (source, dest) in records.iter().map(ends) {
            let previous = last.replace((source, dest));
            if previous == Some((source, dest)) {
                repeated += 1;
                if unique {
                    continue;
                }
            }
            lists.dests.push(dest);
            match lists.lengths.last_mut() {
                Some((_, length)) if previous.is_some_and(|previous| previous.0 == source) => *length += 1,
                _ => lists.lengths.push((naming.vertex(source), 1)),
            }
        }
        // In a loop of its own, which waits for several places of the naming at a time.
        lists.dests.iter_mut().for_each(|dest| *dest = naming.vertex(*dest));
        // If all records so far were duplicates, the first list is of their source or of a later one.
        let first = records.iter().map(ends).find(|&ends| !unique || before != Some(ends));
        let continued = before.filter(|before| first.is_some_and(|first| first.0 == before.0));
        lists.measure(parameters, 0, continued.map(|(_, dest)| naming.vertex(dest)));
        (lists, repeated)
    }
}

impl<R: Record> Formatter<'_, R> {
    /// Passes the sorted edges to packed pages without weights. Returns the number of edges that are kept.
    pub(super) fn write_batches(
        &mut self,
        stage: &str,
        parameters: PackedParameters,
        to: &mut TopologyWriter,
    ) -> Result<u64> {
        self.progress.begin(stage, Some(self.edges.records()), Unit::Edges);
        let (edges, cancel, threads) = (&self.edges, self.cancel, rayon::current_num_threads());
        let making = Making { naming: &self.naming, unique: self.options.remove_duplicates, parameters };
        let (sender, receiver) = sync_channel(1);
        let make = move || {
            let mut before = None;
            let mut send = |some: &[R]| {
                cancel.check()?;
                let batches = some.par_chunks(RECORDS).enumerate().map(|(number, records)| {
                    let before = if number == 0 { before } else { Some(some[number * RECORDS - 1]) };
                    making.lists(records, before)
                });
                let batches: Vec<(SharedLists, u64)> = batches.collect();
                before = some.last().copied();
                // The receiver is gone if pages cannot be written; its error counts.
                sender.send(batches).map_err(|_| Error::Interrupted)
            };
            // Edges may come a few at a time.
            let (most, mut waiting) = (threads * RECORDS, Vec::new());
            edges.for_each(|mut records: &[R]| {
                while !records.is_empty() {
                    let room = most - waiting.len();
                    let (some, rest) = records.split_at(room.min(records.len()));
                    records = rest;
                    if some.len() == most {
                        send(some)?;
                        continue;
                    }
                    waiting.extend_from_slice(some);
                    if waiting.len() == most {
                        send(&waiting)?;
                        waiting.clear();
                    }
                }
                Ok(())
            })?;
            if waiting.is_empty() { Ok(()) } else { send(&waiting) }
        };
        let (mut kept, mut repeated, progress) = (0, 0, self.progress);
        let unique = making.unique;
        let mut take = |batches: Vec<(SharedLists, u64)>| {
            batches.into_iter().try_for_each(|(lists, more)| {
                (kept, repeated) = (kept + lists.dests.len() as u64, repeated + more);
                progress.position(kept + if unique { repeated } else { 0 });
                to.push_lists(&Arc::new(lists))
            })
        };
        std::thread::scope(|scope| {
            let maker = Builder::new().name("sorted lists".into()).spawn_scoped(scope, make);
            let what = || "making lists of sorted edges".into();
            let maker = maker.map_err(|source| Error::Threads { what: what(), wanted: 1, source })?;
            let taken = receiver.into_iter().try_for_each(&mut take);
            let made = maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            taken.and(made)
        })?;
        self.progress.end();
        self.count_repeated(repeated);
        Ok(kept)
    }
}
