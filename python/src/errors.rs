//! Errors as exceptions of `topostream.errors`, with the program's texts, in which options of the command line are
//! keyword arguments.

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::io::ErrorKind;
use std::path::PathBuf;
use topostream::Error;
use topostream::cli::Failure;
use topostream_formats::Error as StoreError;

/// An exception of `topostream.errors`, by its name.
pub fn exception(py: Python<'_>, name: &str, message: &str) -> PyErr {
    made(py, (name, message))
}

fn made<'py>(py: Python<'py>, arguments: impl PyCallArgs<'py>) -> PyErr {
    let of_class = || -> PyResult<PyErr> {
        let made = py.import("topostream.errors")?.getattr("of_program")?;
        Ok(PyErr::from_value(made.call1(arguments)?))
    };
    of_class().unwrap_or_else(|error| error)
}

/// The exception for a failure to make a store of edges: what is wrong with a file is wrong with the input, unless it
/// is the store.
pub fn of_input(py: Python<'_>, failure: &Failure, store: &str) -> PyErr {
    of_target(py, failure, store).unwrap_or_else(|| of_edges(py, failure))
}

/// The exception for a failure of a command over edges, which makes no store.
pub fn of_edges(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Store(StoreError::Invalid(_) | StoreError::File { .. }) => {
            exception(py, "InputError", &failure.text())
        }
        other => of_failure(py, other),
    }
}

/// The exception for a failure that is about the store to make: there is one already, or something else is in the way.
pub fn of_target(py: Python<'_>, failure: &Failure, store: &str) -> Option<PyErr> {
    let text = failure.text();
    let is_of_store = text.strip_prefix(store).is_some_and(|rest| rest.starts_with([':', '/']));
    let is_invalid = matches!(failure, Failure::Store(StoreError::Invalid(_)));
    (is_invalid && is_of_store).then(|| exception(py, "ParameterError", &text))
}

/// The exception for a failure.
pub fn of_failure(py: Python<'_>, failure: &Failure) -> PyErr {
    if failure.is_interrupt() {
        return PyKeyboardInterrupt::new_err(());
    }
    let class = match failure {
        Failure::Usage(_) => "ParameterError",
        Failure::Other(_) => "TopostreamError",
        Failure::Store(error) => of_store(error),
        Failure::Engine(error) => of_engine(error),
    };
    match system_error(failure) {
        Some((number, path)) => made(py, (class, failure.text(), number, path)),
        None => exception(py, class, &failure.text()),
    }
}

/// The number of the system's error, and the file that it is about, if a failure has one.
fn system_error(failure: &Failure) -> Option<(Option<i32>, Option<PathBuf>)> {
    let of_store = |error: &'_ StoreError| match error {
        StoreError::Io { path, source, .. } => Some((number_of(source), Some(path.clone()))),
        StoreError::Threads { source, .. } => Some((number_of(source), None)),
        _ => None,
    };
    match failure {
        Failure::Store(error) | Failure::Engine(Error::Store(error)) => of_store(error),
        Failure::Engine(Error::Read { source, .. }) => Some((number_of(source), None)),
        Failure::Engine(Error::Output { path, source }) => Some((number_of(source), Some(path.clone()))),
        _ => None,
    }
}

/// The number of an error of the system, also if another text was given to it.
fn number_of(error: &std::io::Error) -> Option<i32> {
    // Linux's numbers: ENOENT, EACCES, EEXIST, ENOSPC.
    let by_kind = || match error.kind() {
        ErrorKind::NotFound => Some(2),
        ErrorKind::PermissionDenied => Some(13),
        ErrorKind::AlreadyExists => Some(17),
        ErrorKind::StorageFull => Some(28),
        _ => None,
    };
    error.raw_os_error().or_else(by_kind)
}

fn of_engine(error: &Error) -> &'static str {
    match error {
        Error::Store(error) => of_store(error),
        Error::Read { .. } | Error::Output { .. } => "FileError",
        Error::Parameter(_) | Error::Column { .. } => "ParameterError",
        Error::Memory { .. } => "BudgetError",
        Error::NoDevice(_) | Error::Gpu(_) | Error::Device { .. } | Error::DeviceMemory { .. } => "DeviceError",
        _ => "TopostreamError",
    }
}

fn of_store(error: &StoreError) -> &'static str {
    match error {
        StoreError::Io { .. } | StoreError::Threads { .. } => "FileError",
        StoreError::Line { .. } => "InputError",
        StoreError::File { .. } | StoreError::Page { .. } | StoreError::Version { .. } | StoreError::Feature { .. } => {
            "StoreError"
        }
        StoreError::Memory { .. } | StoreError::Allocation { .. } => "BudgetError",
        StoreError::Limit { .. } => "ParameterError",
        _ => "StoreError",
    }
}
