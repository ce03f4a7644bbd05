//! Shortest and widest paths from one source.

use super::Csr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Shortest distances over whole weights (Dijkstra's way, with a heap): infinity where there is no path.
pub fn shortest(lists: &Csr, source: u32) -> Vec<f64> {
    let mut distances = vec![u64::MAX; lists.vertices()];
    let mut heap = BinaryHeap::from([Reverse((0, source))]);
    distances[source as usize] = 0;
    while let Some(Reverse((distance, vertex))) = heap.pop() {
        if distance > distances[vertex as usize] {
            continue;
        }
        for (neighbour, weight) in lists.weighted(vertex as usize) {
            let offer = distance + u64::from(weight);
            if offer < distances[neighbour as usize] {
                distances[neighbour as usize] = offer;
                heap.push(Reverse((offer, neighbour)));
            }
        }
    }
    distances.into_iter().map(|distance| if distance == u64::MAX { f64::INFINITY } else { distance as f64 }).collect()
}

/// Widths over whole weights, the widest vertex first: 2^32 - 1 at the source, 0 where there is no path.
pub fn widest(lists: &Csr, source: u32) -> Vec<f64> {
    let mut widths = vec![0; lists.vertices()];
    let mut heap = BinaryHeap::from([(u32::MAX, source)]);
    widths[source as usize] = u32::MAX;
    while let Some((width, vertex)) = heap.pop() {
        if width < widths[vertex as usize] {
            continue;
        }
        for (neighbour, weight) in lists.weighted(vertex as usize) {
            let offer = width.min(weight);
            if offer > widths[neighbour as usize] {
                widths[neighbour as usize] = offer;
                heap.push((offer, neighbour));
            }
        }
    }
    widths.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::lists;
    use super::*;

    #[test]
    fn a_way_round_may_be_shorter_or_wider() {
        let lists = lists(5, &[(0, 1, 7), (0, 2, 2), (2, 1, 4), (1, 3, 9), (2, 3, 1)]);
        assert_eq!(shortest(&lists, 0), [0.0, 6.0, 2.0, 3.0, f64::INFINITY]);
        assert_eq!(widest(&lists, 0), [f64::from(u32::MAX), 7.0, 2.0, 7.0, 0.0]);
    }
}
