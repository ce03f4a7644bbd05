//! Arrays that NumPy reads where they are; the ids and edges of a whole graph as arrays. The manifest of a store.

use crate::work::interruptible;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use topostream::cli::{self, Failure};
use topostream::extract::{ExtractOptions, induced};
use topostream::{Store, VertexId, VertexSet};
use topostream_formats::checksum::crc32c;
use topostream_formats::edge::WeightType;
use topostream_formats::encoding::Encoding;
use topostream_formats::manifest::Ids;
use topostream_formats::{Edge, EdgeSource, Error, OriginalIds};
use topostream_tools::progress::Cancel;

/// Values that NumPy reads in place, by its array interface.
#[pyclass(frozen)]
pub struct ColumnData(pub Values);

/// Values of a type, which several arrays may share.
#[derive(Clone)]
pub enum Values {
    F64(Arc<Vec<f64>>),
    F32(Arc<Vec<f32>>),
    I64(Arc<Vec<i64>>),
    U64(Arc<Vec<u64>>),
    U32(Arc<Vec<u32>>),
}

#[pymethods]
impl ColumnData {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        fn place<T>(values: &[T]) -> (usize, usize) {
            (values.len(), values.as_ptr() as usize)
        }
        let ((length, address), of) = match &self.0 {
            Values::F64(values) => (place(values), "<f8"),
            Values::F32(values) => (place(values), "<f4"),
            Values::I64(values) => (place(values), "<i8"),
            Values::U64(values) => (place(values), "<u8"),
            Values::U32(values) => (place(values), "<u4"),
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (length,))?;
        interface.set_item("typestr", of)?;
        // Read only: others may read the same memory.
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}

/// Opens a store, which must have the fingerprint that is expected, if any. Returns its manifest as JSON and its
/// fingerprint.
#[pyfunction]
#[pyo3(signature = (path, expected = None))]
pub fn manifest(py: Python<'_>, path: &str, expected: Option<u32>) -> PyResult<(String, u32)> {
    interruptible(py, &Cancel::default(), &(), || {
        let store = match expected {
            Some(expected) => open_same(path, expected)?,
            None => cli::open(path, u64::MAX)?,
        };
        let text = serde_json::to_string(store.manifest()).map_err(|error| Failure::Other(error.to_string()))?;
        Ok((text, fingerprint(&store)))
    })
}

/// What tells a store from another that has replaced it in its folder: a checksum of the whole manifest. Its tag is
/// not enough, which is the same for all stores that were formatted from the same files or arrays in the same way.
pub fn fingerprint(store: &Store) -> u32 {
    crc32c(&serde_json::to_vec(store.manifest()).expect("a manifest was read from JSON"))
}

/// Opens the store with this fingerprint. Another one may be in its folder by now, and numbers of vertices would be
/// those of other vertices there.
///
/// # Errors
/// If it has another fingerprint; those of opening.
pub fn open_same(path: impl AsRef<Path>, expected: u32) -> Result<Store, Failure> {
    let store = cli::open(path.as_ref(), u64::MAX)?;
    check_same(&store, expected)?;
    Ok(store)
}

/// Checks that a store has this fingerprint.
///
/// # Errors
/// If it has another.
pub fn check_same(store: &Store, expected: u32) -> Result<(), Failure> {
    match fingerprint(store) {
        found if found == expected => Ok(()),
        found => Err(Failure::Store(Error::Invalid(format!(
            "{}: expected the store with the fingerprint {expected:08x}, which was opened, found another with the \
             fingerprint {found:08x}, which has replaced it; open the graph again",
            store.path().display()
        )))),
    }
}

/// The original ids of an open store. Files of ids are opened only now: they must still be this store's.
///
/// # Errors
/// If another store has replaced it; those of [`Store::ids`].
pub fn ids_of(store: &Store) -> Result<OriginalIds, Failure> {
    let found = store.ids();
    if !matches!(store.manifest().ids, Ids::Range { .. }) {
        // Afterwards: it may be replaced at any time. A store that is gone is an error of its own.
        open_same(store.path(), fingerprint(store)).map(drop)?;
    }
    Ok(found?)
}

