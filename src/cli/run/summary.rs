//! The summary of an answer: data, which `--json` prints as it is and the terminal as text.

use super::path::{ShownPath, as_id};
use crate::algorithms::command::{Figure, Finished, Shown, SummaryItem};
use crate::cli::failure::Failure;
use crate::cli::ranking::{Best, best_by_id, largest};
use crate::cli::report::{of_answer, of_sizes};
use crate::cli::tables;
use crate::cli::vertices::{group_sizes, parts};
use crate::model::algorithm::{Answer, AnswerValues, Values};
use crate::store::{Store, VertexId};
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use std::ops::Range;
use topostream_formats::OriginalId;
use topostream_tools::report::{Distribution, LISTED_MAX};

/// The number of vertices or groups that are listed unless `--top` is given.
const TOP: usize = 10;

/// The summary of an answer. Parts that the algorithm does not have are left out.
#[derive(Serialize, Default)]
pub struct AnswerSummary {
    /// The vertices of the graph.
    vertices: u64,
    /// Vertices with a value: of a search, those that it reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest: Option<Extreme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Groups>,
    /// Of each column with an order, the vertices with the largest values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    top: Vec<Top>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<ShownPath>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    figures: Vec<(&'static str, Figure)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<Table>,
    #[serde(skip_serializing_if = "Option::is_none")]
    convergence: Option<Convergence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    /// Of the first column, or of the sizes of groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Distribution>,
}

/// The largest value of a column.
#[derive(Clone, Serialize)]
struct Extreme {
    column: String,
    value: Figure,
    /// The number of vertices that have it, where several may.
    #[serde(skip_serializing_if = "Option::is_none")]
    vertices: Option<u64>,
}

/// Groups of vertices with the same value: components, communities.
#[derive(Clone, Serialize)]
struct Groups {
    /// What they are, in the plural.
    of: &'static str,
    count: u64,
    /// The largest ones, largest first.
    largest: Vec<Group>,
    #[serde(skip)]
    sizes: Distribution,
}

#[derive(Clone, Serialize)]
struct Group {
    /// The vertex that the group is named after, by its original id.
    #[serde(serialize_with = "as_id")]
    id: OriginalId,
    vertices: u64,
}

/// The vertices with the largest values of a column, largest first.
#[derive(Clone, Serialize)]
struct Top {
    column: String,
    vertices: Vec<TopVertex>,
}

#[derive(Clone, Serialize)]
struct TopVertex {
    #[serde(serialize_with = "as_id")]
    id: OriginalId,
    value: Figure,
}

/// A table: the headings, and rows of a label and its figures.
#[derive(Clone, Serialize)]
struct Table {
    header: Vec<String>,
    rows: Vec<(String, Vec<Figure>)>,
}

/// How an algorithm that iterates has ended.
#[derive(Clone, Serialize)]
struct Convergence {
    iterations: u32,
    residual: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    converged: Option<bool>,
}

