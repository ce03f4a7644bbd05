//! The vertices with the largest values of a column.

use topostream::algorithms::command::Figure;
use topostream::model::algorithm::{Answer, AnswerValues};

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
            let values = of.iter(vertices).map(|value| value.is_finite().then(|| key(value)));
            Some(best(values, count).into_iter().map(|vertex| (vertex, Figure::F64(of.get(vertex)))).collect())
        }
        AnswerValues::Integer(of) => {
            let found = best(of.iter(vertices), count);
            Some(found.into_iter().map(|vertex| (vertex, Figure::Integer(of.get(vertex).unwrap_or(0)))).collect())
        }
        AnswerValues::Vertex(_) => None,
    }
}

/// Returns the places of the largest values, the largest first, equal ones in order.
pub fn best<K: Ord + Copy>(values: impl Iterator<Item = Option<K>>, count: usize) -> Vec<u32> {
    if count == 0 {
        return Vec::new();
    }
    let mut best: Vec<(K, u32)> = Vec::new();
    let order = |a: &(K, u32), b: &(K, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    // The last of the best so far, once there are enough: what is not before it is none of them.
    let mut last = None;
    for (place, value) in values.enumerate() {
        let Some(value) = value.filter(|value| last.is_none_or(|last| *value > last)) else { continue };
        best.push((value, place as u32));
        if best.len() >= 2 * count.max(512) {
            best.select_nth_unstable_by(count - 1, order);
            best.truncate(count);
            last = Some(best[count - 1].0);
        }
    }
    best.sort_unstable_by(order);
    best.truncate(count);
    best.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_a_full_sort() {
        let mut random = 1u64;
        let values: Vec<Option<u64>> = (0..5000)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 40).checked_rem(97).filter(|value| *value > 3)
            })
            .collect();
        let mut all: Vec<u32> = (0..5000).filter(|&place| values[place as usize].is_some()).collect();
        all.sort_by_key(|&place| std::cmp::Reverse(values[place as usize]));
        for count in [0, 1, 7, 512, 1500, 4999, 9000] {
            assert_eq!(best(values.iter().copied(), count), all[..count.min(all.len())], "{count}");
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
