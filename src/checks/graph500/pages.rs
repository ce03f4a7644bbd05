//! The rules that need the graph's edges. Lists are read in file order, a few pages at a time.

use super::{Broken, Checked, Lengths, Parents, Rule, Search, out_lists};
use crate::error::Result;
use crate::model::bits::Bits;
use crate::pages::buffers::PageBuffers;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topostream_formats::PageId;
use topostream_formats::page::{Neighbours, Page, PageWeights};
use topostream_formats::store::PageReader;
use topostream_formats::with_neighbours;

/// Pages per thread in one batch. Errors are checked after each batch, so a defect ends the check early.
const PAGES_A_THREAD: u32 = 8;

/// An edge of a reached vertex.
#[derive(Clone, Copy)]
struct ReachedEdge {
    source: u32,
    dest: u32,
    /// The values of the source and of the destination.
    from: f64,
    to: f64,
    /// The sum of the source's value and the edge's length.
    sum: f64,
}

impl Search<'_> {
    /// Checks every edge, and that tree edges exist with the right weight.
    pub(super) fn check_with_tree(&self, parent: &Parents<'_>, checked: &mut Checked) -> Result<()> {
        let exact = Bits::new(self.store.vertices());
        // A parent is looked up once for each vertex, not for each edge.
        self.scan(checked, &|edge| {
            let may_be = !exact.contains(edge.dest) && self.is_exact(&edge);
            if may_be && Self::above(parent, edge.dest) == Some(edge.source) {
                exact.insert(edge.dest);
            }
        })?;
        let wrong = self.first_reached(|vertex| !exact.contains(vertex))?;
        let Some((vertex, above)) = wrong.and_then(|vertex| Some((vertex, Self::above(parent, vertex)?))) else {
            return Ok(());
        };
        let joined = AtomicBool::new(false);
        self.scan(&mut Checked::default(), &|edge| {
            if (edge.source, edge.dest) == (above, vertex) {
                joined.store(true, Relaxed);
            }
        })?;
        let (rule, reason) = match joined.into_inner() {
            false => (Rule::InGraph, "has no edge from that parent".into()),
            true => {
                let (value, up) = (self.value.get(vertex), self.value.get(above));
                (Rule::TreeEdge, format!("is at distance {value}, but no edge from its parent at {up} has that weight"))
            }
        };
        Err(self.wrong(Broken { rule, vertex, other: Some(above), reason, page: self.page_of(above) }))
    }

    /// Returns the page on which a vertex's list begins; `None` if lists are grouped for shards.
    fn page_of(&self, vertex: u32) -> Option<PageId> {
        let topology = out_lists(self.store);
        let starts = topology.directory().starts();
        let last = starts.partition_point(|&start| start <= vertex).checked_sub(1)?;
        let first = starts.partition_point(|&start| start < starts[last]);
        (!topology.is_grouped()).then_some(PageId(first as u32))
    }

    /// Checks every edge, and that every reached vertex has an edge from a vertex whose value is smaller by the edge's
    /// length. For edges of length 0, that vertex must have been proved correct itself.
    pub(super) fn check_without_tree(&self, checked: &mut Checked) -> Result<()> {
        let right = Bits::new(self.store.vertices());
        right.insert(self.source);
        loop {
            let found = AtomicBool::new(false);
            self.scan(checked, &|edge| {
                let proves = edge.from < edge.to || (edge.from == edge.to && right.contains(edge.source));
                if proves && self.is_exact(&edge) && right.insert(edge.dest) {
                    found.store(true, Relaxed);
                }
            })?;
            let Some(vertex) = self.first_reached(|vertex| !right.contains(vertex))? else {
                return Ok(());
            };
            if !found.into_inner() {
                let (value, noun) = (self.value.get(vertex), self.lengths.noun());
                let reason =
                    format!("is at {noun} {value}, but no vertex with an edge to it is nearer by the edge's length");
                return Err(self.wrong(Broken { rule: Rule::TreeEdge, vertex, other: None, reason, page: None }));
            }
        }
    }

    /// Returns whether the destination's value is the sum along the edge.
    fn is_exact(&self, edge: &ReachedEdge) -> bool {
        self.is_representable(edge.sum) && (edge.to - edge.sum).abs() <= self.lengths.tolerance() * edge.sum
    }

    /// Reads all out-lists, checks rules 3 and 4 on every edge of a reached vertex, and passes each of these edges to
    /// `take`.
    fn scan(&self, checked: &mut Checked, take: &(impl Fn(ReachedEdge) + Sync)) -> Result<()> {
        let topology = out_lists(self.store);
        let reader = PageReader::open(topology)?;
        let buffers = || PageBuffers::new(topology, self.lengths.has_weights());
        let pages_at_once = PAGES_A_THREAD * rayon::current_num_threads() as u32;
        for first in (0..topology.page_count()).step_by(pages_at_once as usize) {
            let pages = first..topology.page_count().min(first.saturating_add(pages_at_once));
            let one_page = |buffers: &mut PageBuffers, page| self.check_page(&reader, PageId(page), buffers, take);
            // Of several errors, the one of the first page is reported, independent of thread timing.
            let results: Vec<Result<u64>> = pages.clone().into_par_iter().map_init(buffers, one_page).collect();
            for result in results {
                checked.edges += result?;
            }
            checked.pages += u64::from(pages.end - pages.start);
        }
        checked.bytes = checked.pages * u64::from(topology.page_bytes());
        checked.bytes += if self.lengths.has_weights() { topology.weights_file_bytes() } else { 0 };
        Ok(())
    }

    /// Reads a page, checks the page itself and then its edges. Returns its number of edges.
    fn check_page(
        &self,
        reader: &PageReader<'_>,
        number: PageId,
        buffers: &mut PageBuffers,
        take: &impl Fn(ReachedEdge),
    ) -> Result<u64> {
        self.check_cancel()?;
        let topology = out_lists(self.store);
        buffers.fill(reader, self.store, topology, number)?;
        let (page, weights) = buffers.open(self.store, topology, number)?;
        let starts = topology.directory().starts();
        let encoding = self.store.manifest().encoding;
        let checked = with_neighbours!(&page, encoding, starts, |neighbours| {
            self.check_lists(&page, neighbours, weights, take)
        });
        match checked {
            Ok(()) => Ok(page.header().edge_count.into()),
            Err(broken) => Err(self.wrong(Broken { page: Some(number), ..broken })),
        }
    }

    /// Checks the lists of a page. Lists of unreached vertices are skipped: an undirected edge is in the list of its
    /// other end too.
    fn check_lists(
        &self,
        page: &Page<'_>,
        neighbours: impl Neighbours,
        weights: PageWeights<'_>,
        take: &impl Fn(ReachedEdge),
    ) -> Result<(), Broken> {
        for slot in 0..page.header().slot_count {
            let (source, record) = (page.header().start_vertex + slot, page.record(slot));
            let from = self.value.get(source);
            if from < f64::INFINITY {
                self.check_list(source, from, record, neighbours, weights, take)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn check_list(
        &self,
        source: u32,
        from: f64,
        record: Range<usize>,
        neighbours: impl Neighbours,
        weights: PageWeights<'_>,
        take: &impl Fn(ReachedEdge),
    ) -> Result<(), Broken> {
        for at in record {
            let dest = neighbours.vertex(at);
            let weight = weights.get(at);
            let Some(length) = self.lengths.of(weight) else {
                let weight = match self.lengths {
                    Lengths::Double => f64::from_bits(weight),
                    _ => f32::from_bits(weight as u32).into(),
                };
                let reason = format!("has weight {weight}: weights must be at least 0");
                return Err(Broken { rule: Rule::EveryEdge, vertex: source, other: Some(dest), reason, page: None });
            };
            let edge = ReachedEdge { source, dest, from, to: self.value.get(dest), sum: from + length };
            let longest = edge.sum * (1.0 + self.lengths.tolerance());
            // Beyond the cutoff nothing is reached.
            let may_be_far = longest > self.cutoff && edge.to.is_infinite();
            if edge.to > longest && !may_be_far && self.is_representable(edge.sum) {
                return Err(self.too_far(&edge, length));
            }
            take(edge);
        }
        Ok(())
    }

    /// Returns whether a distance can be represented: it must be finite.
    fn is_representable(&self, sum: f64) -> bool {
        match self.lengths {
            Lengths::Float { single: true } => (sum as f32).is_finite(),
            _ => sum.is_finite(),
        }
    }

    #[cold]
    fn too_far(&self, edge: &ReachedEdge, length: f64) -> Broken {
        let &ReachedEdge { source, dest, from, to, .. } = edge;
        let (noun, has_weights) = (self.lengths.noun(), self.lengths.has_weights());
        let weight = if has_weights { format!(" with weight {length}") } else { String::new() };
        let (rule, reason) = match to.is_finite() {
            true => (Rule::EveryEdge, format!("leads from {noun} {from} to {noun} {to}{weight}")),
            false => (Rule::Spans, format!("leads from {noun} {from} to an unreached vertex{weight}")),
        };
        Broken { rule, vertex: source, other: Some(dest), reason, page: None }
    }
}
