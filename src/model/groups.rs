//! Names groups of vertices after the one with the smallest original id, at the end of a run.
//!
//! ```text
//!  vertex   0  1  2  3  4  5
//!  label    2  2  2  5  4  5     a vertex of the group, the head: 2, 4 and 5
//!  id      40 31 35  8  2  9     read for as many groups as fit in memory: the smallest id, and whose it is
//!  label    1  1  1  3  4  3
//! ```
//!
//! Groups of one vertex are named already. Labels are changed in place: while the ids are read, the labels of heads
//! stay.

use crate::error::{Error, Result};
use crate::model::algorithm::{Groups, State};
use crate::model::bits::{Bits, Ranks};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use topostream_formats::Store;
use topostream_formats::huge::zeroed;
use topostream_formats::names::StoredNames;

/// Ids that are read at a time.
const READ_IDS: usize = 1 << 16;
/// Memory for smallest ids that is used in any case, in bytes; more for large graphs, so that there are few passes.
const SMALLEST_BYTES: u64 = 16 << 20;
/// Bytes of a group: its smallest id, and the vertex that has it.
const GROUP_BYTES: u64 = 12;

/// The number of groups whose smallest ids are kept at a time. Each has two vertices at least.
fn groups_at_once(vertices: u64) -> u64 {
    (vertices / 2).min(SMALLEST_BYTES.max(vertices / 2) / GROUP_BYTES)
}

/// Whether labels are what they have to be at the end.
fn are_named(groups: &Groups, store: &Store) -> bool {
    let ids = &store.manifest().ids;
    groups.is_smallest && ids.is_ascending() && !ids.is_names()
}

/// Main memory for naming groups, in bytes.
pub(crate) fn memory_bytes(groups: Option<&Groups>, store: &Store) -> u64 {
    let vertices = store.vertices();
    match groups {
        Some(groups) if !are_named(groups, store) => {
            let sets = 4 * Bits::memory_bytes(vertices) + 8 * READ_IDS as u64;
            let ranks = if store.manifest().ids.is_names() { StoredNames::ascending_bytes(vertices) } else { 0 };
            sets + ranks + GROUP_BYTES * groups_at_once(vertices)
        }
        _ => 0,
    }
}

/// Replaces the labels of a finished run by vertices.
///
/// # Errors
/// Errors from reading ids; [`Error::Interrupted`] once `cancel` is set.
pub(crate) fn name(groups: &Groups, state: &State, store: &Store, cancel: &AtomicBool) -> Result<()> {
    if are_named(groups, store) {
        return Ok(());
    }
    let label = state.attributes.u32(groups.label);
    each_vertex(store.vertices(), |vertex| label.set(vertex, (groups.vertex_of)(label.get(vertex))));
    name_labels(label.cells(), store, cancel)
}

/// Replaces labels, each of which is a vertex of its group and that vertex's own label.
///
/// # Errors
/// The errors of [`name`].
pub(crate) fn name_labels(labels: &[AtomicU32], store: &Store, cancel: &AtomicBool) -> Result<()> {
    let (ids, vertices) = (Ids::of(store, cancel)?, store.vertices());
    let read = |take: &dyn Fn(u64, &[u64])| ids.each(cancel, take);
    let heads = Heads::of(labels, vertices);
    Named::of(labels, vertices, &heads).name(groups_at_once(vertices) as usize, &read)
}

fn each_vertex(vertices: u64, take: impl Fn(u32) + Sync) {
    (0..vertices).into_par_iter().for_each(|vertex| take(vertex as u32));
}

/// What is compared: original ids as numbers, or the places of names in their order.
enum Ids<'a> {
    Numbers(&'a Store),
    /// By vertex.
    Places(Vec<u32>),
}

