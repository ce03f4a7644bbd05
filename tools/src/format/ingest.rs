//! Turns a source's edges into sorted records and determines the set of vertices.
//!
//! ```text
//!  vertices declared by a file ─▶ IdMap ─▶ edges, each id looked up
//!  ids of 32 bits ─▶ edges as they are; ids collected on the way
//!  a wider id ─┬─ the input can be opened again: collect all ids, then read edges once more, each id looked up
//!              └─ a pipe: all edges go to a temporary file, which is read again
//! ```

use super::id_map::{self, IdCollector, IdMap};
use super::intake::{Batch, Intake};
use super::naming::Naming;
use super::options::{FormatOptions, IdPolicy, Repeated};
use super::repeated;
use super::reverses::{self, Balance};
use super::source::{OpenSource, at, id_space, too_many_vertices};
use super::spool::Spool;
use super::survey::{Seen, Survey};
use super::taken::{Rules, TASK_EDGES, Taken};
use crate::progress::{Cancel, Progress, Unit};
use crate::sorting::record::Record;
use crate::sorting::sorter::{Collected, Sorter};
use rayon::prelude::*;
use topostream_formats::ids::VERTICES_MAX;
use topostream_formats::text::plural;
use topostream_formats::{Edge, EdgeSource, Error, IdSpace, Result, Rounding, WeightType};

/// The ingested input.
pub struct Ingested<R> {
    /// The edges, without loops and mirrored if requested.
    pub edges: Collected<R>,
    /// How the ids in `edges` name vertices.
    pub naming: Naming,
    /// The number of edges in the source.
    pub input_edges: u64,
    /// The number of self-loops dropped.
    pub self_loops_removed: u64,
    /// What was seen in the input.
    pub seen: Seen,
    /// What the weights have lost.
    pub rounding: Rounding,
    /// Whether edges were mirrored although the input lists each of them at both ends.
    pub doubled: bool,
    /// Whether the edges are in memory as in the input, and their union with their reverses is still to be taken.
    pub once: bool,
}

