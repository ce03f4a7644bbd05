//! Partitions of a graph's vertices, as orders of them: a store in that order has its parts in consecutive ranges.
//!
//! ```text
//!  a file of METIS, or a rule ─▶ the part of each vertex ─▶ an order file for `reformat`
//!                       out-lists ─▶ edges between parts
//! ```

use crate::progress::{Cancel, Progress, Unit};
use crate::split::lists::{ShardLists, page_bytes};
use std::path::{Path, PathBuf};
use topostream_formats::text::counted;
use topostream_formats::{Direction, Encoding, Error, OriginalIds, Result, Store, Topology, VertexId, memory, threads};
use topostream_readers::VertexList;

/// The largest number of parts.
pub const PARTS_MAX: u32 = 256;
/// Main memory for any graph, in bytes.
const BASE_BYTES: u64 = 40 << 20;
/// Main memory for reading a file of parts, in bytes.
const READING_BYTES: u64 = 4 << 20;

/// How vertices are assigned to parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Ranges of vertices with about equal numbers of out-edges.
    Ranges,
    /// Vertex v of the store goes to part v mod K.
    Modulo,
    /// A file with the part of each vertex: a number on each line, from 0, for the vertices in ascending order of their
    /// original ids, as METIS writes it.
    File(PathBuf),
}

/// The options of a partition.
#[derive(Clone, Debug)]
pub struct PartitionOptions {
    /// The number of parts, 1 to [`PARTS_MAX`].
    pub parts: u32,
    /// How vertices are assigned to them.
    pub rule: Rule,
    /// The memory budget, in bytes.
    pub memory_bytes: u64,
}

/// The figures of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartFigures {
    /// Its vertices.
    pub vertices: u64,
    /// Their out-edges.
    pub edges: u64,
    /// The out-edges that lead into other parts.
    pub cut: u64,
    /// For each of its vertices, the number of other parts that its edges lead to, summed up: the values that others
    /// read.
    pub mirrors: u64,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The part of each vertex.
    parts: Vec<u8>,
    /// The figures of each part.
    pub figures: Vec<PartFigures>,
}

impl Partition {
    /// The part of a vertex, which must exist.
    pub fn part(&self, vertex: u32) -> u32 {
        self.parts[vertex as usize].into()
    }

    /// The vertices in the order of their parts, within a part in their own order.
    pub fn order(&self) -> impl Iterator<Item = u32> {
        (0..self.figures.len()).flat_map(|wanted| {
            let parts = self.parts.iter().enumerate();
            parts.filter(move |(_, part)| usize::from(**part) == wanted).map(|(vertex, _)| vertex as u32)
        })
    }
}

/// Partitions the vertices of a whole store. Reads all out-lists once. Takes a byte a vertex and some pages, and what
/// assigning the vertices takes: their degrees, or the file and its ids.
///
/// # Errors
/// [`Error::Invalid`] for a wrong number of parts, a part of a graph, a store in shards or with record ids, and a file
/// of parts for vertices that have names; [`Error::File`] for a defect of that file; [`Error::Memory`]; errors from
/// reading pages; [`Error::Interrupted`].
pub fn partition(
    store: &Store,
    options: &PartitionOptions,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Partition> {
    threads::start_shared_pool()?;
    let out = check(store, options)?;
    let at_once = pages_at_once(store, out, options)?;
    let lists = Lists { store, out, at_once, progress, cancel };
    let parts = match &options.rule {
        Rule::File(path) => read_parts(path, &store.ids()?, store.vertices(), options.parts)?,
        Rule::Ranges => ranges(store.out_degrees()?.values(), options.parts),
        Rule::Modulo => (0..store.vertices()).map(|vertex| (vertex % u64::from(options.parts)) as u8).collect(),
    };
    let figures = figures(&lists, &parts, options.parts as usize)?;
    Ok(Partition { parts, figures })
}

/// The out-lists of a store.
struct Lists<'a> {
    store: &'a Store,
    out: &'a Topology,
    at_once: usize,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

impl Lists<'_> {
    /// Passes every list that is not empty, in the order of vertices; one of several pages in as many pieces.
    fn each(&self, stage: &str, mut take: impl FnMut(u32, &[u32])) -> Result<()> {
        let Self { store, out, at_once, progress, cancel } = *self;
        let shard = &out.shards()[0];
        let mut lists = ShardLists::open(store, out, shard, 0, at_once, cancel)?;
        progress.begin(stage, Some(out.page_count().into()), Unit::Pages);
        let mut pages = 0;
        let passed = || {
            pages += 1;
            progress.position(pages);
        };
        lists.each(0..store.vertices(), passed, |vertex, (neighbours, _)| {
            take(vertex, neighbours);
            Ok(())
        })?;
        progress.end();
        Ok(())
    }
}

