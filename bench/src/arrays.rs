//! The COST column (McSherry, Isard and Murray, HotOS 2015): the same work by one thread over plain arrays in memory, and
//! a slower reference that answers are held against.
//!
//! Nothing is shared with the engine but the pages that the arrays are filled from.

pub mod betweenness;
pub mod clustering;
pub mod communities;
pub mod components;
pub mod cores;
pub mod diffusion;
pub mod paths;
pub mod sets;
pub mod sketches;

use crate::Result;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::page::{self, Neighbours, Page, RecordIds, VertexIds};
use topostream_formats::store::PageReader;
use topostream_formats::{Direction, Encoding, PageId, Store, Topology};

/// The damping factor of every PageRank here.
pub const DAMPING: f64 = 0.85;
/// The level of a vertex that is not reached.
pub const UNREACHED: u32 = u32::MAX;

/// Compressed sparse rows: the list of vertex `v` is `neighbours[offsets[v]..offsets[v + 1]]`.
#[derive(Debug)]
pub struct Csr {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
    /// Empty where they were not asked for.
    weights: Vec<u32>,
}

/// A graph as plain arrays.
#[derive(Debug)]
pub struct Plain {
    /// The out-lists, with weights where the store has them.
    pub out_lists: Csr,
    against: Option<Csr>,
    /// False where every edge stands in the lists of both of its ends.
    pub directed: bool,
}

impl Plain {
    /// Reads a store.
    ///
    /// # Errors
    /// Where a page is not sound.
    pub fn read(store: &Store) -> Result<Self> {
        let read = |direction| Csr::read_all(store, direction, store.manifest().weights.is_some());
        let against = store.topology(Direction::In).map(|_| read(Direction::In)).transpose()?;
        Ok(Self { out_lists: read(Direction::Out)?, against, directed: store.manifest().directed })
    }

    /// The lists against the edges; of an undirected graph they are the others.
    ///
    /// # Panics
    /// Where the graph is directed and its store has none.
    pub fn in_lists(&self) -> &Csr {
        match &self.against {
            Some(lists) => lists,
            None => {
                assert!(!self.directed, "the store has no in-lists");
                &self.out_lists
            }
        }
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.out_lists.vertices()
    }

    /// Whether there are no repeated edges and no loops.
    pub fn is_distinct(&self) -> bool {
        // Lists ascend.
        let distinct = |(vertex, list): (usize, &[u32])| {
            !list.contains(&(vertex as u32)) && list.windows(2).all(|pair| pair[0] < pair[1])
        };
        (0..self.vertices()).map(|vertex| (vertex, self.out_lists.list(vertex))).all(distinct)
    }
}

impl Csr {
    /// Reads all lists of a direction.
    ///
    /// # Errors
    /// Where the store has none, or a page is not sound.
    pub fn read(store: &Store, direction: Direction) -> Result<Self> {
        Self::read_all(store, direction, false)
    }

