//! Main memory of the end of a run: results, lists and pages are made once the page buffer is free.
//!
//! ```text
//!  run   values │ degrees │ directories │ program │ page buffer
//!  end   values │ degrees │ directories │ program │ ids │ --output │ --top │ --report       what is refused before
//! ```

use crate::algorithms::command::Runnable;
use crate::cli::columnar;
use crate::cli::failure::Failure;
use crate::cli::results::ResultFormat;
use crate::engine::Engine;
use crate::error::Error;
use crate::model::algorithm::declaration_of;
use crate::pages::memory::{Decoders, MemoryPlan, PROGRAM_BYTES};
use crate::store::Store;
use topostream_formats::manifest::Ids;

/// What a command makes of an answer.
pub struct Ending<'a> {
    pub store: &'a Store,
    pub runs: &'a dyn Runnable,
    /// The format of the file of results.
    pub output: Option<ResultFormat>,
    /// Whether other files are written, or the answer is checked.
    pub has_companions: bool,
    /// The number of vertices that are listed, or written in the order of their values.
    pub listed: u64,
    /// Whether vertices are counted by group.
    pub has_groups: bool,
    /// Whether a page in HTML is written.
    pub has_page: bool,
}

/// Columns of an answer whose values have an order: at most this many.
const LISTED_COLUMNS: u64 = 2;
/// Bytes of a listed vertex in each of them: what is found, sorted, and shown, less a name.
const LISTED_BYTES: u64 = 128;
/// Bytes of a name beyond its text: the string and its allocation. There are two of each at most.
const NAME_BYTES: u64 = 40;
/// Writers of text, and of NumPy's arrays: a buffer, and the values of a few thousand rows.
const TEXT_BYTES: u64 = 3 << 20;
/// A page in HTML, without the degrees: its record, its charts and their text.
const PAGE_BYTES: u64 = 6 << 20;
/// Values of a vertex, if the algorithm is not known before the run.
const VALUES_BYTES: u64 = 24;

impl Ending<'_> {
    /// What is there when the page buffer is free, in bytes.
    fn kept_bytes(&self) -> u64 {
        let beside_bytes = self.runs.beside_bytes(self.store);
        let unknown = PROGRAM_BYTES + (VALUES_BYTES * self.store.vertices()).max(beside_bytes);
        let Some(algorithm) = self.runs.algorithm() else { return unknown };
        // The parts do not depend on the budget.
        let declaration = declaration_of(algorithm, self.store);
        let plan = MemoryPlan::new(&declaration, self.store, 1 << 60, None, 0, Decoders::default());
        let own_bytes = plan.map_or(unknown, |plan| plan.total_bytes() - plan.buffer_bytes());
        own_bytes + beside_bytes
    }

    fn ids_bytes(&self) -> u64 {
        let ids = &self.store.manifest().ids;
        let are_loaded = match ids {
            Ids::Packed { .. } => self.output.is_some() || self.has_companions,
            Ids::Range { .. } | Ids::File { .. } | Ids::Names { .. } => true,
        };
        if are_loaded { ids.memory_bytes(self.store.vertices()) } else { 0 }
    }

    fn output_bytes(&self) -> u64 {
        match self.output {
            None => 0,
            Some(ResultFormat::Parquet) => columnar::PARQUET_BYTES,
            Some(ResultFormat::Arrow) => columnar::ARROW_BYTES,
            Some(ResultFormat::Text | ResultFormat::Csv | ResultFormat::Npy) => TEXT_BYTES,
        }
    }

    fn listed_bytes(&self) -> u64 {
        let vertices = self.store.vertices();
        let name = match self.store.manifest().ids {
            Ids::Names { bytes, .. } => 2 * (NAME_BYTES + bytes / vertices.max(1)),
            Ids::Range { .. } | Ids::File { .. } | Ids::Packed { .. } => 0,
        };
        self.listed.min(vertices).saturating_mul(LISTED_COLUMNS * (LISTED_BYTES + name))
    }

    /// The parts, in bytes.
    fn parts(&self) -> [(&'static str, u64); 6] {
        let vertices = self.store.vertices();
        [
            ("values, degrees and program", self.kept_bytes()),
            ("ids", self.ids_bytes()),
            ("--output", self.output_bytes()),
            ("vertices that are listed", self.listed_bytes()),
            ("vertices by group", if self.has_groups { 4 * vertices } else { 0 }),
            ("--report", if self.has_page { PAGE_BYTES + 4 * vertices } else { 0 }),
        ]
    }

    /// What the end needs, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts().iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Refuses what does not fit in the budget, before the run. A budget that is too small for the run itself is left
    /// to the run to refuse, with the larger of both figures ([`raised`]).
    ///
    /// # Errors
    /// [`Error::Memory`] with a budget that is enough for the run and for its end.
    pub fn check(&self, engine: &Engine) -> Result<(), Failure> {
        let budget_bytes = engine.options().memory_bytes;
        let (parts, ending_bytes) = (self.parts(), self.bytes());
        let has_more = parts[1..].iter().any(|(_, bytes)| *bytes > 0);
        if ending_bytes <= budget_bytes || !has_more {
            return Ok(());
        }
        let run_bytes = self.runs.needed_bytes(engine)?;
        if run_bytes > budget_bytes {
            return Ok(());
        }
        let algorithm = self.runs.algorithm();
        let what = algorithm
            .map_or("the end of the run".into(), |of| format!("{}, at its end,", declaration_of(of, self.store).name));
        let parts = parts.iter().filter(|(_, bytes)| *bytes > 0).map(|(name, bytes)| format!("{name} {bytes}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        Err(Error::Memory { what, needed_bytes: ending_bytes.max(run_bytes), budget_bytes, parts }.into())
    }
}

/// The error of a run, with a budget that is enough for its end too, if `memory_bytes` are the budget that is too
/// small.
pub fn raised(error: Error, memory_bytes: u64, ending_bytes: u64) -> Error {
    match error {
        Error::Memory { what, needed_bytes, budget_bytes, parts } if budget_bytes == memory_bytes => {
            Error::Memory { what, needed_bytes: needed_bytes.max(ending_bytes), budget_bytes, parts }
        }
        other => other,
    }
}

/// The failure of what precedes a run, as [`raised`] has its error.
pub fn raised_failure(failure: Failure, memory_bytes: u64, ending_bytes: u64) -> Failure {
    match failure {
        Failure::Engine(error) => raised(error, memory_bytes, ending_bytes).into(),
        other => other,
    }
}
