//! A graph as plain arrays, sets of vertices, and what a method did: updates, visits, and pages through a buffer.

use lru::LruCache;
use std::num::NonZero;
use std::ops::Range;
use topostream_oracles::Csr;

/// Edges of a page.
const PAGE_EDGES: u64 = 8192;
/// The buffer has room for one of so many pages.
const BUFFER_SHARE: u64 = 8;

/// Lists without loops, sorted by dest, with a weight for each edge.
pub struct Lists {
    /// Where each vertex's list begins; one more than there are vertices.
    pub offsets: Vec<u64>,
    /// The dests of all lists.
    pub dests: Vec<u32>,
    /// Their weights.
    pub weights: Vec<u32>,
}

impl Lists {
    /// The lists of a graph with integer weights.
    pub fn of(csr: &Csr) -> Self {
        let mut lists = Self { offsets: vec![0], dests: Vec::new(), weights: Vec::new() };
        let mut list = Vec::new();
        for vertex in 0..csr.vertices() {
            list.clear();
            list.extend(csr.weighted(vertex).filter(|&(dest, _)| dest as usize != vertex));
            list.sort_unstable();
            lists.dests.extend(list.iter().map(|&(dest, _)| dest));
            lists.weights.extend(list.iter().map(|&(_, weight)| weight));
            lists.offsets.push(lists.dests.len() as u64);
        }
        lists
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    /// The number of edges.
    pub fn edges(&self) -> u64 {
        self.dests.len() as u64
    }

    /// A vertex's edges.
    #[inline(always)]
    pub fn range(&self, vertex: u32) -> Range<usize> {
        self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize
    }

    /// The length of a vertex's list.
    pub fn degree(&self, vertex: u32) -> u32 {
        self.range(vertex).len() as u32
    }

    /// The same edge of each edge in the list of its dest, where every edge is in both lists.
    pub fn twins(&self) -> Vec<u32> {
        let (mut next, mut twins) = (self.offsets.clone(), vec![0; self.dests.len()]);
        for vertex in 0..self.vertices() {
            for edge in self.range(vertex) {
                let next = &mut next[self.dests[edge] as usize];
                twins[edge] = *next as u32;
                *next += 1;
            }
        }
        twins
    }
}

/// A set of vertices.
pub struct Vertices(Vec<u64>);

impl Vertices {
    /// None of `count` vertices.
    pub fn none(count: u32) -> Self {
        Self(vec![0; count as usize / 64 + 1])
    }

    #[inline(always)]
    pub fn insert(&mut self, vertex: u32) {
        self.0[vertex as usize / 64] |= 1 << (vertex % 64);
    }

    #[inline(always)]
    pub fn contains(&self, vertex: u32) -> bool {
        self.0[vertex as usize / 64] >> (vertex % 64) & 1 != 0
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Removes the least vertex of a range, and returns it.
    #[inline(always)]
    pub fn take_first(&mut self, range: &Range<u32>) -> Option<u32> {
        let mut at = range.start;
        while at < range.end {
            let word = &mut self.0[at as usize / 64];
            let bits = *word >> (at % 64);
            if bits == 0 {
                at = (at / 64 + 1) * 64;
                continue;
            }
            let vertex = at + bits.trailing_zeros();
            if vertex >= range.end {
                return None;
            }
            *word &= !(1 << (vertex % 64));
            return Some(vertex);
        }
        None
    }
}

/// What a method did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Rounds over the graph.
    pub rounds: u64,
    /// Values that an edge changed; for residuals, edges along which something was passed on.
    pub updates: u64,
    /// Edges that were visited.
    pub visits: u64,
    /// Those of them that were visited backwards.
    pub backwards: u64,
    /// Pages that were read.
    pub loads: u64,
}

/// A page buffer that drops the page which was used least recently, or nothing where pages are not counted.
pub struct Pages {
    kept: Option<LruCache<u64, ()>>,
    last: u64,
    /// Pages that were not in the buffer.
    pub loads: u64,
}

impl Pages {
    /// A buffer for an eighth of the pages of so many edges.
    pub fn of(edges: u64) -> Self {
        let room = (edges.div_ceil(PAGE_EDGES) / BUFFER_SHARE).max(1) as usize;
        Self { kept: NonZero::new(room).map(LruCache::new), last: u64::MAX, loads: 0 }
    }

    /// No buffer, for times.
    pub fn uncounted() -> Self {
        Self { kept: None, last: u64::MAX, loads: 0 }
    }

    /// Visits edges.
    #[inline(always)]
    pub fn visit(&mut self, edges: &Range<usize>) {
        if self.kept.is_some() && !edges.is_empty() {
            self.read(edges.start as u64 / PAGE_EDGES, (edges.end - 1) as u64 / PAGE_EDGES);
        }
    }

    fn read(&mut self, first: u64, last: u64) {
        let Some(kept) = &mut self.kept else { return };
        for page in first..=last {
            if page != self.last && kept.put(page, ()).is_none() {
                self.loads += 1;
            }
            self.last = page;
        }
    }
}

/// The pages of so many edges.
pub fn pages_of(edges: u64) -> u64 {
    edges.div_ceil(PAGE_EDGES)
}
