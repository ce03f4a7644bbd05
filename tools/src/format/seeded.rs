//! Graphs that a seed generates: their edges are made again for each range of sources that fits in memory, or made once
//! and spilt by range, whichever is predicted to be faster. Nothing is sorted twice.
//!
//! ```text
//!  all parts ─▶ edges by step, or degrees ─▶ (new numbers) ─▶ ranges ─┬─ one, or cheap to make again ─▶ generator ─┐
//!                                                                     └─ else: generator ─▶ Spilt ─▶ ranges ───────┤
//!                                                        lists ─▶ pages ◀── sorted by distribution (distribute) ◀──┘
//! ```

use super::distribute::{Edges, Input, Lists, Work};
use super::memory::Known;
use super::naming::Naming;
use super::options::{FormatOptions, OrderFrom};
use super::order::{Numbering, Slots};
use super::plan::{Plan, Shape};
use super::sample::Sample;
use super::source::id_space;
use super::spilt::{self, Spilt};
use super::state::{Formatter, Made};
use super::survey::Seen;
use super::tally::{self, Degrees, Rules, Tally};
use super::{listed, repeated};
use crate::progress::{Cancel, Progress, Unit};
use crate::sorting::record::{Record, sortable};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::edge::EdgeParts;
use topostream_formats::manifest::{Ids, TopologyManifest};
use topostream_formats::packed::PackedParameters;
use topostream_formats::page::PageWeights;
use topostream_formats::write::TopologyWriter;
use topostream_formats::{Direction, EdgeSource, IdSpace, Result, Rounding, VertexOrder, WeightType, durable};

/// Graphs with more parts are counted by a sample of them, if estimates suffice.
const SAMPLED_PARTS: u64 = 1 << 7;
/// Estimated numbers of edges are increased by one part in this many.
const SAMPLE_MARGIN: u64 = 16;

/// A source that a seed generates, and what is kept of it.
pub struct Seeded<'a> {
    parts: &'a dyn EdgeParts,
    rules: Rules,
    weights: Option<WeightType>,
    vertices: u64,
    /// The number of edges in the source, if it is known.
    edges: Option<u64>,
}

impl<'a> Seeded<'a> {
    /// The source, if a seed generates it and a store with these options can be made from its ranges.
    pub fn of(source: &'a dyn EdgeSource, options: &FormatOptions) -> Option<Self> {
        let (info, parts) = (source.info(), source.parts()?);
        let IdSpace::Range { first: 0, count: declared } = info.ids else { return None };
        let vertices = match id_space(info, options) {
            IdSpace::Range { first: 0, count } if count >= declared => count,
            _ => return None,
        };
        let is_mirrored = info.mirror || options.symmetrize;
        let degrees_of_distinct = options.remove_duplicates && options.order != VertexOrder::Natural;
        // Of out-degrees alone, in-degrees are unknown.
        let lacks_degrees = options.order == VertexOrder::OutFirst && options.in_edges;
        let must_balance = !info.directed && !is_mirrored;
        let is_traversed = options.order == VertexOrder::Bfs;
        let other = degrees_of_distinct || lacks_degrees || must_balance || is_traversed;
        if other || repeated::is_needed(options) || options.shards > 1 || options.part.is_some() || vertices == 0 {
            return None;
        }
        let rules = Rules { keep_loops: !options.remove_self_loops, mirror: is_mirrored };
        Some(Self { parts, rules, weights: options.layout.weights, vertices, edges: info.edges })
    }

    /// Whether a sample of parts is enough for ranges: where exact numbers are known as soon as edges are there.
    fn can_sample(&self, options: &FormatOptions) -> bool {
        let has_many = self.parts.count() > 2 * SAMPLED_PARTS;
        has_many && self.edges.is_some() && self.rules.keep_loops && !self.rules.mirror && !options.in_edges
    }

    /// Edges of the source by step of their ends: of some parts if `sampled`.
    fn count<R: Record>(&self, formatter: &Formatter<'_, R>, sampled: bool) -> Result<Tally> {
        let stride = if sampled { self.parts.count() / SAMPLED_PARTS } else { 1 };
        formatter.progress.begin("count edges", self.edges.map(|edges| edges / stride), Unit::Edges);
        let advance = advance(formatter.progress, formatter.cancel);
        let mut tally = tally::by_steps(self.parts, self.vertices, self.rules, stride, advance)?;
        if sampled {
            tally.increase(SAMPLE_MARGIN);
        }
        formatter.progress.end();
        Ok(tally)
    }

