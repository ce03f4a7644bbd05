//! Core numbers without peeling: the fixed point of h-indices, from degrees downwards (Lü, Zhou, Zhang and Stanley,
//! Nature Communications 2016).

use crate::EdgeList;

/// Every vertex's core number; edges count both ways and as often as they stand, loops do not.
pub fn core_numbers(graph: &EdgeList) -> Vec<f64> {
    let mut neighbours = vec![Vec::new(); graph.vertices as usize];
    for &(a, b) in graph.edges.iter().filter(|(a, b)| a != b) {
        neighbours[a as usize].push(b as usize);
        neighbours[b as usize].push(a as usize);
    }
    let mut index: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    loop {
        let h_index = |list: &Vec<usize>| {
            let mut values: Vec<usize> = list.iter().map(|&neighbour| index[neighbour]).collect();
            values.sort_unstable_by(|a, b| b.cmp(a));
            values.iter().zip(1..).take_while(|(value, rank)| **value >= *rank).count()
        };
        let next: Vec<usize> = neighbours.iter().map(h_index).collect();
        if next == index {
            return index.into_iter().map(|value| value as f64).collect();
        }
        index = next;
    }
}
