//! Checks of answers, each against a computation that shares no code with the engine.

use crate::arrays::each_page;
use crate::error::Result;
use topostream::Run;
use topostream::algorithms::{Bfs, Clustering, DanglingMass, PageRank, UnionFind};
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream_formats::page::Neighbours;
use topostream_formats::{EdgeSource, Store, VertexId};
use topostream_oracles::bfs::{UNREACHED, bfs};
use topostream_oracles::components::connected;
use topostream_oracles::pagerank::DAMPING;
use topostream_oracles::{Csr, Dangling, rank_iterations};

/// Maximum L1 distance of ranks; they sum to 1 and are kept in single precision.
const RANK_TOLERANCE: f64 = 1e-5;

/// The description of the check of PageRank, for outcomes.
pub const PAGERANK_CHECK: &str =
    "PageRank: L1 distance of at most 1e-5 to a one-thread push in f64 over arrays in memory; later runs bit for bit";
/// The description of the check of BFS, for outcomes.
pub const BFS_CHECK: &str = "BFS: every level as in a one-thread queue search over arrays in memory";
/// The description of the check of components, for outcomes.
pub const COMPONENTS_CHECK: &str = "components: the same sets of vertices as by one thread over arrays in memory";
/// The description of the check of triangles, for outcomes.
pub const TRIANGLES_CHECK: &str = "triangles: every coefficient as by one thread over arrays in memory, to 1e-9";
/// The description of the check of rows of the catalogue, for outcomes.
pub const ROWS_CHECK: &str = "others: every value as by one thread over arrays in memory";
/// The description of the check of stores, for outcomes.
pub const STORE_CHECK: &str =
    "store: `verify` over every page, and a sum of hashes over its edges as over the edges of the generator, made anew";

/// The expected ranks, computed once.
pub struct RankCheck {
    expected: Vec<f64>,
    /// The first run's ranks as bits: later runs must be identical.
    bits: Option<u64>,
}

impl RankCheck {
    /// Computes the expected ranks.
    pub fn new(out_lists: &Csr, iterations: u32, dangling: DanglingMass) -> Self {
        let dangling = match dangling {
            DanglingMass::Redistributed => Dangling::Spread,
            DanglingMass::Ignored => Dangling::Lost,
        };
        Self { expected: rank_iterations(out_lists, DAMPING, dangling, iterations as usize), bits: None }
    }

    /// Checks a run.
    ///
    /// # Errors
    /// If ranks are too far off, or differ from the first run's.
    pub fn check(&mut self, run: &Run<PageRank>) -> Result<()> {
        let ranks = ranks(run, self.expected.len());
        let bits = ranks.iter().fold(0u64, |sum, rank| sum.wrapping_mul(31).wrapping_add(rank.to_bits()));
        match self.bits {
            Some(first) if first == bits => return Ok(()),
            Some(_) => return Err("wrong answer: ranks are not the same bits as in the first run".into()),
            None => {}
        }
        self.close(&ranks)?;
        self.bits = Some(bits);
        Ok(())
    }

    /// Checks ranks of another program.
    ///
    /// # Errors
    /// If they are too far off.
    pub fn close(&self, ranks: &[f64]) -> Result<()> {
        let distance: f64 = ranks.iter().zip(&self.expected).map(|(a, b)| (a - b).abs()).sum();
        match ranks.len() == self.expected.len() && distance <= RANK_TOLERANCE {
            true => Ok(()),
            false => Err(format!("wrong answer: ranks are {distance:e} off in all").into()),
        }
    }
}

/// The expected levels, computed once.
pub struct LevelCheck {
    expected: Vec<u32>,
}

impl LevelCheck {
    /// Computes the expected levels.
    pub fn new(out_lists: &Csr, source: u32) -> Self {
        Self { expected: bfs(out_lists, source) }
    }

    /// The number of vertices reached.
    pub fn reached(&self) -> u64 {
        self.expected.iter().filter(|&&level| level != UNREACHED).count() as u64
    }

    /// Checks a run.
    ///
    /// # Errors
    /// Names the first vertex with a different level.
    pub fn check(&self, run: &Run<Bfs>) -> Result<()> {
        let levels = levels(run, self.expected.len());
        let wrong = (0..self.expected.len()).find(|&vertex| levels[vertex] != self.expected[vertex]);
        match wrong {
            None => Ok(()),
            Some(vertex) => {
                let (found, expected) = (levels[vertex], self.expected[vertex]);
                Err(format!("wrong answer: vertex {vertex} has level {found}, not {expected}").into())
            }
        }
    }
}

