//! Degrees, neighbourhoods, edges between sets.

use super::{Csr, UNREACHED};

/// How many edges end at each vertex.
pub fn in_degrees(out_lists: &Csr) -> Vec<f64> {
    let mut degrees = vec![0u32; out_lists.vertices()];
    for vertex in 0..out_lists.vertices() {
        out_lists.list(vertex).iter().for_each(|&neighbour| degrees[neighbour as usize] += 1);
    }
    degrees.into_iter().map(f64::from).collect()
}

/// Levels of a search, infinity where nothing is reached.
pub fn levels(out_lists: &Csr, source: u32) -> Vec<f64> {
    numbers(super::bfs(out_lists, source))
}

/// Levels as far as so many hops in any of these lists, infinity beyond.
pub fn within(lists: &[&Csr], source: u32, hops_max: u32) -> Vec<f64> {
    let mut levels = vec![UNREACHED; lists[0].vertices()];
    let mut outermost = vec![source];
    levels[source as usize] = 0;
    for level in 1..=hops_max {
        let mut next = Vec::new();
        for vertex in outermost {
            for &neighbour in lists.iter().flat_map(|lists| lists.list(vertex as usize)) {
                if levels[neighbour as usize] == UNREACHED {
                    levels[neighbour as usize] = level;
                    next.push(neighbour);
                }
            }
        }
        outermost = next;
    }
    numbers(levels)
}

fn numbers(levels: Vec<u32>) -> Vec<f64> {
    levels.into_iter().map(|level| if level == UNREACHED { f64::INFINITY } else { level.into() }).collect()
}

/// How many edges of each vertex of a set lead into another.
pub fn crossing(out_lists: &Csr, from: impl Fn(u32) -> bool, to: impl Fn(u32) -> bool) -> Vec<f64> {
    // A set is looked up, not computed, edge by edge.
    let inside: Vec<bool> = (0..out_lists.vertices() as u32).map(to).collect();
    let count = |vertex: usize| out_lists.list(vertex).iter().filter(|&&neighbour| inside[neighbour as usize]).count();
    (0..out_lists.vertices()).map(|vertex| if from(vertex as u32) { count(vertex) as f64 } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::lists;
    use super::*;

    #[test]
    fn of_a_path_with_a_loop() {
        let lists = lists(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (1, 1, 1), (3, 1, 1), (3, 1, 1)]);
        assert_eq!(in_degrees(&lists), [0.0, 4.0, 1.0, 1.0]);
        assert_eq!(levels(&lists, 1), [f64::INFINITY, 0.0, 1.0, 2.0]);
        assert_eq!(within(&[&lists], 0, 2), [0.0, 1.0, 2.0, f64::INFINITY]);
        assert_eq!(crossing(&lists, |vertex| vertex > 0, |vertex| vertex < 2), [0.0, 1.0, 0.0, 2.0]);
    }
}