fn as_map<S: Serializer>(pairs: &[(&'static str, Figure)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, figure)| (name.replace([' ', '-'], "_"), figure)))
}

impl AnswerSummary {
    /// Summarises a finished run, with the distribution of its answer. `top` is as in [`brief`](Self::brief).
    pub fn of(run: &dyn Finished, store: &Store, shown: &Shown, top: Option<usize>) -> Result<Self, Failure> {
        let mut summary = Self::brief(run, store, shown, top)?;
        summary.describe(run);
        Ok(summary)
    }

    /// Adds the distribution of the first column, or of the sizes of groups.
    pub fn describe(&mut self, run: &dyn Finished) {
        self.distribution = match &self.groups {
            Some(groups) => Some(groups.sizes.clone()),
            None => run.answers().first().and_then(|answer| of_answer(answer, self.vertices)),
        };
    }

    /// Summarises a finished run. `top` is the number of vertices, or groups, to list: by default ten of the largest
    /// numbers and groups, and none of counts such as levels.
    pub fn brief(run: &dyn Finished, store: &Store, shown: &Shown, top: Option<usize>) -> Result<Self, Failure> {
        let vertices = store.vertices();
        let answers = run.answers();
        let convergence = run.report().total.iteration.map(|iteration| Convergence {
            iterations: iteration.iterations,
            residual: iteration.residual,
            tolerance: iteration.tolerance,
            converged: iteration.converged(),
        });
        let mut summary = Self { vertices, convergence, remark: run.remark(), ..Self::default() };
        let Some(answer) = answers.first() else { return Ok(summary) };
        let mut listed = top.unwrap_or(0);
        match (shown, &answer.values) {
            (Shown::Own(items), _) => listed = summary.add(items(run, store), (run, answer), store, top)?,
            (Shown::Top, _) => listed = top.unwrap_or(TOP),
            (Shown::Reached, _) => summary.count_reached(answer),
            (Shown::AboveZero, AnswerValues::Integer(of)) => {
                let above = |part| of.iter_range(part).flatten().filter(|&value| value > 0).count() as u64;
                summary.reached = Some(parts(vertices).map(above).sum());
            }
            (Shown::AboveZero, AnswerValues::F64(of)) => {
                let above = |part| of.iter_range(part).filter(|&value| value > 0.0).count() as u64;
                summary.reached = Some(parts(vertices).map(above).sum());
            }
            (Shown::Largest, AnswerValues::Integer(of)) => {
                let value = parts(vertices).filter_map(|part| of.iter_range(part).flatten().max()).max();
                let count = |part| of.iter_range(part).filter(|&of| of == value).count() as u64;
                let count = parts(vertices).map(count).sum();
                let value = Figure::Integer(value.unwrap_or(0));
                summary.largest = Some(Extreme { column: answer.name.to_string(), value, vertices: Some(count) });
            }
            (Shown::Groups(noun, items), AnswerValues::Vertex(of)) => {
                let groups = |part| of.iter_range(part).map(|group| group.map(|group| group.0));
                summary.groups = Some(Groups::of(noun, groups, store, top.unwrap_or(TOP))?);
                let items = items.as_ref().map_or_else(Vec::new, |items| items(run, store));
                listed = summary.add(items, (run, answer), store, Some(0))?;
            }
            _ => {}
        }
        if listed > 0 {
            summary.top = Top::of_each(&answers, listed, store)?;
        }
        Ok(summary)
    }

    /// Adds an algorithm's own items; returns the number of vertices to list.
    fn add(
        &mut self,
        items: Vec<SummaryItem>,
        (run, answer): (&dyn Finished, &Answer<'_>),
        store: &Store,
        top: Option<usize>,
    ) -> Result<usize, Failure> {
        let mut listed = top.unwrap_or(0);
        for item in items {
            match item {
                SummaryItem::Figures(figures) => self.figures.extend(figures),
                SummaryItem::Top => listed = top.unwrap_or(TOP),
                SummaryItem::Reached => self.count_reached(answer),
                SummaryItem::Path(path) => self.path = Some(ShownPath::of(&path, run, store)?),
                SummaryItem::Table { header, rows } => self.table = Some(Table { header, rows }),
            }
        }
        Ok(listed)
    }

    /// Summarises groups of vertices, each the vertex that a group is named after; `top` of the largest are listed.
    pub fn of_groups(noun: &'static str, groups: &[u32], store: &Store, top: usize) -> Result<Self, Failure> {
        let vertices = store.vertices();
        let of = |part: Range<u64>| groups[part.start as usize..part.end as usize].iter().map(|&group| Some(group));
        let groups = Groups::of(noun, of, store, top)?;
        let distribution = Some(groups.sizes.clone());
        Ok(Self { vertices, groups: Some(groups), distribution, ..Self::default() })
    }

    /// The summary with the first vertices and groups only, and one more than a page has; without a path.
    pub fn for_page(&self) -> Self {
        let some = LISTED_MAX + 1;
        let top = |Top { column, vertices }: &Top| Top { column: column.clone(), vertices: first(vertices, some) };
        let groups =
            |groups: &Groups| Groups { largest: first(&groups.largest, some), sizes: groups.sizes.clone(), ..*groups };
        Self {
            vertices: self.vertices,
            reached: self.reached,
            largest: self.largest.clone(),
            groups: self.groups.as_ref().map(groups),
            top: self.top.iter().map(top).collect(),
            figures: self.figures.clone(),
            table: self.table.clone(),
            convergence: self.convergence.clone(),
            remark: self.remark.clone(),
            distribution: self.distribution.clone(),
            path: None,
        }
    }

    /// Notes the number of vertices with a value, and the largest value.
    fn count_reached(&mut self, answer: &Answer<'_>) {
        let (count, value) = extent(answer, self.vertices);
        self.reached = Some(count);
        self.largest = value.map(|value| Extreme { column: answer.name.to_string(), value, vertices: None });
    }

    /// The summary as text.
    pub fn text(&self) -> String {
        self.pieces().collect()
    }

    /// The text of the summary, piece by piece: long tables need much memory.
    pub fn pieces(&self) -> impl Iterator<Item = String> + '_ {
        let row = |(label, figures): &(String, Vec<Figure>)| {
            std::iter::once(label.clone()).chain(figures.iter().map(|&of| plain(of))).collect()
        };
        let table = self.table.iter().map(move |Table { header, rows }| {
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            tables::table(&header, rows.iter().map(row))
        });
        let top = self.top.iter().flat_map(|Top { column, vertices }| {
            let row = |place: usize| [vertices[place].id.to_string(), figure(vertices[place].value)];
            tables::long_table(["vertex", column], vertices.len(), row)
        });
        let path = self.path.iter().map(ShownPath::text);
        let groups = self.groups.iter().flat_map(Groups::pieces);
        table.chain(top).chain(path).chain(groups).chain(std::iter::once_with(|| self.closing()))
    }

    /// The lines below the tables.
    fn closing(&self) -> String {
        let mut text = String::new();
        let largest = self.largest.as_ref();
        if let Some(reached) = self.reached {
            let of_all = format!("reached {} of {}", tables::count(reached), tables::counted(self.vertices, "vertex"));
            let largest = largest.map(|of| format!("; largest {} {}", of.column, figure(of.value)));
            text += &(of_all + &largest.unwrap_or_default() + "\n");
        } else if let Some(Extreme { column, value, vertices }) = largest {
            let of = tables::counted(vertices.unwrap_or(1), "vertex");
            text += &format!("largest {column} {}, of {of}\n", figure(*value));
        }
        if !self.figures.is_empty() {
            let figures = self.figures.iter().map(|(name, value)| format!("{name}: {}", plain(*value)));
            text += &(figures.collect::<Vec<_>>().join("; ") + "\n");
        }
        text += &self.convergence.as_ref().map_or_else(String::new, Convergence::text);
        text + &self.remark.as_ref().map_or_else(String::new, |remark| format!("{remark}\n"))
    }
}

impl Convergence {
    fn text(&self) -> String {
        let Self { iterations, residual, tolerance, converged } = self;
        let iterations = tables::counted((*iterations).into(), "iteration");
        match (converged, tolerance) {
            (Some(true), _) => format!("converged after {iterations}; the last one changed {residual:.2e}\n"),
            (Some(false), Some(tolerance)) => {
                let tolerance = *tolerance as f32;
                format!(
                    "not converged after {iterations}: the last one changed {residual:.2e}, more than {tolerance:e}\n"
                )
            }
            _ => format!("{iterations}; the last one changed {residual:.2e}\n"),
        }
    }
}

impl Groups {
    /// The groups by size. The page buffer is gone: there is room for the counts.
    fn of<I: Iterator<Item = Option<u32>>>(
        noun: &'static str,
        groups: impl Fn(Range<u64>) -> I + Sync,
        store: &Store,
        top: usize,
    ) -> Result<Self, Failure> {
        let vertices = store.vertices();
        let sizes = group_sizes(vertices, groups);
        let count = sizes.par_iter().filter(|&&size| size > 0).count() as u64;
        let some = |group: u32| Some(sizes[group as usize]).filter(|&size| size > 0);
        let show = |part: Range<u64>, best: &mut Best<u32>| {
            part.for_each(|group| best.see(some(group as u32), group as u32));
        };
        let largest = best_by_id(top.clamp(1, sizes.len().max(1)), show, some, store)?;
        let named_after: Vec<VertexId> = largest.iter().copied().map(VertexId).collect();
        let size = |place: u32| if count == 1 { vertices } else { sizes[place as usize].into() };
        let groups = largest.iter().zip(store.ids_of(&named_after)?);
        let largest = groups.map(|(&place, id)| Group { id, vertices: size(place) }).collect();
        Ok(Self { of: noun, count, largest, sizes: of_sizes(&sizes, noun) })
    }

    /// The largest ones, and their number, piece by piece.
    fn pieces(&self) -> impl Iterator<Item = String> + '_ {
        let Self { of, count, largest, .. } = self;
        let size = largest.first().map_or(0, |group| group.vertices);
        let row = |place: usize| [largest[place].id.to_string(), tables::count(largest[place].vertices)];
        let rows = if largest.len() > 1 { largest.len() } else { 0 };
        let closing = format!("{of}: {}; vertices of the largest: {}\n", tables::count(*count), tables::count(size));
        tables::long_table([of, "vertices"], rows, row).chain([closing])
    }
}

impl Top {
    /// Of each column whose values have an order. All ids are looked up together: that reads them once.
    fn of_each(answers: &[Answer<'_>], count: usize, store: &Store) -> Result<Vec<Self>, Failure> {
        let ranked = |answer: &Answer<'_>| {
            let found = largest(answer, count, store).transpose()?;
            Some(found.map(|found| (answer.name.to_string(), found)))
        };
        let columns = answers.iter().filter_map(ranked).collect::<Result<Vec<_>, _>>()?;
        let vertices: Vec<_> = columns.iter().flat_map(|(_, ranked)| ranked).map(|&(one, _)| VertexId(one)).collect();
        let mut ids = store.ids_of(&vertices)?.into_iter();
        let top = |(column, ranked): (String, Vec<(u32, Figure)>)| {
            let vertices = ranked.into_iter().zip(ids.by_ref()).map(|((_, value), id)| TopVertex { id, value });
            Self { column, vertices: vertices.collect() }
        };
        Ok(columns.into_iter().map(top).collect())
    }
}

/// The first items, at most `count`.
fn first<T: Clone>(of: &[T], count: usize) -> Vec<T> {
    of[..count.min(of.len())].to_vec()
}

/// A number of a table.
fn figure(value: Figure) -> String {
    match value {
        Figure::Integer(count) => tables::count(count),
        Figure::F64(number) => format!("{number:.6e}"),
        Figure::F32(number) => format!("{number:.6e}"),
    }
}

/// A figure about the whole graph as text.
fn plain(value: Figure) -> String {
    match value {
        Figure::Integer(count) => tables::count(count),
        Figure::F64(number) => format!("{number:.6}"),
        Figure::F32(number) => format!("{number:.6}"),
    }
}

/// The number of vertices with a value, and the largest value.
fn extent(answer: &Answer<'_>, vertices: u64) -> (u64, Option<Figure>) {
    match &answer.values {
        AnswerValues::Integer(of) => {
            let (count, largest) = extent_of(of, vertices, |value| value, u64::max);
            (count, Some(Figure::Integer(largest.unwrap_or(0))))
        }
        AnswerValues::F64(of) => {
            let (count, largest) =
                extent_of(of, vertices, |value| Some(value).filter(|value| value.is_finite()), f64::max);
            (count, Some(Figure::of(answer, largest.unwrap_or(0.0))))
        }
        AnswerValues::Vertex(of) => {
            let count = |part| of.iter_range(part).flatten().count() as u64;
            (parts(vertices).map(count).sum(), None)
        }
    }
}

/// The number of values that `some` lets through, and the largest one.
fn extent_of<V: Copy + Default, T: Copy + Send>(
    of: &Values<'_, V>,
    vertices: u64,
    some: impl Fn(V) -> Option<T> + Sync,
    larger: impl Fn(T, T) -> T + Sync,
) -> (u64, Option<T>) {
    let with = |largest: Option<T>, value: Option<T>| match (largest, value) {
        (Some(largest), Some(value)) => Some(larger(largest, value)),
        (largest, value) => largest.or(value),
    };
    let within = |part| {
        let (mut count, mut largest) = (0, None);
        of.for_each_slice(part, |_, values| {
            for value in values.iter().filter_map(|&value| some(value)) {
                count += 1;
                largest = with(largest, Some(value));
            }
        });
        (count, largest)
    };
    parts(vertices).map(within).reduce(|| (0, None), |a, b| (a.0 + b.0, with(a.1, b.1)))
}
