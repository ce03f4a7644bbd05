//! What a run did: text, JSON, and the page of `topostream report`.

use crate::arrays::{fingerprint, open_same};
use crate::work::interruptible;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use topostream::Store;
use topostream::cli::{self, Degrees};
use topostream_tools::progress::Cancel;

/// The report of a run. It does not keep the run's columns in memory.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct Report {
    text: Arc<str>,
    json: Arc<str>,
    store: Arc<Store>,
    degrees: Arc<OnceLock<Vec<Degrees>>>,
}

impl Report {
    pub fn new(text: String, json: String, store: &Arc<Store>) -> Self {
        Self { text: text.into(), json: json.into(), store: Arc::clone(store), degrees: Arc::default() }
    }
}

#[pymethods]
impl Report {
    /// A report that was made of these texts, in another process or before.
    #[staticmethod]
    fn restored(py: Python<'_>, path: &str, fingerprint: u32, text: String, json: String) -> PyResult<Self> {
        let store = interruptible(py, &Cancel::default(), &(), || open_same(path, fingerprint))?;
        Ok(Self::new(text, json, &Arc::new(store)))
    }

    /// The store's folder and its fingerprint.
    #[getter]
    fn store(&self) -> (&Path, u32) {
        (self.store.path(), fingerprint(&self.store))
    }

    /// The report as text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The report, its origin and the summary, as `topostream run --json` prints them.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// The page as an element of HTML. With `degrees` it has those of the store, which are read once.
    fn html(&self, py: Python<'_>, degrees: bool) -> PyResult<String> {
        interruptible(py, &Cancel::default(), &(), || {
            if degrees && self.degrees.get().is_none() {
                self.degrees.set(cli::degrees(&self.store)?).ok();
            }
            cli::report_html(&self.json, self.degrees.get().map_or(&[], |found| found))
        })
    }
}
