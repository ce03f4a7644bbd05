//! The kernels with the hooks of PageRank and of breadth-first search.

use super::gpu::Gpu;
use super::graph::{Chance, Graph, VERTICES, edges};
use super::{RECORD_ID, Rig, WORK_SPLITS, WorkSplit, gpu, has, some_vertices, tally};
use crate::common::thorough;
use topostream::algorithms::{Bfs, PageRank, Sums, Traffic};
use topostream::device::gpu::compose::layout::Step;
use topostream::device::gpu::compose::{Declared, KernelName, Resource};
use topostream::model::algorithm::Visit;
use topostream::model::attributes::to_fixed63;
use topostream::{Direction, VertexId};
use topostream_formats::Encoding;

/// Shares by chance, of very different sizes.
fn shares() -> Vec<f32> {
    let mut chance = Chance(11);
    let exponent = |bits: u64| -((bits % 60) as i32);
    (0..VERTICES).map(|_| chance.below(1 << 24) as f32 / 1e12 * 2f32.powi(exponent(chance.next()))).collect()
}

#[test]
fn pagerank_adds_shares_up() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(RECORD_ID, false);
    let shares = shares();
    let mut exact = vec![0u64; VERTICES as usize];
    for (source, dest, _) in edges() {
        exact[dest as usize] += to_fixed63(shares[source as usize].into());
    }
    for (traffic, direction) in [(Traffic::Push, Direction::Out), (Traffic::Pull, Direction::In)] {
        for (sums, portable) in [(Sums::Exact, false), (Sums::Exact, true), (Sums::Single, false), (Sums::Single, true)]
        {
            for sharing in WORK_SPLITS {
                let pagerank = PageRank { traffic, sums, ..PageRank::default() };
                let declared = Declared::of(&pagerank, true).unwrap();
                let mut rig = Rig::new(gpu, &graph, declared, 13, portable);
                rig.put_attribute(0, bytemuck::cast_slice(&shares));
                rig.run_edges(direction, Visit::All, sharing);
                let words = rig.attribute(1);
                let case = format!("{traffic:?} {sums:?} {sharing:?}");
                if sums == Sums::Exact {
                    assert!(
                        bytemuck::cast_slice::<u32, u8>(&words) == bytemuck::cast_slice::<u64, u8>(&exact),
                        "{case}"
                    );
                    continue;
                }
                for (vertex, (&found, &exact)) in words.iter().zip(&exact).enumerate() {
                    let (found, exact) = (f64::from(f32::from_bits(found)), exact as f64 / (1u64 << 63) as f64);
                    assert!((found - exact).abs() <= 1e-5 * exact + 1e-16, "{case}: {vertex} has {found}, not {exact}");
                }
            }
        }
    }
}

#[test]
fn pagerank_ranks_vertices() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    let degrees = graph.out_degrees();
    let parts = |vertex: usize| f64::from(degrees[vertex].max(1));
    for (sums, chunk_log2, grid) in [(Sums::Exact, 12, [7, 3]), (Sums::Single, 20, [1, 1]), (Sums::Exact, 32, [64, 1])]
    {
        let pagerank = PageRank { sums, ..PageRank::default() };
        let mut rig = Rig::new(gpu, &graph, Declared::of(&pagerank, true).unwrap(), chunk_log2, false);
        let totals = |rig: &Rig<'_>| {
            let words = rig.gpu.read(&rig.buffers[&Resource::Totals]);
            let mut sums = [0.0; 4];
            for (at, &value) in bytemuck::cast_slice::<u32, f32>(&words).iter().enumerate() {
                sums[at % 4] += f64::from(value);
            }
            sums
        };
        rig.run(KernelName::Initialise, grid);
        let rank = 1.0 / f64::from(VERTICES);
        let dangling = degrees.iter().filter(|&&degree| degree == 0).count() as f64 * rank;
        assert!((totals(&rig)[0] / dangling - 1.0).abs() < 1e-6);

        let mut chance = Chance(5);
        let received: Vec<f64> = (0..VERTICES).map(|_| chance.below(1 << 20) as f64 / 1e9).collect();
        let words: Vec<u32> = match sums {
            Sums::Exact => {
                received.iter().flat_map(|&sum| [to_fixed63(sum) as u32, (to_fixed63(sum) >> 32) as u32]).collect()
            }
            Sums::Single => received.iter().map(|&sum| (sum as f32).to_bits()).collect(),
        };
        rig.put_attribute(1, &words);
        rig.step(Step { scalars: [1e-5, 0.85, 0.0, 0.0], ..Step::default() });
        rig.run(KernelName::VertexPhase, grid);
        let shares = rig.attribute(0);
        let (mut dangling, mut change) = (0.0, 0.0);
        for (vertex, sum) in received.iter().enumerate() {
            let expected = 1e-5 + 0.85 * sum;
            let found = f64::from(f32::from_bits(shares[vertex])) * parts(vertex);
            assert!((found / expected - 1.0).abs() < 1e-6, "{vertex}: {found}, not {expected}");
            change += (expected - rank).abs();
            dangling += if degrees[vertex] == 0 { expected } else { 0.0 };
        }
        let found = totals(&rig);
        assert!((found[0] / dangling - 1.0).abs() < 1e-6, "dangling {} {dangling}", found[0]);
        assert!((found[1] / change - 1.0).abs() < 1e-6, "change {} {change}", found[1]);
        assert!(rig.attribute(1).iter().all(|&word| word == 0), "sums are taken");
    }
}

