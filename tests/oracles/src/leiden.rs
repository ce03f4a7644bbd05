//! Communities by Leiden's algorithm, and by Louvain's: one vertex after another over plain arrays, with sums in arrays
//! by community. What is decided at once by the definition is decided first, and done then.

use crate::{Answer, Arguments, Compare, Graph};
use std::collections::HashSet;

/// `leiden [--resolution R] [--objective modularity|cpm] [--weights] [--iterations N] [--seed S]`.
pub fn answer(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    Answer::of("community", numbers(communities(graph, arguments, true)), Compare::Groups)
}

/// `louvain`, with the same options.
pub fn louvain(graph: &Graph, arguments: &Arguments<'_>) -> Answer {
    Answer::of("community", numbers(communities(graph, arguments, false)), Compare::Groups)
}

fn numbers(of: Vec<u32>) -> Vec<f64> {
    of.into_iter().map(f64::from).collect()
}

/// A level: edges (dest, weight) by source, without loops, from either end; and two masses a vertex.
struct Level {
    lists: Vec<Vec<(u32, u64)>>,
    masses: Vec<[u64; 2]>,
    /// The lengths of the lists of the graph's vertices that each has become.
    reach: Vec<u64>,
}

/// What vertices are drawn by.
struct Draw {
    directed: bool,
    unit: i128,
    resolution: i128,
    refines: bool,
}

impl Draw {
    fn score(&self, weight: u64, one: [u64; 2], other: [u64; 2]) -> i128 {
        let [a, b, c, d] = [one[0], one[1], other[0], other[1]].map(i128::from);
        let product = if self.directed { a * d + b * c } else { a * c };
        self.unit * i128::from(weight) - self.resolution * product
    }
}