/// Reads the whole source into the sorter.
pub fn ingest<R: Record>(
    mut source: Box<dyn EdgeSource>,
    open: &mut OpenSource<'_>,
    options: &FormatOptions,
    (sorter, once): (Sorter<R>, Option<Sorter<R>>),
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Ingested<R>> {
    let info = source.info().clone();
    let space = id_space(&info, options);
    let has_order = options.repeated == Some(Repeated::First);
    let has_both_ends = !info.directed && !info.mirror && !options.symmetrize;
    let mut ingest = Ingest {
        space,
        keep_loops: !options.remove_self_loops,
        weights: info.weights.filter(|_| options.keep_weights),
        // An input that is declared undirected and is not mirrored must list each edge at both ends.
        balance: has_both_ends.then(Balance::default),
        // Edges that a seed generates are mirrored one by one, wherever they are generated, and so are edges that are
        // combined with their reverses. Of an edge that is listed at both ends either may come first.
        intake: match is_union(&*source, options) {
            true => match once {
                Some(once) => Intake::once(once, sorter),
                None => Intake::union(sorter),
            },
            false => Intake::plain(sorter, info.mirror || options.symmetrize || has_order && has_both_ends),
        },
        doubled: has_order && has_both_ends,
        has_order,
        collector: IdCollector::new(id_map::share_of(options.memory_bytes)),
        survey: Survey::default(),
        largest: None,
        map: None,
        input_edges: 0,
        self_loops_removed: 0,
        rounding: Rounding::default(),
        left_out: 0,
        chunk: Vec::new(),
        at: 0,
        taken: Vec::new(),
        waiting: Vec::new(),
        progress,
        cancel,
    };
    ingest.declared(&mut *source)?;
    let place = source.place();
    let is_file = info.bytes.is_some() || source.is_read_once();
    let read = ingest.read_all(&mut *source, "read edges");
    let input = Input { place, is_file, bytes: source.bytes_read() };
    match read {
        Err(Error::Limit { .. }) if space == IdSpace::Named && source.is_read_once() => {
            ingest.spool_wide_ids(&mut *source)?;
        }
        Err(Error::Limit { .. }) if space == IdSpace::Named => {
            drop(source);
            ingest.again_with_wide_ids(open)?;
        }
        other => other?,
    }
    ingest.finish(&input, open, options)
}

/// Whether edges are united with their reverses.
pub fn is_union(source: &dyn EdgeSource, options: &FormatOptions) -> bool {
    options.symmetrize && source.parts().is_none() && !repeated::is_needed(options)
}

/// Checks of the input as a whole, after it has been read.
struct Input {
    /// Its name in messages.
    place: String,
    /// Whether it is a file, not a generator or edges in memory.
    is_file: bool,
    bytes: u64,
}

/// Stores with fewer vertices than this (about 64 MiB) are made whatever the number of edges.
const VERTICES_FREE: u64 = 4 << 20;
/// The maximum number of vertices per edge beyond those.
const VERTICES_PER_EDGE: u64 = 64;

/// Refuses a file with far more vertices than edges: a single large id would otherwise make a store of 2^32 vertices.
fn check_proportion(input: &Input, space: IdSpace, vertices: u64, edges: u64) -> Result<()> {
    // Lists and offsets take at least a byte per vertex, so a file of that kind with many vertices is large itself.
    if vertices <= VERTICES_FREE.max(VERTICES_PER_EDGE.saturating_mul(edges)).max(input.bytes) {
        return Ok(());
    }
    let place = &input.place;
    let (why, insist) = match space {
        IdSpace::Range { first, count } => ("as its header says", first + count),
        _ => ("every id from 0 to the largest", vertices),
    };
    Err(Error::Invalid(format!(
        "{place}: {vertices} vertices, {why}, for {edges} {}: more than {VERTICES_PER_EDGE} times as many; `--ids \
         compact` keeps only the ids that occur, `--ids {insist}` keeps all",
        plural(edges, "edge")
    )))
}

/// Tasks of a thread before what they have made is added up.
const TASKS_PER_THREAD: usize = 4;
/// The most tasks, of any number of threads, until samples have been halved: each takes up to 0.3 MiB until then.
const TASKS_MAX: usize = 16;

/// An edge that cannot be taken, by its place in a chunk.
struct Fault {
    at: usize,
    error: Error,
}

struct Ingest<'a, R> {
    space: IdSpace,
    keep_loops: bool,
    weights: Option<WeightType>,
    balance: Option<Balance>,
    intake: Intake<R>,
    /// Whether edges are mirrored although each is listed at both ends.
    doubled: bool,
    /// Whether weights have the place of their edge in the input above them.
    has_order: bool,
    collector: IdCollector,
    survey: Survey,
    largest: Option<u64>,
    /// If ids have to be looked up: declared ones, and ids of more than 32 bits in the second pass.
    map: Option<IdMap>,
    input_edges: u64,
    self_loops_removed: u64,
    rounding: Rounding,
    /// Rows that do not meet conditions.
    left_out: u64,
    /// The edges that were read last, and how many of them are done.
    chunk: Vec<Edge>,
    at: usize,
    /// What tasks made of the edges before, to be made use of again.
    taken: Vec<Taken<R>>,
    /// Their edges, which the intake has not got yet.
    waiting: Vec<Batch<R>>,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
}

