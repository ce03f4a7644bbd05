//! The vertices with the largest values of a column.

use super::vertices::parts;
use crate::algorithms::command::Figure;
use crate::model::algorithm::{Answer, AnswerValues};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;

/// A vertex and its value.
pub type Ranked = (u32, Figure);

/// Returns the `count` vertices with the largest values, the largest first, equal ones by vertex; vertices without a
/// value are left out, such as those that were not reached. Takes 32 bytes of memory for each of them. `None` if the
/// values are vertices, which have no order.
pub fn largest(answer: &Answer<'_>, count: usize, vertices: u64) -> Option<Vec<Ranked>> {
    let count = count.min(vertices as usize);
    match &answer.values {
        AnswerValues::F64(of) => {
            // In this order, larger integers are of larger numbers.
            let key = |value: f64| (value.to_bits() ^ (((value.to_bits() as i64 >> 63) as u64) >> 1)) as i64;
            let found = best(vertices, count, |part, best| {
                of.for_each_slice(part, |first, values| {
                    (first..).zip(values).for_each(|(vertex, value)| {
                        best.see(value.is_finite().then(|| key(*value)), vertex);
                    });
                });
            });
            Some(found.into_iter().map(|vertex| (vertex, Figure::F64(of.get(vertex)))).collect())
        }
        AnswerValues::Integer(of) => {
            let found = best(vertices, count, |part, best| {
                of.for_each_slice(part, |first, values| {
                    (first..).zip(values).for_each(|(vertex, value)| best.see(*value, vertex));
                });
            });
            Some(found.into_iter().map(|vertex| (vertex, Figure::Integer(of.get(vertex).unwrap_or(0)))).collect())
        }
        AnswerValues::Vertex(_) => None,
    }
}

/// The largest count for which each thread keeps that many.
const SHARED_MAX: usize = 4096;

/// Returns the vertices with the largest values, the largest first, equal ones by number. `show` shows the values of
/// some vertices, in order.
pub fn best<K: Ord + Copy + Send>(
    vertices: u64,
    count: usize,
    show: impl Fn(Range<u64>, &mut Best<K>) + Sync,
) -> Vec<u32> {
    let within = |part: Range<u64>| {
        let mut best = Best::new(count);
        show(part, &mut best);
        best.found
    };
    let mut all = if count > SHARED_MAX {
        within(0..vertices)
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
        let answer = Answer::f64("number", |vertex| values[vertex as usize]);
        let found: Vec<u32> = largest(&answer, 9, 7).unwrap().into_iter().map(|(vertex, _)| vertex).collect();
        assert_eq!(found, [3, 0, 6, 4, 2]);
    }
}