    fn shape<'n, R: Record>(&self, numbered: &'n Numbered, direction: Direction) -> Shape<'n> {
        let Tally { out_steps, in_steps, .. } = &numbered.tally;
        let steps = if direction == Direction::Out { out_steps } else { in_steps };
        Shape { vertices: self.vertices, weighted: self.weights.is_some(), steps, record_bytes: size_of::<R>() }
    }

    /// The number of edges to sort, or a larger one.
    fn records_max(&self, steps: &[u64]) -> u64 {
        let counted = steps.iter().sum();
        self.edges.map_or(counted, |edges| counted.max(edges))
    }
}

/// The edges of a seeded source by range, made anew each time.
struct Again<'a> {
    seeded: &'a Seeded<'a>,
    numbers: Option<&'a [u32]>,
    is_reversed: bool,
    /// The sources of each range.
    sources: Vec<Range<u64>>,
}

impl Input for Again<'_> {
    fn parts(&self, _range: usize) -> u64 {
        self.seeded.parts.count()
    }

    fn part(&self, range: usize, number: u64, edges: &mut Edges) -> Result<()> {
        let Seeded { parts, rules, weights, .. } = self.seeded;
        let Edges { ends, weights: found, raw_ends, raw_weights, .. } = edges;
        parts.part(number, raw_ends, raw_weights);
        ends.clear();
        found.clear();
        let (first, span) = (self.sources[range].start as u32, self.sources[range].end - self.sources[range].start);
        if self.is_reversed {
            raw_ends.iter_mut().for_each(|ends| *ends = (ends.1, ends.0));
        }
        // Of edges outside the range, dests need no number unless they may be sources.
        let needs_both = rules.mirror || !rules.keep_loops;
        if let Some(numbers) = self.numbers {
            // Nothing but reads at random places, so that many of them are under way at a time.
            let number = |vertex: u32| numbers[vertex as usize];
            match needs_both {
                true => raw_ends.iter_mut().for_each(|ends| *ends = (number(ends.0), number(ends.1))),
                false => raw_ends.iter_mut().for_each(|ends| ends.0 = number(ends.0)),
            }
        }
        let mut push = |source: u32, dest: u32, at: usize| {
            if u64::from(source.wrapping_sub(first)) < span {
                ends.push((source, dest));
                found.extend(weights.map(|of| sortable(raw_weights[at].into(), of) as u32));
            }
        };
        for (at, &(source, dest)) in raw_ends.iter().enumerate() {
            if source == dest && !rules.keep_loops {
                continue;
            }
            push(source, dest, at);
            if rules.mirror && source != dest {
                push(dest, source, at);
            }
        }
        if let Some(numbers) = self.numbers.filter(|_| !needs_both) {
            ends.iter_mut().for_each(|ends| ends.1 = numbers[ends.1 as usize]);
        }
        Ok(())
    }
}

/// Edges by step of new numbers, and these numbers.
struct Numbered {
    kind: VertexOrder,
    ids: Ids,
    numbers: Option<Vec<u32>>,
    tally: Tally,
    /// Whether edges were counted by a sample.
    sampled: bool,
}

