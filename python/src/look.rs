//! A look at what a store has: the neighbours and the degree of a vertex, and edges by conditions. Of each, only the
//! pages that have it are read, where the store says which these are.

use crate::arrays::{each_of, open_same};
use crate::work::interruptible;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use topostream::algorithms::command::Source;
use topostream::cli::Failure;
use topostream::extract::{ExtractOptions, Subgraph, crossing, induced};
use topostream::pages::scan::{lists, pages_of};
use topostream::{Direction, PageId, Store, VertexId, VertexSet};
use topostream_formats::{Edge, OriginalId, WeightType};
use topostream_tools::progress::Cancel;

/// The lists of one vertex.
#[derive(Clone, Copy)]
enum Lists {
    Out,
    In,
    Both,
}

impl Lists {
    fn of(direction: &str) -> Result<Self, Failure> {
        match direction {
            "out" => Ok(Self::Out),
            "in" => Ok(Self::In),
            "both" => Ok(Self::Both),
            _ => Err(Failure::Usage(format!("direction {direction}: expected out, in or both"))),
        }
    }

    /// The neighbours of a vertex in these lists, ascending in each.
    fn read(self, store: &Store, vertex: VertexId, cancel: &Cancel) -> Result<Vec<VertexId>, Failure> {
        let directions: &[Direction] = match self {
            Self::Out => &[Direction::Out],
            Self::In => &[Direction::In],
            // An undirected graph has one list for both.
            Self::Both if !store.manifest().directed => &[Direction::Out],
            Self::Both => &[Direction::Out, Direction::In],
        };
        let mut found = Vec::new();
        for &direction in directions {
            let mut part = list(store, vertex.0, direction, cancel)?;
            part.sort_unstable();
            found.extend(part.into_iter().map(VertexId));
        }
        Ok(found)
    }
}

/// A vertex's list, in any order. Without in-lists, all out-lists are searched for the vertex.
fn list(store: &Store, vertex: u32, direction: Direction, cancel: &Cancel) -> Result<Vec<u32>, Failure> {
    let found = Mutex::new(Vec::new());
    let add = |some: &mut dyn Iterator<Item = u32>| {
        found.lock().unwrap_or_else(PoisonError::into_inner).extend(some);
    };
    let flag = cancel.flag();
    match store.topology(direction) {
        Some(topology) => {
            let pages = pages_of(topology, &(u64::from(vertex)..u64::from(vertex) + 1));
            lists(store, topology, &pages, &flag, &|of, list| {
                if of == vertex {
                    add(&mut list.iter().copied());
                }
            })?;
        }
        None => {
            let topology = store.topology(Direction::Out).expect("every store has out-lists");
            let pages: Vec<PageId> = (0..topology.page_count()).map(PageId).collect();
            lists(store, topology, &pages, &flag, &|of, list| {
                if list.contains(&vertex) {
                    add(&mut list.iter().filter(|&&dest| dest == vertex).map(|_| of));
                }
            })?;
        }
    }
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Ids as Python has them.
#[derive(IntoPyObject)]
pub enum Ids {
    Numbers(Vec<u64>),
    Names(Vec<String>),
}

impl Ids {
    fn of(store: &Store, vertices: &[VertexId]) -> Result<Self, Failure> {
        let ids = store.ids_of(vertices)?;
        if !store.manifest().ids.is_names() {
            let number = |id: OriginalId| if let OriginalId::Number(number) = id { number } else { 0 };
            return Ok(Self::Numbers(ids.into_iter().map(number).collect()));
        }
        Ok(Self::Names(ids.into_iter().map(|id| id.to_string()).collect()))
    }
}

/// The ids of the neighbours of a vertex, which is named by its id: `direction` is `out`, `in` or `both`. Repeated
/// edges repeat them.
#[pyfunction]
pub fn neighbours(py: Python<'_>, path: &str, fingerprint: u32, vertex: &str, direction: &str) -> PyResult<Ids> {
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || {
        let store = open_same(path, fingerprint)?;
        let vertex = Source::from(vertex).vertex_of("vertex", &store)?;
        Ids::of(&store, &Lists::of(direction)?.read(&store, vertex, &cancel)?)
    })
}

