//! What a run has found: communities by each resolution.

use super::naming::{Naming, Quality};
use crate::engine::{Column, Run};
use crate::error::Result;
use crate::model::algorithm::Answer;
use crate::report::RunReport;
use topostream_formats::VertexId;

/// The column of a run by one resolution.
const COLUMN: &str = "community";

/// A finished run: communities by each resolution.
pub struct Partitions {
    /// Times, bytes and counts of all that the run did.
    pub report: RunReport,
    qualities: Vec<Quality>,
    /// The communities by all resolutions but the last.
    before: Vec<Column<VertexId>>,
    /// The run that has named those by the last.
    last: Run<Naming>,
}

impl Partitions {
    /// Of the first resolution, with the report of what was read before.
    pub(super) fn first(report: RunReport, mut run: Run<Naming>) -> Self {
        let report = report.followed_by(std::mem::take(&mut run.report));
        Self { report, qualities: vec![run.algorithm().measured()], before: Vec::new(), last: run }
    }

    /// And of the next one.
    pub(super) fn and(mut self, run: Run<Naming>) -> Result<Self> {
        self.before.push(self.last.column(COLUMN)?);
        let mut next = Self::first(self.report, run);
        next.qualities.splice(..0, self.qualities);
        Ok(Self { before: self.before, ..next })
    }

    /// What each partition is worth, in the order of the resolutions.
    pub fn qualities(&self) -> &[Quality] {
        &self.qualities
    }

    /// The run that has named the communities by the last resolution.
    pub fn last(&self) -> &Run<Naming> {
        &self.last
    }

    /// A column for each resolution: the vertex that each vertex's community is named after. It is `community`, or if
    /// there are several resolutions `community_0.5` and so on.
    pub fn answers(&self) -> Vec<Answer<'_>> {
        let name = |quality: &Quality| match self.before.len() {
            0 => COLUMN.to_owned(),
            _ => format!("{COLUMN}_{}", quality.resolution),
        };
        let mut answers = Vec::new();
        for (labels, quality) in self.before.iter().zip(&self.qualities) {
            answers.push(Answer::vertex(name(quality), move |vertex| Some(labels[VertexId(vertex)].0)));
        }
        for (answer, quality) in self.last.answers().into_iter().zip(self.qualities.last()) {
            answers.push(Answer { name: name(quality).into(), ..answer });
        }
        answers
    }
}