impl<R: Record> Formatter<'_, R> {
    /// Makes the store of a seeded source; `None` if that needs more memory than there is, before anything is written.
    pub(super) fn make_seeded(&mut self, seeded: &Seeded<'_>) -> Result<Option<Made>> {
        let Some(mut numbered) = self.number_seeded(seeded)? else { return Ok(None) };
        let mut out = self.write_seeded(seeded, &numbered, Direction::Out)?;
        if out.is_none() && numbered.sampled {
            (numbered.tally, numbered.sampled) = (seeded.count(self, false)?, false);
            out = self.write_seeded(seeded, &numbered, Direction::Out)?;
        }
        let Some((out, edges)) = out else { return Ok(None) };
        let in_lists = match self.options.in_edges {
            true => self.write_seeded(seeded, &numbered, Direction::In)?.map(|(summary, _)| summary),
            false => None,
        };
        let Tally { edges: counted, loops_dropped, .. } = numbered.tally;
        Ok(Some(Made {
            order: numbered.kind,
            ids: numbered.ids,
            out,
            in_lists,
            part: None,
            vertices: seeded.vertices,
            edges,
            input_edges: seeded.edges.unwrap_or(counted),
            self_loops_removed: loops_dropped,
            // What a generator makes is known.
            seen: Seen::default(),
            rounding: Rounding::default(),
        }))
    }

    /// Counts edges, and numbers the vertices if an order was requested.
    fn number_seeded(&mut self, seeded: &Seeded<'_>) -> Result<Option<Numbered>> {
        let natural = Ids::Range { first: 0 };
        if self.options.order == VertexOrder::Natural {
            let sampled = seeded.can_sample(self.options);
            let tally = seeded.count(self, sampled)?;
            let numbered = Numbered { kind: VertexOrder::Natural, ids: natural, numbers: None, tally, sampled };
            return Ok(self.has_plans(seeded, &numbered).then_some(numbered));
        }
        let left = self.budget.left(16 * seeded.vertices);
        self.progress.begin("count degrees", seeded.edges, Unit::Edges);
        let advance = advance(self.progress, self.cancel);
        let degrees = tally::degrees(seeded.parts, seeded.vertices, seeded.rules, left, advance)?;
        self.progress.end();
        let Some(Degrees { out, mut into, edges, loops_dropped }) = degrees else { return Ok(None) };
        let is_total = self.options.order != VertexOrder::OutFirst;
        into.par_iter_mut()
            .zip(&out)
            .for_each(|(into, &out)| *into = if is_total { into.saturating_add(out) } else { out });
        let (kind, Numbering { order, numbers, mut counts }) = self.number_by(seeded, into)?;
        let out_steps = tally::steps_of(&order, &out, self.cancel)?;
        counts.par_iter_mut().zip(&out).for_each(|(count, &out)| *count -= out);
        let in_steps = tally::steps_of(&order, &counts, self.cancel)?;
        drop((counts, out));
        let tally = Tally { edges, loops_dropped, out_steps, in_steps };
        let numbers = (kind != VertexOrder::Natural).then_some(numbers);
        let mut numbered = Numbered { kind, ids: natural, numbers, tally, sampled: false };
        if !self.has_plans(seeded, &numbered) {
            self.list = listed::open(self.options)?;
            return Ok(None);
        }
        if kind != VertexOrder::Natural {
            numbered.ids = self.writer.write_ids(|| order.iter().map(|&vertex| vertex.into()))?;
        }
        Ok(Some(numbered))
    }

    /// Numbers the vertices, given the degrees that the order sorts by.
    fn number_by(&mut self, seeded: &Seeded<'_>, counts: Vec<u32>) -> Result<(VertexOrder, Numbering)> {
        let (kind, naming) = (self.options.order, Naming::vertices_below(seeded.vertices));
        let slots = Slots::Vertices(&naming);
        if let Some(mut list) = self.list.take() {
            return Ok((kind, listed::number(&mut list, &naming, slots, counts, self.cancel)?));
        }
        let parameters = PackedParameters::of(self.options.layout.encoding);
        let (Some(OrderFrom::Sample), Some(parameters)) = (&self.options.order_from, parameters) else {
            return Ok((kind, Numbering::sorted(kind, slots, counts)));
        };
        let sample = Sample::new(&counts);
        let (filter, sample) = (sample.filter(), Mutex::new(sample));
        self.progress.begin("sample lists", seeded.edges, Unit::Edges);
        let mut own = vec![Vec::new(); rayon::current_num_threads()];
        let add = |some: &mut Vec<(u32, u32)>, ends: &[(u32, u32)]| {
            let reversed =
                |&(source, dest): &(u32, u32)| (seeded.rules.mirror && source != dest).then_some((dest, source));
            let all = ends.iter().filter(|ends| seeded.rules.keep_loops || ends.0 != ends.1);
            some.extend(all.flat_map(|ends| [Some(*ends), reversed(ends)]).flatten().filter(|ends| filter(ends.0)));
            let mut sample = sample.lock().expect("no thread panics while it adds edges");
            some.drain(..).for_each(|(source, dest)| sample.add(source, dest));
            Ok(())
        };
        tally::for_each_part(seeded.parts, 1, &mut own, add, advance(self.progress, self.cancel))?;
        self.progress.end();
        let (sample, numbering) =
            (sample.into_inner().expect("no thread has panicked"), Numbering::sorted(kind, slots, counts));
        let choice = sample.choose(&numbering, slots, parameters);
        self.writer.set_encoding(choice.encoding(&self.options.layout));
        if choice.is_renumbered {
            return Ok((kind, numbering));
        }
        let Numbering { counts, .. } = numbering;
        Ok((VertexOrder::Natural, Numbering::sorted(VertexOrder::Natural, slots, counts)))
    }

    /// Whether there is enough memory to sort the edges of all lists.
    fn has_plans(&self, seeded: &Seeded<'_>, numbered: &Numbered) -> bool {
        let has_plan = |direction| self.plan_seeded(seeded, numbered, direction).is_some();
        has_plan(Direction::Out) && (!self.options.in_edges || has_plan(Direction::In))
    }

    fn plan_seeded(&self, seeded: &Seeded<'_>, numbered: &Numbered, direction: Direction) -> Option<Plan> {
        let shape = seeded.shape::<R>(numbered, direction);
        let records = seeded.records_max(shape.steps);
        let known = Known { vertices: seeded.vertices, records, ..Known::default() };
        let numbers_bytes = numbered.numbers.as_ref().map_or(0, |numbers| size_of_val(&numbers[..]) as u64);
        let left_bytes = self.budget.left(self.budget.writing_bytes(&known) + numbers_bytes);
        Plan::new(shape, left_bytes, self.shared_bytes())
    }

    /// The memory of sorted lists that pages refer to, if they can refer to them at all.
    pub(super) fn shared_bytes(&self) -> Option<u64> {
        let layout = self.writer.layout();
        let can_share = layout.encoding.is_packed() && layout.weights.is_none();
        can_share.then(|| TopologyWriter::shared_bytes(layout))
    }

    /// Sorts the edges and writes the lists of a direction. Also returns their number; `None`, before anything is
    /// written, if numbers of edges that were estimated are not enough for it.
    fn write_seeded(
        &mut self,
        seeded: &Seeded<'_>,
        numbered: &Numbered,
        direction: Direction,
    ) -> Result<Option<(TopologyManifest, u64)>> {
        let Some(plan) = self.plan_seeded(seeded, numbered, direction) else { return Ok(None) };
        let (shape, ranges) = (seeded.shape::<R>(numbered, direction), plan.ranges.ranges.len());
        let records = seeded.records_max(shape.steps);
        let again = |sources| Again {
            seeded,
            numbers: numbered.numbers.as_deref(),
            is_reversed: direction == Direction::In,
            sources,
        };
        let free_bytes = durable::free_bytes(&self.folder).unwrap_or(u64::MAX);
        let spilt = match plan.spills(shape, records, free_bytes) {
            true => Some(self.spill(&again(std::iter::once(0..seeded.vertices).collect()), &plan, seeded, records)?),
            false => None,
        };
        let fits = |range: usize| {
            let records = spilt.as_ref().map_or(records, |spilt| spilt.records(range));
            plan.blocks(shape, range, records) * plan.block_bytes as u64 <= plan.memory_bytes
        };
        if numbered.sampled && !(0..ranges).all(fits) {
            return Ok(None);
        }
        let again = again((0..ranges).map(|range| plan.ranges.sources(range)).collect());
        let input: &dyn Input = spilt.as_ref().map_or(&again, |spilt| spilt);
        self.sort_and_write(&plan, input, (seeded.vertices, seeded.weights), direction).map(Some)
    }

    /// Writes all edges to a temporary file, by range.
    fn spill(&self, input: &dyn Input, plan: &Plan, seeded: &Seeded<'_>, records: u64) -> Result<Spilt> {
        self.progress.begin("spill edges", Some(records), Unit::Edges);
        let ranges = plan.ranges.ranges.len();
        let threads = (plan.threads, spilt::block_bytes(plan.memory_bytes, plan.threads, ranges));
        let kind = (seeded.vertices, seeded.weights.is_some());
        let spilt = Spilt::new(&self.folder, input, &plan.ranges, kind, threads, advance(self.progress, self.cancel))?;
        self.progress.end();
        Ok(spilt)
    }

    /// Sorts the edges of an input by a plan and writes their lists. Also returns their number.
    pub(super) fn sort_and_write(
        &mut self,
        plan: &Plan,
        input: &dyn Input,
        (vertices, weights): (u64, Option<WeightType>),
        direction: Direction,
    ) -> Result<(TopologyManifest, u64)> {
        let stage = if direction == Direction::Out { "write out-lists" } else { "write in-lists" };
        let records = plan.ranges.buckets.iter().map(|bucket| bucket.records).sum();
        self.progress.begin(stage, Some(records), Unit::Edges);
        let mut memory = AlignedBuffer::try_new("edges to sort", plan.memory_bytes)?;
        let mut lists = self.writer.topology(direction)?;
        let work = Work {
            ranges: &plan.ranges,
            input,
            vertices,
            weights,
            unique: self.options.remove_duplicates,
            shares: PackedParameters::of(self.writer.layout().encoding).filter(|_| plan.shares),
            threads: plan.threads,
            block_bytes: plan.block_bytes,
            cancel: self.cancel,
        };
        let (mut edges, mut dropped) = (0, 0);
        work.run::<R>(&mut memory, &mut |batch: &Lists| {
            match plan.shares {
                true => lists.push_lists(&batch.shared)?,
                false => push_each(&mut lists, batch)?,
            }
            edges += batch.shared.dests.len() as u64;
            dropped += batch.dropped;
            self.progress.position(edges + dropped);
            self.cancel.check()
        })?;
        self.duplicates_removed = dropped;
        drop(memory);
        let summary = self.end_lists(lists, vertices)?;
        self.progress.end();
        Ok((summary, edges))
    }
}

