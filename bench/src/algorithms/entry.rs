//! What an entry of the table is: how an algorithm is run here and by the baseline, over what, and how answers are compared.

use super::compare::Compare;
use crate::Result;
use crate::baseline::Plain;
use crate::measure::timed;
use topostream::model::algorithm::{Algorithm, AnswerValues};
use topostream::model::attributes::Attribute;
use topostream::report::RunReport;
use topostream::{Direction, Engine, Run, Store, VertexId};
use topostream_formats::WeightType;

/// An algorithm.
pub struct Entry {
    /// For tables and `--only`.
    pub name: &'static str,
    /// The store that it is measured on.
    pub needs: Needs,
    /// Runs it.
    pub run: fn(&Engine, Hubs) -> Result<Finished>,
    /// The same by one thread over plain arrays.
    pub baseline: fn(&Plain, Hubs) -> Vec<f64>,
    /// How its values must be those of the baseline.
    pub compare: Compare,
    /// What a second's edges are counted by.
    pub edges: Edges,
    /// Bytes a vertex in GTS's table 4.
    pub gts_bytes: Option<u32>,
}

/// Where it begins, if it begins somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Hubs {
    /// The vertex with the most out-edges.
    pub first: VertexId,
    /// The one with the most but for that.
    pub second: VertexId,
}

/// What is counted as edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// Those that the report says were visited: the baseline visits the same.
    Visited,
    /// Those of the graph, once: the baseline goes another way.
    Once,
}

impl Edges {
    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visited => "visited",
            Self::Once => "once",
        }
    }
}

/// What a store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// For tables.
    pub name: &'static str,
    /// Whether every edge stands in the lists of both ends. Otherwise the graph is as its source says.
    pub undirected: bool,
    /// Whether it must be directed.
    pub directed: bool,
    /// The weights.
    pub weights: Option<WeightType>,
    /// Whether a directed graph has the lists against the edges too.
    pub in_lists: bool,
    /// Whether there are no repeated edges and no loops.
    pub distinct: bool,
}

/// As generated, or as in the file.
pub const AS_GIVEN: Needs =
    Needs { name: "as given", undirected: false, directed: false, weights: None, in_lists: true, distinct: false };
/// The same, for what has no meaning where edges go both ways.
pub const DIRECTED: Needs = Needs { directed: true, ..AS_GIVEN };
/// The same with whole weights.
pub const WEIGHTED: Needs = Needs { name: "u32 weights", weights: Some(WeightType::U32), in_lists: false, ..AS_GIVEN };
/// Undirected, without repeated edges and loops.
pub const UNDIRECTED: Needs =
    Needs { name: "undirected, distinct", undirected: true, in_lists: false, distinct: true, ..AS_GIVEN };
/// The same with weights that are floats.
pub const CONDUCTING: Needs =
    Needs { name: "undirected, distinct, f32 weights", weights: Some(WeightType::F32), ..UNDIRECTED };

impl Needs {
    /// Why a store is none of this kind.
    pub fn obstacle(&self, store: &Store, plain: &Plain) -> Option<&'static str> {
        let manifest = store.manifest();
        match () {
            () if self.undirected && manifest.directed => Some("the graph is directed"),
            () if self.directed && !manifest.directed => Some("the graph is undirected"),
            () if self.weights.is_some() && manifest.weights != self.weights => Some("no such weights"),
            () if self.in_lists && manifest.directed && store.topology(Direction::In).is_none() => Some("no in-lists"),
            () if self.distinct && !plain.is_distinct() => Some("repeated edges or loops"),
            () => None,
        }
    }

    /// Whether a store of this kind does for the other too.
    pub fn same_store(&self, other: &Self) -> bool {
        Self { name: other.name, directed: other.directed, ..*self } == *other
    }
}

/// A finished run.
pub struct Finished {
    /// What the engine says of it.
    pub report: RunReport,
    /// Nanoseconds of it, and of what had to be prepared for it.
    pub ns: f64,
    /// Its answer, by vertex; infinity where there is none.
    pub values: Vec<f64>,
    /// What is kept for it.
    pub kept: Kept,
}