impl<R: Record> Ingest<'_, R> {
    /// Reads the vertices that a file declares, if any: edges may then connect only these.
    fn declared(&mut self, source: &mut dyn EdgeSource) -> Result<()> {
        if self.space != IdSpace::Named {
            return Ok(());
        }
        let memory_bytes = self.collector.memory_bytes();
        let mut collector = IdCollector::new(memory_bytes);
        let (cancel, place) = (self.cancel, source.place());
        let declared = source.declared_vertices(&mut |ids| {
            cancel.check()?;
            ids.iter().for_each(|&id| collector.insert(id));
            Ok(())
        })?;
        if declared {
            let map = collector.finish()?;
            if map.count() > VERTICES_MAX {
                return Err(at(place, too_many_vertices(map.count())));
            }
            self.map = Some(map);
        }
        Ok(())
    }

    fn read_all(&mut self, source: &mut dyn EdgeSource, stage: &str) -> Result<()> {
        let extra = self.each_chunk(source, stage, Self::take)?;
        if self.space == IdSpace::Named && self.map.is_none() {
            extra.iter().for_each(|&id| self.collector.insert(id));
        }
        Ok(())
    }

    /// Passes the edges of a source in chunks, with progress. Returns the vertices that exist without edges.
    fn each_chunk(
        &mut self,
        source: &mut dyn EdgeSource,
        stage: &str,
        mut take: impl FnMut(&mut Self, &[Edge]) -> std::result::Result<(), Fault>,
    ) -> Result<Vec<u64>> {
        let (bytes, edges) = (source.info().bytes, source.info().edges);
        self.progress.begin(stage, bytes.or(edges), if bytes.is_some() { Unit::Bytes } else { Unit::Edges });
        let (mut chunk, mut passed, mut extra) = (std::mem::take(&mut self.chunk), 0, Vec::new());
        loop {
            self.cancel.check()?;
            source.read(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            if let Err(Fault { at: index, error }) = take(self, &chunk) {
                let error = at(source.place_of(index, &chunk[index]), error);
                (self.chunk, self.at) = (chunk, index);
                self.settle()?;
                return Err(error);
            }
            passed += chunk.len() as u64;
            self.progress.position(if bytes.is_some() { source.bytes_read() } else { passed });
        }
        self.settle()?;
        source.extra_vertices(&mut extra)?;
        (self.rounding, self.left_out) = (source.rounding(), source.left_out());
        self.progress.end();
        Ok(extra)
    }

    /// Takes edges of the input, on all threads: one of them passes those before on to the intake. After a fault, those
    /// before it have been taken, and none after it.
    fn take(&mut self, chunk: &[Edge]) -> std::result::Result<(), Fault> {
        let mut taken = std::mem::take(&mut self.taken);
        let tasks_max = if self.survey.halvings().leave_few() { usize::MAX } else { TASKS_MAX };
        let tasks = (TASKS_PER_THREAD * rayon::current_num_threads()).min(tasks_max);
        taken.resize_with(tasks, Taken::default);
        let mut done = 0;
        for round in chunk.chunks(tasks * TASK_EDGES) {
            self.make_room(round.len()).map_err(|error| Fault { at: done, error })?;
            let rules = Rules {
                space: self.space,
                keep_loops: self.keep_loops,
                weights: self.weights,
                has_order: self.has_order,
                balance: self.balance.as_ref(),
                way: self.intake.way(),
                halvings: self.survey.halvings(),
                map: self.map.as_ref(),
                collector: &self.collector,
            };
            let first = self.input_edges;
            let (waiting, intake) = (&self.waiting, &mut self.intake);
            let edges = round.par_chunks(TASK_EDGES).zip(&mut taken).enumerate();
            let make = || {
                edges.for_each(|(task, (edges, taken))| taken.make(&rules, edges, first + (task * TASK_EDGES) as u64));
            };
            let ((), passed_on) = rayon::join(make, || waiting.iter().try_for_each(|batch| intake.extend(batch)));
            passed_on.map_err(|error| Fault { at: done, error })?;
            self.waiting.iter_mut().for_each(Batch::clear);
            let made = round.len().div_ceil(TASK_EDGES);
            self.waiting.resize_with(made.max(self.waiting.len()), Batch::default);
            for (place, taken) in taken[..made].iter_mut().enumerate() {
                self.add(taken);
                std::mem::swap(&mut self.waiting[place], &mut taken.batch);
                done += taken.edges as usize;
                if let Some(error) = taken.fault.take() {
                    return Err(Fault { at: done, error });
                }
            }
        }
        self.taken = taken;
        Ok(())
    }

    /// Leaves edges as they are only while there is room for those that wait and for this many others.
    fn make_room(&mut self, edges: usize) -> Result<()> {
        let room = self.intake.room();
        if room == usize::MAX || self.waiting.iter().map(Batch::len).sum::<usize>() + edges <= room {
            return Ok(());
        }
        self.settle()?;
        self.intake.unite()
    }

    /// Passes all edges that have been taken on to the intake.
    fn settle(&mut self) -> Result<()> {
        std::mem::take(&mut self.waiting).iter().try_for_each(|batch| self.intake.extend(batch))
    }

    /// Adds what a task has found about edges.
    fn add(&mut self, taken: &Taken<R>) {
        self.survey.take(&taken.sight);
        taken.ids.iter().for_each(|&id| self.collector.insert(id));
        if let (Some(balance), Some(more)) = (&mut self.balance, &taken.balance) {
            balance.merge(more);
        }
        self.largest = self.largest.max(taken.largest);
        self.input_edges += taken.edges;
        self.self_loops_removed += taken.self_loops_removed;
    }

    /// Ids of more than 32 bits cannot be sorted directly: one pass collects them, a second pass numbers them.
    fn again_with_wide_ids(&mut self, open: &mut OpenSource<'_>) -> Result<()> {
        let mut collector = IdCollector::new(self.collector.memory_bytes());
        let extra = self.each_chunk(&mut *open()?, "collect ids", |_, edges| {
            edges.iter().flat_map(|edge| [edge.source, edge.dest]).for_each(|id| collector.insert(id));
            Ok(())
        })?;
        extra.iter().for_each(|&id| collector.insert(id));
        self.map = Some(collector.finish()?);
        self.intake.clear();
        (self.input_edges, self.self_loops_removed) = (0, 0);
        self.survey = Survey::default();
        self.balance = self.balance.as_ref().map(|_| Balance::default());
        self.read_all(&mut *open()?, "read edges again")
    }

    /// Handles wide ids in an input that cannot be read again: edges from the first wide id on go to a temporary file;
    /// earlier ones are in the sorter.
    fn spool_wide_ids(&mut self, source: &mut dyn EdgeSource) -> Result<()> {
        let mut spool = Spool::new(self.intake.sorter().folder(), source.place())?;
        let (rest, from) = (std::mem::take(&mut self.chunk), self.at);
        let collector = &mut self.collector;
        let mut keep = |edge: &Edge| {
            collector.insert(edge.source);
            collector.insert(edge.dest);
            spool.push(edge)
        };
        rest[from..].iter().try_for_each(&mut keep)?;
        self.progress.begin("collect ids", None, Unit::Edges);
        let (mut chunk, mut passed) = (Vec::new(), (rest.len() - from) as u64);
        drop(rest);
        loop {
            self.cancel.check()?;
            source.read(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            chunk.iter().try_for_each(&mut keep)?;
            passed += chunk.len() as u64;
            self.progress.position(passed);
        }
        self.progress.end();
        (self.rounding, self.left_out) = (source.rounding(), source.left_out());
        let mut extra = Vec::new();
        source.extra_vertices(&mut extra)?;
        extra.iter().for_each(|&id| collector.insert(id));
        self.take_spooled(spool)
    }

    /// Renumbers the edges of the sorter and of the spool.
    fn take_spooled(&mut self, spool: Spool) -> Result<()> {
        let memory_bytes = self.collector.memory_bytes();
        let map = std::mem::replace(&mut self.collector, IdCollector::new(memory_bytes)).finish()?;
        // The edges so far are already without loops, if those are dropped.
        let mut numbered = Spool::new(self.intake.sorter().folder(), spool.input().to_owned())?;
        self.intake.drain(|source, dest, weight| {
            numbered.push(&Edge { source: map.vertex(source.into()), dest: map.vertex(dest.into()), weight })
        })?;
        let (way, mut batch) = (self.intake.way(), Batch::default());
        numbered.for_each_chunk(|edges| {
            batch.clear();
            edges.iter().for_each(|edge| batch.push(way, edge.source as u32, edge.dest as u32, edge.weight));
            self.intake.extend(&batch)
        })?;
        self.map = Some(map);
        let cancel = self.cancel;
        spool.for_each_chunk(|edges| {
            cancel.check()?;
            self.take(edges).map_err(|fault| fault.error)
        })?;
        self.settle()
    }

    fn finish(self, input: &Input, open: &mut OpenSource<'_>, options: &FormatOptions) -> Result<Ingested<R>> {
        let naming = match (self.space, self.map) {
            (IdSpace::Range { first, count }, _) => Naming::consecutive(first, count),
            (IdSpace::UpToLargest, _) => Naming::vertices_below(self.largest.map_or(0, |id| id + 1)),
            (IdSpace::Named, Some(map)) => Naming::of_map(map, true),
            (IdSpace::Named, None) => Naming::of_map(self.collector.finish()?, false),
        };
        if naming.vertices() > VERTICES_MAX {
            return Err(at(&input.place, too_many_vertices(naming.vertices())));
        }
        let insisted = matches!(options.ids, IdPolicy::Below(_)) || !input.is_file && options.ids == IdPolicy::Auto;
        if self.space != IdSpace::Named && !insisted {
            check_proportion(input, self.space, naming.vertices(), self.input_edges)?;
        }
        let once = matches!(&self.intake, Intake::Once { .. });
        let (edges, both_ways) = self.intake.finish()?;
        if self.balance.is_some_and(|balance| !balance.is_even()) {
            return Err(reverses::error(&edges, &naming, self.weights, &input.place, open, self.cancel));
        }
        let Self { input_edges, self_loops_removed, rounding, doubled, .. } = self;
        let seen = Seen { both_ways, left_out: self.left_out, ..self.survey.seen() };
        Ok(Ingested { edges, naming, input_edges, self_loops_removed, seen, rounding, doubled, once })
    }
}
