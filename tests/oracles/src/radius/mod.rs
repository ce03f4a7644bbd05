//! Eccentricities by sketches; [`sketched`] without hops of sketches.

mod definition;

use crate::{Answer, Arguments, Compare, Csr, Graph};
pub use definition::{Sketched, sketched, spheres};

/// `radius --passes P --seed S [--narrow]`: the largest eccentricity of all passes, by seeds two apart.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let (passes, seed) = (arguments.number("passes").unwrap_or(4), arguments.number("seed").unwrap_or(1));
    let bitmaps = if arguments.has("narrow") { 2 } else { BITMAPS };
    let mut all = eccentricities(&graph.out_lists, seed, bitmaps);
    for pass in 1..passes {
        let more = eccentricities(&graph.out_lists, seed + 2 * pass, bitmaps);
        all.iter_mut().zip(more).for_each(|(all, more)| *all = all.max(more));
    }
    Answer::of("eccentricity", all, Compare::Exact)
}

/// Bitmaps of a vertex.
const BITMAPS: usize = 8;

/// The last hop at which each vertex's sketch of what it reaches has changed: a bit of one of eight bitmaps for each
/// vertex (Flajolet and Martin 1985), merged along out-edges hop by hop (ANF, Palmer, Gibbons and Faloutsos 2002).
pub fn eccentricities(out_lists: &Csr, seed: u32, bitmaps: usize) -> Vec<f64> {
    let own = |vertex: u32| {
        let mut sketch = [0u32; BITMAPS];
        let zeros = murmur(vertex ^ murmur(seed + 1)).trailing_zeros();
        let place = (u64::from(murmur(vertex ^ murmur(seed))) * bitmaps as u64) >> 32;
        sketch[place as usize] = 1 << zeros.min(31);
        sketch
    };
    let mut sketches: Vec<_> = (0..out_lists.vertices() as u32).map(own).collect();
    let (mut next, mut last) = (sketches.clone(), vec![0.0; sketches.len()]);
    for hop in 1u32.. {
        let mut changed = false;
        for (vertex, merged) in next.iter_mut().enumerate() {
            *merged = sketches[vertex];
            for &neighbour in out_lists.list(vertex) {
                let theirs = &sketches[neighbour as usize];
                (0..BITMAPS).for_each(|place| merged[place] |= theirs[place]);
            }
            if *merged != sketches[vertex] {
                (last[vertex], changed) = (hop.into(), true);
            }
        }
        std::mem::swap(&mut sketches, &mut next);
        if !changed {
            break;
        }
    }
    last
}

/// The finalizer of MurmurHash3.
fn murmur(number: u32) -> u32 {
    let once = (number ^ number >> 16).wrapping_mul(0x85eb_ca6b);
    let twice = (once ^ once >> 13).wrapping_mul(0xc2b2_ae35);
    twice ^ twice >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::{lists, random_graphs};

    #[test]
    fn changes_come_no_later_than_the_farthest_vertex() {
        let path = lists(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1)]);
        let found = eccentricities(&path, 1, BITMAPS);
        assert!(found.iter().zip([3.0, 2.0, 1.0, 0.0]).all(|(&found, most)| found <= most), "{found:?}");
        assert!(found[0] > 0.0 && found[3] == 0.0, "{found:?}");
    }

    #[test]
    fn as_by_searches() {
        for (graph, bitmaps) in random_graphs().zip([2, BITMAPS].into_iter().cycle()) {
            let expected = sketched(&graph, bitmaps as u32, 1, 5).into_iter().map(|one| one.eccentricity);
            assert_eq!(eccentricities(&graph.graph(true).out_lists, 5, bitmaps), expected.collect::<Vec<_>>());
        }
    }
}
