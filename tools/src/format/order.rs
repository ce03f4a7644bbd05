//! New numbers for vertices, by degree.
//!
//! ```text
//!  edges ─▶ tables of counts, one for each thread ─▶ degrees ─┬─ counting sort ─▶ numbers
//!                                                             └─ a file's order ─▶ numbers (`listed`)
//! ```

use super::id_map::IdMap;
use super::naming::Naming;
use super::options::FormatOptions;
use crate::sorting::partition::Buckets;
use rayon::prelude::*;
use topostream_formats::{VertexOrder, huge};

/// Degrees below this are sorted by counting.
const COUNTED_DEGREES: usize = 1 << 16;
/// The maximum number of classes of orders that do not sort by the degree itself: one for each number of bits.
const CLASSES: usize = 33;
/// The parts in which vertices are numbered, for each thread, and the fewest vertices of one.
const CHUNKS_PER_THREAD: usize = 8;
const CHUNK_MIN: usize = if cfg!(test) { 5 } else { 1 << 14 };
/// The bytes of a count in a table, and of a sum.
const TABLE_BYTES: u64 = 2;
const SUM_BYTES: u64 = 4;

/// Maximum main memory of renumbering, in bytes: tables of counts (2 per vertex each) and their sum (4), then counts
/// and both numberings (4 each), and the original ids (8) with an order if they are listed individually. Tables by id
/// take up to 5/2 times as much, and no list of ids.
pub fn memory_bytes(vertices: u64, listed: bool) -> u64 {
    if listed { 24 * vertices } else { 16 * vertices }
}

/// Whether vertices are renumbered before edges are sorted for the first time.
pub fn is_before_sorting(options: &FormatOptions) -> bool {
    options.order != VertexOrder::Natural && !options.remove_duplicates
}

/// How the ids of edges index tables.
#[derive(Clone, Copy)]
pub enum Slots<'a> {
    /// By the vertices that they name.
    Vertices(&'a Naming),
    /// Directly, which saves looking up the vertex: those that occur are listed in this map.
    Ids(&'a IdMap),
}

impl<'a> Slots<'a> {
    pub fn new(naming: &'a Naming) -> Self {
        let fits = |span: u64| span <= naming.vertices() / 2 * 5;
        match naming.untranslated() {
            Some(map) if map.span().is_some_and(fits) => Self::Ids(map),
            _ => Self::Vertices(naming),
        }
    }

    /// The length of tables.
    pub fn count(self) -> u64 {
        match self {
            Self::Vertices(naming) => naming.vertices(),
            Self::Ids(map) => map.span().unwrap_or(0),
        }
    }

    /// Whether ids are slots.
    pub fn is_direct(self) -> bool {
        match self {
            Self::Vertices(naming) => naming.is_translated(),
            Self::Ids(_) => true,
        }
    }

    #[inline]
    pub fn slot(self, id: u32) -> u32 {
        match self {
            Self::Vertices(naming) => naming.vertex(id),
            Self::Ids(_) => id,
        }
    }

    /// The number of a slot's vertex in natural order.
    pub fn natural(self, slot: u32) -> u32 {
        match self {
            Self::Vertices(_) => slot,
            Self::Ids(map) => map.vertex(slot.into()) as u32,
        }
    }

    /// The slot of the vertex with an original id, if there is one.
    pub fn of_original(self, id: u64) -> Option<u32> {
        match self {
            Self::Vertices(naming) => naming.vertex_of(id),
            Self::Ids(map) => map.get(id).map(|_| id as u32),
        }
    }

    /// Passes the slots of all vertices in ascending order.
    pub fn for_each(self, mut take: impl FnMut(u32)) {
        match self {
            Self::Vertices(naming) => (0..naming.vertices()).for_each(|vertex| take(vertex as u32)),
            Self::Ids(map) => map.ids().for_each(|id| take(id as u32)),
        }
    }
}

/// Counts of a thread by slot: 16 bits each, so that more of them are in its cache.
pub struct Table {
    counts: Vec<u16>,
    /// A slot for each time that its count has reached 2^16 and started again.
    carries: Vec<u32>,
}

impl Table {
    #[inline]
    fn add(&mut self, slot: u32) {
        let count = &mut self.counts[slot as usize];
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.carries.push(slot);
        }
    }
}

/// The degree of every vertex that an order sorts by.
pub struct Degrees {
    /// A table for each thread that counts: atomic additions take several times as long.
    pub tables: Vec<Table>,
}

