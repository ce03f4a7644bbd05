//! How an answer breaks a rule of Graph500.

use std::fmt;
use std::path::PathBuf;
use topostream_formats::PageId;

/// Graph500's rules, in the specification's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// 1: the tree hangs below the source and has no cycles.
    Tree,
    /// 2: a tree edge goes down by one level, or by its weight.
    TreeEdge,
    /// 3: no edge goes down more than that.
    EveryEdge,
    /// 4: no edge leaves what is reached.
    Spans,
    /// 5: a tree edge is an edge of the graph.
    InGraph,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tree => "rule 1 (a tree below the source, without cycles)",
            Self::TreeEdge => "rule 2 (tree edges go down by their length)",
            Self::EveryEdge => "rule 3 (no edge goes down by more than its length)",
            Self::Spans => "rule 4 (no edge leaves what is reached)",
            Self::InGraph => "rule 5 (tree edges are edges of the graph)",
        })
    }
}

/// How an answer breaks a rule: the first case, by page and by place in the page where pages tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The vertex that is wrong, or that the edge leaves; its original id.
    pub vertex: u64,
    /// The other end of the edge, or the parent; its original id.
    pub other: Option<u64>,
    /// The values that are wrong, for people.
    pub reason: String,
    /// Where the edge stands: the file and the page.
    pub page: Option<(PathBuf, PageId)>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer is wrong by Graph500's {}: ", self.rule)?;
        match self.other {
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
