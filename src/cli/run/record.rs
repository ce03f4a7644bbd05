//! A finished run with its origin and its answer: as text, JSON, and a page in HTML.

use super::summary::AnswerSummary;
use crate::cli::failure::Failure;
use crate::cli::run_report::run_report;
use crate::report::RunReport;
use serde::Serialize;
use topostream_tools::report::{Form, Origin, page_of_run, read};

/// What `--json` prints: the fields of the report, and a summary of the answer.
#[derive(Serialize)]
pub struct WholeReport<'a> {
    #[serde(flatten)]
    pub run: &'a RunReport,
    pub origin: &'a Origin,
    pub answer: &'a AnswerSummary,
}

/// The summary of a run's answer, and its report, as text.
pub fn report_text(run: &RunReport, answer: &AnswerSummary) -> String {
    answer.text() + &run_report(run)
}

/// The report of a run, its origin and the summary of its answer as JSON, with a newline.
///
/// # Errors
/// Serialization errors.
pub fn report_json(run: &RunReport, origin: &Origin, answer: &AnswerSummary) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(&WholeReport { run, origin, answer });
    Ok(json.map_err(|error| Failure::Other(error.to_string()))? + "\n")
}

/// The page of a run.
pub fn page(run: &RunReport, origin: Origin, answer: &AnswerSummary) -> Result<String, Failure> {
    // The page has what the JSON has. Supersteps, of which there may be many, are handed on one by one.
    let failed = |error: serde_json::Error| Failure::Other(format!("the report of the run: {error}"));
    let json = report_json(&run.without_steps(), &origin, answer)?;
    let mut record = read(json.as_bytes()).map_err(Failure::Other)?;
    let step = |step| serde_json::from_value(serde_json::to_value(step)?);
    record.steps = run.steps.iter().map(step).collect::<Result<_, _>>().map_err(failed)?;
    Ok(page_of_run(&record, Form::Document))
}
