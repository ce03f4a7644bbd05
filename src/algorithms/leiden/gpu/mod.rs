//! The search on a GPU: local moving and refinement of levels that fit in device memory, with the same bits as on the
//! CPU.
//!
//! ```text
//!  lists ─▶ device memory ─▶ moving ─▶ communities ─▶ refining ─▶ groups ─┐    levels that are small, or do not fit,
//!                              ▲                                           │    are the CPU's
//!                              └─── edges of the next level ◀──────────────┘
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `modules` | the kernels: what each is made of |
//! | `resident` | a graph in device memory |
//! | `batch` | the batches of its vertices |
//! | `card` | how much device memory is in use |
//! | `turn` | turns, as kernels read them |
//! | `level` | moving and refining |
//! | `coarse` | the edges of the next level |
//! | `away` | lists that only device memory has |
//!
//! | kernels | |
//! | --- | --- |
//! | begin | masses and sizes of communities; all vertices with neighbours have to decide |
//! | take | the vertices of a batch that decide now, in bins by the lengths of their lists |
//! | decide | the weights of a list's edges by group, and the best group: 8 or 32 threads a list, one an edge; or a workgroup a list, with a table in workgroup memory |
//! | hubs | parts of long lists: tables in device memory (add), the best of each part (best), of a list (pick) |
//! | apply | vertices move: masses and sizes change |
//! | count, place, insert | edges of the next level |

mod away;
mod batch;
mod card;
mod coarse;
mod level;
mod modules;
mod resident;
mod turn;

pub use away::{Away, DeviceCopy};
pub use level::OnGpu;

use super::clock::{Count, Part};
use super::graph::Graph;
use super::level::Level;
use super::lists::{Lists, Weights};
use super::paged::Edges;
use super::turns::Turns;
use crate::device::gpu::compose::Module;
use crate::engine::Engine;
use crate::error::Result;
use card::{Card, unless_full};
use level::{Buffers, Sizes};
use modules::Shape;
use resident::Resident;
use std::sync::Arc;

/// The fewest edges, from either end, of a level on a card: below, the CPU takes less time.
const EDGES_MIN: usize = 1 << 20;

/// The modules of all kernels, for levels of every shape: for tests, and other compilers.
pub fn modules() -> Vec<Module> {
    modules::modules().into_iter().chain(coarse::modules()).collect()
}

/// A GPU that looks for communities.
pub struct Searcher {
    card: Card,
}

impl Searcher {
    /// The engine's GPU, if it is the only device.
    ///
    /// # Errors
    /// Errors from opening it.
    pub fn of(engine: &Engine) -> Result<Option<Self>> {
        Ok(engine.compute()?.map(|compute| Self { card: Card::new(compute) }))
    }

    /// The adapter's name.
    pub fn name(&self) -> &str {
        self.card.compute.name()
    }

    /// Copies a level to the device, unless it is there; none if it is too small, or too large.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn level<'a>(&'a self, level: &'a Level<'a>, turns: &Turns, refines: bool) -> Result<Option<OnGpu<'a>>> {
        let (Turns::Batches(bounds), Some(places)) = (turns, places(level.graph)) else { return Ok(None) };
        if self.card.compute.is_discrete() && places < EDGES_MIN {
            return Ok(None);
        }
        let clock = level.watch.clock;
        let sent = clock.time(Part::Sending, || unless_full(self.send(level, bounds)))?;
        if let Some(on_gpu) = &sent {
            clock.count(Count::Moved);
            clock.time(Part::Compiling, || on_gpu.compile(refines))?;
            self.card.compute.save();
        }
        Ok(sent)
    }

    fn send<'a>(&'a self, level: &'a Level<'a>, bounds: &[u32]) -> Result<Option<OnGpu<'a>>> {
        let (compute, graph) = (&*self.card.compute, level.graph);
        let Some(resident) = self.resident(graph)? else { return Ok(None) };
        let batches = batch::batches(graph, bounds, resident.shape);
        let sizes = Sizes::of(graph.vertices(), &batches, resident.shape);
        let Some(held) = self.card.hold(&sizes.bytes()) else { return Ok(None) };
        let buffers = Buffers::new(compute, &sizes)?;
        Ok(Some(OnGpu { compute, level, resident, batches, buffers, _held: held }))
    }

    /// A graph in device memory; none if it does not fit.
    fn resident(&self, graph: &Graph) -> Result<Option<Arc<Resident>>> {
        if let Some(resident) = graph.copy.0.get() {
            return Ok(Some(Arc::clone(resident)));
        }
        let Edges::Memory(lists) = &graph.edges else { return Ok(None) };
        let places = lists.neighbours.len();
        let Some(shape) = self.shape(graph, lists) else { return Ok(None) };
        let Some(bytes) = Resident::bytes((graph.vertices(), places as u64), shape) else { return Ok(None) };
        let Some(held) = self.card.hold(&bytes) else { return Ok(None) };
        let resident = Resident::new(&self.card.compute, (&graph.masses, places as u32), shape, (bytes, held))?;
        resident.send(&self.card.compute, lists)?;
        Ok(Some(Arc::clone(graph.copy.0.get_or_init(|| Arc::new(resident)))))
    }

    /// The graph of groups: `group_of` has the group of each vertex, or the number of groups. None unless the graph is
    /// on the device, or if it does not fit.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn coarse(&self, graph: &Graph, (group_of, groups): (&[u32], u32)) -> Result<Option<Graph>> {
        unless_full(coarse::made(&self.card, graph, (group_of, groups)))
    }

    /// What a level's kernels depend on; none if the device cannot run them.
    fn shape(&self, graph: &Graph, lists: &Lists) -> Option<Shape> {
        let is_wide = batch::is_wide(graph);
        let weight_words = match lists.weights {
            Weights::Ones => 0,
            Weights::Narrow(_) => 1,
            Weights::Wide(_) => 2,
        };
        let (workgroup_bytes, buffers) = self.card.compute.limits();
        let slots = Shape::slots_in(workgroup_bytes, is_wide).filter(|_| buffers >= modules::BUFFERS_MAX)?;
        Some(Shape { is_wide, is_directed: !graph.masses.into.is_empty(), weight_words, slots })
    }
}

/// The places of a graph's edges, unless it is on disk.
fn places(graph: &Graph) -> Option<usize> {
    match &graph.edges {
        Edges::Memory(lists) => Some(lists.neighbours.len()),
        Edges::Device(lists) => Some(lists.resident.places as usize),
        Edges::Disk(_) => None,
    }
}