impl<'a> Ids<'a> {
    fn of(store: &'a Store, cancel: &AtomicBool) -> Result<Self> {
        if !store.manifest().ids.is_names() {
            return Ok(Self::Numbers(store));
        }
        let ids = store.ids()?;
        let order = ids.names().map(|names| names.ascending(cancel)).transpose()?;
        Ok(Self::Places(inverted(&order.unwrap_or_default())))
    }

    /// Passes all ids in the order of the vertices, some at a time, with the first vertex.
    fn each(&self, cancel: &AtomicBool, take: &dyn Fn(u64, &[u64])) -> Result<()> {
        let (mut first, mut ids) = (0, Vec::with_capacity(READ_IDS));
        let mut add = |some: &mut dyn Iterator<Item = u64>| {
            loop {
                let room = READ_IDS - ids.len();
                ids.extend((&mut *some).take(room));
                if ids.len() < READ_IDS {
                    break true;
                }
                take(first, &ids);
                first += ids.len() as u64;
                ids.clear();
                if cancel.load(Relaxed) {
                    break false;
                }
            }
        };
        match self {
            Self::Numbers(store) => store.each_id(|some| add(&mut some.iter().copied()))?,
            Self::Places(places) => _ = add(&mut places.iter().map(|&place| u64::from(place))),
        }
        take(first, &ids);
        if cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The place of each vertex in an order.
pub(crate) fn inverted(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&vertex, place)| places[vertex as usize] = place);
    places
}

/// Passes all ids to a function.
type Read<'a> = dyn Fn(&dyn Fn(u64, &[u64])) -> Result<()> + 'a;

/// The heads of groups: the vertices that are their own labels.
struct Heads {
    all: Bits,
    /// The heads of groups of several vertices.
    shared: Bits,
}

impl Heads {
    fn of(label: &[AtomicU32], vertices: u64) -> Self {
        let (all, shared) = (Bits::new(vertices), Bits::new(vertices));
        each_vertex(vertices, |vertex| {
            let head = label[vertex as usize].load(Relaxed);
            if head == vertex {
                all.insert(vertex)
            } else {
                shared.insert(head)
            };
        });
        Self { all, shared }
    }
}

/// Labels that are replaced.
struct Named<'a> {
    label: &'a [AtomicU32],
    vertices: u64,
    heads: &'a Heads,
    /// The places of shared heads among all of them.
    places: Ranks<'a>,
}

impl<'a> Named<'a> {
    fn of(label: &'a [AtomicU32], vertices: u64, heads: &'a Heads) -> Self {
        Self { label, vertices, heads, places: Ranks::of(&heads.shared) }
    }

    fn get(&self, vertex: u32) -> u32 {
        self.label[vertex as usize].load(Relaxed)
    }

    fn set(&self, vertex: u32, label: u32) {
        self.label[vertex as usize].store(label, Relaxed);
    }

    /// Names all groups, some at a time.
    fn name(&self, at_once: usize, read: &Read<'_>) -> Result<()> {
        let (shared, count) = (&self.heads.shared, self.places.count() as usize);
        let at_once = at_once.min(count).max(1);
        let smallest: Vec<AtomicU64> = zeroed(at_once as u64);
        let mut found: Vec<AtomicU32> = Vec::new();
        let mut are_short = true;
        for first in (0..count).step_by(at_once) {
            let place =
                |head: u32| (self.places.rank(head) as usize).checked_sub(first).filter(|&place| place < at_once);
            let of = |vertex: u32| Some(self.get(vertex)).filter(|&head| shared.contains(head)).and_then(place);
            // Ids of 32 bits leave room for whose they are: one reading is enough.
            are_short = are_short && {
                let all_short = AtomicBool::new(true);
                least(&smallest, read, &of, |vertex, id| {
                    if id > u32::MAX.into() {
                        all_short.store(false, Relaxed);
                    }
                    id << 32 | u64::from(vertex)
                })?;
                all_short.into_inner()
            };
            if !are_short {
                least(&smallest, read, &of, |_, id| id)?;
                found.resize_with(at_once, AtomicU32::default);
                read(&|vertex, ids| {
                    each_id(vertex, ids, |vertex, id| {
                        if let Some(place) = of(vertex).filter(|&place| smallest[place].load(Relaxed) == id) {
                            found[place].store(vertex, Relaxed);
                        }
                    });
                })?;
            }
            each_vertex(self.vertices, |head| {
                if let Some(place) = Some(head).filter(|&head| shared.contains(head)).and_then(place) {
                    let short = || smallest[place].load(Relaxed) as u32;
                    self.set(head, if are_short { short() } else { found[place].load(Relaxed) });
                }
            });
        }
        each_vertex(self.vertices, |vertex| {
            if !self.heads.all.contains(vertex) {
                self.set(vertex, self.get(self.get(vertex)));
            }
        });
        Ok(())
    }
}