/// Copies lists into pages.
fn push_each(to: &mut TopologyWriter, lists: &Lists) -> Result<()> {
    let mut at = 0;
    for &(source, length) in &lists.shared.lengths {
        let list = at..at + length as usize;
        let weights = lists.weights.get(list.clone()).map_or(PageWeights::None, PageWeights::Words);
        to.push_list(source, &lists.shared.dests[list.clone()], weights)?;
        at = list.end;
    }
    Ok(())
}

/// Reports progress by numbers of edges that are done, and checks for cancellation.
fn advance<'a>(progress: &'a dyn Progress, cancel: &'a Cancel) -> impl Fn(u64) -> Result<()> + Sync + 'a {
    let passed = AtomicU64::new(0);
    move |more| {
        progress.position(passed.fetch_add(more, Ordering::Relaxed) + more);
        cancel.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{RandomWeights, Rmat};

    /// Together the ranges have every edge of the source, renumbered, each in the range of its source.
    #[test]
    fn ranges_have_every_edge_once() {
        let weights = Some(RandomWeights::U32 { min: 1, max: 9 });
        let source = Rmat { weights, ..Rmat::new(8, 16, 3) }.generate().unwrap();
        let parts = source.parts().unwrap();
        let permuted: Vec<u32> = (0..256).map(|vertex| vertex * 77 % 256).collect();
        let sources = vec![0..100, 100..101, 101..256];
        for case in 0..16 {
            let is = |bit: u32| case >> bit & 1 == 1;
            let (is_reversed, rules) = (is(0), Rules { keep_loops: is(1), mirror: is(2) });
            let numbers = is(3).then_some(&permuted[..]);
            let seeded = Seeded { parts, rules, weights: Some(WeightType::U32), vertices: 256, edges: None };
            let again = Again { seeded: &seeded, numbers, is_reversed, sources: sources.clone() };
            let (mut found, mut expected, mut edges) = (Vec::new(), Vec::new(), Edges::default());
            let (mut raw_ends, mut raw_weights) = (Vec::new(), Vec::new());
            for number in 0..parts.count() {
                for (range, sources) in sources.iter().enumerate() {
                    again.part(range, number, &mut edges).unwrap();
                    assert!(edges.ends.iter().all(|&(from, _)| sources.contains(&from.into())), "case {case}");
                    found
                        .extend(edges.ends.iter().zip(&edges.weights).map(|(&(from, to), &weight)| (from, to, weight)));
                }
                parts.part(number, &mut raw_ends, &mut raw_weights);
                for (&(from, to), &weight) in raw_ends.iter().zip(&raw_weights) {
                    let name = |vertex: u32| if is(3) { vertex * 77 % 256 } else { vertex };
                    let (one, other) = if is_reversed { (name(to), name(from)) } else { (name(from), name(to)) };
                    if from != to || rules.keep_loops {
                        expected.push((one, other, weight));
                    }
                    if from != to && rules.mirror {
                        expected.push((other, one, weight));
                    }
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            assert!(found == expected, "case {case}: {} edges, not {}", found.len(), expected.len());
        }
    }
}
