//! The results of a run: columns with a value for every vertex, which NumPy and Arrow read in place, and files.

use crate::arrays::{self, ColumnData, all_ids, ids_of, open_same};
use crate::errors::{exception, of_failure};
use crate::report::Report;
use crate::work::{check_not_forked, forked, interruptible};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream::algorithms::command::Finished;
use topostream::cli::{Columns, Failure, ResultFile, ResultFormat};
use topostream::model::algorithm::{Answer, AnswerValues};
use topostream::{Store, VertexId};
use topostream_formats::OriginalIds;
use topostream_tools::progress::Cancel;

/// Values that are read at a time.
const CHUNK: usize = 1 << 16;

/// A column's values.
#[derive(Clone)]
enum Values {
    /// Numbers with fractions.
    F64(Arc<Vec<f64>>),
    /// Counts, levels; -1 where there is none.
    Integer(Arc<Vec<i64>>),
    /// Vertices by their number in the store, -1 where there is none.
    Vertex(Arc<Vec<i64>>),
}

impl Values {
    /// Whether there is a value for each vertex, and every vertex is one of the store.
    fn fits(&self, vertices: u64) -> bool {
        let is_one = |&vertex: &i64| vertex < 0 || (vertex as u64) < vertices;
        match self {
            Self::F64(of) => of.len() as u64 == vertices,
            Self::Integer(of) => of.len() as u64 == vertices,
            Self::Vertex(of) => of.len() as u64 == vertices && of.iter().all(is_one),
        }
    }
}

/// The columns of a finished run.
pub struct Vectors {
    columns: Vec<(Cow<'static, str>, Values)>,
    vertices: u64,
    /// The session's bytes of live results, of which this has a part.
    held_bytes: Arc<AtomicU64>,
    bytes: u64,
}

impl Vectors {
    /// The bytes of this many columns.
    pub fn memory_bytes(columns: u64, vertices: u64) -> u64 {
        8 * columns * vertices
    }

    /// Computes the columns, of which there are at most so many, on all threads.
    pub fn of(run: &dyn Finished, (columns_max, vertices): (u64, u64), held_bytes: &Arc<AtomicU64>) -> Self {
        let columns: Vec<_> =
            run.answers().iter().map(|answer| (answer.name.clone(), values(answer, vertices))).collect();
        // A test runs all algorithms of the catalogue.
        assert!(columns.len() as u64 <= columns_max, "{} columns", columns.len());
        let bytes = Self::memory_bytes(columns.len() as u64, vertices);
        held_bytes.fetch_add(bytes, Ordering::Relaxed);
        Self { columns, vertices, held_bytes: Arc::clone(held_bytes), bytes }
    }

    fn answers(&self) -> Vec<Answer<'_>> {
        let known = |value: i64| (value >= 0).then_some(value as u64);
        let answer = |(name, values): &(Cow<'static, str>, Values)| match values.clone() {
            Values::F64(of) => Answer::f64(name.clone(), move |vertex| of[vertex as usize]),
            Values::Integer(of) => Answer::integer(name.clone(), move |vertex| known(of[vertex as usize])),
            Values::Vertex(of) => {
                Answer::vertex(name.clone(), move |vertex| known(of[vertex as usize]).map(|one| one as u32))
            }
        };
        self.columns.iter().map(answer).collect()
    }
}

impl From<Values> for ColumnData {
    fn from(values: Values) -> Self {
        Self(match values {
            Values::F64(of) => arrays::Values::F64(of),
            Values::Integer(of) | Values::Vertex(of) => arrays::Values::I64(of),
        })
    }
}

