//! Core numbers by peeling in buckets; [`core_numbers`] by h-indices.

mod definition;

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};
pub use definition::core_numbers;

/// `kcore`: core numbers. Of a directed graph, edges count both ways.
pub fn answer(graph: &Graph, _arguments: &Arguments<'_>) -> Answer {
    let cores = match graph.directed {
        false => cores(&graph.out_lists),
        true => {
            let edges = |vertex: usize| graph.out_lists.list(vertex).iter().map(move |&dest| (vertex as u32, dest));
            let edges = (0..graph.vertices()).flat_map(edges).collect();
            let both = EdgeList::new(graph.vertices() as u32, edges).mirrored();
            cores(&both.graph(false).out_lists)
        }
    };
    Answer::of("core", cores, Compare::Exact)
}

/// Core numbers of an undirected graph by peeling in buckets of degrees (Batagelj and Zaversnik 2003); loops do not
/// count.
pub fn cores(lists: &Csr) -> Vec<f64> {
    let vertices = lists.vertices();
    let others = |vertex: usize| lists.list(vertex).iter().filter(move |&&other| other as usize != vertex);
    let mut degrees: Vec<usize> = (0..vertices).map(|vertex| others(vertex).count()).collect();
    // Where the bucket of each degree begins among the vertices, which are sorted by degree.
    let mut begins = vec![0; degrees.iter().max().map_or(0, |most| most + 2)];
    degrees.iter().for_each(|&degree| begins[degree + 1] += 1);
    (1..begins.len()).for_each(|degree| begins[degree] += begins[degree - 1]);
    let (mut sorted, mut places) = (vec![0u32; vertices], vec![0u32; vertices]);
    let mut next = begins.clone();
    for (vertex, &degree) in degrees.iter().enumerate() {
        (sorted[next[degree]], places[vertex]) = (vertex as u32, next[degree] as u32);
        next[degree] += 1;
    }
    for at in 0..vertices {
        let vertex = sorted[at] as usize;
        for &neighbour in others(vertex) {
            let (neighbour, degree) = (neighbour as usize, degrees[neighbour as usize]);
            if degree > degrees[vertex] {
                // It changes places with the first of its bucket, which begins one later.
                let (place, first) = (places[neighbour] as usize, begins[degree]);
                sorted.swap(place, first);
                places[sorted[place] as usize] = place as u32;
                places[neighbour] = first as u32;
                begins[degree] += 1;
                degrees[neighbour] -= 1;
            }
        }
    }
    degrees.into_iter().map(|degree| degree as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::{random_graphs, undirected};

    #[test]
    fn a_clique_with_a_tail() {
        let edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5)];
        assert_eq!(cores(&undirected(7, &edges).out_lists), [3.0, 3.0, 3.0, 3.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_star_of_which_two_leaves_meet() {
        let edges = [(0, 1), (0, 2), (0, 3), (0, 4), (3, 4)];
        assert_eq!(cores(&undirected(5, &edges).out_lists), [2.0, 1.0, 1.0, 2.0, 2.0]);
    }

    #[test]
    fn as_by_h_indices() {
        for graph in random_graphs() {
            assert_eq!(cores(&graph.mirrored().graph(false).out_lists), core_numbers(&graph));
        }
    }
}
