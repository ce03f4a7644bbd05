//! An algorithm that is ready to run, with what a command makes of its answer.

use super::{Figure, Finished, Path, Runnable};
use crate::algorithms::leiden::{Hierarchy, Objective, Quality};
use crate::model::vertex_set::VertexSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use topostream_formats::{Store, VertexId};

/// A prepared run over a store.
pub struct Prepared {
    /// The algorithm.
    pub runs: Box<dyn Runnable>,
    /// The summary on the terminal.
    pub shown: Shown,
    /// Additional work of the command.
    pub companions: Vec<Companion>,
    /// For people: a note on work that is not part of a plan's figures.
    pub plan_note: Option<&'static str>,
    /// For people: what takes less time, where a run takes hours.
    pub shorter: Option<&'static str>,
}

impl Prepared {
    /// A run without a summary.
    pub fn new(runs: impl Runnable + 'static) -> Self {
        Self { runs: Box::new(runs), shown: Shown::Nothing, companions: Vec::new(), plan_note: None, shorter: None }
    }

    /// Adds a summary.
    #[must_use]
    pub fn showing(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// Adds work of the command, if requested.
    #[must_use]
    pub fn with(mut self, companion: Option<Companion>) -> Self {
        self.companions.extend(companion);
        self
    }

    /// Adds what takes less time.
    #[must_use]
    pub fn with_shorter(self, shorter: &'static str) -> Self {
        Self { shorter: Some(shorter), ..self }
    }

    /// Adds a note on work that is not part of a plan's figures.
    #[must_use]
    pub fn with_plan_note(self, note: &'static str) -> Self {
        Self { plan_note: Some(note), ..self }
    }
}

/// How an answer is summarised, in addition to the vertices with the largest values.
pub enum Shown {
    /// No summary.
    Nothing,
    /// Only the vertices with the largest values.
    Top,
    /// The number of vertices with a value (the reached ones), and the largest value.
    Reached,
    /// The number of vertices with a value above 0.
    AboveZero,
    /// The number of groups of equal values and the largest of them; with the plural noun for a group, and further
    /// items.
    Groups(&'static str, Option<Summarize>),
    /// The largest value, and the number of vertices that have it.
    Largest,
    /// By the algorithm's own function.
    Own(Summarize),
}

/// Summarises a finished run.
pub type Summarize = Box<dyn Fn(&dyn Finished, &Store) -> Vec<SummaryItem> + Send>;

/// An item of a summary.
pub enum SummaryItem {
    /// Figures about the whole graph, with their names: on the terminal a line.
    Figures(Vec<(&'static str, Figure)>),
    /// The vertices with the largest values of the first answer.
    Top,
    /// The number of vertices with a value (the reached ones), and the largest value.
    Reached,
    /// A path from the source of a search to a vertex.
    Path(Path),
    /// A table.
    Table {
        /// The headings, the one of the labels first.
        header: Vec<String>,
        /// A label and its figures, one for each further heading.
        rows: Vec<(String, Vec<Figure>)>,
    },
}

/// Writes a file from a finished run.
pub type WriteFile = Box<dyn FnOnce(&dyn Finished, &Store, &mut dyn io::Write) -> io::Result<()> + Send>;

/// Work of a command in addition to the run and its answer.
pub enum Companion {
    /// Writes another file from the answer. Checks before the run whether the file can be written.
    File {
        /// Its path.
        path: PathBuf,
        /// Its contents.
        write: WriteFile,
    },
    /// Writes the edges from one set of vertices into another, before the run.
    CrossingEdges {
        /// The path of the file.
        path: PathBuf,
        /// The vertices that the edges leave.
        from: Arc<VertexSet>,
        /// The vertices that the edges enter.
        to: Arc<VertexSet>,
    },
    /// Checks levels (and parents, if they are the second answer) by Graph500's rules before they are written.
    CheckSearch {
        /// The source of the search.
        source: VertexId,
    },
    /// Writes the levels of communities to a folder, a file each.
    Levels {
        /// The folder, which must be empty if it exists.
        path: PathBuf,
        /// The levels, once the run has ended.
        levels: Arc<OnceLock<Hierarchy>>,
    },
    /// Checks communities, one partition for each answer, by the stored edges.
    CheckCommunities {
        /// What their quality is.
        objective: Objective,
        /// Whether edges count by their weights.
        weights: bool,
        /// Their qualities, once the run has ended.
        qualities: Arc<OnceLock<Vec<Quality>>>,
    },
    /// Checks distances (and parents, if they are the second answer) by Graph500's rules before they are written.
    CheckPaths {
        /// The source of the paths.
        source: VertexId,
        /// Whether distances over float weights are in single precision.
        single: bool,
        /// The largest distance, if there is a limit.
        cutoff: Option<f64>,
    },
}