/// Returns the part of each vertex: ranges with about equal numbers of edges, or of vertices if there are no edges.
fn ranges(degrees: &[u32], count: u32) -> Vec<u8> {
    let edges: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
    let weight = |degree: u32| if edges > 0 { u64::from(degree) } else { 1 };
    let (all, mut before) = (if edges > 0 { edges } else { degrees.len() as u64 }, 0u64);
    let part = |&degree: &u32| {
        let part = u128::from(before) * u128::from(count) / u128::from(all);
        before += weight(degree);
        // Vertices without edges at the end follow all edges.
        part.min(u128::from(count) - 1) as u8
    };
    degrees.iter().map(part).collect()
}

/// The figures of each part.
fn figures(lists: &Lists<'_>, parts: &[u8], count: usize) -> Result<Vec<PartFigures>> {
    let mut figures = vec![PartFigures::default(); count];
    parts.iter().for_each(|&part| figures[usize::from(part)].vertices += 1);
    // The last vertex whose value a part was seen to read.
    let mut read: Vec<Option<u32>> = vec![None; count];
    lists.each("count edges between parts", |vertex, neighbours| {
        let part = usize::from(parts[vertex as usize]);
        figures[part].edges += neighbours.len() as u64;
        for &neighbour in neighbours {
            let other = usize::from(parts[neighbour as usize]);
            if other != part {
                figures[part].cut += 1;
                figures[part].mirrors += u64::from(read[other].replace(vertex) != Some(vertex));
            }
        }
    })?;
    Ok(figures)
}

/// Reads the part of each vertex, in ascending order of original ids.
fn read_parts(path: &Path, ids: &OriginalIds, vertices: u64, count: u32) -> Result<Vec<u8>> {
    if ids.names().is_some() {
        let message = format!("{}: a file of parts is for vertices with numbers: these have names", path.display());
        return Err(Error::Invalid(message));
    }
    let mut lines = VertexList::open(path, READING_BYTES)?;
    let mut read = Vec::with_capacity(vertices as usize);
    while let Some(part) = lines.next_id()? {
        if part >= count.into() {
            let expected = format!("parts from 0 to {}", count - 1);
            return Err(Error::file(path, expected, format!("part {part}, of vertex {} in the file", read.len())));
        }
        if read.len() as u64 == vertices {
            return Err(Error::file(path, format!("a part for each of {}", counted(vertices, "vertex")), "more"));
        }
        read.push(part as u8);
    }
    if (read.len() as u64) < vertices {
        let found = format!("those of {}", read.len());
        return Err(Error::file(path, format!("a part for each of {}", counted(vertices, "vertex")), found));
    }
    if ids.is_ascending() {
        return Ok(read);
    }
    let mut order: Vec<u32> = (0..=u32::MAX).take(vertices as usize).collect();
    order.sort_unstable_by_key(|&vertex| ids.original(VertexId(vertex)));
    let mut parts = vec![0; read.len()];
    order.iter().zip(read).for_each(|(&vertex, part)| parts[vertex as usize] = part);
    Ok(parts)
}

/// Checks that the store can be partitioned; returns its out-lists.
fn check<'a>(store: &'a Store, options: &PartitionOptions) -> Result<&'a Topology> {
    let refuse = |what: String| Err(Error::Invalid(format!("{}: {what}", store.path().display())));
    if !(1..=PARTS_MAX).contains(&options.parts) {
        return Err(Error::Invalid(format!(
            "{}: there must be 1 to {PARTS_MAX}",
            counted(options.parts.into(), "part")
        )));
    }
    let out = store.topology(Direction::Out).expect("every store has out-lists");
    if store.is_partial() {
        return refuse("is a part of a graph already".into());
    }
    if out.is_grouped() {
        return refuse("its lists are grouped by shard; partition the store that it was made of".into());
    }
    if let Encoding::RecordId { .. } = store.manifest().encoding {
        let instead = "reformat it with `--encoding packed` or `vertex-id`";
        return refuse(format!("neighbours are addresses of records; {instead}"));
    }
    Ok(out)
}

/// Pages that are read side by side.
fn pages_at_once(store: &Store, out: &Topology, options: &PartitionOptions) -> Result<usize> {
    let (by_vertex, ids) = match options.rule {
        // What was read, ids, and their order.
        Rule::File(_) => {
            let ids = &store.manifest().ids;
            (if ids.is_ascending() { 1 } else { 5 }, ids.memory_bytes(store.vertices()))
        }
        // Degrees.
        Rule::Ranges => (4, 0),
        Rule::Modulo => (0, 0),
    };
    let (page, parts) = (page_bytes(out), (1 + by_vertex) * store.vertices() + ids);
    let needed_bytes = BASE_BYTES + parts + page;
    if needed_bytes > options.memory_bytes {
        let parts = format!("program {BASE_BYTES}, parts of vertices {parts}, a page of {page}");
        let (what, budget_bytes) = ("partitioning".into(), options.memory_bytes);
        return Err(Error::Memory { what, needed_bytes, budget_bytes, parts });
    }
    memory::probe("partitioning", needed_bytes)?;
    let most = 2 * rayon::current_num_threads() as u64;
    Ok((1 + (options.memory_bytes - needed_bytes) / page).min(most) as usize)
}
