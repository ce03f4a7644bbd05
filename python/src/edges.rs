//! Stores of edges in memory: arrays of NumPy, and tables that offer the Arrow PyCapsule interface, read where they
//! are; lists of strings; streams whose producer makes batches as they are requested.

use crate::commands::{Stage, StageWatch};
use crate::errors::{exception, of_edges, of_input};
use crate::work::{interruptible, interruptible_or};
use arrow_array::builder::LargeStringBuilder;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyString};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;
use topostream::cli::{Edges, Failure, components_of_edges, format_edges};
use topostream_formats::Error;
use topostream_readers::MemoryTable;
use topostream_tools::progress::{Cancel, Progress};

/// Makes a store of a table in memory with these options of `topostream format`, and returns what it prints.
///
/// The table is a list of pairs, a column's name and a buffer of numbers or a list of strings, or an object with
/// `__arrow_c_stream__`; `held` says that this has all of its batches in memory.
#[pyfunction]
#[pyo3(signature = (table, held, store, words, progress=None))]
pub fn from_edges(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    held: bool,
    store: &str,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let work = |edges, cancel: &Cancel, stage| format_edges(edges, store, words, cancel, stage);
    over_edges(py, (table, held), progress, work, |py, failure| of_input(py, failure, store))
}

/// Finds the components of a table in memory, as in [`from_edges`], with these options of `topostream components`, and
/// returns what it prints.
#[pyfunction]
#[pyo3(signature = (table, held, words, progress=None))]
pub fn components(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    held: bool,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let work = |edges, cancel: &Cancel, stage| components_of_edges(edges, words, cancel, stage);
    over_edges(py, (table, held), progress, work, of_edges)
}

/// Runs a command over a table in memory.
fn over_edges(
    py: Python<'_>,
    (table, held): (&Bound<'_, PyAny>, bool),
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Edges, &Cancel, Arc<dyn Progress + Send + Sync>) -> Result<String, Failure> + Send,
    error: impl FnOnce(Python<'_>, &Failure) -> PyErr,
) -> PyResult<String> {
    let (cancel, stage) = (Cancel::default(), Arc::new(Stage::default()));
    let watch = StageWatch { stage: Arc::clone(&stage), function: progress };
    let edges = match table.cast::<PyList>() {
        Ok(columns) => Edges::Table(of_buffers(columns)?),
        Err(_) => {
            let reader = of_stream(table)?;
            match held {
                true => interruptible(py, &cancel, &(), || table_of(reader, &cancel))?,
                false => Edges::Stream((reader.schema(), Box::new(reader))),
            }
        }
    };
    interruptible_or(py, &cancel, &watch, || work(edges, &cancel, stage), error)
}

/// The table of batches that their producer holds in memory.
fn table_of(reader: RecordBatchStreamReader, cancel: &Cancel) -> Result<Edges, Failure> {
    let schema = reader.schema();
    let batches = reader.map(|batch| {
        cancel.check()?;
        batch.map_err(|error| Failure::from(Error::file("edges in memory", "batches of edges", error.to_string())))
    });
    Ok(Edges::Table(MemoryTable::new(schema, batches.collect::<Result<_, _>>()?)))
}

/// The table of columns whose memory Python objects own.
fn of_buffers(columns: &Bound<'_, PyList>) -> PyResult<MemoryTable> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for pair in columns {
        let (name, column): (String, Bound<'_, PyAny>) = pair.extract()?;
        let array = of_buffer(&name, &column)?;
        fields.push(Field::new(name, array.data_type().clone(), false));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let wrong = |error: ArrowError| exception(columns.py(), "InputError", &error.to_string());
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(wrong)?;
    Ok(MemoryTable::new(schema, vec![batch]))
}

fn of_buffer(name: &str, column: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if let Ok(texts) = column.cast::<PyList>() {
        return of_strings(name, texts);
    }
    macro_rules! of {
        ($($of:ty),*) => {
            $(if let Ok(buffer) = PyBuffer::<<$of as ArrowPrimitiveType>::Native>::get(column) {
                return array::<$of>(name, buffer, column.py());
            })*
        };
    }
    of!(Int64Type, UInt64Type, Int32Type, UInt32Type, Int16Type, UInt16Type, Int8Type, UInt8Type);
    of!(Float64Type, Float32Type);
    let found = column.get_type().name()?;
    let message = format!("column {name}: expected an array of integers, or of floats for weights, found {found}");
    Err(exception(column.py(), "InputError", &message))
}

/// An array of strings, which are copied.
fn of_strings(name: &str, texts: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let mut array = LargeStringBuilder::with_capacity(texts.len(), 0);
    for (row, text) in texts.iter().enumerate() {
        let Some(text) = text.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) else {
            let message = format!("column {name}: expected a string of valid Unicode in row {}", row + 1);
            return Err(exception(texts.py(), "InputError", &message));
        };
        array.append_value(text);
    }
    Ok(Arc::new(array.finish()))
}

/// An array over memory that a Python object owns and does not free before the array.
fn array<T: ArrowPrimitiveType>(name: &str, buffer: PyBuffer<T::Native>, py: Python<'_>) -> PyResult<ArrayRef>
where
    T::Native: Element,
    PyBuffer<T::Native>: Send + Sync,
{
    let is_native = !matches!(buffer.format().to_bytes().first(), Some(b'>' | b'!'));
    let is_aligned = buffer.buf_ptr().cast::<T::Native>().is_aligned();
    if buffer.dimensions() != 1 || !buffer.is_c_contiguous() || !is_native || !is_aligned {
        let message = format!("column {name}: expected an array of one dimension, contiguous, aligned, little-endian");
        return Err(exception(py, "InputError", &message));
    }
    let (items, bytes) = (buffer.item_count(), buffer.len_bytes());
    let Some(address) = NonNull::new(buffer.buf_ptr().cast::<u8>()).filter(|_| items > 0) else {
        return Ok(Arc::new(PrimitiveArray::<T>::from_iter_values([])));
    };
    let owner = Arc::new(AssertUnwindSafe(buffer));
    #[allow(unsafe_code)]
    // SAFETY: the exporter keeps the memory in place until the owner is dropped, which the array keeps. It is of this
    // type, aligned and contiguous. Python code that writes to it meanwhile changes ids, which are only compared and
    // copied.
    let memory = unsafe { Buffer::from_custom_allocation(address, bytes, owner) };
    Ok(Arc::new(PrimitiveArray::<T>::new(memory.into(), None)))
}

/// The Arrow stream of a table. No batch is requested yet.
fn of_stream(table: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let py = table.py();
    // What a library raises about its table is about the input.
    let refused = |error: PyErr| match error.is_instance_of::<PyException>(py) {
        true => {
            let class = error.get_type(py).name().map_or_else(|_| String::new(), |name| format!(" ({name})"));
            let of_input = exception(py, "InputError", &format!("edges in memory: {}{class}", error.value(py)));
            of_input.set_cause(py, Some(error));
            of_input
        }
        false => error,
    };
    let capsule = table.call_method0("__arrow_c_stream__").map_err(refused)?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|error| refused(error.into()))?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream")).map_err(refused)?;
    let wrong = |error: ArrowError| exception(py, "InputError", &format!("edges in memory: {error}"));
    #[allow(unsafe_code)]
    // SAFETY: a capsule of this name holds such a stream, which is moved out of it: the capsule's destructor finds it
    // released.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast::<FFI_ArrowArrayStream>()) };
    reader.map_err(wrong)
}
