//! The vertices with the largest values of a column.

use super::failure::Failure;
use super::vertices::parts;
use crate::algorithms::command::Figure;
use crate::model::algorithm::{Answer, AnswerValues};
use crate::store::{Store, VertexId};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A vertex and its value.
pub type Ranked = (u32, Figure);

/// Returns the `count` vertices with the largest values, the largest first, equal ones by original id; vertices without
/// a value are left out, such as those that were not reached. Takes 32 bytes of memory for each of them, and its id.
/// `None` if the values are vertices, which have no order.
///
/// # Errors
/// Errors from reading ids.
pub fn largest(answer: &Answer<'_>, count: usize, store: &Store) -> Result<Option<Vec<Ranked>>, Failure> {
    match &answer.values {
        AnswerValues::F64(of) => {
            let show = |part, best: &mut Best<i64>| {
                of.for_each_slice(part, |first, values| {
                    (0..).zip(values).for_each(|(place, value)| best.see(key(*value), first + place));
                });
            };
            let found = best_by_id(count, show, |vertex| key(of.get(vertex)), store)?;
            Ok(Some(found.into_iter().map(|vertex| (vertex, Figure::of(answer, of.get(vertex)))).collect()))
        }
        AnswerValues::Integer(of) => {
            let show = |part, best: &mut Best<u64>| {
                of.for_each_slice(part, |first, values| {
                    (0..).zip(values).for_each(|(place, value)| best.see(*value, first + place));
                });
            };
            let found = best_by_id(count, show, |vertex| of.get(vertex), store)?;
            Ok(Some(found.into_iter().map(|vertex| (vertex, Figure::Integer(of.get(vertex).unwrap_or(0)))).collect()))
        }
        AnswerValues::Vertex(_) => Ok(None),
    }
}

/// An integer of a finite number: larger ones are of larger numbers.
fn key(value: f64) -> Option<i64> {
    value.is_finite().then(|| (value.to_bits() ^ (((value.to_bits() as i64 >> 63) as u64) >> 1)) as i64)
}

/// Returns the vertices with the largest values, the largest first, equal ones by original id. `show` shows the values
/// of some vertices, in order; `value` is the value of one.
///
/// # Errors
/// Errors from reading ids.
pub fn best_by_id<K: Ord + Copy + Send>(
    count: usize,
    show: impl Fn(Range<u64>, &mut Best<K>) + Sync,
    value: impl Fn(u32) -> Option<K> + Sync,
    store: &Store,
) -> Result<Vec<u32>, Failure> {
    let vertices = store.vertices();
    let count = count.min(vertices as usize);
    if count == 0 {
        return Ok(Vec::new());
    }
    // Of one more it is seen whether others have the last value, too.
    let mut found = best(vertices, count + 1, show);
    let ids = &store.manifest().ids;
    let is_tied = found.len() > count && value(found[count]) == value(found[count - 1]);
    found.truncate(count);
    if ids.is_ascending() && !ids.is_names() {
        return Ok(found);
    }
    if is_tied {
        let last = value(found[count - 1]);
        found.retain(|&vertex| value(vertex) != last);
        found.extend(smallest_ids(count - found.len(), |vertex| value(vertex) == last, store)?);
    }
    let named: Vec<VertexId> = found.iter().copied().map(VertexId).collect();
    let mut found: Vec<_> = found.into_iter().zip(store.ids_of(&named)?).collect();
    found.sort_by(|(one, id), (other, other_id)| value(*other).cmp(&value(*one)).then_with(|| id.cmp(other_id)));
    Ok(found.into_iter().map(|(vertex, _)| vertex).collect())
}

/// Of the vertices that `is_one` lets through, those with the smallest original ids.
fn smallest_ids(count: usize, is_one: impl Fn(u32) -> bool, store: &Store) -> Result<Vec<u32>, Failure> {
    let all = (0..store.vertices()).map(|vertex| vertex as u32);
    if store.manifest().ids.is_names() {
        let (ids, mut smallest) = (store.ids()?, Smallest::new(count));
        for vertex in all.filter(|&vertex| is_one(vertex)) {
            smallest.see(ids.id(VertexId(vertex))?, vertex);
        }
        return Ok(smallest.vertices());
    }
    let (mut smallest, mut all) = (Smallest::new(count), all);
    store.each_id(|ids| {
        let some = ids.iter().zip(&mut all).filter(|&(_, vertex)| is_one(vertex));
        some.for_each(|(&id, vertex)| smallest.see(id, vertex));
        true
    })?;
    Ok(smallest.vertices())
}