impl Drop for Vectors {
    fn drop(&mut self) {
        self.held_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A column, computed on all threads.
fn values(answer: &Answer<'_>, vertices: u64) -> Values {
    let signed = |value: Option<u64>| value.map_or(-1, |value| value as i64);
    match &answer.values {
        AnswerValues::F64(of) => Values::F64(Arc::new(filled(vertices, |first, into| of.read(first, into)))),
        AnswerValues::Integer(of) => {
            Values::Integer(Arc::new(converted(vertices, |vertex, into| of.read(vertex, into), signed)))
        }
        AnswerValues::Vertex(of) => Values::Vertex(Arc::new(converted(
            vertices,
            |vertex, into| of.read(vertex, into),
            |value: Option<VertexId>| signed(value.map(|vertex| vertex.0.into())),
        ))),
    }
}

/// A value for each vertex: `read` fills a slice with the values from a vertex on.
fn filled<T: Send + Clone + Default>(vertices: u64, read: impl Fn(u32, &mut [T]) + Sync) -> Vec<T> {
    let mut values = vec![T::default(); vertices as usize];
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, values)| read((chunk * CHUNK) as u32, values));
    values
}

/// Reads values that are converted to integers of 64 bits.
fn converted<T: Send + Clone + Default>(
    vertices: u64,
    read: impl Fn(u32, &mut [T]) + Sync,
    convert: impl Fn(T) -> i64 + Sync,
) -> Vec<i64> {
    filled(vertices, |first, into: &mut [i64]| {
        let mut values = vec![T::default(); into.len()];
        read(first, &mut values);
        into.iter_mut().zip(values).for_each(|(place, value)| *place = convert(value));
    })
}

/// The results of a run.
#[pyclass(frozen)]
pub struct RunResult {
    vectors: Arc<Vectors>,
    store: Arc<Store>,
    report: Report,
    algorithm: String,
}

impl RunResult {
    pub fn new(vectors: Vectors, store: Arc<Store>, report: Report, algorithm: String) -> Self {
        Self { vectors: Arc::new(vectors), store, report, algorithm }
    }
}

/// A column of a result that is restored: its name, the kind of its values, and these.
type Restored<'py> = (String, String, Bound<'py, PyAny>);