/// The number of edges of a vertex, as [`neighbours`] returns their other ends.
#[pyfunction]
pub fn degree(py: Python<'_>, path: &str, fingerprint: u32, vertex: &str, direction: &str) -> PyResult<usize> {
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || {
        let store = open_same(path, fingerprint)?;
        let vertex = Source::from(vertex).vertex_of("vertex", &store)?;
        Ok(Lists::of(direction)?.read(&store, vertex, &cancel)?.len())
    })
}

/// Weights as Python has them.
#[derive(IntoPyObject)]
pub enum Weights {
    Integers(Vec<u64>),
    Floats(Vec<f64>),
}

/// The edges for which all conditions hold, at most `limit`: ids of sources and of destinations, and weights. A
/// condition is a column (`source`, `dest`, `weight`), an operator, and a value.
#[pyfunction]
#[pyo3(signature = (path, fingerprint, conditions, limit=None))]
pub fn edges_where(
    py: Python<'_>,
    path: &str,
    fingerprint: u32,
    conditions: Vec<(String, String, String)>,
    limit: Option<u64>,
) -> PyResult<(Ids, Ids, Option<Weights>)> {
    let cancel = Cancel::default();
    interruptible(py, &cancel, &(), || {
        let store = Arc::new(open_same(path, fingerprint)?);
        let parsed = conditions.iter().map(|(column, operator, value)| Condition::of(&store, column, operator, value));
        let conditions = parsed.collect::<Result<Vec<_>, _>>()?;
        let limit = limit.map_or(usize::MAX, |limit| limit as usize);
        let mut edges: Vec<Edge> = Vec::new();
        let mut source = source(&store, &conditions, &cancel)?;
        if limit > 0 {
            each_of(&mut source, &cancel, |chunk| {
                let wanted = chunk.iter().filter(|edge| conditions.iter().all(|condition| condition.holds(edge)));
                edges.extend(wanted.take(limit - edges.len()));
                if edges.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        let ids = |end: fn(&Edge) -> u64| -> Result<Ids, Failure> {
            if !store.manifest().ids.is_names() {
                return Ok(Ids::Numbers(edges.iter().map(end).collect()));
            }
            // Names are numbered by their vertices.
            Ids::of(&store, &edges.iter().map(|edge| VertexId(end(edge) as u32)).collect::<Vec<_>>())
        };
        let weights = store.manifest().weights.map(|of| weights(&edges, of));
        Ok((ids(|edge| edge.source)?, ids(|edge| edge.dest)?, weights))
    })
}

fn weights(edges: &[Edge], of: WeightType) -> Weights {
    match of {
        WeightType::U32 | WeightType::U64 => Weights::Integers(edges.iter().map(|edge| edge.weight).collect()),
        WeightType::F32 | WeightType::F64 => Weights::Floats(edges.iter().map(|edge| float(edge.weight, of)).collect()),
    }
}

fn float(bits: u64, of: WeightType) -> f64 {
    match of {
        WeightType::U32 | WeightType::U64 => bits as f64,
        WeightType::F32 => f64::from(f32::from_bits(bits as u32)),
        WeightType::F64 => f64::from_bits(bits),
    }
}

/// The edges to search. Pages are left out by ends that are named, where each edge has its own direction.
fn source(store: &Arc<Store>, conditions: &[Condition], cancel: &Cancel) -> Result<Subgraph, Failure> {
    let options = ExtractOptions { cancel: cancel.flag(), ..ExtractOptions::default() };
    let set = |column: Column| {
        let named = conditions.iter().find(|one| one.column == column && one.operator == Operator::Equal);
        let one = named.map(|condition| condition.vertex.map(|vertex| vertex.0));
        Arc::new(VertexSet::of(store.vertices(), |vertex| one.is_none_or(|one| one == Some(vertex))))
    };
    match store.manifest().directed {
        true => Ok(crossing(Arc::clone(store), set(Column::Source), set(Column::Dest), &options)?),
        false => Ok(induced(Arc::clone(store), Arc::new(VertexSet::of(store.vertices(), |_| true)), &options)?),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Column {
    Source,
    Dest,
    Weight,
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Operator {
    fn holds(self, found: Option<std::cmp::Ordering>) -> bool {
        match self {
            Self::Equal => found.is_some_and(std::cmp::Ordering::is_eq),
            Self::Unequal => found.is_none_or(std::cmp::Ordering::is_ne),
            Self::Less => found.is_some_and(std::cmp::Ordering::is_lt),
            Self::AtMost => found.is_some_and(std::cmp::Ordering::is_le),
            Self::More => found.is_some_and(std::cmp::Ordering::is_gt),
            Self::AtLeast => found.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}

/// A value that numbers are compared with.
#[derive(Clone, Copy)]
enum Value {
    Integer(i128),
    Float(f64),
}

struct Condition {
    column: Column,
    operator: Operator,
    value: Value,
    /// The vertex with this id, if the column has ids and there is one.
    vertex: Option<VertexId>,
    weights: Option<WeightType>,
}

impl Condition {
    fn of(store: &Store, column: &str, operator: &str, value: &str) -> Result<Self, Failure> {
        let wrong = |expected: String| {
            Failure::Usage(format!("where {:?}: expected {expected}", format!("{column} {operator} {value}")))
        };
        let weights = store.manifest().weights;
        let column = match column {
            "source" => Column::Source,
            "dest" => Column::Dest,
            "weight" if weights.is_some() => Column::Weight,
            "weight" => return Err(wrong("source or dest: edges have no weights".into())),
            _ => {
                let weight = if weights.is_some() { ", weight" } else { "" };
                return Err(wrong(format!("one of the columns source, dest{weight}")));
            }
        };
        let operator = match operator {
            "==" | "=" => Operator::Equal,
            "!=" => Operator::Unequal,
            "<" => Operator::Less,
            "<=" => Operator::AtMost,
            ">" => Operator::More,
            ">=" => Operator::AtLeast,
            _ => return Err(wrong("one of the operators ==, !=, <, <=, >, >=".into())),
        };
        if column != Column::Weight && store.manifest().ids.is_names() {
            if !matches!(operator, Operator::Equal | Operator::Unequal) {
                return Err(wrong("== or !=: ids are names, which have no order".into()));
            }
            let vertex = store.vertices_of(&[value])?[0];
            // No vertex has the number -1.
            let number = vertex.map_or(-1, |vertex| vertex.0.into());
            return Ok(Self { column, operator, value: Value::Integer(number), vertex, weights });
        }
        let integer = value.parse().map(Value::Integer).ok();
        let parsed = integer.or_else(|| value.parse().ok().filter(|value: &f64| !value.is_nan()).map(Value::Float));
        let value = match parsed.ok_or_else(|| wrong("a number".into()))? {
            // 3.0 is the id 3.
            Value::Float(float) if float.fract() == 0.0 && float.abs() < 2f64.powi(63) => Value::Integer(float as i128),
            value => value,
        };
        let id = match value {
            Value::Integer(id) if column != Column::Weight => u64::try_from(id).ok(),
            _ => None,
        };
        let vertex = id.map(|id| Ok::<_, Failure>(store.vertices_of(&[&id.to_string()])?[0])).transpose()?.flatten();
        Ok(Self { column, operator, value, vertex, weights })
    }

    fn holds(&self, edge: &Edge) -> bool {
        let ordering = match (self.column, self.weights) {
            (Column::Source, _) => self.of_integer(edge.source),
            (Column::Dest, _) => self.of_integer(edge.dest),
            (Column::Weight, Some(of @ (WeightType::F32 | WeightType::F64))) => {
                let value = match self.value {
                    Value::Integer(value) => value as f64,
                    Value::Float(value) => value,
                };
                // 0.1 is the weight that was written as 0.1.
                let value = if of == WeightType::F32 { f64::from(value as f32) } else { value };
                float(edge.weight, of).partial_cmp(&value)
            }
            (Column::Weight, _) => self.of_integer(edge.weight),
        };
        self.operator.holds(ordering)
    }

    fn of_integer(&self, number: u64) -> Option<std::cmp::Ordering> {
        match self.value {
            Value::Integer(value) => Some(i128::from(number).cmp(&value)),
            Value::Float(value) => (number as f64).partial_cmp(&value),
        }
    }
}