/// The original ids of a store's vertices: an array of numbers, or a list of strings.
#[pyfunction]
pub fn ids(py: Python<'_>, path: &str, fingerprint: u32) -> PyResult<Py<PyAny>> {
    all_ids(py, || Ok(Arc::new(open_same(path, fingerprint)?)))
}

/// The original ids of a store as an array of numbers, or a list of strings.
pub fn all_ids(py: Python<'_>, open: impl FnOnce() -> Result<Arc<Store>, Failure> + Send) -> PyResult<Py<PyAny>> {
    let found = interruptible(py, &Cancel::default(), &(), || {
        let store = open()?;
        let ids = ids_of(&store)?;
        let vertices = || (0..store.vertices()).map(|vertex| VertexId(vertex as u32));
        if ids.names().is_none() {
            return Ok((vertices().map(|vertex| ids.original(vertex)).collect(), Vec::new()));
        }
        let names = vertices().map(|vertex| ids.id(vertex).map(|id| id.to_string()));
        Ok((Vec::new(), names.collect::<Result<Vec<_>, _>>()?))
    })?;
    let (numbers, names): (Vec<u64>, Vec<String>) = found;
    match names.is_empty() {
        true => Ok(ColumnData(Values::U64(Arc::new(numbers))).into_pyobject(py)?.into_any().unbind()),
        false => Ok(names.into_pyobject(py)?.into_any().unbind()),
    }
}

/// Sources, destinations and weights of all edges, by the numbers of vertices; an undirected edge once.
#[pyfunction]
pub fn edges(py: Python<'_>, path: &str, fingerprint: u32) -> PyResult<(ColumnData, ColumnData, Option<ColumnData>)> {
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || all_edges(open_same(path, fingerprint)?, &cancel))
}