fn scatter(vertex: u32, seed: u64) -> u64 {
    let mut z = seed.wrapping_add((u64::from(vertex) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn seed_of(seed: u64, part: u64) -> u64 {
    scatter(0, seed ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93))
}

/// A community for each vertex.
pub fn communities(graph: &Graph, arguments: &Arguments<'_>, refines: bool) -> Vec<u32> {
    let is_cpm = arguments.get("objective") == Some("cpm");
    let weighted = arguments.has("weights");
    let (mut level, total) = first_level(graph, weighted);
    if is_cpm {
        level.masses.fill([1, u64::from(graph.directed)]);
    }
    let resolution: f64 = arguments.number("resolution").unwrap_or(1.0);
    let draw = Draw {
        directed: graph.directed,
        unit: if is_cpm { 1 << 24 } else { i128::from(total) << 24 },
        resolution: (resolution * f64::from(1 << 24)).round() as i128,
        refines,
    };
    let mut found: Vec<u32> = (0..graph.vertices() as u32).collect();
    let seed = arguments.number("seed").unwrap_or(0);
    for iteration in 0..arguments.number("iterations").unwrap_or(3) {
        let moved;
        (found, moved) = one_iteration(&level, found, &draw, seed_of(seed, 1000 * (iteration + 1)));
        if !moved {
            break;
        }
    }
    connected(&level, &found)
}

fn first_level(graph: &Graph, weighted: bool) -> (Level, u64) {
    let (lists, masses) = (vec![Vec::new(); graph.vertices()], vec![[0; 2]; graph.vertices()]);
    let mut level = Level { lists, masses, reach: Vec::new() };
    let mut total = 0;
    for vertex in 0..graph.vertices() {
        let plain = |&neighbour: &u32| (neighbour, 1);
        let edges: Vec<(u32, u64)> = if weighted {
            graph.out_lists.weighted(vertex).map(|(neighbour, weight)| (neighbour, weight.into())).collect()
        } else {
            graph.out_lists.list(vertex).iter().map(plain).collect()
        };
        for (neighbour, weight) in edges {
            let is_loop = neighbour as usize == vertex;
            let twice = if is_loop && !graph.directed { 2 * weight } else { weight };
            total += twice;
            level.masses[vertex][0] += twice;
            if graph.directed {
                level.masses[neighbour as usize][1] += weight;
            }
            if !is_loop {
                level.lists[vertex].push((neighbour, weight));
                if graph.directed {
                    level.lists[neighbour as usize].push((vertex as u32, weight));
                }
            }
        }
    }
    level.reach = level.lists.iter().map(|list| list.len() as u64).collect();
    (level, total)
}

/// The order of the vertices, cut where they move.
fn turns(level: &Level, seed: u64) -> Vec<Vec<u32>> {
    let (vertices, edges) = (level.lists.len() as u32, level.reach.iter().sum::<u64>());
    let mut order: Vec<u32> = (0..vertices).collect();
    if edges < 50_000 {
        order.sort_by_key(|&vertex| (scatter(vertex, seed), vertex));
        return order.into_iter().map(|vertex| vec![vertex]).collect();
    }
    let (mut batches, mut before) = (vec![Vec::new(); 32], 0);
    for vertex in 0..vertices {
        // A vertex is in the last batch that begins at or before its place.
        let all = edges + u64::from(vertices);
        batches[(before * 32 / all) as usize].push(vertex);
        before += level.reach[vertex as usize] + 1;
    }
    batches
}

/// Sums by community, in an array.
struct Sums {
    of: Vec<u64>,
    seen: Vec<u32>,
}

impl Sums {
    fn add(&mut self, community: u32, weight: u64) {
        if self.of[community as usize] == 0 && weight > 0 {
            self.seen.push(community);
        }
        self.of[community as usize] += weight;
    }

    fn take(&mut self) -> Vec<(u32, u64)> {
        let of = &mut self.of;
        self.seen.drain(..).map(|community| (community, std::mem::take(&mut of[community as usize]))).collect()
    }
}

/// A mass more, or less.
fn change(mass: &mut [u64; 2], by: [u64; 2], more: bool) {
    for (side, by) in mass.iter_mut().zip(by) {
        *side = if more { *side + by } else { *side - by };
    }
}

fn moved_apart(level: &Level, draw: &Draw, found: &mut [u32], turns: &[Vec<u32>], seed: u64) -> bool {
    let count = level.lists.len();
    let (mut masses, mut sizes) = (vec![[0; 2]; count], vec![0u32; count]);
    for vertex in 0..count {
        change(&mut masses[found[vertex] as usize], level.masses[vertex], true);
        sizes[found[vertex] as usize] += 1;
    }
    let all: u64 = level.masses.iter().map(|mass| mass[0] + mass[1]).sum();
    let mut sums = Sums { of: vec![0; count], seen: Vec::new() };
    let (mut active, mut any) = (vec![true; count], false);
    let in_batches = turns.len() < count;
    for round in 0..100u64 {
        let mut moved = 0;
        for batch in turns {
            let goes = |vertex: &&u32| {
                let stays = in_batches && round >= 3 && scatter(**vertex, seed ^ (round + 1)) & 1 == 1;
                active[**vertex as usize] && !stays
            };
            let turn: Vec<u32> = batch.iter().filter(goes).copied().collect();
            turn.iter().for_each(|&vertex| active[vertex as usize] = false);
            let mut moves = Vec::new();
            for vertex in turn {
                let (mass, own) = (level.masses[vertex as usize], found[vertex as usize]);
                let list = &level.lists[vertex as usize];
                list.iter().for_each(|&(neighbour, weight)| sums.add(found[neighbour as usize], weight));
                let mut rest = masses[own as usize];
                change(&mut rest, mass, false);
                let stays = draw.score(sums.of[own as usize], mass, rest);
                let (mut best, mut to, mut least) = (stays, own, 0);
                let alone = sizes[own as usize] == 1;
                for (community, weight) in sums.take() {
                    let tie = scatter(community, seed);
                    let swaps = alone && sizes[community as usize] == 1 && tie > scatter(own, seed);
                    let score = draw.score(weight, mass, masses[community as usize]);
                    let better = score > best || (score == best && to != own && tie < least);
                    if community != own && !swaps && better {
                        (best, to, least) = (score, community, tie);
                    }
                }
                if best < 0 && !alone && sizes[vertex as usize] == 0 {
                    to = vertex;
                }
                if to != own {
                    moves.push((vertex, to));
                    let left = list.iter().filter(|(neighbour, _)| found[*neighbour as usize] != to);
                    left.for_each(|(neighbour, _)| active[*neighbour as usize] = true);
                }
            }
            for (vertex, to) in moves {
                let (own, mass) = (found[vertex as usize], level.masses[vertex as usize]);
                change(&mut masses[own as usize], mass, false);
                change(&mut masses[to as usize], mass, true);
                sizes[own as usize] -= 1;
                sizes[to as usize] += 1;
                found[vertex as usize] = to;
                moved += mass[0] + mass[1];
            }
        }
        any |= moved > 0;
        if moved == 0 || moved < all.div_ceil(100) {
            break;
        }
    }
    any
}

fn refined(level: &Level, draw: &Draw, found: &[u32], turns: &[Vec<u32>], seed: u64) -> Vec<u32> {
    let count = level.lists.len();
    let mut around = vec![[0; 2]; count];
    (0..count).for_each(|vertex| change(&mut around[found[vertex] as usize], level.masses[vertex], true));
    let mut groups: Vec<u32> = (0..count as u32).collect();
    let (mut masses, mut sizes) = (level.masses.clone(), vec![1u32; count]);
    let mut sums = Sums { of: vec![0; count], seen: Vec::new() };
    let (mut pending, in_batches) = (vec![true; count], turns.len() < count);
    for batch in turns {
        for round in 0..if in_batches { 4u64 } else { 1 } {
            let goes = |&&vertex: &&u32| {
                let picked = !in_batches || scatter(vertex, seed ^ (round + 1)) & 1 == 0;
                let alone = sizes[vertex as usize] == 1 && groups[vertex as usize] == vertex;
                pending[vertex as usize] && picked && alone
            };
            let turn: Vec<u32> = batch.iter().filter(goes).copied().collect();
            turn.iter().for_each(|&vertex| pending[vertex as usize] = false);
            let mut moves = Vec::new();
            for &vertex in &turn {
                let (mass, community) = (level.masses[vertex as usize], found[vertex as usize]);
                let mut inside = 0;
                for &(neighbour, weight) in &level.lists[vertex as usize] {
                    if found[neighbour as usize] == community {
                        inside += weight;
                        sums.add(groups[neighbour as usize], weight);
                    }
                }
                let mut rest = around[community as usize];
                change(&mut rest, mass, false);
                let connected = draw.score(inside, mass, rest) >= 0;
                let mut best: Option<(i128, u64, u32)> = None;
                for (group, weight) in sums.take() {
                    let decides_too = in_batches && turn.binary_search(&group).is_ok();
                    let (score, tie) = (draw.score(weight, mass, masses[group as usize]), scatter(group, seed));
                    let better = best.is_none_or(|(most, least, _)| score > most || (score == most && tie < least));
                    if connected && !decides_too && score >= 0 && better {
                        best = Some((score, tie, group));
                    }
                }
                moves.extend(best.map(|(_, _, group)| (vertex, group)));
            }
            for (vertex, group) in moves {
                let mass = level.masses[vertex as usize];
                change(&mut masses[vertex as usize], mass, false);
                change(&mut masses[group as usize], mass, true);
                sizes[vertex as usize] -= 1;
                sizes[group as usize] += 1;
                groups[vertex as usize] = group;
            }
        }
    }
    groups
}

/// Numbers from 0 in the order of the labels, of vertices that have neighbours; others do not go on.
fn numbered(level: &Level, labels: &[u32]) -> (Vec<Option<u32>>, usize) {
    let linked = |vertex: usize| !level.lists[vertex].is_empty();
    let mut sorted: Vec<u32> =
        (0..labels.len()).filter(|&vertex| linked(vertex)).map(|vertex| labels[vertex]).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let number = |vertex: usize| linked(vertex).then(|| sorted.binary_search(&labels[vertex]).unwrap() as u32);
    ((0..labels.len()).map(number).collect(), sorted.len())
}

fn grouped(level: &Level, groups: &[Option<u32>], count: usize) -> Level {
    let mut of = Level { lists: vec![Vec::new(); count], masses: vec![[0; 2]; count], reach: vec![0; count] };
    for (vertex, group) in groups.iter().enumerate().filter_map(|(vertex, group)| Some((vertex, (*group)?))) {
        change(&mut of.masses[group as usize], level.masses[vertex], true);
        of.reach[group as usize] += level.reach[vertex];
        let edges =
            level.lists[vertex].iter().map(|&(neighbour, weight)| (groups[neighbour as usize].unwrap(), weight));
        of.lists[group as usize].extend(edges.filter(|(other, _)| *other != group));
    }
    for list in &mut of.lists {
        list.sort_unstable();
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        list.retain(|(_, weight)| *weight > 0);
    }
    of
}

fn one_iteration(graph: &Level, found: Vec<u32>, draw: &Draw, seed: u64) -> (Vec<u32>, bool) {
    let (mut coarse, mut found, mut any): (Option<Level>, _, _) = (None, found, false);
    let all = graph.lists.len() as u32;
    // The vertex of the level that each vertex has become; or the label of one that does not go on.
    let mut places: Vec<Result<u32, u32>> = (0..all).map(Ok).collect();
    for number in 0.. {
        let level = coarse.as_ref().unwrap_or(graph);
        let of_level = seed_of(seed, number);
        let turns = turns(level, of_level);
        any |= moved_apart(level, draw, &mut found, &turns, of_level);
        let linked = level.lists.iter().filter(|list| !list.is_empty()).count();
        let (communities, count) = numbered(level, &found);
        if count == linked {
            break;
        }
        let of_level: Vec<u32> = communities.iter().map(|of| of.unwrap_or(count as u32)).collect();
        let mut groups = (communities.clone(), count);
        if draw.refines {
            let refined = numbered(level, &refined(level, draw, &of_level, &turns, seed));
            groups = if refined.1 == linked { groups } else { refined };
        }
        let (groups, group_count) = groups;
        let next = grouped(level, &groups, group_count);
        // A community is labelled by its first group.
        let pairs = || groups.iter().zip(&communities).filter_map(|(group, of)| Some(((*group)?, (*of)?)));
        let (mut first, mut lifted) = (vec![u32::MAX; count], vec![0; group_count]);
        pairs().for_each(|(group, of)| first[of as usize] = first[of as usize].min(group));
        pairs().for_each(|(group, of)| lifted[group as usize] = first[of as usize]);
        let mut labels = vec![None; level.lists.len()];
        let mut next_label = all - places.iter().filter_map(|place| place.err()).collect::<HashSet<_>>().len() as u32;
        for vertex in (0..level.lists.len()).filter(|&vertex| groups[vertex].is_none()) {
            next_label -= 1;
            labels[vertex] = Some(next_label);
        }
        for place in &mut places {
            *place = place.and_then(|at| groups[at as usize].ok_or_else(|| labels[at as usize].unwrap()));
        }
        (coarse, found) = (Some(next), lifted);
    }
    (places.into_iter().map(|place| place.map_or_else(|label| label, |at| found[at as usize])).collect(), any)
}

/// The parts of each community that edges connect.
fn connected(level: &Level, found: &[u32]) -> Vec<u32> {
    let mut parts = vec![u32::MAX; found.len()];
    for start in 0..found.len() as u32 {
        let mut stack = vec![start];
        while let Some(vertex) = stack.pop() {
            if parts[vertex as usize] == u32::MAX {
                parts[vertex as usize] = start;
                let near = level.lists[vertex as usize].iter().map(|(neighbour, _)| *neighbour);
                stack.extend(near.filter(|&other| found[other as usize] == found[vertex as usize]));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::undirected;

    #[test]
    fn two_cliques_with_an_edge_between_them() {
        let clique =
            |first: u32| (first..first + 4).flat_map(move |one| (one + 1..first + 4).map(move |two| (one, two)));
        let edges: Vec<(u32, u32)> = clique(0).chain(clique(4)).chain([(3, 4)]).collect();
        let graph = undirected(9, &edges);
        for refines in [false, true] {
            let found = communities(&graph, &Arguments::of(""), refines);
            assert_eq!(found, [0, 0, 0, 0, 4, 4, 4, 4, 8]);
            assert_eq!(communities(&graph, &Arguments::of("--resolution 0"), refines), [0, 0, 0, 0, 0, 0, 0, 0, 8]);
        }
    }
}