/// What an algorithm keeps in memory, and the lists that it reads.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Bits a vertex that edges write.
    pub written_bits: u64,
    /// Bits a vertex that edges read only.
    pub read_bits: u64,
    /// Whether there are two frontiers.
    pub frontiers: bool,
    /// Whether it is noted in main memory, not on devices, when each vertex is first active: in two bytes, as long as supersteps
    /// have numbers of two bytes.
    pub noted: bool,
    /// What tables take.
    pub tables: String,
    /// The lists that are read.
    pub directions: Vec<Direction>,
}

impl Kept {
    /// Of an algorithm over a store.
    pub fn of<A: Algorithm>(algorithm: &A, store: &Store) -> Self {
        let has_in_lists = store.topology(Direction::In).is_some();
        let attributes = algorithm.attributes(has_in_lists);
        let bits = |written: bool| -> u64 {
            let of_role = attributes.iter().filter(|attribute| attribute.role.is_written() == written);
            of_role.map(bits_of).sum()
        };
        let table_bytes: u64 = algorithm.tables().iter().map(|table| 4 * table.contents.words()).sum();
        let tables = if table_bytes == 0 { String::new() } else { format!("{:.1} MB", table_bytes as f64 / 1e6) };
        let visits = algorithm.visits(has_in_lists);
        Self {
            written_bits: bits(true),
            read_bits: bits(false),
            frontiers: algorithm.is_traversal(),
            noted: algorithm.keeps_activations(),
            tables,
            directions: visits.into_iter().map(|(direction, _)| direction).collect(),
        }
    }

    /// Bytes of the pages that are read, weights with them.
    pub fn page_bytes(&self, store: &Store, weighted: bool) -> u64 {
        let lists = [Direction::Out, Direction::In].into_iter().filter(|one| self.directions.contains(one));
        let bytes = lists.filter_map(|direction| store.topology(direction)).map(|lists| {
            let weights = if weighted { lists.weight_page_bytes() } else { 0 };
            u64::from(lists.page_count()) * u64::from(lists.page_bytes() + weights)
        });
        bytes.sum()
    }
}

fn bits_of(attribute: &Attribute) -> u64 {
    attribute.of.bits()
}

/// Runs an algorithm whose first answer is compared.
pub fn run<A: Algorithm>(engine: &Engine, algorithm: A) -> Result<Finished> {
    run_for(engine, algorithm, 0)
}

/// Runs an algorithm of whose answers one is compared.
pub fn run_for<A: Algorithm>(engine: &Engine, algorithm: A, answer: usize) -> Result<Finished> {
    let kept = Kept::of(&algorithm, engine.store());
    let run = engine.run(algorithm)?;
    let values = values(&run, answer, engine.store().vertices());
    Ok(Finished { ns: run.report.wall_ns as f64, values, kept, report: run.report })
}

/// Runs what prepares tables before the engine runs: its time counts.
pub fn prepared<A: Algorithm>(
    engine: &Engine,
    kept: Kept,
    run: impl FnOnce() -> topostream::error::Result<Run<A>>,
) -> Result<Finished> {
    let (took, run) = timed(run);
    let run = run?;
    let values = values(&run, 0, engine.store().vertices());
    Ok(Finished { ns: took.as_nanos() as f64, values, kept, report: run.report })
}

fn values<A: Algorithm>(run: &Run<A>, answer: usize, vertices: u64) -> Vec<f64> {
    let answers = run.answers();
    let value = |vertex| match &answers[answer].values {
        AnswerValues::F64(value) => Some(value.get(vertex)),
        AnswerValues::Integer(value) => value.get(vertex).map(|value| value as f64),
        AnswerValues::Vertex(value) => value.get(vertex).map(|other| f64::from(other.0)),
    };
    (0..vertices).map(|vertex| value(vertex as u32).unwrap_or(f64::INFINITY)).collect()
}