fn all_edges(store: Store, cancel: &Cancel) -> Result<(ColumnData, ColumnData, Option<ColumnData>), Failure> {
    let store = Arc::new(store);
    let numbering = Numbering::of(&store)?;
    let (mut sources, mut dests, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let weighted = store.manifest().weights;
    each_chunk(&store, cancel, |chunk| {
        sources.extend(chunk.iter().map(|edge| numbering.vertex(edge.source)));
        dests.extend(chunk.iter().map(|edge| numbering.vertex(edge.dest)));
        if weighted.is_some() {
            weights.extend(chunk.iter().map(|edge| edge.weight));
        }
        ControlFlow::Continue(())
    })?;
    let weights = weighted.map(|of| match of {
        WeightType::U32 => Values::U32(Arc::new(weights.into_iter().map(|bits| bits as u32).collect())),
        WeightType::F32 => Values::F32(Arc::new(weights.into_iter().map(|bits| f32::from_bits(bits as u32)).collect())),
        WeightType::U64 => Values::U64(Arc::new(weights)),
        WeightType::F64 => Values::F64(Arc::new(weights.into_iter().map(f64::from_bits).collect())),
    });
    let ends = [sources, dests].map(|of| ColumnData(Values::I64(Arc::new(of))));
    let [sources, dests] = ends;
    Ok((sources, dests, weights.map(ColumnData)))
}

/// Reads all edges of a store in the order of its lists, an undirected edge once, until `take` breaks off.
fn each_chunk(
    store: &Arc<Store>,
    cancel: &Cancel,
    take: impl FnMut(&[Edge]) -> ControlFlow<()>,
) -> Result<(), Failure> {
    let wanted = Arc::new(VertexSet::of(store.vertices(), |_| true));
    let options = ExtractOptions { cancel: cancel.flag(), ..ExtractOptions::default() };
    each_of(&mut induced(Arc::clone(store), wanted, &options)?, cancel, take)
}

/// Reads the edges of a source, until `take` breaks off.
///
/// # Errors
/// Those of the source; [`topostream_formats::Error::Interrupted`].
pub fn each_of(
    source: &mut dyn EdgeSource,
    cancel: &Cancel,
    mut take: impl FnMut(&[Edge]) -> ControlFlow<()>,
) -> Result<(), Failure> {
    let mut chunk = Vec::new();
    loop {
        cancel.check()?;
        source.read(&mut chunk)?;
        if chunk.is_empty() || take(&chunk).is_break() {
            return Ok(());
        }
    }
}

/// Whether there are edges from a vertex to itself, and whether edges are repeated. Reads all edges, until both are
/// found.
#[pyfunction]
pub fn kinds_of_edges(py: Python<'_>, path: &str, fingerprint: u32) -> PyResult<(bool, bool)> {
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || {
        let store = Arc::new(open_same(path, fingerprint)?);
        // Writers say of packed pages whether no edge is repeated.
        let unlike = matches!(store.manifest().encoding, Encoding::Packed { step: true, .. });
        let (mut loops, mut repeated, mut last) = (false, false, None);
        each_chunk(&store, &cancel, |chunk| {
            for edge in chunk {
                loops |= edge.source == edge.dest;
                // Lists ascend by vertex, so that equal edges follow each other.
                let ends = Some((edge.source, edge.dest));
                repeated |= std::mem::replace(&mut last, ends) == ends;
            }
            if loops && (repeated || unlike) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok((loops, repeated))
    })
}

/// The number of edges from a vertex to itself. Reads all edges.
#[pyfunction]
pub fn loops(py: Python<'_>, path: &str, fingerprint: u32) -> PyResult<u64> {
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || {
        let mut loops = 0;
        each_chunk(&Arc::new(open_same(path, fingerprint)?), &cancel, |chunk| {
            loops += chunk.iter().filter(|edge| edge.source == edge.dest).count() as u64;
            ControlFlow::Continue(())
        })?;
        Ok(loops)
    })
}

/// Whether an edge leaves the group of a vertex: 1 or 0 for each vertex that groups are named after. `groups` has the
/// group of each vertex.
#[pyfunction]
pub fn groups_left(py: Python<'_>, path: &str, fingerprint: u32, groups: &Bound<'_, PyAny>) -> PyResult<ColumnData> {
    let groups = PyBuffer::<i64>::get(groups)?.to_vec(py)?;
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || {
        let store = Arc::new(open_same(path, fingerprint)?);
        let numbering = Numbering::of(&store)?;
        let mut left = vec![0; groups.len()];
        each_chunk(&store, &cancel, |chunk| {
            for edge in chunk {
                let [source, dest] = [edge.source, edge.dest].map(|id| groups[numbering.vertex(id) as usize]);
                left[source as usize] |= i64::from(source != dest);
            }
            ControlFlow::Continue(())
        })?;
        Ok(ColumnData(Values::I64(Arc::new(left))))
    })
}

/// The vertices of original ids.
enum Numbering {
    /// Ids are consecutive from the first on. Names stand for their vertices.
    Range(u64),
    /// Ids with their vertices, by id.
    Sorted(Vec<(u64, u32)>),
}

impl Numbering {
    fn of(store: &Store) -> Result<Self, Failure> {
        Ok(match store.manifest().ids {
            Ids::Range { first } => Self::Range(first),
            Ids::Names { .. } => Self::Range(0),
            Ids::File { .. } | Ids::Packed { .. } => {
                let ids = store.ids()?;
                let numbers = 0..store.vertices() as u32;
                let mut pairs: Vec<_> = numbers.map(|vertex| (ids.original(VertexId(vertex)), vertex)).collect();
                pairs.sort_unstable();
                Self::Sorted(pairs)
            }
        })
    }

    fn vertex(&self, id: u64) -> i64 {
        match self {
            Self::Range(first) => (id - first) as i64,
            Self::Sorted(pairs) => {
                let at = pairs.binary_search_by_key(&id, |pair| pair.0).expect("edges join vertices of the store");
                pairs[at].1.into()
            }
        }
    }
}
