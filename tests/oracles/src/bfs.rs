//! Levels by a queue; parents by properties.

use crate::{Answer, Arguments, Compare, Csr, EdgeList, Graph};

/// The level of a vertex that is not reached.
pub const UNREACHED: u32 = u32::MAX;

/// `bfs --source V [--max-depth N]`: levels.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    let source = arguments.vertices("source", graph)[0];
    let levels = match arguments.number("max-depth") {
        Some(depth) => crate::neighbourhood::within(&[&graph.out_lists], &[source], depth),
        None => bfs(&graph.out_lists, source),
    };
    Answer::of("level", numbers(levels), Compare::Exact)
}

/// Breadth-first search, top-down with a queue: the level of every vertex.
pub fn bfs(out_lists: &Csr, source: u32) -> Vec<u32> {
    let mut levels = vec![UNREACHED; out_lists.vertices()];
    let mut queue = Vec::with_capacity(out_lists.vertices());
    levels[source as usize] = 0;
    queue.push(source);
    let mut next = 0;
    while let Some(&vertex) = queue.get(next) {
        next += 1;
        let level = levels[vertex as usize] + 1;
        for &neighbour in out_lists.list(vertex as usize) {
            if levels[neighbour as usize] == UNREACHED {
                levels[neighbour as usize] = level;
                queue.push(neighbour);
            }
        }
    }
    levels
}

/// Levels as numbers, infinity where nothing is reached.
pub fn numbers(levels: Vec<u32>) -> Vec<f64> {
    levels.into_iter().map(|level| if level == UNREACHED { f64::INFINITY } else { level.into() }).collect()
}

/// Hops from a source along edges.
pub fn levels(graph: &EdgeList, source: u32) -> Vec<Option<u64>> {
    optional(bfs(&graph.graph(true).out_lists, source))
}

/// Levels, none where nothing is reached.
pub fn optional(levels: Vec<u32>) -> Vec<Option<u64>> {
    levels.into_iter().map(|level| (level != UNREACHED).then_some(level.into())).collect()
}

/// Graph500's five checks of a breadth-first tree, for directed graphs too: they need no reference answer.
///
/// Every reached vertex but the source has a reached parent one level up, so all of them hang below the source (1, 2);
/// no edge skips a level or leaves the reached part, so that part is all there is to reach (3, 4); tree edges exist
/// (5).
pub fn check_tree(
    graph: &EdgeList,
    source: u32,
    levels: &[Option<u64>],
    parents: &[Option<u64>],
) -> Result<(), String> {
    if (levels[source as usize], parents[source as usize]) != (Some(0), Some(source.into())) {
        return Err(format!("the source {source} is not the root"));
    }
    let mut has_edge = vec![false; graph.vertices as usize];
    for &(from, to) in &graph.edges {
        has_edge[to as usize] |= parents[to as usize] == Some(from.into());
    }
    for vertex in (0..graph.vertices).filter(|&vertex| vertex != source) {
        match (levels[vertex as usize], parents[vertex as usize]) {
            (None, None) => {}
            (Some(level), Some(parent)) => {
                let above = levels.get(parent as usize).copied().flatten();
                if level == 0 || above != Some(level - 1) {
                    return Err(format!("vertex {vertex} at level {level} has parent {parent} at level {above:?}"));
                }
                if !has_edge[vertex as usize] {
                    return Err(format!("no edge leads from parent {parent} to {vertex}"));
                }
            }
            (level, parent) => return Err(format!("vertex {vertex} has level {level:?} and parent {parent:?}")),
        }
    }
    for &(from, to) in &graph.edges {
        match (levels[from as usize], levels[to as usize]) {
            (Some(_), None) => return Err(format!("edge {from} → {to} leaves the reached part")),
            (Some(near), Some(far)) if far > near + 1 => return Err(format!("edge {from} → {to} skips a level")),
            _ => {}
        }
    }
    Ok(())
}

/// As [`check_tree`], and each parent is the smallest predecessor one level up: of a store that numbers vertices by
/// their ids.
pub fn check_least_tree(
    graph: &EdgeList,
    source: u32,
    levels: &[Option<u64>],
    parents: &[Option<u64>],
) -> Result<(), String> {
    check_tree(graph, source, levels, parents)?;
    for &(from, to) in &graph.edges {
        let (Some(above), Some(level)) = (levels[from as usize], levels[to as usize]) else { continue };
        let parent = parents[to as usize];
        if above + 1 == level && parent.is_some_and(|parent| parent > from.into()) {
            return Err(format!("the parent of {to} is {parent:?}, but {from} is a smaller one"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::lists;

    #[test]
    fn levels_of_a_diamond() {
        // 0 → 1 → 3, 0 → 2 → 3, 3 → 0; 4 stands alone.
        let diamond = lists(5, &[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 0, 1)]);
        assert_eq!(bfs(&diamond, 0), [0, 1, 1, 2, UNREACHED]);
        assert_eq!(bfs(&diamond, 4), [UNREACHED, UNREACHED, UNREACHED, UNREACHED, 0]);
    }
}
