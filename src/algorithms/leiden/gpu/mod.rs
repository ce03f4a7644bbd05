//! The search on a GPU: local moving and refinement of levels that fit in device memory, with the same bits as on the
//! CPU.
//!
//! ```text
//!  lists ─▶ device memory ─▶ moving ─▶ communities ─▶ refining ─▶ groups      levels that are small, or do not fit,
//!                                                                             are the CPU's
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `modules` | the kernels: what each is made of |
//! | `resident` | a graph in device memory, and the batches of its vertices |
//! | `turn` | turns, as kernels read them |
//! | `level` | moving and refining |
//!
//! | kernels | |
//! | --- | --- |
//! | begin | masses and sizes of communities; all vertices with neighbours have to decide |
//! | take | the vertices of a batch that decide now, in bins by the lengths of their lists |
//! | decide | the weights of a list's edges by group, and the best group: 8 or 32 threads a list, one an edge; or a workgroup a list, with a table in workgroup memory |
//! | hubs | parts of long lists: tables in device memory (add), the best of each part (best), of a list (pick) |
//! | apply | vertices move: masses and sizes change |

mod level;
mod modules;
mod resident;
mod turn;

pub use level::OnGpu;

use super::clock::Part;
use super::level::Level;
use super::lists::Weights;
use super::paged::Edges;
use super::turns::Turns;
use crate::device::gpu::compute::Compute;
use crate::engine::Engine;
use crate::error::{Error, GpuError, Result};
use level::{Buffers, Sizes};
use modules::Shape;
use resident::Resident;
use std::sync::{Arc, Mutex, PoisonError};

/// The fewest edges, from either end, of a level on a card: below, the CPU takes less time.
const EDGES_MIN: usize = 1 << 20;

/// A GPU that looks for communities.
pub struct Searcher {
    compute: Compute,
    /// The first level's graph, which all iterations begin with.
    first: Mutex<Option<Arc<Resident>>>,
}

impl Searcher {
    /// The engine's GPU, if it is the only device.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn of(engine: &Engine) -> Result<Option<Self>> {
        Ok(engine.compute()?.map(|compute| Self { compute, first: Mutex::default() }))
    }

    /// The adapter's name.
    pub fn name(&self) -> &str {
        self.compute.name()
    }

    /// Copies a level to the device; none if it is too small, or too large.
    ///
    /// # Errors
    /// Those of the device.
    pub fn level<'a>(
        &'a self,
        level: &'a Level<'a>,
        turns: &Turns,
        (is_first, refines): (bool, bool),
    ) -> Result<Option<OnGpu<'a>>> {
        let (Turns::Batches(bounds), Edges::Memory(lists)) = (turns, &level.graph.edges) else { return Ok(None) };
        if self.compute.is_discrete() && lists.neighbours.len() < EDGES_MIN {
            return Ok(None);
        }
        let sent = match level.watch.clock.time(Part::Sending, || self.send(level, bounds, is_first)) {
            Err(Error::Gpu(GpuError::OutOfMemory { .. })) => return Ok(None),
            other => other?,
        };
        if let Some(on_gpu) = &sent {
            level.watch.clock.time(Part::Compiling, || on_gpu.compile(refines))?;
            self.compute.save();
        }
        Ok(sent)
    }

    fn send<'a>(&'a self, level: &'a Level<'a>, bounds: &[u32], is_first: bool) -> Result<Option<OnGpu<'a>>> {
        let compute = &self.compute;
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = first.clone().filter(|_| is_first);
        let Some(shape) = kept.as_ref().map_or_else(|| self.shape(level), |kept| Some(kept.shape)) else {
            return Ok(None);
        };
        let batches = resident::batches(level.graph, bounds, shape);
        let sizes = Sizes::of(level.graph.vertices(), &batches, shape);
        let Some(graph_bytes) = Resident::bytes(level.graph, shape) else { return Ok(None) };
        let bytes = || graph_bytes.into_iter().chain(sizes.bytes());
        let held: u64 = first.as_ref().filter(|_| !is_first).map_or(0, |first| first.bytes);
        let fits = held + bytes().sum::<u64>() <= compute.budget_bytes();
        if !fits || bytes().any(|bytes| bytes > compute.binding_bytes_max()) {
            return Ok(None);
        }
        let resident = match kept {
            Some(kept) => kept,
            None => match Resident::new(compute, level.graph, shape)? {
                Some(resident) => Arc::new(resident),
                None => return Ok(None),
            },
        };
        if is_first {
            *first = Some(Arc::clone(&resident));
        }
        Ok(Some(OnGpu { compute, level, resident, batches, buffers: Buffers::new(compute, &sizes)? }))
    }

    /// What a level's kernels depend on; none if the device cannot run them.
    fn shape(&self, level: &Level<'_>) -> Option<Shape> {
        let Edges::Memory(lists) = &level.graph.edges else { return None };
        let is_wide = resident::is_wide(level.graph);
        let weight_words = match lists.weights {
            Weights::Ones => 0,
            Weights::Narrow(_) => 1,
            Weights::Wide(_) => 2,
        };
        let (workgroup_bytes, buffers) = self.compute.limits();
        let slots = Shape::slots_in(workgroup_bytes, is_wide).filter(|_| buffers >= modules::BUFFERS_MAX)?;
        Some(Shape { is_wide, is_directed: !level.graph.masses.into.is_empty(), weight_words, slots })
    }
}
