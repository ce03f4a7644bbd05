//! Errors as exceptions of `topostream.errors`, with the program's texts, in which options of the command line are
//! keyword arguments.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use topostream::Error;
use topostream::cli::Failure;
use topostream_formats::Error as StoreError;

/// An exception of `topostream.errors`, by its name.
pub fn exception(py: Python<'_>, name: &str, message: &str) -> PyErr {
    let of_class = || -> PyResult<PyErr> {
        let made = py.import("topostream.errors")?.getattr("of_program")?;
        Ok(PyErr::from_value(made.call1((name, message))?))
    };
    of_class().unwrap_or_else(|error| error)
}

/// The exception for a failure to make a store of edges: what is wrong with a file is wrong with the input, unless it
/// is the store.
pub fn of_input(py: Python<'_>, failure: &Failure, store: &str) -> PyErr {
    let text = failure.text();
    match failure {
        Failure::Store(StoreError::Invalid(_)) if text.starts_with(store) => exception(py, "ParameterError", &text),
        Failure::Store(StoreError::Invalid(_) | StoreError::File { .. }) => exception(py, "InputError", &text),
        other => of_failure(py, other),
    }
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
    exception(py, class, &failure.text())
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
        StoreError::Io { .. } => "FileError",
        StoreError::Line { .. } => "InputError",
        StoreError::File { .. } | StoreError::Page { .. } | StoreError::Version { .. } => "StoreError",
        StoreError::Memory { .. } => "BudgetError",
        StoreError::Limit { .. } => "ParameterError",
        _ => "StoreError",
    }
}
