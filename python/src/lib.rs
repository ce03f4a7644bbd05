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
//!    look       neighbours, degrees, and edges by conditions
//!    arrays     ids and edges of a store for NumPy
//!    session    runs over a store, one engine for many of them
//!    turns      runs of a session follow each other, and are stopped one by one
//!    result     columns of a finished run: NumPy, Arrow, files
//!    report     what a run did: text, JSON, the page of HTML
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
mod look;
mod report;
mod result;
mod session;
mod turns;
mod work;

use pyo3::prelude::*;

/// The native part of topostream.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrays::{ColumnData, edges, groups_left, ids, kinds_of_edges, loops, manifest};
    #[pymodule_export]
    use super::catalogue::catalogue;
    #[pymodule_export]
    use super::commands::{call, main};
    #[pymodule_export]
    use super::edges::{components, from_edges};
    #[pymodule_export]
    use super::look::{degree, edges_where, neighbours};
    #[pymodule_export]
    use super::report::Report;
    #[pymodule_export]
    use super::result::RunResult;
    #[pymodule_export]
    use super::session::RunSession;
    #[pymodule_export]
    use super::work::{forked, settle};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
