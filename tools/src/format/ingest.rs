//! From a source's edges to sorted records, while finding out which vertices there are.

use super::id_map::{IdCollector, IdMap};
use super::memory::BASE_BYTES;
use super::record::{Record, sortable};
use super::sorter::{Sorted, Sorter};
use super::{FormatOptions, IdPolicy, OpenSource};
use crate::progress::{Cancel, Progress, Unit};
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, SourceInfo, WeightType};

/// What came in.
pub struct Ingested<R> {
    /// The edges, loops dropped and mirrored as was asked for.
    pub edges: Sorted<R>,
    /// How the ids in `edges` name vertices.
    pub naming: Naming,
    /// How many edges the source gave.
    pub input_edges: u64,
    /// How many self-loops were dropped.
    pub self_loops_removed: u64,
}

/// How sorted ids name vertices, and what those were called in the source.
pub struct Naming {
    vertices: u64,
    /// The ids that occur, where they are not consecutive.
    map: Option<IdMap>,
    /// The original id of vertex 0, without a map.
    first: u64,
    /// Whether the sorted ids are vertices already.
    translated: bool,
}

impl Naming {
    /// Vertices that are called by their numbers.
    pub fn vertices_below(vertices: u64) -> Self {
        Self { vertices, map: None, first: 0, translated: true }
    }

    fn of_map(map: IdMap, translated: bool) -> Self {
        let vertices = map.count();
        match map.consecutive_from() {
            Some(first) => Self { vertices, map: None, first, translated },
            None => Self { vertices, map: Some(map), first: 0, translated },
        }
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> u64 {
        self.vertices
    }

    /// Main memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.map.as_ref().map_or(0, IdMap::memory_bytes)
    }

    /// The original id of vertex 0 where ids are consecutive, else none.
    pub fn first(&self) -> Option<u64> {
        self.map.is_none().then_some(self.first)
    }

    /// The original ids in vertex order.
    pub fn originals(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match &self.map {
            Some(map) => Box::new(map.ids()),
            None => Box::new(self.first..self.first + self.vertices),
        }
    }

    /// The vertex that a sorted id names.
    #[inline]
    pub fn vertex(&self, id: u32) -> u32 {
        match &self.map {
            _ if self.translated => id,
            Some(map) => map.vertex(id.into()) as u32,
            None => id - self.first as u32,
        }
    }
}

/// Which vertices exist, as the policy and the source have it.
pub fn id_space(info: &SourceInfo, options: &FormatOptions) -> IdSpace {
    match options.ids {
        IdPolicy::Auto => info.ids,
        IdPolicy::Keep => IdSpace::UpToLargest,
        IdPolicy::Compact => IdSpace::Named,
        IdPolicy::Below(count) => IdSpace::Range { first: 0, count },
    }
}

/// Whether ids have to be collected.
pub fn needs_id_map(info: &SourceInfo, options: &FormatOptions) -> bool {
    id_space(info, options) == IdSpace::Named
}

