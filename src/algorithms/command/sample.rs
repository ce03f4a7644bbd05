//! Samples: argument lists that are valid on any graph of a kind. Tests hold their answers against the oracle, `bench
//! algorithms` measures them beside it.

use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, Store};

/// An argument list, and the graphs that it is for.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The name of the row in benchmarks, unique in the catalogue; none for samples that are only tested.
    pub row: Option<&'static str>,
    /// The arguments after the store, separated by spaces. `max-degree` names a vertex of any graph; `@even` and `@odd`
    /// stand for files with the ids of the vertices of even and of odd number.
    pub arguments: &'static str,
    /// The graphs that it is for.
    pub needs: Needs,
    /// The answer that is compared in benchmarks.
    pub answer: &'static str,
    /// What is counted as edges in rates.
    pub edges: Edges,
    /// Bytes per vertex in table 4 of the GTS paper, where it has the algorithm.
    pub gts_bytes: Option<u32>,
}

impl Sample {
    /// A sample that is tested only.
    pub const fn tested(arguments: &'static str, needs: Needs) -> Self {
        Self { row: None, arguments, needs, answer: "", edges: Edges::Visited, gts_bytes: None }
    }

    /// A sample that is tested, and a row of the benchmarks.
    pub const fn measured(
        row: &'static str,
        arguments: &'static str,
        needs: Needs,
        answer: &'static str,
        edges: Edges,
    ) -> Self {
        Self { row: Some(row), arguments, needs, answer, edges, gts_bytes: None }
    }

    /// The same with the bytes per vertex that GTS's paper gives.
    pub const fn gts_bytes(self, bytes: u32) -> Self {
        Self { gts_bytes: Some(bytes), ..self }
    }
}

/// What is counted as edges, for rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// Those that the report counts as visited: the oracle visits the same.
    Visited,
    /// Those of the graph, once: the oracle takes another way.
    Once,
}

impl Edges {
    /// The name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visited => "visited",
            Self::Once => "once",
        }
    }
}

/// A kind of graph and store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The name for tables.
    pub name: &'static str,
    /// Whether every edge stands in the lists of both ends. Otherwise the graph is as its source says.
    pub undirected: bool,
    /// Whether it must be directed.
    pub directed: bool,
    /// The weights.
    pub weights: Option<WeightType>,
    /// Whether a directed graph has in-lists too.
    pub in_lists: bool,
    /// Whether there are no repeated edges and no loops.
    pub distinct: bool,
}

/// As generated, or as in the file.
pub const AS_GIVEN: Needs =
    Needs { name: "as given", undirected: false, directed: false, weights: None, in_lists: true, distinct: false };
/// The same, directed.
pub const DIRECTED: Needs = Needs { directed: true, ..AS_GIVEN };
/// The same without in-lists.
pub const OUT_LISTS: Needs = Needs { name: "as given, out-lists", in_lists: false, ..AS_GIVEN };
/// As given, without repeated edges and loops.
pub const DISTINCT: Needs = Needs { name: "distinct", distinct: true, ..AS_GIVEN };
/// As given, with weights that are whole numbers.
pub const WEIGHTED: Needs = Needs { name: "u32 weights", weights: Some(WeightType::U32), in_lists: false, ..AS_GIVEN };
/// Undirected, without repeated edges and loops.
pub const UNDIRECTED: Needs =
    Needs { name: "undirected, distinct", undirected: true, in_lists: false, distinct: true, ..AS_GIVEN };
/// The same with `f32` weights.
pub const CONDUCTING: Needs =
    Needs { name: "undirected, distinct, f32 weights", weights: Some(WeightType::F32), ..UNDIRECTED };

impl Needs {
    /// Why a store is not of this kind; `distinct` is whether its graph has neither repeated edges nor loops.
    pub fn obstacle(&self, store: &Store, distinct: impl FnOnce() -> bool) -> Option<&'static str> {
        let manifest = store.manifest();
        match () {
            () if self.undirected && manifest.directed => Some("the graph is directed"),
            () if self.directed && !manifest.directed => Some("the graph is undirected"),
            () if self.weights.is_some() && manifest.weights != self.weights => Some("no such weights"),
            () if self.in_lists && manifest.directed && store.topology(Direction::In).is_none() => Some("no in-lists"),
            () if self.distinct && !distinct() => Some("repeated edges or loops"),
            () => None,
        }
    }

    /// Whether a store of this kind does for the other too.
    pub fn same_store(&self, other: &Self) -> bool {
        Self { name: other.name, directed: other.directed, ..*self } == *other
    }
}
