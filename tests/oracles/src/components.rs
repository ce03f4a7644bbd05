//! Connected components, weakly and strongly.

use super::Csr;

/// Weakly connected components by union-find with path halving: each vertex's is called by its least vertex.
pub fn connected(lists: &Csr) -> Vec<f64> {
    let mut parents: Vec<u32> = (0..lists.vertices() as u32).collect();
    fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
        while parents[vertex as usize] != vertex {
            let above = parents[parents[vertex as usize] as usize];
            parents[vertex as usize] = above;
            vertex = above;
        }
        vertex
    }
    for vertex in 0..lists.vertices() {
        for &neighbour in lists.list(vertex) {
            let (one, other) = (root(&mut parents, vertex as u32), root(&mut parents, neighbour));
            parents[one.max(other) as usize] = one.min(other);
        }
    }
    (0..lists.vertices() as u32).map(|vertex| root(&mut parents, vertex).into()).collect()
}

/// The place of a vertex that has not been met.
const UNSEEN: u32 = u32::MAX;

/// Strongly connected components (Tarjan 1972, with a stack of its own instead of recursion), called by one of their vertices.
pub fn strong(lists: &Csr) -> Vec<f64> {
    let vertices = lists.vertices();
    let (mut places, mut lows, mut components) = (vec![UNSEEN; vertices], vec![0; vertices], vec![UNSEEN; vertices]);
    // Vertices without a component yet, and the path to the vertex that is looked at, with how far its lists have been read.
    let (mut waiting, mut path, mut place) = (Vec::new(), Vec::<(u32, u32)>::new(), 0);
    for first in 0..vertices as u32 {
        if places[first as usize] == UNSEEN {
            path.push((first, 0));
        }
        while let Some((vertex, read)) = path.last_mut() {
            let (vertex, at) = (*vertex as usize, *read as usize);
            if at == 0 && places[vertex] == UNSEEN {
                (places[vertex], lows[vertex]) = (place, place);
                place += 1;
                waiting.push(vertex as u32);
            }
            if let Some(&neighbour) = lists.list(vertex).get(at) {
                *read += 1;
                if places[neighbour as usize] == UNSEEN {
                    path.push((neighbour, 0));
                } else if components[neighbour as usize] == UNSEEN {
                    lows[vertex] = lows[vertex].min(places[neighbour as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(above, _)) = path.last() {
                lows[above as usize] = lows[above as usize].min(lows[vertex]);
            }
            while lows[vertex] == places[vertex] && components[vertex] == UNSEEN {
                let member = waiting.pop().expect("the vertex itself waits");
                components[member as usize] = vertex as u32;
            }
        }
    }
    components.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::lists;
    use super::*;

    #[test]
    fn two_cycles_and_a_bridge() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4)];
        let lists = lists(7, &edges.map(|(source, dest)| (source, dest, 1)));
        assert_eq!(connected(&lists), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
        let strong = strong(&lists);
        assert!(strong[0] == strong[1] && strong[1] == strong[2] && strong[3] == strong[4], "{strong:?}");
        let mut called = vec![strong[0], strong[3], strong[5], strong[6]];
        called.dedup();
        assert_eq!(called.len(), 4, "{strong:?}");
    }
}
