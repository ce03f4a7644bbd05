//! Which lists are counted outside of the table of counts.

use super::tally::NEIGHBOURS_MAX;
use crate::engine::Engine;
use crate::error::Result;
use crate::model::algorithm::PLURALITY_MAX;
use topostream_formats::{Direction, Store};

/// The lists that are counted outside of the table, by their maximum length: their vertices have room in it for the
/// winning label only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alone {
    /// Every vertex has room for a label for each neighbour.
    None,
    /// CPUs compute, and no others.
    Cpus(u64),
    /// GPUs compute, and no others.
    Gpus(u64),
}

impl Alone {
    /// The lists of an engine's store that its devices count so.
    ///
    /// # Errors
    /// If a device cannot be opened.
    pub fn of(engine: &Engine) -> Result<Self> {
        let max = |longest| in_one_page_max(engine.store(), longest);
        if engine.is_cpu_only()? {
            return Ok(max(NEIGHBOURS_MAX)?.map_or(Self::None, Self::Cpus));
        }
        if engine.is_gpu_only()? {
            return Ok(max(PLURALITY_MAX.into())?.map_or(Self::None, Self::Gpus));
        }
        Ok(Self::None)
    }

    /// The maximum length.
    pub fn max(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Cpus(max) | Self::Gpus(max) => max,
        }
    }

    /// The places of a vertex's room.
    pub fn room(self, degree: u64) -> u64 {
        match self {
            _ if degree <= self.max() => degree.min(1),
            // A third of the places stay free, so that a label finds its own after a few.
            Self::Gpus(_) => degree + degree / 2,
            Self::None | Self::Cpus(_) => degree,
        }
    }
}

/// The maximum length up to which all lists are in one page, at most `longest`.
fn in_one_page_max(store: &Store, longest: u64) -> Result<Option<u64>> {
    let topology = store.topology(Direction::Out).expect("every store has out-lists");
    if store.manifest().directed || topology.is_grouped() {
        return Ok(None);
    }
    let out_degrees = store.out_degrees()?;
    let large = topology.directory().entries().iter().filter(|entry| entry.run > 0);
    let shortest = large.map(|entry| u64::from(out_degrees.values()[entry.start_vertex as usize])).min();
    Ok(Some(shortest.map_or(longest, |shortest| longest.min(shortest - 1))).filter(|max| *max > 0))
}