/// The expected components, computed once.
pub struct ComponentCheck {
    /// The least vertex of each vertex's component.
    expected: Vec<f64>,
}

impl ComponentCheck {
    /// Finds the expected components.
    pub fn new(out_lists: &Csr) -> Self {
        Self { expected: connected(out_lists) }
    }

    /// Checks a run: components have the same vertices as expected, whatever they are called.
    ///
    /// # Errors
    /// Names the first vertex in another component.
    pub fn check(&self, run: &Run<UnionFind>) -> Result<()> {
        let expected = &self.expected;
        let labels = values(run, expected.len(), |values, vertex| match values {
            AnswerValues::Vertex(label) => label.get(vertex).expect("every vertex is in a component").0,
            _ => panic!("components are vertices"),
        });
        let wrong = (0..expected.len()).find(|&vertex| {
            let (label, least) = (labels[vertex] as usize, expected[vertex] as usize);
            expected[label] != expected[vertex] || labels[least] != labels[vertex]
        });
        wrong.map_or(Ok(()), |vertex| Err(format!("wrong answer: vertex {vertex} is in another component").into()))
    }
}

/// Checks clustering coefficients.
///
/// # Errors
/// Names the first vertex with another one.
pub fn check_coefficients(run: &Run<Clustering>, expected: &[f64]) -> Result<()> {
    let found = values(run, expected.len(), |values, vertex| match values {
        AnswerValues::F64(coefficient) => coefficient.get(vertex),
        _ => panic!("coefficients are numbers"),
    });
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-9 * expected;
    match found.iter().zip(expected).position(|pair| !is_near(pair)) {
        Some(vertex) => Err(format!("wrong answer: the coefficient of vertex {vertex} is {}", found[vertex]).into()),
        None => Ok(()),
    }
}

fn ranks(run: &Run<PageRank>, vertices: usize) -> Vec<f64> {
    values(run, vertices, |values, vertex| match values {
        AnswerValues::F64(rank) => rank.get(vertex),
        _ => panic!("ranks are numbers"),
    })
}

fn levels(run: &Run<Bfs>, vertices: usize) -> Vec<u32> {
    values(run, vertices, |values, vertex| match values {
        AnswerValues::Integer(level) => level.get(vertex).map_or(UNREACHED, |level| level as u32),
        _ => panic!("levels are whole numbers"),
    })
}

/// The first answer's value of every vertex.
fn values<A: Algorithm, T>(run: &Run<A>, vertices: usize, value: impl Fn(&AnswerValues<'_>, u32) -> T) -> Vec<T> {
    let answers = run.answers();
    (0..vertices).map(|vertex| value(&answers[0].values, vertex as u32)).collect()
}

/// Checks by sums of hashes that a store has exactly the edges of a source; ids must be vertices.
///
/// # Errors
/// If they differ, or either cannot be read.
pub fn check_edges(store: &Store, source: &mut dyn EdgeSource) -> Result<()> {
    let (mut expected, mut chunk) = ((0u64, 0u64), Vec::new());
    loop {
        source.read(&mut chunk)?;
        if chunk.is_empty() {
            break;
        }
        expected.0 += chunk.len() as u64;
        let sum = chunk.iter().fold(0u64, |sum, edge| sum.wrapping_add(hash(edge.source, edge.dest)));
        expected.1 = expected.1.wrapping_add(sum);
    }
    let mut found = (0u64, 0u64);
    let topology = store.topologies().next().ok_or("the store has no out-lists")?;
    let ids = store.ids()?;
    let original = |vertex: u32| ids.original(VertexId(vertex));
    each_page(store, topology, |page, neighbours| {
        for slot in 0..page.header().slot_count {
            let source = original(page.header().start_vertex + slot);
            for edge in page.record(slot) {
                let dest = original(neighbours.vertex(edge));
                found = (found.0 + 1, found.1.wrapping_add(hash(source, dest)));
            }
        }
    })?;
    match found == expected {
        true => Ok(()),
        false => Err(format!("wrong store: edges and their hashes {found:?}, not {expected:?}").into()),
    }
}

/// A hash of an edge; sums of it identify multisets of edges.
pub fn hash(source: u64, dest: u64) -> u64 {
    topostream_formats::random::hash(source << 32 ^ dest)
}