    /// Reads all lists of a direction, with weights or without.
    fn read_all(store: &Store, direction: Direction, weighted: bool) -> Result<Self> {
        let topology = store.topology(direction).ok_or("the store has no in-lists")?;
        let mut offsets = vec![0];
        for &degree in topology.degrees(store.vertices())?.values() {
            offsets.push(offsets[offsets.len() - 1] + u64::from(degree));
        }
        // Where lists are grouped for shards, a list comes in several parts.
        let (mut next, mut all) = (offsets.clone(), vec![0; store.edges() as usize]);
        let mut all_weights = vec![0; if weighted { all.len() } else { 0 }];
        each_weighted_page(store, topology, weighted, |page, neighbours, weights| {
            for slot in 0..page.header().slot_count {
                let next = &mut next[(page.header().start_vertex + slot) as usize];
                for edge in page.record(slot) {
                    all[*next as usize] = neighbours.vertex(edge);
                    if weighted {
                        all_weights[*next as usize] = weights[edge];
                    }
                    *next += 1;
                }
            }
        })?;
        Ok(Self { offsets, neighbours: all, weights: all_weights })
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// A vertex's neighbours.
    #[inline(always)]
    pub fn list(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// A vertex's neighbours, each with its weight's bits.
    #[inline(always)]
    pub fn weighted(&self, vertex: usize) -> impl Iterator<Item = (u32, u32)> {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.neighbours[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.neighbours.len()
    }

    /// How long a vertex's list is.
    pub fn degree(&self, vertex: usize) -> u32 {
        (self.offsets[vertex + 1] - self.offsets[vertex]) as u32
    }
}

/// A page's neighbours, whatever their encoding.
#[derive(Clone, Copy)]
pub enum AnyNeighbours<'a> {
    /// Vertex ids.
    Vertex(VertexIds<'a>),
    /// Record ids.
    Record(RecordIds<'a>),
}

impl Neighbours for AnyNeighbours<'_> {
    #[inline(always)]
    fn vertex(&self, edge: usize) -> u32 {
        match self {
            Self::Vertex(ids) => ids.vertex(edge),
            Self::Record(ids) => ids.vertex(edge),
        }
    }
}

/// Reads a topology page by page, in order.
///
/// # Errors
/// Where a page cannot be read or is not sound.
pub fn each_page(store: &Store, topology: &Topology, mut take: impl FnMut(&Page<'_>, AnyNeighbours<'_>)) -> Result<()> {
    each_weighted_page(store, topology, false, |page, neighbours, _| take(page, neighbours))
}

/// The same with weights, or with none.
fn each_weighted_page(
    store: &Store,
    topology: &Topology,
    weighted: bool,
    mut take: impl FnMut(&Page<'_>, AnyNeighbours<'_>, &[u32]),
) -> Result<()> {
    let (reader, context) = (PageReader::open(topology)?, store.page_context(topology));
    let mut bytes = AlignedBuffer::new(topology.page_bytes() as usize);
    let mut weights = weighted.then(|| AlignedBuffer::new(topology.weight_page_bytes() as usize));
    for number in (0..topology.page_count()).map(PageId) {
        reader.read(number, &mut bytes, weights.as_deref_mut().unwrap_or_default())?;
        topology.check(number, &bytes, weights.as_deref(), &context)?;
        let page = Page::open(&bytes, context.encoding).map_err(|defect| topology.page_error(number, false, defect))?;
        let neighbours = match context.encoding {
            Encoding::VertexId => AnyNeighbours::Vertex(VertexIds::new(&page)),
            Encoding::RecordId { page_bytes, slot_bytes } => {
                let starts = topology.directory().starts();
                AnyNeighbours::Record(RecordIds::new(&page, starts, page_bytes, slot_bytes))
            }
        };
        let edges = page.header().edge_count;
        take(&page, neighbours, weights.as_ref().map_or(&[], |weights| page::weights(weights, edges)));
    }
    Ok(())
}

/// PageRank by pull: `f32` contributions, summed in `f64`; dangling rank is spread over all vertices.
pub fn pagerank(in_lists: &Csr, out_degrees: &[u32], iterations: u32) -> Vec<f32> {
    let vertices = in_lists.vertices();
    let mut ranks = vec![1.0 / vertices as f32; vertices];
    let mut contributions = vec![0.0f32; vertices];
    for _ in 0..iterations {
        let mut dangling = 0.0;
        for (vertex, contribution) in contributions.iter_mut().enumerate() {
            match out_degrees[vertex] {
                0 => dangling += f64::from(ranks[vertex]),
                degree => *contribution = ranks[vertex] / degree as f32,
            }
        }
        let base = (1.0 - DAMPING + DAMPING * dangling) / vertices as f64;
        for (vertex, rank) in ranks.iter_mut().enumerate() {
            let sum: f64 = in_lists.list(vertex).iter().map(|&from| f64::from(contributions[from as usize])).sum();
            *rank = (base + DAMPING * sum) as f32;
        }
    }
    ranks
}

/// PageRank by push, in `f64` throughout: what answers are held against.
pub fn reference_pagerank(out_lists: &Csr, iterations: u32, redistribute: bool) -> Vec<f64> {
    let vertices = out_lists.vertices();
    let mut ranks = vec![1.0 / vertices as f64; vertices];
    for _ in 0..iterations {
        let (mut sums, mut dangling) = (vec![0.0; vertices], 0.0);
        for (vertex, &rank) in ranks.iter().enumerate() {
            match out_lists.degree(vertex) {
                0 => dangling += rank,
                degree => out_lists.list(vertex).iter().for_each(|&to| sums[to as usize] += rank / f64::from(degree)),
            }
        }
        let spread = if redistribute { DAMPING * dangling } else { 0.0 };
        let base = (1.0 - DAMPING + spread) / vertices as f64;
        ranks = sums.into_iter().map(|sum| base + DAMPING * sum).collect();
    }
    ranks
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Lists from edges with weights, each once along itself.
    pub(crate) fn lists(vertices: u32, edges: &[(u32, u32, u32)]) -> Csr {
        let mut edges = edges.to_vec();
        edges.sort_unstable();
        let offset = |vertex| edges.partition_point(|&(source, ..)| source < vertex) as u64;
        let offsets = (0..=vertices).map(offset).collect();
        let (neighbours, weights) = edges.iter().map(|&(_, dest, weight)| (dest, weight)).unzip();
        Csr { offsets, neighbours, weights }
    }

    /// The same of an undirected graph: each edge in the lists of both ends.
    pub(crate) fn undirected(vertices: u32, edges: &[(u32, u32)]) -> Plain {
        let both: Vec<_> = edges.iter().flat_map(|&(one, other)| [(one, other, 1), (other, one, 1)]).collect();
        Plain { out_lists: lists(vertices, &both), against: None, directed: false }
    }

    /// 0 → 1 → 3, 0 → 2 → 3, 3 → 0; 4 stands alone.
    fn diamond() -> Csr {
        lists(5, &[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 0, 1)])
    }

    #[test]
    fn levels_of_a_diamond() {
        assert_eq!(bfs(&diamond(), 0), [0, 1, 1, 2, UNREACHED]);
        assert_eq!(bfs(&diamond(), 4), [UNREACHED, UNREACHED, UNREACHED, UNREACHED, 0]);
    }

    #[test]
    fn pull_and_push_agree() {
        let in_lists = lists(5, &[(0, 3, 1), (1, 0, 1), (2, 0, 1), (3, 1, 1), (3, 2, 1)]);
        let pulled = pagerank(&in_lists, &[2, 1, 1, 1, 0], 20);
        let pushed = reference_pagerank(&diamond(), 20, true);
        assert!(pulled.iter().zip(&pushed).all(|(&a, &b)| (f64::from(a) - b).abs() < 1e-6), "{pulled:?} {pushed:?}");
        assert!((pushed.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(reference_pagerank(&diamond(), 20, false).iter().sum::<f64>() < 1.0);
    }
}
