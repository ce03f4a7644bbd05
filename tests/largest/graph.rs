//! A few thousand edges among chosen vertices of a graph of any size, and the answers about it: hash maps of the
//! vertices with edges, and one class of all others.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};

/// An edge: source, dest, weight.
pub type Edge = [u64; 3];

/// A graph of which few vertices have edges.
pub struct Graph {
    pub vertices: u64,
    pub edges: Vec<Edge>,
    /// The edges that leave each vertex, and those that enter it: the other end, and the weight.
    out: HashMap<u64, Vec<(u64, u64)>>,
    into: HashMap<u64, Vec<(u64, u64)>>,
}

/// Ranks: of the vertices with edges, and of each other one.
pub struct Ranks {
    pub touched: HashMap<u64, f64>,
    pub rest: f64,
}

/// A number that looks random (SplitMix64).
fn hash(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// The vertices of the largest component: the first and the last ones, those at the ends of words, of 16 bits and of
/// sixteenths of the graph, and others.
fn chosen(vertices: u64, apart: &BTreeSet<u64>) -> Vec<u64> {
    let last = vertices - 1;
    let mut chosen: BTreeSet<u64> = [0, 1, 2, 31, 32, 63, 64, 65_535, 65_536, last - 1, last].into();
    for sixteenth in (1..16).map(|part| vertices / 16 * part) {
        chosen.extend([sixteenth - 1, sixteenth, sixteenth + 1]);
    }
    chosen.extend((0..400).map(|number| hash(number) % vertices));
    chosen.difference(apart).copied().collect()
}

impl Graph {
    /// The graph of the tests, directed. The last vertex has a loop, and edges from and to many others.
    pub fn of(vertices: u64) -> Self {
        assert!(vertices >= 1 << 17, "room for all chosen vertices");
        let (last, middle) = (vertices - 1, vertices / 2 + 100);
        let small = [vec![last - 3, last - 2], vec![middle, middle + 1, middle + 2]];
        let path: Vec<u64> = (0..12).map(|place| vertices / 8 * 5 + 1000 + 33 * place).collect();
        let apart: BTreeSet<u64> = small.iter().flatten().chain(&path).copied().collect();
        let chosen = chosen(vertices, &apart);
        let any = |number: u64| chosen[(hash(number) % chosen.len() as u64) as usize];
        let mut ends: Vec<(u64, u64)> = vec![(last, last), (0, last), (last, 0), (any(1), path[0])];
        ends.extend((0..3000).map(|number| (any(1000 + number), any(5000 + number))));
        ends.extend((0..200).flat_map(|number| [(last, any(10_000 + number)), (any(20_000 + number), last)]));
        ends.extend(small.iter().chain([&path]).flat_map(|path| path.windows(2).map(|pair| (pair[0], pair[1]))));
        let weight = |at: usize| 1 + hash(at as u64) % 100;
        Self::new(vertices, ends.iter().enumerate().map(|(at, &(source, dest))| [source, dest, weight(at)]).collect())
    }

    fn new(vertices: u64, edges: Vec<Edge>) -> Self {
        let (mut out, mut into) = (HashMap::new(), HashMap::new());
        for &[source, dest, weight] in &edges {
            out.entry(source).or_insert_with(Vec::new).push((dest, weight));
            into.entry(dest).or_insert_with(Vec::new).push((source, weight));
        }
        Self { vertices, edges, out, into }
    }

    /// The graph without directions: each edge both ways, as often as it is listed in one of them.
    pub fn both_ways(&self) -> Self {
        let mut counts: BTreeMap<[u64; 2], usize> = BTreeMap::new();
        self.edges.iter().for_each(|&[source, dest, _]| *counts.entry([source, dest]).or_default() += 1);
        let listed = |ends: [u64; 2]| counts.get(&ends).copied().unwrap_or(0);
        let ends: BTreeSet<[u64; 2]> = counts.keys().flat_map(|&[one, other]| [[one, other], [other, one]]).collect();
        let times = |ends: &[u64; 2]| listed(*ends).max(listed([ends[1], ends[0]]));
        let edges = ends.iter().flat_map(|ends| std::iter::repeat_n([ends[0], ends[1], 0], times(ends)));
        Self::new(self.vertices, edges.collect())
    }

    /// The file of edges.
    pub fn text(&self) -> String {
        self.edges.iter().map(|[source, dest, weight]| format!("{source} {dest} {weight}\n")).collect()
    }

    /// Whether an edge leads from one vertex to another.
    pub fn has_edge(&self, source: u64, dest: u64) -> bool {
        self.along(source).iter().any(|&(other, _)| other == dest)
    }

    /// The vertices with edges, ascending.
    pub fn touched(&self) -> Vec<u64> {
        self.out.keys().chain(self.into.keys()).copied().collect::<BTreeSet<u64>>().into_iter().collect()
    }

    fn along(&self, vertex: u64) -> &[(u64, u64)] {
        self.out.get(&vertex).map_or(&[], Vec::as_slice)
    }

    fn against(&self, vertex: u64) -> &[(u64, u64)] {
        self.into.get(&vertex).map_or(&[], Vec::as_slice)
    }

    /// The number of hops from a source to each vertex that is reached.
    pub fn levels(&self, source: u64) -> BTreeMap<u64, u64> {
        let (mut levels, mut queue) = (BTreeMap::from([(source, 0)]), VecDeque::from([source]));
        while let Some(vertex) = queue.pop_front() {
            let next = levels[&vertex] + 1;
            for &(other, _) in self.along(vertex) {
                if let Entry::Vacant(level) = levels.entry(other) {
                    level.insert(next);
                    queue.push_back(other);
                }
            }
        }
        levels
    }

    /// The smallest predecessor one level up of each vertex that is reached; the source for itself.
    pub fn parents(&self, levels: &BTreeMap<u64, u64>) -> BTreeMap<u64, u64> {
        let parent = |(&vertex, &level): (&u64, &u64)| {
            let above =
                self.against(vertex).iter().filter(|(other, _)| levels.get(other).map(|up| up + 1) == Some(level));
            (vertex, above.map(|&(other, _)| other).min().unwrap_or(vertex))
        };
        levels.iter().map(parent).collect()
    }

    /// The distance from a source to each vertex that is reached (Dijkstra).
    pub fn distances(&self, source: u64) -> BTreeMap<u64, u64> {
        let (mut settled, mut queue) = (BTreeMap::new(), BinaryHeap::from([Reverse((0, source))]));
        while let Some(Reverse((distance, vertex))) = queue.pop() {
            if settled.contains_key(&vertex) {
                continue;
            }
            settled.insert(vertex, distance);
            queue.extend(self.along(vertex).iter().map(|&(other, weight)| Reverse((distance + weight, other))));
        }
        settled
    }

    /// The smallest vertex of the component of each vertex with edges, ignoring their direction.
    pub fn components(&self) -> BTreeMap<u64, u64> {
        let mut found = BTreeMap::new();
        for first in self.touched() {
            let mut stack = vec![first];
            while let Some(vertex) = stack.pop() {
                if found.contains_key(&vertex) {
                    continue;
                }
                found.insert(vertex, first);
                stack.extend(self.along(vertex).iter().chain(self.against(vertex)).map(|&(other, _)| other));
            }
        }
        found
    }

    /// The largest components by size, then by name, with their sizes: this many; and their number.
    pub fn largest_components(&self, count: usize) -> (Vec<(u64, u64)>, u64) {
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        self.components().values().for_each(|name| *sizes.entry(*name).or_default() += 1);
        let touched: BTreeSet<u64> = self.touched().into_iter().collect();
        let number = sizes.len() as u64 + self.vertices - touched.len() as u64;
        let alone = (0..self.vertices).filter(|vertex| !touched.contains(vertex)).take(count).map(|vertex| (vertex, 1));
        let mut all: Vec<(u64, u64)> = sizes.into_iter().chain(alone).collect();
        all.sort_by_key(|&(name, size)| (Reverse(size), name));
        all.truncate(count);
        (all, number)
    }

    /// PageRank after some iterations, damping 0.85, by the definition; the rank of vertices without out-edges is
    /// spread over all.
    pub fn ranks(&self, iterations: u32) -> Ranks {
        let (count, touched) = (self.vertices as f64, self.touched());
        let mut ranks =
            Ranks { touched: touched.iter().map(|&vertex| (vertex, 1.0 / count)).collect(), rest: 1.0 / count };
        for _ in 0..iterations {
            let dangling = touched.iter().filter(|vertex| self.along(**vertex).is_empty());
            let dangling: f64 = dangling.map(|vertex| ranks.touched[vertex]).sum();
            let dangling = dangling + (self.vertices - touched.len() as u64) as f64 * ranks.rest;
            let base = (1.0 - 0.85 + 0.85 * dangling) / count;
            let next = |&vertex: &u64| {
                let share = |&(other, _): &(u64, u64)| ranks.touched[&other] / self.along(other).len() as f64;
                (vertex, base + 0.85 * self.against(vertex).iter().map(share).sum::<f64>())
            };
            ranks = Ranks { touched: touched.iter().map(next).collect(), rest: base };
        }
        ranks
    }

    /// For each power of two, from degree 0 on, the numbers of vertices with such an out-degree and in-degree.
    pub fn degrees(&self) -> Vec<[u64; 2]> {
        let class = |degree: usize| degree.checked_ilog2().map_or(0, |log2| log2 as usize + 1);
        let mut counts: Vec<[u64; 2]> = vec![[self.vertices; 2]];
        for (side, lists) in [&self.out, &self.into].into_iter().enumerate() {
            for class in lists.values().map(|list| class(list.len())) {
                counts.resize(counts.len().max(class + 1), [0; 2]);
                counts[class][side] += 1;
                counts[0][side] -= 1;
            }
        }
        counts
    }
}
