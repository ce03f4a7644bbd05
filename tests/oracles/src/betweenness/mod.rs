//! Betweenness of one source.

use super::Csr;

/// What the shortest paths from one source add to every vertex's betweenness (Brandes 2001), neither scaled nor halved.
pub fn of_source(lists: &Csr, source: u32) -> Vec<f64> {
    let vertices = lists.vertices();
    let (mut levels, mut paths, mut deltas) = (vec![u32::MAX; vertices], vec![0.0; vertices], vec![0.0; vertices]);
    let mut order = Vec::with_capacity(vertices);
    (levels[source as usize], paths[source as usize]) = (0, 1.0);
    order.push(source);
    let mut at = 0;
    while let Some(&vertex) = order.get(at) {
        at += 1;
        let (level, count): (u32, f64) = (levels[vertex as usize] + 1, paths[vertex as usize]);
        for &neighbour in lists.list(vertex as usize) {
            if levels[neighbour as usize] == u32::MAX {
                levels[neighbour as usize] = level;
                order.push(neighbour);
            }
            if levels[neighbour as usize] == level {
                paths[neighbour as usize] += count;
            }
        }
    }
    for &vertex in order.iter().rev() {
        let level = levels[vertex as usize] + 1;
        let farther = lists.list(vertex as usize).iter().filter(|&&neighbour| levels[neighbour as usize] == level);
        let share = |&neighbour: &u32| (1.0 + deltas[neighbour as usize]) / paths[neighbour as usize];
        deltas[vertex as usize] = paths[vertex as usize] * farther.map(share).sum::<f64>();
    }
    deltas[source as usize] = 0.0;
    deltas
}

#[cfg(test)]
mod tests {
    use super::super::tests::lists;
    use super::*;

    #[test]
    fn two_ways_to_one_vertex() {
        // 0 → 1 → 3 → 4 and 0 → 2 → 3; 5 is not reached.
        let lists = lists(6, &[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1), (5, 0, 1)]);
        assert_eq!(of_source(&lists, 0), [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(of_source(&lists, 5), [4.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    }
}
