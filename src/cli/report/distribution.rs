//! The distribution of an answer.

use crate::cli::vertices::parts;
use crate::model::algorithm::{Answer, AnswerValues, Values};
use rayon::prelude::*;
use std::ops::Range;
use topostream_tools::report::{Distribution, Extent};

/// Takes values in slices.
type Take<'t, V> = &'t mut dyn FnMut(&[V]);

/// The distribution of a column; `None` if its values are vertices.
pub fn of_answer(answer: &Answer<'_>, vertices: u64) -> Option<Distribution> {
    let names = (&*answer.name, "vertices");
    match &answer.values {
        AnswerValues::F64(of) => Some(distribution(vertices, names, false, slices(of), |&of| Some(of))),
        AnswerValues::Integer(of) => Some(distribution(vertices, names, true, slices(of), |of| of.map(|of| of as f64))),
        AnswerValues::Vertex(_) => None,
    }
}

/// The distribution of the sizes of groups; 0 is the size of none.
pub fn of_sizes(sizes: &[u32], groups: &str) -> Distribution {
    let slices = |part: Range<u64>, take: Take<'_, u32>| take(&sizes[part.start as usize..part.end as usize]);
    let size = |&size: &u32| (size > 0).then_some(size.into());
    Distribution { none: 0, ..distribution(sizes.len() as u64, ("size", groups), true, slices, size) }
}

/// Passes the values of some vertices in slices.
fn slices<'a, V: Clone + Default>(of: &'a Values<'a, V>) -> impl Fn(Range<u64>, Take<'_, V>) + Sync + 'a {
    |part, take| of.for_each_slice(part, |_, values| take(values))
}

/// Two passes over all values: their extent, then counts.
fn distribution<V>(
    count: u64,
    names: (&str, &str),
    integers: bool,
    slices: impl Fn(Range<u64>, Take<'_, V>) + Sync,
    number: impl Fn(&V) -> Option<f64> + Sync,
) -> Distribution {
    let extent = parts(count).map(|part| {
        let mut extent = Extent::default();
        slices(part, &mut |values| {
            let mut here = Extent::default();
            values.iter().for_each(|value| here.add(number(value)));
            extent = extent.with(here);
        });
        extent
    });
    let extent = extent.reduce(Extent::default, Extent::with);
    let ranges = extent.ranges(integers);
    let counts = parts(count).map(|part| {
        let mut counts = ranges.counts();
        slices(part, &mut |values| values.iter().for_each(|value| ranges.count(number(value), &mut counts)));
        counts
    });
    let sum = |mut sums: Vec<u64>, counts: Vec<u64>| {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sums
    };
    ranges.distribution(&extent, &counts.reduce(|| ranges.counts(), sum), names, integers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_sizes_are_counted_over_several_parts() {
        let vertices = 700_000;
        let level = |vertex: u32| (vertex % 10 != 9).then_some(u64::from(vertex % 10));
        let found = of_answer(&Answer::integer("level", level), vertices).unwrap();
        let counts: Vec<(f64, u64)> = found.bins.iter().map(|bin| (bin.from, bin.count)).collect();
        assert_eq!(counts, (0..9).map(|level| (f64::from(level), 70_000)).collect::<Vec<_>>());
        assert_eq!((found.none, found.of.as_str()), (70_000, "level"));
        let sizes = of_sizes(&[0, 3, 0, 1, 1, 0], "components");
        assert_eq!((sizes.count, sizes.none, sizes.max), (3, 0, 3.0));
        assert!(of_answer(&Answer::vertex("parent", Some), 5).is_none());
    }
}
