//! The ranges of vertices whose tables fit in memory.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::model::algorithm::Algorithm;
use crate::pages::adjacency::{building_bytes, degree, in_degrees, ranges};
use std::ops::Range;
use topostream_formats::{Direction, Store};

/// The size of a table in bytes, unless another is requested.
const TABLE_BYTES: u64 = 1 << 30;

/// Ranges of vertices. The table holds the lists of one range at a time.
pub(super) struct Ranges {
    pub(super) ranges: Vec<Range<u64>>,
    /// The largest number of entries of a table.
    pub(super) entries_max: u64,
    /// Main memory while such a table is built, in bytes.
    pub(super) building_bytes: u64,
}

impl Ranges {
    /// All ranges, or the remaining ones of a resumed run: they begin with `counted`, whose neighbours are already
    /// counted. A run takes the memory of the `empty` algorithm, without a table, and what this adds.
    pub(super) fn of(
        engine: &Engine,
        empty: &dyn Algorithm,
        table_bytes: Option<u64>,
        counted: &Range<u64>,
    ) -> Result<Self> {
        let (store, cancel) = (engine.store(), &engine.options().cancel);
        let directed = store.manifest().directed;
        let memory = Memory::of(engine, empty)?;
        memory.check_counting(store, engine)?;
        let out_degrees = store.out_degrees()?;
        let in_degrees = if directed { in_degrees(store, cancel)? } else { Vec::new() };
        let neighbours = |vertex: u64| degree(out_degrees.values(), &in_degrees, vertex as usize);
        let all = || (0..store.vertices()).map(neighbours);
        let edges_max = match table_bytes {
            Some(bytes) => memory.entries_of(bytes)?,
            None => memory.entries(engine, all().max().unwrap_or(0), all().sum())?,
        };
        let edges_max = engine.least_of_ranks(edges_max)?;
        let among = |part: Range<u64>| {
            let found = ranges(part.clone().map(neighbours), edges_max.min(u32::MAX.into())).into_iter();
            found.map(move |range| part.start + range.start..part.start + range.end)
        };
        let mut ranges: Vec<_> =
            among(counted.start..counted.end).chain(among(counted.end..store.vertices())).collect();
        // A part without vertices has no ranges, unless it is the only part.
        let empty = ranges.iter().filter(|range| range.is_empty()).count();
        if empty < ranges.len() {
            ranges.retain(|range| !range.is_empty());
        } else {
            ranges.truncate(1);
        }
        let most = ranges.iter().map(|range| range.clone().map(neighbours).sum()).max().unwrap_or(0);
        // Only one end of an undirected edge is kept.
        let entries_max = if directed { most } else { most.min(store.edges() / 2) };
        Ok(Self { ranges, entries_max, building_bytes: memory.building_bytes + 4 * entries_max })
    }
}

/// Main memory in addition to the entries of a table, in bytes.
struct Memory {
    /// For the run, over one range and over several.
    run_bytes: [u64; 2],
    /// While a table is built.
    building_bytes: u64,
    /// The offsets of the lists in a table.
    starts_bytes: u64,
}

impl Memory {
    fn of(engine: &Engine, empty: &dyn Algorithm) -> Result<Self> {
        let store = engine.store();
        let vertices = store.vertices();
        let starts_bytes = 4 * (vertices + 1);
        let run_bytes = engine.needed_bytes(empty)?;
        let (neighbours_bytes, links_bytes) = (4 * vertices, 8 * vertices);
        let run_bytes = run_bytes + starts_bytes + neighbours_bytes;
        let building_bytes = building_bytes(store) + neighbours_bytes + links_bytes + engine.options().trace_bytes();
        Ok(Self { run_bytes: [run_bytes, run_bytes + links_bytes], building_bytes, starts_bytes })
    }

    /// Returns the memory needed for this number of entries in the largest of one or several ranges.
    fn needed_bytes(&self, several: bool, entries: u64) -> u64 {
        (self.run_bytes[usize::from(several)]).max(self.building_bytes) + 4 * entries
    }

    /// Reports errors before lists are counted that would otherwise be reported after.
    fn check_counting(&self, store: &Store, engine: &Engine) -> Result<()> {
        if self.needed_bytes(true, 0) <= engine.options().memory_bytes {
            return Ok(());
        }
        // Without in-lists the in-degrees are not known yet.
        let largest = |direction| store.topology(direction).map(|topology| u64::from(topology.summary().degree_max));
        let out = largest(Direction::Out).unwrap_or(0);
        let against = if store.manifest().directed { largest(Direction::In).unwrap_or(store.edges()) } else { 0 };
        Err(self.refusal(engine, out + against))
    }

    /// Returns the number of entries of a table of this size.
    fn entries_of(&self, bytes: u64) -> Result<u64> {
        match bytes.saturating_sub(self.starts_bytes) / 4 {
            0 => {
                let starts_bytes = self.starts_bytes;
                let message = format!(
                    "tables of clustering coefficients: {bytes} bytes were given, and lists begin behind {starts_bytes}"
                );
                Err(Error::Parameter(message))
            }
            entries => Ok(entries),
        }
    }

    /// Returns the number of entries of a table unless another size is requested: a quarter of the memory, and no more
    /// than everything else leaves free. The longest list must fit; if all do, they are one range.
    fn entries(&self, engine: &Engine, longest: u64, all: u64) -> Result<u64> {
        let memory_bytes = engine.options().memory_bytes;
        let share = (memory_bytes / 4).min(TABLE_BYTES).min(engine.binding_bytes_max()?);
        let share = (share.saturating_sub(self.starts_bytes) / 4).max(longest).max(1);
        if all <= share && self.needed_bytes(false, all) <= memory_bytes {
            return Ok(share);
        }
        let left = memory_bytes.saturating_sub(self.needed_bytes(true, 0)) / 4;
        if left < longest.max(1) {
            return Err(self.refusal(engine, longest));
        }
        Ok(share.min(left))
    }

    fn refusal(&self, engine: &Engine, longest: u64) -> Error {
        let longest = longest.max(1);
        Error::Memory {
            what: "clustering".into(),
            needed_bytes: self.needed_bytes(true, longest),
            budget_bytes: engine.options().memory_bytes,
            parts: format!(
                "run {}, or making a table {}; neighbours of one vertex {}",
                self.run_bytes[1],
                self.building_bytes,
                4 * longest
            ),
        }
    }
}
