//! What edges of the input give: made on any thread, and added up in the order of the input.

use super::id_map::{IdCollector, IdMap};
use super::intake::{Batch, Way};
use super::repeated;
use super::reverses::Balance;
use super::source::too_many_vertices;
use super::survey::{Halvings, Sight};
use crate::sorting::record::{Record, sortable};
use topostream_formats::{Edge, Error, IdSpace, Result, WeightType};

/// Edges that a task takes.
pub const TASK_EDGES: usize = 1 << 12;

/// How edges are taken.
pub struct Rules<'a> {
    pub space: IdSpace,
    pub keep_loops: bool,
    pub weights: Option<WeightType>,
    /// Whether weights have the place of their edge in the input above them.
    pub has_order: bool,
    /// If each edge must have its reverse.
    pub balance: Option<&'a Balance>,
    pub way: Way,
    pub halvings: Halvings,
    /// If ids have to be looked up.
    pub map: Option<&'a IdMap>,
    /// If ids need no look-up, and the space is of the ids that occur.
    pub collector: &'a IdCollector,
}

/// What some edges give.
pub struct Taken<R> {
    /// Their number, up to the fault.
    pub edges: u64,
    pub batch: Batch<R>,
    pub sight: Sight,
    pub balance: Option<Balance>,
    pub largest: Option<u64>,
    /// Ids for which the collector has no room yet.
    pub ids: Vec<u64>,
    pub self_loops_removed: u64,
    /// Why the edge after them cannot be taken.
    pub fault: Option<Error>,
}

impl<R> Default for Taken<R> {
    fn default() -> Self {
        let (batch, sight) = (Batch::default(), Sight::default());
        let (edges, self_loops_removed) = (0, 0);
        Self { edges, batch, sight, balance: None, largest: None, ids: Vec::new(), self_loops_removed, fault: None }
    }
}

impl<R: Record> Taken<R> {
    /// Takes these edges in place of those before; `first` edges of the input precede them.
    pub fn make(&mut self, rules: &Rules<'_>, edges: &[Edge], first: u64) {
        self.batch.clear();
        self.sight.clear();
        self.ids.clear();
        self.balance = rules.balance.map(Balance::empty);
        (self.edges, self.largest, self.self_loops_removed, self.fault) = (0, None, 0, None);
        if matches!(rules.space, IdSpace::Named) && rules.map.is_none() {
            // In a loop of its own, which waits for several places in the collector at a time.
            let ids = edges.iter().flat_map(|edge| [edge.source, edge.dest]);
            self.ids.extend(ids.filter(|&id| !rules.collector.note(id)));
        }
        for edge in edges {
            if let Err(error) = self.take(rules, edge, first + self.edges + 1) {
                self.fault = Some(error);
                return;
            }
            self.edges += 1;
        }
    }

    /// Takes an edge, which is in the input at this place, from 1.
    #[inline]
    fn take(&mut self, rules: &Rules<'_>, edge: &Edge, place: u64) -> Result<()> {
        let (source, dest) = (self.id(rules, edge.source)?, self.id(rules, edge.dest)?);
        let weight = rules.weights.map_or(0, |of| sortable(edge.weight, of));
        let placed = if rules.has_order { repeated::in_order(place, weight)? } else { weight };
        self.sight.add(rules.halvings, edge.source, edge.dest);
        if let Some(balance) = &mut self.balance {
            balance.add(edge.source, edge.dest, weight);
        }
        if source == dest && !rules.keep_loops {
            self.self_loops_removed += 1;
        } else {
            self.batch.push(rules.way, source, dest, placed);
        }
        Ok(())
    }

    /// The 32 bits by which an id is sorted.
    #[inline]
    fn id(&mut self, rules: &Rules<'_>, id: u64) -> Result<u32> {
        match rules.space {
            IdSpace::Range { first, count } => match id.checked_sub(first) {
                Some(vertex) if vertex < count => Ok(vertex as u32),
                _ if count == 0 => Err(Error::Invalid(format!("vertex id {id}: the graph has no vertices"))),
                _ => Err(Error::Invalid(format!("vertex id {id}: expected {first} to {}", first + (count - 1)))),
            },
            IdSpace::UpToLargest => {
                self.largest = self.largest.max(Some(id));
                u32::try_from(id).map_err(|_| too_many_vertices(id.saturating_add(1)))
            }
            IdSpace::Named => match rules.map {
                Some(map) => map.get(id).map(|vertex| vertex as u32).ok_or_else(|| unknown_vertex(id)),
                None => u32::try_from(id).map_err(|_| too_many_vertices(id.saturating_add(1))),
            },
        }
    }
}

#[cold]
fn unknown_vertex(id: u64) -> Error {
    Error::Invalid(format!("vertex id {id}: no such vertex is declared, or the input has changed while it was read"))
}