/// The smallest ids so far.
struct Smallest<I> {
    count: usize,
    found: BinaryHeap<(I, u32)>,
}

impl<I: Ord> Smallest<I> {
    fn new(count: usize) -> Self {
        Self { count, found: BinaryHeap::new() }
    }

    fn see(&mut self, id: I, vertex: u32) {
        let is_smaller = self.found.peek().is_none_or(|(largest, _)| id < *largest);
        if self.found.len() < self.count || is_smaller {
            self.found.push((id, vertex));
        }
        if self.found.len() > self.count {
            self.found.pop();
        }
    }

    fn vertices(self) -> Vec<u32> {
        self.found.into_iter().map(|(_, vertex)| vertex).collect()
    }
}

/// The largest count for which each thread keeps that many.
const SHARED_MAX: usize = 4096;

/// Returns the vertices with the largest values, the largest first, equal ones by number. `show` shows the values of
/// some vertices, in order.
fn best<K: Ord + Copy + Send>(vertices: u64, count: usize, show: impl Fn(Range<u64>, &mut Best<K>) + Sync) -> Vec<u32> {
    let within = |part: Range<u64>| {
        let mut best = Best::new(count);
        show(part, &mut best);
        best.found
    };
    let mut all = if count > SHARED_MAX {
        let mut best = Best::with_room(count, vertices as usize);
        show(0..vertices, &mut best);
        best.found
    } else {
        parts(vertices).map(within).reduce(Vec::new, |mut found, more| {
            found.extend(more);
            cut(&mut found, count);
            found
        })
    };
    all.sort_unstable_by(order);
    all.truncate(count);
    all.into_iter().map(|(_, vertex)| vertex).collect()
}

/// The larger value first, equal ones by vertex.
fn order<K: Ord>(a: &(K, u32), b: &(K, u32)) -> Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Keeps the best of all, in any order.
fn cut<K: Ord>(all: &mut Vec<(K, u32)>, count: usize) {
    if all.len() > count && count > 0 {
        all.select_nth_unstable_by(count - 1, order);
    }
    all.truncate(count);
}

/// The best so far, and others: at most twice as many.
pub struct Best<K> {
    count: usize,
    found: Vec<(K, u32)>,
    /// The last of the best, once there are enough: what is not before it is none of them.
    last: Option<K>,
}

impl<K: Ord + Copy> Best<K> {
    fn new(count: usize) -> Self {
        Self { count, found: Vec::new(), last: None }
    }

    /// With memory for all that are kept at a time, of this many values.
    fn with_room(count: usize, values: usize) -> Self {
        Self { found: Vec::with_capacity(values.min(2 * count.max(512))), ..Self::new(count) }
    }

    /// Takes a value, if it may be one of the best. Vertices come in order.
    pub fn see(&mut self, value: Option<K>, vertex: u32) {
        let Some(value) = value.filter(|value| self.count > 0 && self.last.is_none_or(|last| *value > last)) else {
            return;
        };
        self.found.push((value, vertex));
        if self.found.len() >= 2 * self.count.max(512) {
            cut(&mut self.found, self.count);
            self.last = Some(self.found[self.count - 1].0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_a_full_sort() {
        let mut random = 1u64;
        let vertices = 600_000;
        let values: Vec<Option<u64>> = (0..vertices)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 40).checked_rem(9_973).filter(|value| *value > 3)
            })
            .collect();
        let mut all: Vec<u32> = (0..vertices).filter(|&place| values[place as usize].is_some()).collect();
        all.sort_by_key(|&place| std::cmp::Reverse(values[place as usize]));
        for count in [0, 1, 7, 512, 4096, 5000, 700_000] {
            let found = best(vertices.into(), count, |part, best| {
                part.for_each(|vertex| best.see(values[vertex as usize], vertex as u32));
            });
            assert!(found == all[..count.min(all.len())], "{count}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_value_and_infinite_ones_left_out() {
        let values = [0.5, f64::INFINITY, -1.0, 2.0, -0.25, f64::NAN, 0.0];
        let found = best(7, 9, |part, best| {
            part.for_each(|vertex| best.see(key(values[vertex as usize]), vertex as u32));
        });
        assert_eq!(found, [3, 0, 6, 4, 2]);
    }
}
