//! Graphs that exercise special cases of a device, and their answers.

use crate::reference::*;
use std::collections::HashMap;
use std::sync::Mutex;

/// A graph with a name.
pub struct TestGraph {
    pub name: &'static str,
    pub edges: EdgeList,
    /// A vertex that reaches much of the graph.
    pub source: u32,
}

impl TestGraph {
    pub fn longest_in_list(&self) -> usize {
        let mut degrees = vec![0; self.edges.vertices as usize];
        self.edges.edges.iter().for_each(|&(_, dest)| degrees[dest as usize] += 1);
        degrees.into_iter().max().unwrap_or(0)
    }
}

/// Iterations of PageRank in these tests.
pub const ITERATIONS: u32 = 3;

/// All lists are in small pages of 64 KiB, some longer than a workgroup's share; loops, repeated edges, isolated
/// vertices.
pub fn dense() -> TestGraph {
    let n = 1000;
    let mut edges = random_edges(0..950, 12_000, 1);
    for (hub, length) in [(3, 2049), (4, 2048), (31, 4097), (32, 9000), (949, 6000)] {
        edges.extend((0..length).map(|number| (hub, number * 7 % 950)));
        edges.extend((0..length / 3).map(|number| (number * 11 % 950, hub)));
    }
    edges.extend((0..950).step_by(3).map(|vertex| (vertex, vertex)));
    edges.extend(vec![(17, 5); 300]);
    TestGraph { name: "dense", edges: EdgeList::new(n, edges), source: 32 }
}

/// Out- and in-lists of several large pages each, in pages of 64 KiB, and small lists around them.
pub fn hubs() -> TestGraph {
    let n = 20_001;
    let mut edges = random_edges(0..n, 30_000, 2);
    edges.extend((0..50_000).map(|number| (n / 2, number % n)));
    edges.extend((0..40_000).map(|number| (number * 3 % n, 77)));
    edges.extend((0..n).map(|vertex| (1, vertex)));
    TestGraph { name: "hubs", edges: EdgeList::new(n, edges), source: 9 }
}

/// Lists of several large pages in pages of 1 MiB too.
pub fn giant() -> TestGraph {
    let n = 30_000;
    let mut edges = random_edges(0..n, 20_000, 3);
    edges.extend((0..300_000).map(|number| (12_345, number % n)));
    edges.extend((0..300_000).map(|number| (number % n, 23_456)));
    TestGraph { name: "giant", edges: EdgeList::new(n, edges), source: 23_456 }
}

/// Whole pages of isolated vertices at both ends and in between; and a path of many supersteps.
pub fn sparse() -> TestGraph {
    let n = 42_000;
    let mut edges = random_edges(12_000..18_000, 24_000, 4);
    edges.extend(random_edges(30_000..36_000, 24_000, 5));
    edges.extend((17_999..18_015).map(|vertex| (vertex, vertex + 1)));
    edges.push((18_015, 30_000));
    TestGraph { name: "sparse", edges: EdgeList::new(n, edges), source: 12_300 }
}

/// The expected answers of a graph, computed once.
#[derive(Default)]
pub struct Oracle {
    ranks: Mutex<HashMap<(&'static str, bool), Vec<f64>>>,
    levels: Mutex<HashMap<&'static str, Vec<Option<u64>>>>,
}

impl Oracle {
    pub fn ranks(&self, graph: &TestGraph, dangling: Dangling) -> Vec<f64> {
        let key = (graph.name, dangling == Dangling::Spread);
        let find = || rank_iterations(&graph.edges, 0.85, dangling, ITERATIONS as usize);
        self.ranks.lock().unwrap().entry(key).or_insert_with(find).clone()
    }

    pub fn levels(&self, graph: &TestGraph) -> Vec<Option<u64>> {
        self.levels.lock().unwrap().entry(graph.name).or_insert_with(|| levels(&graph.edges, graph.source)).clone()
    }
}
