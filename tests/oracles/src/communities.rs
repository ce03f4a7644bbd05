//! Communities by label propagation.

use super::Csr;

/// Labels of an undirected graph after so many iterations by Graphalytics' rule: what most neighbours have, of several the least.
/// Counts lie in an array by label, the best of hash tables.
pub fn labels(lists: &Csr, iterations: u32) -> Vec<f64> {
    let mut labels: Vec<u32> = (0..lists.vertices() as u32).collect();
    let (mut next, mut counts) = (labels.clone(), vec![0u32; lists.vertices()]);
    for _ in 0..iterations {
        for (vertex, chosen) in next.iter_mut().enumerate() {
            let list = lists.list(vertex);
            let mut best = (0, labels[vertex]);
            for &neighbour in list {
                let label = labels[neighbour as usize];
                counts[label as usize] += 1;
                let count = counts[label as usize];
                if count > best.0 || (count == best.0 && label < best.1) {
                    best = (count, label);
                }
            }
            list.iter().for_each(|&neighbour| counts[labels[neighbour as usize] as usize] = 0);
            *chosen = best.1;
        }
        std::mem::swap(&mut labels, &mut next);
        if labels == next {
            break;
        }
    }
    labels.into_iter().map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::undirected;
    use super::*;

    #[test]
    fn ties_go_to_the_least_label() {
        // 0 - 1 - 2 - 3: each takes the lesser neighbour's label; 4 has none.
        let path = undirected(5, &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(labels(&path.out_lists, 0), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(labels(&path.out_lists, 1), [1.0, 0.0, 1.0, 2.0, 4.0]);
        assert_eq!(labels(&path.out_lists, 2), [0.0, 1.0, 0.0, 1.0, 4.0]);
    }

    #[test]
    fn most_win() {
        let star = undirected(5, &[(0, 4), (1, 4), (2, 4), (3, 4), (0, 1)]);
        assert_eq!(labels(&star.out_lists, 2)[4], 4.0);
    }
}
