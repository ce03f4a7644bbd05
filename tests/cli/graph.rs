//! A graph in memory, and textbook algorithms as references for the program's answers.

use crate::program::Folder;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Edges, in original ids.
pub struct Graph {
    pub out: BTreeMap<u64, Vec<u64>>,
    pub edges: usize,
}

impl Graph {
    /// Reads an edge list; all ids below `vertices` exist.
    pub fn read(text: &str, vertices: u64) -> Self {
        let mut out: BTreeMap<u64, Vec<u64>> = (0..vertices).map(|vertex| (vertex, Vec::new())).collect();
        let mut edges = 0;
        for line in text.lines() {
            let (source, dest) = line.split_once(' ').expect("two columns");
            out.get_mut(&source.parse().unwrap()).unwrap().push(dest.parse().unwrap());
            edges += 1;
        }
        Self { out, edges }
    }

    /// An R-MAT graph, from the edge list `<scale>.el` that the program generated.
    pub fn rmat(folder: &Folder, scale: u32) -> Self {
        folder.run(&format!("generate rmat --scale {scale} --edges-file {scale}.el")).succeeds();
        Self::read(&folder.read(&format!("{scale}.el")), 1 << scale)
    }

    pub fn has_edge(&self, source: u64, dest: u64) -> bool {
        self.out[&source].contains(&dest)
    }

    /// The vertex with the most out-edges; on a tie, the one with the smallest id.
    pub fn max_degree(&self) -> u64 {
        *self.out.iter().max_by_key(|(id, list)| (list.len(), std::cmp::Reverse(**id))).unwrap().0
    }

    /// PageRank, damping 0.85, the rank of vertices without out-edges spread over all.
    pub fn pagerank(&self, iterations: u32) -> HashMap<u64, f64> {
        let n = self.out.len() as f64;
        let mut ranks: HashMap<u64, f64> = self.out.keys().map(|&id| (id, 1.0 / n)).collect();
        for _ in 0..iterations {
            let dangling: f64 = self.out.iter().filter(|(_, list)| list.is_empty()).map(|(id, _)| ranks[id]).sum();
            let mut next: HashMap<u64, f64> = ranks.keys().map(|&id| (id, (0.15 + 0.85 * dangling) / n)).collect();
            for (id, list) in &self.out {
                list.iter().for_each(|dest| *next.get_mut(dest).unwrap() += 0.85 * ranks[id] / list.len() as f64);
            }
            ranks = next;
        }
        ranks
    }

    /// Hops from a source; -1 for unreachable vertices.
    pub fn levels(&self, source: u64) -> HashMap<u64, i64> {
        let mut levels: HashMap<u64, i64> = self.out.keys().map(|&id| (id, -1)).collect();
        let (mut frontier, mut level) = (BTreeSet::from([source]), 0);
        while !frontier.is_empty() {
            frontier.iter().for_each(|id| *levels.get_mut(id).unwrap() = level);
            let next = frontier.iter().flat_map(|id| &self.out[id]).copied();
            frontier = next.filter(|dest| levels[dest] < 0).collect();
            level += 1;
        }
        levels
    }
}

/// The columns of a results file, by the vertex in the first column. No vertex may occur twice.
pub fn columns(text: &str, separator: char) -> HashMap<u64, Vec<f64>> {
    let rows: Vec<_> = text.lines().filter(|line| !line.starts_with("vertex")).collect();
    let row = |line: &&str| {
        let (vertex, values) = line.split_once(separator).expect("several columns");
        let values = values.split(separator).map(|value| value.parse().expect("a number")).collect();
        (vertex.parse().expect("an id"), values)
    };
    let columns: HashMap<u64, Vec<f64>> = rows.iter().map(row).collect();
    assert_eq!(columns.len(), rows.len(), "a vertex occurs twice");
    columns
}
