//! The native module of the Python package: stores, sessions and results.
//!
//! ```text
//!  topostream (Python): Graph, Session, Result, the NetworkX backend
//!        │ calls, with the options of the command line as words
//!        ▼
//!  topostream._native (this crate)
//!    catalogue  what algorithms and commands take, for signatures and docs
//!    commands   format, generate, extract, info, plan, devices: as the program does them
//!    edges      a store from NumPy arrays and Arrow streams
//!    arrays     ids and edges of a store for NumPy
//!    session    runs over a store, one engine for many of them
//!    result     columns of a finished run: NumPy, Arrow, files
//!    work       runs without the interpreter, until done or Ctrl-C
//! ```
//!
//! Everything that computes runs on a thread of its own, see `work`: the interpreter is free meanwhile, and signals
//! are seen.

mod arrays;
mod catalogue;
mod commands;
mod edges;
mod errors;
mod result;
mod session;
mod work;

use pyo3::prelude::*;

/// The native part of topostream.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrays::{ColumnData, edges, ids, manifest};
    #[pymodule_export]
    use super::catalogue::catalogue;
    #[pymodule_export]
    use super::commands::{call, report_html};
    #[pymodule_export]
    use super::edges::from_edges;
    #[pymodule_export]
    use super::result::RunResult;
    #[pymodule_export]
    use super::session::RunSession;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
