//! The vertices so far, and what joins them: places of ids, and a forest over the places for each threshold.

use super::places::{Direct, Hashed, Places};
use super::vertices::Ids;
use crate::forest::Forest;
use crate::progress::Cancel;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use topostream_formats::huge::plain;
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::{Edge, Error, Result};

/// Edges that a thread takes at a time.
const PIECE: usize = 1 << 12;
/// Edges whose parents are read before one of them is linked, so that the processor reads them at the same time.
const GROUP: usize = 64;
/// Of this many slots of a table at most five have ids.
const OF_SLOTS: u64 = 8;
/// The most slots of a table.
const SLOTS_MAX: u64 = 1 << 31;
/// Bytes of an id's bit, its rank and its answer.
const DIRECT_BYTES: u64 = 13;
/// Bytes of a slot: its key, and a part of the answer.
const SLOT_BYTES: u64 = 8 + 12;

/// The components of a graph.
#[derive(Debug)]
pub struct Components {
    /// The ids of the vertices.
    pub ids: Ids,
    /// By threshold, for each vertex the place of its component's smallest id among `ids`.
    pub labels: Vec<Vec<u32>>,
    /// The number of edges read.
    pub edges: u64,
}

/// Vertices and forests.
pub(super) enum Graph {
    Direct(Direct, Vec<Forest>),
    /// With a number that there are not more ids than.
    Hashed(Hashed, Vec<Forest>, u64),
}

/// Calls a generic function with the places and the forests.
macro_rules! of_places {
    ($graph:expr, $places:ident, $forests:ident, $body:expr) => {
        match $graph {
            Graph::Direct($places, $forests) => $body,
            Graph::Hashed($places, $forests, _) => $body,
        }
    };
}

impl Graph {
    /// No vertices: with places for as many ids, from 0 on, as half of the memory has room for. The system provides the
    /// memory of ids that occur.
    pub fn new(forests: usize, room_bytes: u64) -> Result<Self> {
        let each = 4 * forests as u64 + DIRECT_BYTES;
        let mut span = (room_bytes / 2 / each).clamp(64, VERTICES_MAX) / 64 * 64;
        loop {
            match Self::direct(span, forests) {
                // The process may have less address space than its budget of memory.
                Err(Error::Allocation { .. }) if span > 1 << 16 => span = span / 128 * 64,
                made => return made,
            }
        }
    }

    fn direct(span: u64, forests: usize) -> Result<Self> {
        let forests = (0..forests).map(|_| Forest::new(span));
        Ok(Self::Direct(Direct::new(span)?, forests.collect::<Result<_>>()?))
    }

    /// Main memory of a table for so many ids, with its forests and the answer, in bytes.
    fn table_bytes(ids: u64, forests: usize) -> u64 {
        slots_for(ids).saturating_mul(SLOT_BYTES + 4 * forests as u64)
    }

    /// The least main memory for a graph of few vertices, in bytes.
    pub fn least_bytes(forests: usize) -> u64 {
        2 * Self::table_bytes(1 << 16, forests)
    }

    /// Whether an id is there.
    pub fn has(&self, id: u64) -> bool {
        of_places!(self, places, _forests, places.find(id).is_some())
    }

    /// Adds ids, for which there is [room](Self::make_room).
    pub fn insert(&self, ids: impl IntoParallelIterator<Item = u64>) {
        let ids = ids.into_par_iter();
        of_places!(self, places, _forests, ids.for_each(|id| _ = places.insert(id)));
    }

    /// Makes sure that `more` ids, none larger than `largest`, have places in so much memory.
    ///
    /// # Errors
    /// [`Error::Memory`] with `held_bytes` in addition; [`Error::Limit`]; [`Error::Allocation`].
    pub fn make_room(&mut self, largest: u64, more: u64, (room_bytes, held_bytes): (u64, u64)) -> Result<()> {
        let wanted = match self {
            Self::Direct(places, _) if largest < places.span() => return Ok(()),
            Self::Direct(places, _) => places.count() + more,
            Self::Hashed(places, _, at_most) => {
                *at_most += more;
                if slots_for(*at_most) <= places.slots() {
                    return Ok(());
                }
                *at_most = places.count() + more;
                // Where few are free, they would be counted for every chunk.
                if slots_for(*at_most + *at_most / 8) <= places.slots() {
                    return Ok(());
                }
                *at_most
            }
        };
        let forests = of_places!(self, _places, forests, forests.len());
        let wanted = wanted + wanted / 2;
        let (slots, is_free) = (slots_for(wanted), self.bytes() == 0);
        if slots > SLOTS_MAX {
            return Err(Error::Limit {
                what: "distinct ids that are not small numbers".into(),
                found: wanted,
                limit: SLOTS_MAX / OF_SLOTS * 5,
                hint: "make a store with `topostream format`, and run components over it".into(),
            });
        }
        let needed_bytes = Self::table_bytes(wanted, forests) + if is_free { 0 } else { self.bytes() };
        if needed_bytes > room_bytes {
            return Err(Error::Memory {
                what: "linking edges".into(),
                needed_bytes: held_bytes.saturating_add(needed_bytes),
                budget_bytes: held_bytes.saturating_add(room_bytes),
                parts: format!("reading and the program {held_bytes}; more ids may follow, and take as much again"),
            });
        }
        self.move_to(slots)
    }

