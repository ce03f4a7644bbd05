//! Eccentricities by sketches.

use super::Csr;

/// Bitmaps of a vertex.
const BITMAPS: usize = 8;

/// The last hop at which each vertex's sketch of what it reaches has changed: a bit of one of eight bitmaps for each vertex (Flajolet and
/// Martin 1985), merged along out-edges hop by hop (ANF, Palmer, Gibbons and Faloutsos 2002).
pub fn eccentricities(out_lists: &Csr, seed: u32) -> Vec<f64> {
    let own = |vertex: u32| {
        let mut sketch = [0u32; BITMAPS];
        let zeros = murmur(vertex ^ murmur(seed + 1)).trailing_zeros();
        sketch[(murmur(vertex ^ murmur(seed)) >> 29) as usize] = 1 << zeros.min(31);
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
    use super::super::tests::lists;
    use super::*;

    #[test]
    fn changes_come_no_later_than_the_farthest_vertex() {
        let path = lists(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1)]);
        let found = eccentricities(&path, 1);
        assert!(found.iter().zip([3.0, 2.0, 1.0, 0.0]).all(|(&found, most)| found <= most), "{found:?}");
        assert!(found[0] > 0.0 && found[3] == 0.0, "{found:?}");
    }
}