impl Degrees {
    /// Tables for as many threads as `memory_bytes` allow: see [`memory_bytes`], or more. They are added up before the
    /// numberings are made.
    pub fn new(slots: u64, memory_bytes: u64) -> Self {
        let fitting = (memory_bytes / slots.max(1)).saturating_sub(SUM_BYTES) / TABLE_BYTES;
        let tables = rayon::current_num_threads().min(fitting as usize).max(1);
        let table = |_| Table { counts: vec![0; slots as usize], carries: Vec::new() };
        Self { tables: (0..tables).map(table).collect() }
    }

    /// Counts an edge in a table: at its source, or at both ends.
    #[inline]
    pub fn count(table: &mut Table, both: bool, source: u32, dest: u32) {
        table.add(source);
        if both {
            table.add(dest);
        }
    }

    /// Adds up all tables. Counts saturate at 2^32 - 1.
    pub fn sum(self) -> Vec<u32> {
        let mut sum = vec![0u32; self.tables.first().map_or(0, |table| table.counts.len())];
        for Table { counts, carries } in self.tables {
            sum.par_iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count.into()));
            carries.into_iter().for_each(|slot| sum[slot as usize] = sum[slot as usize].saturating_add(1 << 16));
        }
        sum
    }
}

/// New numbers for all vertices.
pub struct Numbering {
    /// `order[new]` is the vertex's slot.
    pub order: Vec<u32>,
    /// `numbers[slot]` is its new number; unspecified for slots without a vertex.
    pub numbers: Vec<u32>,
    /// `counts[slot]` is its degree.
    pub counts: Vec<u32>,
}

impl Numbering {
    /// Numbers the vertices by a counting sort of their degrees by slot. Large degrees are few, and are sorted by
    /// comparison.
    pub fn sorted(kind: VertexOrder, slots: Slots<'_>, counts: Vec<u32>) -> Self {
        let is_large = |count: u32| kind == VertexOrder::Degree && count as usize >= COUNTED_DEGREES;
        let class = |count: u32| match kind {
            VertexOrder::Degree => COUNTED_DEGREES - 1 - count as usize,
            VertexOrder::OutFirst => usize::from(count == 0),
            // The largest groups first; none for degree 0.
            VertexOrder::DegreeGroups => count.leading_zeros() as usize,
            VertexOrder::Natural | VertexOrder::Bfs | VertexOrder::Listed => 0,
        };
        if let (Slots::Vertices(_), true) = (slots, kind != VertexOrder::Degree) {
            return Self::in_classes(counts, class);
        }
        let (mut large, mut next, mut vertices) = (Vec::new(), vec![0usize; COUNTED_DEGREES], 0);
        slots.for_each(|slot| {
            let count = counts[slot as usize];
            vertices += 1;
            if is_large(count) {
                large.push((u32::MAX - count, slot));
            } else {
                next[class(count)] += 1;
            }
        });
        large.sort_unstable();
        let mut order: Vec<u32> = large.iter().map(|&(_, slot)| slot).collect();
        let mut begin = large.len();
        next.iter_mut().for_each(|next| begin += std::mem::replace(next, begin));
        order.resize(vertices, 0);
        let mut numbers = huge::zeroed(counts.len() as u64);
        (0u32..).zip(&large).for_each(|(new, &(_, slot))| numbers[slot as usize] = new);
        slots.for_each(|slot| {
            let count = counts[slot as usize];
            if !is_large(count) {
                let next = &mut next[class(count)];
                order[*next] = slot;
                numbers[slot as usize] = *next as u32;
                *next += 1;
            }
        });
        Self { order, numbers, counts }
    }

