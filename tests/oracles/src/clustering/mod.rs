//! Local clustering coefficients: triangles by intersected lists; [`clustering`] by the definition.

mod definition;

use crate::{Answer, Arguments, Compare, Csr, Graph};
pub use definition::clustering;
use std::cmp::Ordering;

/// `clustering`: coefficients.
pub fn answer(graph: &Graph, _arguments: &Arguments<'_>) -> Answer {
    let coefficients = match graph.directed {
        false => coefficients(&graph.out_lists),
        true => directed_coefficients(&graph.out_lists, graph.in_lists()),
    };
    Answer::of("coefficient", coefficients, Compare::Within(1e-9))
}

/// Local clustering coefficients of an undirected graph without loops and repeated edges: each triangle is found once,
/// by holding sorted lists against each other that have only neighbours of higher degree (Chiba and Nishizeki 1985).
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

/// Local clustering coefficients of a directed graph without repeated edges: the neighbours of a vertex, either way,
/// are marked, and marked vertices in their out-lists counted.
pub fn directed_coefficients(out_lists: &Csr, in_lists: &Csr) -> Vec<f64> {
    // The vertex whose neighbour each vertex was last marked as.
    let mut marks = vec![u32::MAX; out_lists.vertices()];
    let coefficient = |vertex: usize| {
        let mut neighbours = Vec::new();
        for &neighbour in out_lists.list(vertex).iter().chain(in_lists.list(vertex)) {
            if neighbour as usize != vertex && marks[neighbour as usize] != vertex as u32 {
                marks[neighbour as usize] = vertex as u32;
                neighbours.push(neighbour);
            }
        }
        let linked = |&one: &u32| {
            let list = out_lists.list(one as usize).iter();
            list.filter(|&&other| other != one && marks[other as usize] == vertex as u32).count() as u64
        };
        let pairs = neighbours.len() as f64 * (neighbours.len() as f64 - 1.0);
        if neighbours.len() < 2 { 0.0 } else { neighbours.iter().map(linked).sum::<u64>() as f64 / pairs }
    };
    (0..out_lists.vertices()).map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EdgeList;
    use crate::graph::tests::{random_graphs, undirected};
    use std::collections::BTreeSet;

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

    #[test]
    fn as_by_the_definition() {
        for graph in random_graphs() {
            let both = graph.mirrored().edges.into_iter().filter(|(source, dest)| source != dest);
            let distinct: BTreeSet<(u32, u32)> = both.collect();
            let one_way: BTreeSet<(u32, u32)> = graph.edges.iter().copied().collect();
            let one_way = EdgeList::new(graph.vertices, one_way.into_iter().collect());
            let expected: Vec<f64> = clustering(&one_way).into_iter().map(|(coefficient, _)| coefficient).collect();
            let directed = one_way.graph(true);
            let found = directed_coefficients(&directed.out_lists, directed.in_lists());
            Compare::Within(1e-12).check(&found, &expected).unwrap();
            let graph = EdgeList::new(graph.vertices, distinct.into_iter().collect());
            let expected: Vec<f64> = clustering(&graph).into_iter().map(|(coefficient, _)| coefficient).collect();
            Compare::Within(1e-12).check(&coefficients(&graph.graph(false).out_lists), &expected).unwrap();
        }
    }
}
