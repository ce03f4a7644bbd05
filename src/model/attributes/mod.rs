//! Vertex attributes: the values of every vertex, declared as data so that any device can choose their layout.

mod columns;
mod declaration;
mod dense;

pub use columns::{F32Column, F64Column, Fixed63Column, Row, U32Column, U64Column, to_fixed63};
pub use declaration::{Attribute, AttributeType, Initial, LANES, Merge, Role};

use crate::model::Part;
use crate::model::bits::Bits;
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use topostream_formats::huge::zeroed;

/// The attributes of a run on the CPU device, in the order of their declaration.
#[derive(Debug)]
pub struct Attributes(Vec<Column>);

#[derive(Debug)]
enum Column {
    U32(U32Column),
    /// A lane of a row.
    Lane(Arc<Row>, usize),
    F32(F32Column),
    F64(F64Column),
    Fixed63(Fixed63Column),
    U64(U64Column),
    Bit(Bits),
}

/// The values of the vertices that may be written here, and copies of the others.
#[derive(Debug)]
struct Cells<T> {
    /// The first vertex with a cell.
    first: u32,
    cells: Vec<T>,
    /// The values of all vertices that their owners last sent; empty if unused.
    seen: Vec<T>,
}

impl<T: Zeroable> Cells<T> {
    fn new(part: &Part, role: Role) -> Self {
        let held = if part.sharded && role.is_written() { part.own.clone() } else { 0..part.vertices };
        let seen = if part.has_seen(role) { part.vertices } else { 0 };
        Self { first: held.start as u32, cells: zeroed(held.end - held.start), seen: zeroed(seen) }
    }
}

impl<T> Cells<T> {
    /// The cell that a vertex's value is written to; `None` for other devices' vertices.
    #[inline(always)]
    fn at(&self, vertex: u32) -> Option<&T> {
        self.cells.get(vertex.wrapping_sub(self.first) as usize)
    }

    /// The cell that a vertex's value is read from.
    #[inline(always)]
    fn known(&self, vertex: u32) -> &T {
        self.at(vertex).unwrap_or_else(|| &self.seen[vertex as usize])
    }

    #[inline(always)]
    fn prefetch(&self, vertex: u32) {
        crate::model::prefetch::line_of(&self.cells, vertex.wrapping_sub(self.first) as usize);
    }
}

impl Attributes {
    /// Allocates the values that a part of the vertices needs, zeroed.
    #[doc(hidden)]
    pub fn new(declared: &[Attribute], part: &Part) -> Self {
        let mut row = None;
        let column = |attribute: &Attribute| match attribute.of {
            AttributeType::U32 if attribute.lane.is_some() => {
                let lane = usize::from(attribute.lane.expect("just checked"));
                if lane == 0 {
                    row = Some(Arc::new(Row(Cells::new(part, attribute.role))));
                }
                Column::Lane(Arc::clone(row.as_ref().expect("rows begin with their first lane")), lane)
            }
            AttributeType::U32 => Column::U32(U32Column(Cells::new(part, attribute.role))),
            AttributeType::F32 => Column::F32(F32Column(Cells::new(part, attribute.role))),
            AttributeType::F64 => Column::F64(F64Column(Cells::new(part, attribute.role))),
            AttributeType::Fixed63 => Column::Fixed63(Fixed63Column(Cells::new(part, attribute.role))),
            AttributeType::U64 => Column::U64(U64Column(Cells::new(part, attribute.role))),
            AttributeType::Bit if attribute.role.is_written() => {
                Column::Bit(Bits::of_own(part.vertices, part.writable()))
            }
            AttributeType::Bit => Column::Bit(Bits::new(part.vertices)),
        };
        Self(declared.iter().map(column).collect())
    }

    /// Sets the initial values, as declared. Values that are added up across devices are set at their owner only.
    pub(crate) fn set_initial(&self, declared: &[Attribute], part: &Part) {
        for (column, attribute) in
            self.0.iter().zip(declared).filter(|(_, attribute)| attribute.initial != Initial::Bits(0))
        {
            let vertices = if attribute.merge == Merge::Add { part.own.clone() } else { 0..part.vertices };
            let vertices = vertices.start as usize..vertices.end as usize;
            vertices.into_par_iter().with_min_len(PARALLEL_MIN).for_each(|vertex| {
                let bits = attribute.initial.of(vertex as u32);
                column.set_bits(vertex as u32, bits);
                column.see(vertex as u32, bits);
            });
        }
    }