/// Reads the whole source into the sorter.
pub fn ingest<R: Record>(
    source: Box<dyn EdgeSource>,
    open: &mut OpenSource<'_>,
    options: &FormatOptions,
    sorter: Sorter<R>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Ingested<R>> {
    let info = source.info().clone();
    let space = id_space(&info, options);
    check_vertices(space)?;
    let mut ingest = Ingest {
        space,
        mirror: info.mirror || options.symmetrize,
        keep_loops: !options.remove_self_loops,
        weights: info.weights.filter(|_| options.keep_weights),
        sorter,
        collector: IdCollector::new(sort_share(options)),
        largest: None,
        map: None,
        input_edges: 0,
        self_loops_removed: 0,
        progress,
        cancel,
    };
    match ingest.read_all(source, "read edges") {
        Err(Error::Limit { .. }) if space == IdSpace::Named => ingest.again_with_wide_ids(open)?,
        other => other?,
    }
    ingest.finish()
}

/// What the map of ids may take: as much as a sort.
fn sort_share(options: &FormatOptions) -> u64 {
    options.memory_bytes.saturating_sub(BASE_BYTES) / 3
}

/// The budget of which the map of ids may take so much.
pub fn budget_for_ids(bytes: u64) -> u64 {
    BASE_BYTES + 3 * bytes
}

fn check_vertices(space: IdSpace) -> Result<()> {
    match space {
        IdSpace::Range { count, .. } if count > VERTICES_MAX => Err(too_many_vertices(count)),
        IdSpace::Range { first, count } if first.checked_add(count).is_none() => {
            Err(Error::Invalid(format!("{count} vertices from id {first} on: ids must be below 2^64")))
        }
        _ => Ok(()),
    }
}

fn too_many_vertices(found: u64) -> Error {
    Error::Limit {
        what: "vertices".into(),
        found,
        limit: VERTICES_MAX,
        hint: "vertex ids have 32 bits; if the ids are sparse, `--ids compact` keeps only those that occur".into(),
    }
}

struct Ingest<'a, R> {
    space: IdSpace,
    mirror: bool,
    keep_loops: bool,
    weights: Option<WeightType>,
    sorter: Sorter<R>,
    collector: IdCollector,
    largest: Option<u64>,
    /// Set in the second reading of a source with ids of more than 32 bits.
    map: Option<IdMap>,
    input_edges: u64,
    self_loops_removed: u64,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

impl<R: Record> Ingest<'_, R> {
    fn read_all(&mut self, source: Box<dyn EdgeSource>, stage: &str) -> Result<()> {
        let extra = self.each_edge(source, stage, |ingest, edge| {
            ingest.input_edges += 1;
            ingest.take(edge)
        })?;
        if self.space == IdSpace::Named && self.map.is_none() {
            extra.iter().for_each(|&id| self.collector.insert(id));
        }
        Ok(())
    }

    /// Passes every edge of a source, with progress. Returns the vertices that exist without edges.
    fn each_edge(
        &mut self,
        mut source: Box<dyn EdgeSource>,
        stage: &str,
        mut take: impl FnMut(&mut Self, &Edge) -> Result<()>,
    ) -> Result<Vec<u64>> {
        let (bytes, edges) = (source.info().bytes, source.info().edges);
        self.progress.begin(stage, bytes.or(edges), if bytes.is_some() { Unit::Bytes } else { Unit::Edges });
        let (mut chunk, mut passed, mut extra) = (Vec::new(), 0, Vec::new());
        loop {
            self.cancel.check()?;
            source.read(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            chunk.iter().try_for_each(|edge| take(self, edge))?;
            passed += chunk.len() as u64;
            self.progress.position(if bytes.is_some() { source.bytes_read() } else { passed });
        }
        source.extra_vertices(&mut extra)?;
        self.progress.end();
        Ok(extra)
    }

    #[inline]
    fn take(&mut self, edge: &Edge) -> Result<()> {
        let (source, dest) = (self.id(edge.source)?, self.id(edge.dest)?);
        if source == dest && !self.keep_loops {
            self.self_loops_removed += 1;
            return Ok(());
        }
        let weight = self.weights.map_or(0, |of| sortable(edge.weight, of));
        self.sorter.push(R::new(source, dest, weight))?;
        if self.mirror && source != dest {
            self.sorter.push(R::new(dest, source, weight))?;
        }
        Ok(())
    }

    /// The 32 bits that an id is sorted by.
    #[inline]
    fn id(&mut self, id: u64) -> Result<u32> {
        match self.space {
            IdSpace::Range { first, count } => match id.checked_sub(first) {
                Some(vertex) if vertex < count => Ok(vertex as u32),
                _ if count == 0 => Err(Error::Invalid(format!("vertex id {id}: the graph has no vertices"))),
                _ => Err(Error::Invalid(format!("vertex id {id}: expected {first} to {}", first + (count - 1)))),
            },
            IdSpace::UpToLargest => {
                self.largest = self.largest.max(Some(id));
                u32::try_from(id).map_err(|_| too_many_vertices(id.saturating_add(1)))
            }
            IdSpace::Named => match &self.map {
                Some(map) => match map.get(id) {
                    Some(vertex) => Ok(vertex as u32),
                    None => Err(Error::Invalid(format!("vertex id {id} was not there before: the input has changed"))),
                },
                None => {
                    self.collector.insert(id);
                    u32::try_from(id).map_err(|_| too_many_vertices(id.saturating_add(1)))
                }
            },
        }
    }

    /// Ids of more than 32 bits cannot be sorted by themselves: collect them in one reading, number them in another.
    fn again_with_wide_ids(&mut self, open: &mut OpenSource<'_>) -> Result<()> {
        let mut collector = IdCollector::new(self.collector.memory_bytes());
        let extra = self.each_edge(open()?, "collect ids", |_, edge| {
            collector.insert(edge.source);
            collector.insert(edge.dest);
            Ok(())
        })?;
        extra.iter().for_each(|&id| collector.insert(id));
        self.map = Some(collector.finish()?);
        self.sorter.clear();
        (self.input_edges, self.self_loops_removed) = (0, 0);
        self.read_all(open()?, "read edges again")
    }

    fn finish(self) -> Result<Ingested<R>> {
        let naming = match (self.space, self.map) {
            (IdSpace::Range { first, count }, _) => Naming { first, ..Naming::vertices_below(count) },
            (IdSpace::UpToLargest, _) => Naming::vertices_below(self.largest.map_or(0, |id| id + 1)),
            (IdSpace::Named, Some(map)) => Naming::of_map(map, true),
            (IdSpace::Named, None) => Naming::of_map(self.collector.finish()?, false),
        };
        if naming.vertices() > VERTICES_MAX {
            return Err(too_many_vertices(naming.vertices()));
        }
        let (input_edges, self_loops_removed) = (self.input_edges, self.self_loops_removed);
        Ok(Ingested { edges: self.sorter.finish()?, naming, input_edges, self_loops_removed })
    }
}