    /// Numbers the vertices by few classes of their degrees, on all threads. Every slot has a vertex.
    fn in_classes(counts: Vec<u32>, class: impl Fn(u32) -> usize + Sync) -> Self {
        let chunk = counts.len().div_ceil(CHUNKS_PER_THREAD * rayon::current_num_threads()).max(CHUNK_MIN);
        let count = |counts: &[u32]| {
            let mut sizes = [0; CLASSES];
            counts.iter().for_each(|&count| sizes[class(count)] += 1);
            sizes
        };
        let sizes: Vec<[usize; CLASSES]> = counts.par_chunks(chunk).map(count).collect();
        // Looked up at random places, twice for each edge.
        let (mut order, mut numbers) = (vec![0; counts.len()], huge::zeroed(counts.len() as u64));
        // The places of each chunk's vertices of each class.
        let mut places: Vec<Vec<(usize, &mut [u32])>> = sizes.iter().map(|_| Vec::with_capacity(CLASSES)).collect();
        let (mut begin, mut rest) = (0, &mut order[..]);
        for class in 0..CLASSES {
            for (places, sizes) in places.iter_mut().zip(&sizes) {
                let (some, after) = rest.split_at_mut(sizes[class]);
                places.push((begin, some));
                (begin, rest) = (begin + sizes[class], after);
            }
        }
        let chunks = numbers.par_chunks_mut(chunk).zip(counts.par_chunks(chunk)).zip(places).enumerate();
        chunks.for_each(|(at, ((numbers, counts), mut places))| {
            let mut next = [0; CLASSES];
            for ((number, &count), slot) in numbers.iter_mut().zip(counts).zip(at * chunk..) {
                let class = class(count);
                let (begin, places) = &mut places[class];
                places[next[class]] = slot as u32;
                *number = (*begin + next[class]) as u32;
                next[class] += 1;
            }
        });
        Self { order, numbers, counts }
    }

    /// Ranges of new sources that divide this many edges, taken from all of them.
    pub fn buckets(&self, records: usize) -> Buckets {
        // A range of `u32` would overflow behind the last of 2^32 vertices.
        let degrees = self.order.iter().enumerate().map(|(new, &slot)| (new as u32, self.counts[slot as usize]));
        Buckets::new(self.order.len() as u64, records, degrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    proptest! {
        #[test]
        fn orders_are_those_of_a_stable_sort(
            counts in prop::collection::vec(prop_oneof![
                4 => 0u32..5,
                1 => COUNTED_DEGREES as u32 - 2..COUNTED_DEGREES as u32 + 2,
                1 => u32::MAX - 1..=u32::MAX,
            ], 0..60),
            tables in 1usize..4,
        ) {
            use VertexOrder::{Bfs, Degree, DegreeGroups, Listed, Natural, OutFirst};
            for kind in [Natural, Degree, OutFirst, DegreeGroups] {
                let naming = Naming::vertices_below(counts.len() as u64);
                let mut degrees = Degrees { tables: (0..tables).map(|_| table(counts.len())).collect() };
                // Any division of a count is the same sum, saturated or not.
                for (vertex, &count) in counts.iter().enumerate() {
                    add(&mut degrees.tables[vertex % tables], vertex, count / 2);
                    add(&mut degrees.tables[(vertex + 1) % tables], vertex, count.div_ceil(2));
                }
                let Numbering { order, numbers, .. } = Numbering::sorted(kind, Slots::Vertices(&naming), degrees.sum());
                let mut expected: Vec<u32> = (0..counts.len() as u32).collect();
                match kind {
                    Natural => {}
                    Degree => expected.sort_by_key(|&vertex| Reverse(counts[vertex as usize])),
                    OutFirst => expected.sort_by_key(|&vertex| counts[vertex as usize] == 0),
                    DegreeGroups => {
                        expected.sort_by_key(|&vertex| Reverse(counts[vertex as usize].checked_ilog2()));
                    }
                    Bfs | Listed => unreachable!("not among these"),
                }
                prop_assert_eq!(&order, &expected);
                prop_assert!(order.iter().enumerate().all(|(new, &old)| numbers[old as usize] == new as u32));
            }
        }
    }

    fn table(slots: usize) -> Table {
        Table { counts: vec![0; slots], carries: Vec::new() }
    }

    /// As if `count` edges had been counted.
    fn add(table: &mut Table, slot: usize, count: u32) {
        let sum = u32::from(table.counts[slot]) + (count & 0xFFFF);
        table.counts[slot] = sum as u16;
        table.carries.extend(std::iter::repeat_n(slot as u32, ((count >> 16) + (sum >> 16)) as usize));
    }

    #[test]
    fn counts_are_carried_and_saturate() {
        let (mut some, mut more) = (table(2), table(2));
        (0..3 << 16).for_each(|_| Degrees::count(&mut some, true, 0, 1));
        (0..5).for_each(|_| Degrees::count(&mut more, false, 0, 1));
        add(&mut more, 1, u32::MAX);
        assert_eq!(Degrees { tables: vec![some, more] }.sum(), [(3 << 16) + 5, u32::MAX]);
    }
}