    /// Main memory for the ids that there are, in bytes.
    fn bytes(&self) -> u64 {
        match self {
            Self::Direct(places, forests) => places.count() * (4 * forests.len() as u64 + DIRECT_BYTES),
            Self::Hashed(places, forests, _) => places.slots() * (SLOT_BYTES + 4 * forests.len() as u64),
        }
    }

    /// Moves everything to a table with so many slots.
    fn move_to(&mut self, slots: u64) -> Result<()> {
        let table = Hashed::new(slots)?;
        let count = of_places!(self, places, _forests, places.count());
        let moved = of_places!(self, places, forests, {
            places.each(|id, _| _ = table.insert(id));
            let new_place = |place: u32| table.find(places.id(place)).expect("it was inserted");
            let moved = forests.iter().map(|forest| {
                let moved = Forest::new(slots + 1)?;
                places.each(|_, place| moved.set_parent(new_place(place), new_place(forest.root(place))));
                Ok(moved)
            });
            moved.collect::<Result<Vec<_>>>()?
        });
        *self = Self::Hashed(table, moved, count);
        Ok(())
    }

    /// Links the edges of a chunk, each in the forest that `class` says, if any. There must be [room](Self::make_room).
    pub fn link(&self, chunk: &[Edge], class: impl Fn(&Edge) -> Option<usize> + Sync) {
        chunk.par_chunks(PIECE).for_each(|piece| {
            of_places!(
                self,
                places,
                forests,
                piece.chunks(GROUP).for_each(|group| link(places, forests, group, &class))
            );
        });
    }

    /// The components: an edge of a forest is in all forests before it, too.
    pub fn finish(self, edges: u64, cancel: &Cancel) -> Result<Components> {
        of_places!(self, places, forests, finish(places, forests, edges, cancel))
    }
}

/// The slots of a table for so many ids.
fn slots_for(ids: u64) -> u64 {
    (ids.saturating_mul(OF_SLOTS) / 5 + 1).next_power_of_two()
}

#[inline]
fn link<P: Places>(places: &P, forests: &[Forest], edges: &[Edge], class: impl Fn(&Edge) -> Option<usize>) {
    let (mut ends, mut parents) = ([(0, 0); GROUP], [(0, 0); GROUP]);
    for (ends, edge) in ends.iter_mut().zip(edges) {
        *ends = (places.place(edge.source), places.place(edge.dest));
    }
    let of_edge = |edge: &Edge| class(edge).map(|class| &forests[class]);
    for ((parents, &(one, other)), edge) in parents.iter_mut().zip(&ends).zip(edges) {
        // A place below another one has been noted before; most are.
        *parents = of_edge(edge).map_or((one, other), |forest| (forest.parent(one), forest.parent(other)));
        if parents.0 == one {
            places.note(one);
        }
        if parents.1 == other {
            places.note(other);
        }
    }
    for ((&(one, other), &(above_one, above_other)), edge) in ends.iter().zip(&parents).zip(edges) {
        if above_one != above_other
            && let Some(forest) = of_edge(edge)
        {
            forest.link(one, other, |one, other| places.id(one) < places.id(other));
        }
    }
}

fn finish<P: Places>(mut places: P, forests: Vec<Forest>, edges: u64, cancel: &Cancel) -> Result<Components> {
    for pair in forests.windows(2).rev() {
        let [smaller, larger] = pair else { continue };
        let is_smaller = |one, other| places.id(one) < places.id(other);
        places.each(|_, place| _ = smaller.link(place, larger.root(place), is_smaller));
        cancel.check()?;
    }
    let count = places.count();
    if count > VERTICES_MAX {
        return Err(crate::format::too_many_vertices(count));
    }
    let ids: Ids = places.sorted()?;
    let mut labels = Vec::new();
    for forest in forests {
        cancel.check()?;
        let label: Vec<AtomicU32> = topostream_formats::huge::try_zeroed("the labels", count)?;
        places.each(|_, place| {
            label[places.rank(place) as usize].store(places.rank(forest.root(place)), Relaxed);
        });
        labels.push(plain(label));
    }
    Ok(Components { ids, labels, edges })
}