/// For each vertex, whether one thread has all of its in-list.
fn whole_lists(gpu: &Gpu, graph: &Graph, sharing: WorkSplit) -> Vec<bool> {
    let mut rig = Rig::new(gpu, graph, tally(), 12, false);
    rig.run_edges(Direction::In, Visit::All, sharing);
    rig.attribute(2).iter().map(|&wholes| wholes == 1).collect()
}

/// What the attribute of parents has for another vertex: without the vertex itself, numbers are one less.
fn parent_code(vertex: u32, parent: u32) -> u32 {
    parent - u32::from(parent > vertex)
}

/// A superstep of BFS: the frontier, and some vertices that were reached before.
fn bfs_goes_a_level_on(gpu: &Gpu, graph: &Graph, sharing: WorkSplit, bottom_up: bool, parents: bool) {
    let bfs = Bfs { parents, ..Bfs::from(VertexId(5)) };
    let mut rig = Rig::new(gpu, graph, Declared::of(&bfs, true).unwrap(), 12, false);
    let (frontier, nearer) = (some_vertices(100, 1), some_vertices(10, 2));
    let visited: Vec<u32> = frontier.iter().zip(&nearer).map(|(a, b)| a | b).collect();
    rig.put_column(Resource::Frontier, 0, &frontier);
    rig.put_attribute(0, &visited);
    if parents {
        // Those that were reached before have a parent that is not active.
        let idle: Vec<u32> = (0..VERTICES).filter(|&vertex| !has(&frontier, vertex)).take(2).collect();
        let other = |vertex| if vertex == idle[0] { idle[1] } else { idle[0] };
        let known = |vertex| if has(&visited, vertex) { parent_code(vertex, other(vertex)) } else { u32::MAX };
        rig.put_attribute(1, &(0..VERTICES).map(known).collect::<Vec<_>>());
    }
    rig.step(Step { superstep: 3, ..Step::default() });
    let (direction, visit) = match bottom_up {
        true => (Direction::In, Visit::Without(0)),
        false => (Direction::Out, Visit::Frontier),
    };
    rig.run_edges(direction, visit, sharing);
    let (next, now) = (rig.column(Resource::NextFrontier, visited.len()), rig.attribute(0));
    let mut reached = vec![Vec::new(); VERTICES as usize];
    for (source, dest, _) in edges() {
        if has(&frontier, source) && !has(&visited, dest) {
            reached[dest as usize].push(source);
        }
    }
    let case = format!("{sharing:?}, bottom-up {bottom_up}");
    let parent_codes = if parents { rig.attribute(1) } else { Vec::new() };
    // Bottom-up, the vertices of lists in several parts are visited in the next superstep that reads these.
    let is_later = parents && bottom_up;
    let wholes = if is_later { whole_lists(gpu, graph, sharing) } else { Vec::new() };
    for vertex in 0..VERTICES {
        let sources = &reached[vertex as usize];
        assert_eq!(has(&next, vertex), !sources.is_empty(), "activates {vertex}: {case}");
        let is_new = !sources.is_empty() && (!is_later || wholes[vertex as usize]);
        assert_eq!(has(&now, vertex), is_new || has(&visited, vertex), "visited {vertex}: {case}");
        if parents && !sources.is_empty() {
            let expected = sources.iter().min().map(|&parent| parent_code(vertex, parent));
            assert_eq!(expected, Some(parent_codes[vertex as usize]), "parent of {vertex}: {case}");
        }
    }
}

#[test]
fn bfs_reaches_what_is_next() {
    let Some(gpu) = gpu() else { return };
    // By default, one of the two.
    for encoding in [RECORD_ID, Encoding::VertexId].into_iter().take(if thorough() { 2 } else { 1 }) {
        let graph = Graph::new(encoding, false);
        for sharing in WORK_SPLITS {
            for (bottom_up, parents) in [(false, false), (false, true), (true, true)] {
                bfs_goes_a_level_on(gpu, &graph, sharing, bottom_up, parents);
            }
        }
    }
}