    /// Sets one value by its bits, of a 64-bit integer by the bits of each half; if another device is the owner, as if
    /// it had sent the value.
    pub(crate) fn set_bits(&self, place: usize, vertex: u32, bits: u32) {
        self.0[place].set_bits(vertex, bits);
        self.0[place].see(vertex, bits);
    }

    /// The attribute that was declared at `place` as [`AttributeType::U32`].
    #[inline]
    pub fn u32(&self, place: usize) -> &U32Column {
        match &self.0[place] {
            Column::U32(column) => column,
            other => panic!("attribute {place} has another type: {}", other.name()),
        }
    }

    /// The row of attributes that begins with the one declared at `place`.
    #[inline]
    pub fn row(&self, place: usize) -> &Row {
        match &self.0[place] {
            Column::Lane(row, 0) => row,
            other => panic!("no row begins with attribute {place}: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::F32`].
    #[inline]
    pub fn f32(&self, place: usize) -> &F32Column {
        match &self.0[place] {
            Column::F32(column) => column,
            other => panic!("attribute {place} has another type: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::F64`].
    #[inline]
    pub fn f64(&self, place: usize) -> &F64Column {
        match &self.0[place] {
            Column::F64(column) => column,
            other => panic!("attribute {place} has another type: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::Fixed63`].
    #[inline]
    pub fn fixed63(&self, place: usize) -> &Fixed63Column {
        match &self.0[place] {
            Column::Fixed63(column) => column,
            other => panic!("attribute {place} has another type: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::U64`].
    #[inline]
    pub fn u64(&self, place: usize) -> &U64Column {
        match &self.0[place] {
            Column::U64(column) => column,
            other => panic!("attribute {place} has another type: {}", other.name()),
        }
    }

    /// The attribute that was declared at `place` as [`AttributeType::Bit`].
    #[inline]
    pub fn bits(&self, place: usize) -> &Bits {
        match &self.0[place] {
            Column::Bit(column) => column,
            other => panic!("attribute {place} has another type: {}", other.name()),
        }
    }
}

/// The minimum number of items of a parallel task.
const PARALLEL_MIN: usize = 1 << 14;

/// A 64-bit integer whose halves have the same bits.
fn both_halves(bits: u32) -> u64 {
    u64::from(bits) << 32 | u64::from(bits)
}

impl Column {
    fn set_bits(&self, vertex: u32, bits: u32) {
        match self {
            Self::U32(column) => column.set(vertex, bits),
            Self::Lane(row, lane) => row.set(vertex, *lane, bits),
            Self::F32(column) => column.set(vertex, f32::from_bits(bits)),
            Self::Bit(column) => {
                if bits != 0 {
                    column.learn(vertex);
                }
            }
            Self::U64(column) => column.set(vertex, both_halves(bits)),
            Self::F64(_) | Self::Fixed63(_) => panic!("sums of 64 bits begin at zero"),
        }
    }

    /// Stores a value received from a vertex's owner, if copies are kept.
    fn see(&self, vertex: u32, bits: u32) {
        fn store<T>(cells: &Cells<T>, vertex: u32, store: impl Fn(&T)) {
            if let Some(cell) = cells.seen.get(vertex as usize) {
                store(cell);
            }
        }
        match self {
            Self::U32(U32Column(cells)) | Self::F32(F32Column(cells)) => {
                store(cells, vertex, |cell| cell.store(bits, Relaxed));
            }
            Self::Lane(row, lane) => store(&row.0, vertex, |cells| cells[*lane].store(bits, Relaxed)),
            Self::U64(U64Column(cells)) => store(cells, vertex, |cell| cell.store(both_halves(bits), Relaxed)),
            Self::F64(_) | Self::Fixed63(_) | Self::Bit(_) => {}
        }
    }

    fn name(&self) -> &'static str {
        let of = match self {
            Self::U32(_) | Self::Lane(..) => AttributeType::U32,
            Self::F32(_) => AttributeType::F32,
            Self::F64(_) => AttributeType::F64,
            Self::Fixed63(_) => AttributeType::Fixed63,
            Self::U64(_) => AttributeType::U64,
            Self::Bit(_) => AttributeType::Bit,
        };
        of.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The values of the next range begin where the values of a range end, even if the two share a word.
    #[test]
    fn sizes_and_word_ranges_agree() {
        use AttributeType::{Bit, F32, F64, Fixed63, U32, U64};
        for (of, bits) in [(U32, 32), (F32, 32), (F64, 64), (Fixed63, 64), (U64, 64), (Bit, 1)] {
            assert_eq!((of.bits(), of.is_wide()), (bits, bits == 64));
            for words in [2, 4, 1 << 18] {
                let vertices = of.vertices_in(words);
                assert_eq!((of.words(vertices), of.word_range(&(vertices..vertices)).start), (words, words));
            }
            let range = of.word_range(&(33..70));
            assert!(32 * range.start <= 33 * bits && 32 * range.end >= 70 * bits && 32 * range.end < 71 * bits + 31);
            assert_eq!(of.words(1 << 32), bits << 27);
        }
    }

    /// 64-bit integers are added modulo 2^64; signed ones are in two's complement.
    #[test]
    fn signed_numbers_add_up() {
        let column = U64Column(Cells::new(&Part::whole(2), Role::Accumulated));
        for term in [5i64, -7, i64::MIN, i64::MAX, 1 << 40] {
            column.add(1, term.cast_unsigned());
        }
        assert_eq!((column.get(0), column.get(1).cast_signed()), (0, (1 << 40) - 3));
    }

    /// 64-bit integers begin with the same bits in both halves, and are lowered and raised as whole numbers.
    #[test]
    fn wide_integers_are_lowered_and_raised() {
        let (of, role, merge) = (AttributeType::U64, Role::Writable, Merge::Min);
        let declared = [Attribute { name: "least", of, role, merge, initial: Initial::Bits(u32::MAX), lane: None }];
        let part = Part { vertices: 128, own: 0..64, sharded: true };
        let attributes = Attributes::new(&declared, &part);
        attributes.set_initial(&declared, &part);
        let column = attributes.u64(0);
        assert_eq!([7, 100].map(|vertex| column.get(vertex)), [u64::MAX; 2]);
        assert!(column.min(7, 5 << 32 | 3) && !column.min(7, 5 << 32 | 4) && column.min(7, 4 << 32 | 9));
        assert!(!column.max(7, 3) && column.max(7, 5 << 32) && !column.min(100, 0));
        assert_eq!([7, 100].map(|vertex| column.get(vertex)), [5 << 32, u64::MAX]);
        // As messages do: an own value is merged, another's replaces the copy.
        attributes.meet(0, Merge::Min, 7, 4 << 32 | 1);
        attributes.meet(0, Merge::Min, 7, 5 << 32);
        attributes.meet(0, Merge::Min, 100, 6 << 32);
        assert_eq!([7, 100].map(|vertex| attributes.value(0, vertex)), [4 << 32 | 1, 6 << 32]);
        attributes.set_bits(0, 100, 0);
        assert_eq!(column.get(100), 0);
    }

    /// Doubles go from device to device as two words, and are merged as numbers.
    #[test]
    fn doubles_are_exchanged() {
        use std::sync::atomic::AtomicU32;
        let declared = |merge| {
            let (of, role, initial) = (AttributeType::F64, Role::Accumulated, Initial::Bits(0));
            Attribute { name: "sum", of, role, merge, initial, lane: None }
        };
        let (large, small) = (2.0f64.powi(1000), 1e-300);
        for (merge, expected) in [(Merge::Add, large + 3.0), (Merge::Min, 3.0), (Merge::Max, large)] {
            let [mine, theirs] = [(); 2].map(|()| Attributes::new(&[declared(merge)], &Part::whole(9)));
            mine.f64(0).set(7, 3.0);
            theirs.f64(0).add(7, large);
            theirs.f64(0).set(8, small);
            let words: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
            theirs.put(0, &(7..9), &words);
            mine.merge(0, merge, &(7..8), &words[..2]);
            mine.take(0, &(8..9), &words[2..]);
            assert_eq!([6, 7, 8].map(|vertex| mine.f64(0).get(vertex)), [0.0, expected, small], "{merge:?}");
            mine.clear(0, &(8..9));
            assert_eq!((mine.f64(0).take(7), mine.f64(0).get(7), mine.f64(0).get(8)), (expected, 0.0, 0.0));
        }
    }

    proptest! {
        #[test]
        fn fixed_point_sums_do_not_depend_on_order(
            mut terms in prop::collection::vec(0.0f64..0.01, 0..100),
            seed: u64,
        ) {
            let add_all = |terms: &[f64]| {
                let column = Fixed63Column(Cells::new(&Part::whole(1), Role::Accumulated));
                terms.iter().for_each(|&term| column.add(0, to_fixed63(term)));
                column.get(0)
            };
            let exact: f64 = terms.iter().sum();
            let sum = add_all(&terms);
            prop_assert!((sum - exact).abs() <= 1e-15);
            let at = seed as usize % terms.len().max(1);
            terms.rotate_left(at);
            terms.reverse();
            prop_assert_eq!(add_all(&terms).to_bits(), sum.to_bits());
        }
    }
}