#[pymethods]
impl RunResult {
    /// A result with these columns and this report, of a store that is still there.
    #[staticmethod]
    fn restored(
        py: Python<'_>,
        store: (String, u32),
        algorithm: String,
        texts: (String, String),
        columns: Vec<Restored<'_>>,
    ) -> PyResult<Self> {
        let ((path, fingerprint), (text, json)) = (store, texts);
        let store = Arc::new(interruptible(py, &Cancel::default(), &(), || open_same(&path, fingerprint))?);
        let vertices = store.vertices();
        let column = |(name, kind, values): &Restored<'_>| -> PyResult<(Cow<'static, str>, Values)> {
            let integers = || PyBuffer::<i64>::get(values)?.to_vec(py).map(Arc::new);
            let values = match kind.as_str() {
                "number" => Values::F64(Arc::new(PyBuffer::<f64>::get(values)?.to_vec(py)?)),
                "integer" => Values::Integer(integers()?),
                _ => Values::Vertex(integers()?),
            };
            Ok((Cow::Owned(name.clone()), values))
        };
        let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
        let fits = |values: &Values| values.fits(vertices);
        if let Some((name, _)) = columns.iter().find(|(_, values)| !fits(values)) {
            let message =
                format!("column {name}: expected a value for each of {vertices} vertices of the store {path}");
            return Err(exception(py, "InputError", &message));
        }
        let vectors = Vectors { columns, vertices, held_bytes: Arc::default(), bytes: 0 };
        let report = Report::new(text, json, &store);
        Ok(Self::new(vectors, store, report, algorithm))
    }

    /// The original ids of the store that the run was over, as [`arrays::ids`] returns them.
    fn ids(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        all_ids(py, || Ok(Arc::clone(&self.store)))
    }

    /// The names of the columns, each with the kind of its values: number, integer or vertex.
    fn columns(&self) -> Vec<(&str, &'static str)> {
        let kind = |values: &Values| match values {
            Values::F64(_) => "number",
            Values::Integer(_) => "integer",
            Values::Vertex(_) => "vertex",
        };
        self.vectors.columns.iter().map(|(name, values)| (&**name, kind(values))).collect()
    }

    /// What the run did.
    #[getter]
    fn report(&self) -> Report {
        self.report.clone()
    }

    /// A column's values: vertices by their number in the store.
    fn column(&self, name: &str) -> PyResult<ColumnData> {
        let found = self.vectors.columns.iter().find(|(of, _)| *of == name);
        found.map(|(_, values)| values.clone().into()).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// Writes a file: .txt, .csv, .npy, .parquet or .arrow, or in the format given. Returns a line that says what was
    /// written, and where.
    #[pyo3(signature = (path, format=None))]
    fn write(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<String> {
        let cancel = Cancel::default();
        interruptible(py, &cancel, &(), || {
            use clap::ValueEnum;
            let wrong = |format| {
                let all = ResultFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
                let names: Vec<_> = all.map(|one| one.get_name().to_owned()).collect();
                Failure::Usage(format!("format {format:?}: expected one of {}", names.join(", ")))
            };
            let read = |format| ResultFormat::from_str(format, false).map_err(|_| wrong(format));
            let file = ResultFile::create(&path, format.map(read).transpose()?)?;
            let (answers, ids) = (self.vectors.answers(), ids_of(&self.store)?);
            let metadata = self.metadata();
            let (answers, vertices) = (&answers[..], self.vectors.vertices);
            file.write(&Columns { answers, ids: &ids, vertices, chosen: None, metadata: &metadata }, &cancel)
        })
    }

    /// The columns with the ids as a stream of Arrow batches: the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets producers ignore it.
        drop(requested_schema);
        check_not_forked(py)?;
        let ids = ids_of(&self.store).map_err(|failure| of_failure(py, &failure))?;
        let batches = Batches::new(Arc::clone(&self.vectors), ids);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

impl RunResult {
    fn metadata(&self) -> Vec<(String, String)> {
        let pairs = [("algorithm", self.algorithm.as_str()), ("version", env!("CARGO_PKG_VERSION"))];
        pairs.into_iter().map(|(name, value)| (format!("topostream.{name}"), value.to_owned())).collect()
    }
}

/// Batches of columns for Arrow, made when they are requested. Integers are signed, so that differences of them are.
struct Batches {
    vectors: Arc<Vectors>,
    ids: OriginalIds,
    /// As the program writes it, with integers of its own type.
    written: SchemaRef,
    schema: SchemaRef,
    next: u64,
}

impl Batches {
    fn new(vectors: Arc<Vectors>, ids: OriginalIds) -> Self {
        let written = {
            let answers = vectors.answers();
            Columns { answers: &answers, ids: &ids, vertices: vectors.vertices, chosen: None, metadata: &[] }.schema()
        };
        let mut fields: Vec<Field> = written.fields().iter().map(|field| field.as_ref().clone()).collect();
        for (field, (_, values)) in fields[1..].iter_mut().zip(&vectors.columns) {
            if matches!(values, Values::Integer(_)) {
                field.set_data_type(DataType::Int64);
            }
        }
        Self { vectors, ids, written, schema: Arc::new(Schema::new(fields)), next: 0 }
    }

    /// A batch of the program's with this schema. Values come from signed integers, so that all of them fit.
    fn signed(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let column = |(field, array): (&Arc<Field>, &ArrayRef)| match array.as_primitive_opt::<UInt64Type>() {
            Some(array) if field.data_type() == &DataType::Int64 => {
                let values = array.values().inner().clone();
                Arc::new(PrimitiveArray::<Int64Type>::new(values.into(), array.nulls().cloned())) as ArrayRef
            }
            _ => Arc::clone(array),
        };
        let columns = self.schema.fields().iter().zip(batch.columns()).map(column).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(message) = forked() {
            return Some(Err(ArrowError::ComputeError(message)));
        }
        let first = self.next;
        let count = self.vectors.vertices.checked_sub(first).filter(|&left| left > 0)?.min(CHUNK as u64);
        self.next += count;
        let answers = self.vectors.answers();
        let columns =
            Columns { answers: &answers, ids: &self.ids, vertices: self.vectors.vertices, chosen: None, metadata: &[] };
        let rows = topostream::cli::Rows::Range(first as u32, count as usize);
        let batch = columns.batch(&self.written, rows).map_err(ArrowError::from);
        Some(batch.and_then(|batch| self.signed(&batch)))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
