//! A path of a search, for people and for `--json`.

use crate::algorithms::command::{Figure, Finished, Path, value_on_path};
use crate::cli::failure::Failure;
use crate::cli::tables;
use crate::store::Store;
use serde::{Serialize, Serializer};
use topostream_formats::OriginalId;

/// The vertices at each end of a long path that people are shown.
const SHOWN_ENDS: usize = 50;
/// The most vertices of a path in JSON, and the most bytes of their ids.
const LISTED_MAX: u64 = 100_000;
const LISTED_BYTES_MAX: usize = 8 << 20;

/// A path from the source of a search to a vertex.
#[derive(Serialize)]
pub struct ShownPath {
    /// The name of a vertex's value.
    #[serde(skip)]
    column: String,
    #[serde(serialize_with = "as_id")]
    source: OriginalId,
    #[serde(serialize_with = "as_id")]
    target: OriginalId,
    /// The number of edges; null if there is no path.
    hops: Option<u64>,
    /// The value of the target: a distance, a level.
    value: Option<Figure>,
    /// From the source on; the first ones of a very long path.
    vertices: Vec<PathVertex>,
    /// The number of vertices that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
}

#[derive(Serialize)]
struct PathVertex {
    #[serde(serialize_with = "as_id")]
    id: OriginalId,
    value: Option<Figure>,
}

/// An id as JSON: a number, or a name as text.
pub(super) fn as_id<S: Serializer>(id: &OriginalId, serializer: S) -> Result<S::Ok, S::Error> {
    match id {
        OriginalId::Number(number) => serializer.serialize_u64(*number),
        name => serializer.collect_str(name),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ShownPath {
    /// Reads the ids and values on a path.
    ///
    /// # Errors
    /// Errors from reading ids.
    pub fn of(path: &Path, run: &dyn Finished, store: &Store) -> Result<Self, Failure> {
        let answers = run.answers();
        let mut ends = store.ids_of(&[path.ends.source, path.ends.target])?.into_iter();
        let [source, target] = [ends.next(), ends.next()].map(|id| id.expect("an id for each vertex"));
        let (mut vertices, mut bytes) = (Vec::new(), 0);
        path.each(run, |some| {
            for (id, &vertex) in store.ids_of(some)?.into_iter().zip(some) {
                if vertices.len() as u64 == LISTED_MAX || bytes > LISTED_BYTES_MAX {
                    return Ok(false);
                }
                bytes += if let OriginalId::Name(name) = &id { name.len() } else { 0 };
                vertices.push(PathVertex { id, value: value_on_path(&answers, vertex) });
            }
            Ok::<_, Failure>(true)
        })?;
        let left_out = path.hops.map_or(0, |hops| hops + 1 - vertices.len() as u64);
        let value = path.hops.and_then(|_| value_on_path(&answers, path.ends.target));
        let column = answers.first().map_or_else(String::new, |answer| answer.name.to_string());
        Ok(Self { column, source, target, hops: path.hops, value, vertices, left_out })
    }

    /// The path as a table, of a long one its ends.
    pub fn text(&self) -> String {
        let Self { column, source, target, vertices, .. } = self;
        let Some(hops) = self.hops else { return format!("no path from {source} to {target} was found\n") };
        let number = |value: Option<Figure>| match value {
            Some(Figure::Integer(value)) => tables::count(value),
            Some(Figure::F64(value)) => value.to_string(),
            Some(Figure::F32(value)) => value.to_string(),
            None => String::new(),
        };
        let row = |vertex: &PathVertex| vec![vertex.id.to_string(), number(vertex.value)];
        let first = &vertices[..vertices.len().min(SHOWN_ENDS)];
        // Of a path that is not listed as a whole, the end is not known.
        let known = if self.left_out > 0 { &vertices[..0] } else { &vertices[first.len()..] };
        let last = &known[known.len().saturating_sub(SHOWN_ENDS)..];
        let between = hops + 1 - (first.len() + last.len()) as u64;
        let gap = (between > 0).then(|| vec![format!("… {} more", tables::count(between)), String::new()]);
        let table = tables::table(&["vertex", column], first.iter().map(row).chain(gap).chain(last.iter().map(row)));
        let all = if between > 0 { "; --path FILE writes all of it" } else { "" };
        let (edges, value) = (tables::counted(hops, "edge"), number(self.value));
        format!("path from {source} to {target}: {edges}, {column} {value}{all}\n{table}")
    }
}
