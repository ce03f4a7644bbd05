//! The cost model's prediction for a run, beside its measured time.

use crate::measure::ratio;
use serde::Serialize;
use topostream::predict::{Terms, Wall};
use topostream::report::RunReport;

/// The prediction for a run, and its measured time.
#[derive(Clone, Debug, Serialize)]
pub struct Predicted {
    /// The experiment.
    pub part: &'static str,
    /// The run, in words.
    pub run: String,
    /// Predicted nanoseconds.
    pub predicted_ns: f64,
    /// Measured nanoseconds.
    pub measured_ns: f64,
    terms: Terms,
    /// What the model expects the run to wait for.
    pub wall: Wall,
}

impl Predicted {
    /// `None` if a device has not been measured.
    pub fn of(part: &'static str, run: &str, report: &RunReport) -> Option<Self> {
        let prediction = report.predicted.as_ref()?;
        Some(Self {
            part,
            run: run.to_owned(),
            predicted_ns: prediction.total_ns,
            measured_ns: report.wall_ns as f64,
            terms: prediction.terms,
            wall: prediction.wall,
        })
    }

    /// Percent of the measured time: positive if the run was faster than predicted.
    pub fn error(&self) -> f64 {
        100.0 * (ratio(self.predicted_ns, self.measured_ns) - 1.0)
    }
}
