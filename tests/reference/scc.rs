//! Strongly connected components by two depth-first searches (Kosaraju and Sharir).

use super::EdgeList;

/// The least vertex of everybody's strongly connected component.
pub fn strong_components(graph: &EdgeList) -> Vec<u32> {
    let (along, against) = (graph.lists(true), graph.lists(false));
    let mut seen = vec![false; along.len()];
    let mut left = Vec::new();
    for first in 0..along.len() {
        // Vertices with the neighbour that comes next; they are left when there is none.
        let mut path = if seen[first] { Vec::new() } else { vec![(first, 0)] };
        seen[first] = true;
        while let Some((vertex, next)) = path.last_mut() {
            let Some(&neighbour) = along[*vertex].get(*next) else {
                left.push(*vertex);
                path.pop();
                continue;
            };
            *next += 1;
            if !seen[neighbour] {
                seen[neighbour] = true;
                path.push((neighbour, 0));
            }
        }
    }
    let mut least = vec![u32::MAX; along.len()];
    while let Some(root) = left.pop() {
        if least[root] != u32::MAX {
            continue;
        }
        let (mut members, mut at) = (vec![root], 0);
        least[root] = root as u32;
        while let Some(&vertex) = members.get(at) {
            at += 1;
            for &neighbour in &against[vertex] {
                if least[neighbour] == u32::MAX {
                    least[neighbour] = 0;
                    members.push(neighbour);
                }
            }
        }
        let name = *members.iter().min().expect("the root is one") as u32;
        members.iter().for_each(|&member| least[member] = name);
    }
    least
}
