//! Local clustering coefficients.

use super::Csr;
use std::cmp::Ordering;

/// Local clustering coefficients of an undirected graph without loops and repeated edges: each triangle is found once, by holding sorted
/// lists against each other that have only neighbours of higher degree (Chiba and Nishizeki 1985).
pub fn coefficients(lists: &Csr) -> Vec<f64> {
    let vertices = lists.vertices();
    let rank = |vertex: u32| (lists.degree(vertex as usize), vertex);
    let (mut offsets, mut behind) = (vec![0], Vec::with_capacity(lists.edges() / 2));
    for vertex in 0..vertices {
        let own = rank(vertex as u32);
        behind.extend(lists.list(vertex).iter().copied().filter(|&neighbour| rank(neighbour) > own));
        offsets.push(behind.len());
    }
    let list = |vertex: u32| &behind[offsets[vertex as usize]..offsets[vertex as usize + 1]];
    let mut triangles = vec![0u64; vertices];
    for vertex in 0..vertices as u32 {
        for &neighbour in list(vertex) {
            let (mut ones, mut others) = (list(vertex), list(neighbour));
            while let ([one, rest @ ..], [other, remain @ ..]) = (ones, others) {
                match one.cmp(other) {
                    Ordering::Less => ones = rest,
                    Ordering::Greater => others = remain,
                    Ordering::Equal => {
                        [vertex, neighbour, *one].iter().for_each(|&corner| triangles[corner as usize] += 1);
                        (ones, others) = (rest, remain);
                    }
                }
            }
        }
    }
    let pairs = |vertex: usize| f64::from(lists.degree(vertex)) * (f64::from(lists.degree(vertex)) - 1.0) / 2.0;
    let share = |(vertex, count): (usize, u64)| if count == 0 { 0.0 } else { count as f64 / pairs(vertex) };
    triangles.into_iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::undirected;
    use super::*;

    #[test]
    fn a_triangle_with_a_tail() {
        let graph = undirected(5, &[(0, 1), (0, 2), (1, 2), (2, 3)]);
        assert_eq!(coefficients(&graph.out_lists), [1.0, 1.0, 1.0 / 3.0, 0.0, 0.0]);
    }

    #[test]
    fn a_clique() {
        let graph = undirected(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(coefficients(&graph.out_lists), [1.0; 4]);
    }
}