/// The least key of the vertices of each group, by the group's place, if it is one of these groups.
fn least(
    smallest: &[AtomicU64],
    read: &Read<'_>,
    place_of: &(impl Fn(u32) -> Option<usize> + Sync),
    key: impl Fn(u32, u64) -> u64 + Sync,
) -> Result<()> {
    smallest.par_iter().for_each(|smallest| smallest.store(u64::MAX, Relaxed));
    read(&|vertex, ids| {
        each_id(vertex, ids, |vertex, id| {
            let key = key(vertex, id);
            if let Some(smallest) = place_of(vertex).map(|place| &smallest[place])
                && key < smallest.load(Relaxed)
            {
                smallest.fetch_min(key, Relaxed);
            }
        });
    })
}

/// Passes vertices and their ids, on all threads.
fn each_id(first: u64, ids: &[u64], take: impl Fn(u32, u64) + Sync) {
    ids.par_iter().enumerate().with_min_len(1 << 10).for_each(|(at, &id)| take((first + at as u64) as u32, id));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Part;
    use crate::model::attributes::{Attribute, AttributeType, Attributes, Initial, Merge, Role};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_named_after_their_smallest_ids(
            (heads, ids) in prop::collection::hash_set(
                prop_oneof![any::<u64>(), 0u64..1000, u64::MAX - 500..=u64::MAX],
                1..300,
            )
            .prop_flat_map(|ids| {
                let vertices = ids.len();
                let ids = Just(Vec::from_iter(ids)).prop_shuffle();
                (prop::collection::vec(0..vertices as u32, vertices), ids)
            }),
            at_once in 1usize..40,
        ) {
            let vertices = ids.len();
            // Every vertex has the label of a vertex that is its own.
            let is_head = |vertex: u32| vertex == 0 || heads[vertex as usize] % 3 == 0;
            let head = |vertex: u32| (0..=vertex).rev().map(|at| heads[at as usize].min(at)).find(|&at| is_head(at));
            let head = |vertex: u32| if is_head(vertex) { vertex } else { head(vertex).unwrap_or(0) };
            let (of, role, merge) = (AttributeType::U32, Role::Writable, Merge::Min);
            let declared = [Attribute { name: "label", of, role, merge, initial: Initial::Vertex, lane: None }];
            let attributes = Attributes::new(&declared, &Part::whole(vertices as u64));
            let label = attributes.u32(0);
            (0..vertices as u32).for_each(|vertex| label.set(vertex, head(vertex)));
            let read = |take: &dyn Fn(u64, &[u64])| {
                ids.chunks(7).enumerate().for_each(|(at, ids)| take(7 * at as u64, ids));
                Ok(())
            };
            let heads = Heads::of(label.cells(), vertices as u64);
            Named::of(label.cells(), vertices as u64, &heads).name(at_once, &read).unwrap();
            for vertex in 0..vertices as u32 {
                let members = (0..vertices as u32).filter(|&other| head(other) == head(vertex));
                prop_assert_eq!(Some(label.get(vertex)), members.min_by_key(|&other| ids[other as usize]));
            }
        }
    }
}
