//! Main memory for a run, and how much of it the table of counts takes.

use super::ranks::Ranks;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::model::algorithm::Algorithm;
use crate::pages::adjacency::in_degrees_bytes;
use topostream_formats::Direction;
use topostream_formats::names::StoredNames;

/// The size of the table of counts in bytes, unless another is requested.
const TABLE_BYTES: u64 = 1 << 30;
/// The largest table on GPUs that count lists outside of it.
const GPU_TABLE_BYTES: u64 = 4 << 30;
/// Main memory for the bounds of ranges, in bytes.
const BOUNDS_BYTES: u64 = 64 << 10;

/// Main memory in addition to the table of counts, in bytes: for one range and for several.
pub(super) struct Memory {
    needed_bytes: [u64; 2],
}

impl Memory {
    /// A run takes the memory of the algorithm without a table, for a number of ranges, and what this adds.
    pub(super) fn of<A: Algorithm>(engine: &Engine, without_table: impl Fn(usize) -> A) -> Result<Self> {
        let store = engine.store();
        let vertices = store.vertices();
        let ranks_bytes = if Ranks::are_needed(store) { 8 * vertices } else { 0 };
        let names = store.manifest().ids.is_names();
        let ranking_bytes = if names { StoredNames::ascending_bytes(vertices) + 4 * vertices } else { 0 };
        let own_bytes = 4 * (vertices + 1) + ranks_bytes + BOUNDS_BYTES;
        let needed_bytes = |ranges| -> Result<u64> {
            let run_bytes = engine.needed_bytes(&without_table(ranges))? + own_bytes;
            // Names are ranked, and lists counted, before the table is allocated.
            Ok(run_bytes.max(in_degrees_bytes(store) + own_bytes).max(ranking_bytes))
        };
        Ok(Self { needed_bytes: [needed_bytes(1)?, needed_bytes(2)?] })
    }

    /// Reports errors before lists are counted that would otherwise be reported after.
    pub(super) fn check_counting(&self, engine: &Engine) -> Result<()> {
        if self.needed_bytes[1] <= engine.options().memory_bytes {
            return Ok(());
        }
        let store = engine.store();
        // Without in-lists the in-degrees are not known yet.
        let largest = |direction| store.topology(direction).map(|topology| u64::from(topology.summary().degree_max));
        let out = largest(Direction::Out).unwrap_or(0);
        let against = if store.manifest().directed { largest(Direction::In).unwrap_or(store.edges()) } else { 0 };
        Err(self.refusal(engine, out + against))
    }

    /// The size of the table unless another is requested: a quarter of the memory, and no more than everything else
    /// leaves free. The largest room must fit; if all do, they are one range.
    pub(super) fn table_bytes(&self, engine: &Engine, largest: u64, all: u64) -> Result<u64> {
        let memory_bytes = engine.options().memory_bytes;
        let share = (memory_bytes / 4).min(TABLE_BYTES).min(engine.binding_bytes_max()?).max(8 * largest);
        if 8 * all <= share && self.needed_bytes[0] + 8 * all <= memory_bytes {
            return Ok(share);
        }
        let left = memory_bytes.saturating_sub(self.needed_bytes[1]);
        if left < 8 * largest {
            return Err(self.refusal(engine, largest));
        }
        Ok(share.min(left))
    }

    /// Whether a table of this size, of all vertices on GPUs that count lists outside of it, is within the memory: of
    /// the requested size, or by default a quarter of main memory and of the GPU's.
    pub(super) fn fits_gpus(&self, engine: &Engine, requested: Option<u64>, all_bytes: u64) -> Result<bool> {
        let memory_bytes = engine.options().memory_bytes;
        let share = (memory_bytes / 4).min(engine.device_bytes()? / 4).min(GPU_TABLE_BYTES);
        let most = requested.unwrap_or(share).min(engine.binding_bytes_max()?);
        Ok(all_bytes <= most && self.needed_bytes[0] + all_bytes <= memory_bytes)
    }

    fn refusal(&self, engine: &Engine, largest: u64) -> Error {
        Error::Memory {
            what: "communities".into(),
            needed_bytes: self.needed_bytes[1] + 8 * largest,
            budget_bytes: engine.options().memory_bytes,
            parts: format!("run {}; counts of one vertex's neighbours {}", self.needed_bytes[1], 8 * largest),
        }
    }
}
