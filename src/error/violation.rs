//! Violations of Graph500's rules.

use std::fmt;
use std::path::PathBuf;
use topostream_formats::{OriginalId, PageId};

/// Graph500's rules, in the order of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Rule {
    /// 1: parents form a tree without cycles, with the source as its root.
    Tree,
    /// 2: along a tree edge, the level grows by 1, or the distance by the edge's weight.
    TreeEdge,
    /// 3: along any edge, the level grows by at most 1, or the distance by at most the edge's weight.
    EveryEdge,
    /// 4: no edge leads from a reached vertex to an unreached one.
    Spans,
    /// 5: a tree edge is an edge of the graph.
    InGraph,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tree => "rule 1 (parents form a tree with the source as its root)",
            Self::TreeEdge => "rule 2 (values grow along tree edges by the edge's length)",
            Self::EveryEdge => "rule 3 (values grow along edges by at most the edge's length)",
            Self::Spans => "rule 4 (no edge leads from a reached vertex to an unreached one)",
            Self::InGraph => "rule 5 (tree edges are edges of the graph)",
        })
    }
}

/// The first violation of a rule by an answer, in the order of pages if it was found in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The original id of the vertex that is wrong, or of the edge's source.
    pub vertex: OriginalId,
    /// The original id of the edge's other end, or of the parent.
    pub other: Option<OriginalId>,
    /// The wrong values, for people.
    pub reason: String,
    /// The file and the page of the edge.
    pub page: Option<(PathBuf, PageId)>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer is wrong by Graph500's {}: ", self.rule)?;
        match &self.other {
            Some(other) if self.rule == Rule::EveryEdge || self.rule == Rule::Spans => {
                write!(f, "the edge from vertex {} to vertex {other} {}", self.vertex, self.reason)?;
            }
            Some(other) => write!(f, "vertex {} with parent {other} {}", self.vertex, self.reason)?,
            None => write!(f, "vertex {} {}", self.vertex, self.reason)?,
        }
        match &self.page {
            Some((path, page)) => write!(f, " ({}: page {page})", path.display()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Violation {}
