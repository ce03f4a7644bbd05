//! Samples: argument lists that are valid on any graph of a kind. Tests compare their answers with the oracle; `bench
//! algorithms` measures the oracle's time next to theirs.

use topostream_formats::edge::WeightType;
use topostream_formats::{Direction, Store};

/// An argument list, and the graphs for which it is valid.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The name of the row in benchmarks, unique in the catalogue; `None` for samples that are only tested.
    pub row: Option<&'static str>,
    /// The arguments after the store, separated by spaces. `max-degree` names a vertex of any graph; `@even` and `@odd`
    /// stand for files with the ids of the even and odd vertices.
    pub arguments: &'static str,
    /// The graphs for which it is valid.
    pub needs: Needs,
    /// The answer to compare in benchmarks.
    pub answer: &'static str,
    /// The edges that rates are based on.
    pub edges: Edges,
    /// Bytes per vertex in table 4 of the GTS paper, if it lists the algorithm.
    pub gts_bytes: Option<u32>,
}

impl Sample {
    /// Returns a sample that is only tested.
    pub const fn tested(arguments: &'static str, needs: Needs) -> Self {
        Self { row: None, arguments, needs, answer: "", edges: Edges::Visited, gts_bytes: None }
    }

    /// Returns a sample that is tested and measured.
    pub const fn measured(
        row: &'static str,
        arguments: &'static str,
        needs: Needs,
        answer: &'static str,
        edges: Edges,
    ) -> Self {
        Self { row: Some(row), arguments, needs, answer, edges, gts_bytes: None }
    }

    /// Sets the bytes per vertex that the GTS paper states.
    pub const fn gts_bytes(self, bytes: u32) -> Self {
        Self { gts_bytes: Some(bytes), ..self }
    }
}

/// The edges that rates are based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// Visited edges, as reported: the oracle visits the same ones.
    Visited,
    /// The edges of the graph, once: the oracle uses another method.
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
    /// Whether every edge is in the lists of both ends; otherwise the graph is as its source says.
    pub undirected: bool,
    /// Whether it must be directed.
    pub directed: bool,
    /// The weights.
    pub weights: Option<WeightType>,
    /// Whether a directed graph has in-lists too.
    pub in_lists: bool,
    /// Whether it has no repeated edges and no self-loops.
    pub distinct: bool,
}

/// As generated, or as in the file.
pub const AS_GIVEN: Needs =
    Needs { name: "as given", undirected: false, directed: false, weights: None, in_lists: true, distinct: false };
/// As given, directed.
pub const DIRECTED: Needs = Needs { directed: true, ..AS_GIVEN };
/// As given, without in-lists.
pub const OUT_LISTS: Needs = Needs { name: "as given, out-lists", in_lists: false, ..AS_GIVEN };
/// As given, without repeated edges and self-loops.
pub const DISTINCT: Needs = Needs { name: "distinct", distinct: true, ..AS_GIVEN };
/// As given, with integer weights.
pub const WEIGHTED: Needs = Needs { name: "u32 weights", weights: Some(WeightType::U32), in_lists: false, ..AS_GIVEN };
/// Undirected, without repeated edges and self-loops.
pub const UNDIRECTED: Needs =
    Needs { name: "undirected, distinct", undirected: true, in_lists: false, distinct: true, ..AS_GIVEN };
/// Undirected, without repeated edges and self-loops, with `f32` weights.
pub const CONDUCTING: Needs =
    Needs { name: "undirected, distinct, f32 weights", weights: Some(WeightType::F32), ..UNDIRECTED };

impl Needs {
    /// Returns why a store is not of this kind; `distinct` says whether its graph has neither repeated edges nor
    /// self-loops.
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

    /// Whether a store of this kind can be used for the other kind too.
    pub fn same_store(&self, other: &Self) -> bool {
        Self { name: other.name, directed: other.directed, ..*self } == *other
    }
}
