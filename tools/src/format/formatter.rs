//! Makes a store from sorted edges: numbers the vertices, writes out-lists and in-lists.

use super::ingest::{Ingested, ingest};
use super::memory::Budget;
use super::naming::Naming;
use super::options::{FormatOptions, FormatReport, Repeated};
use super::pairs::{self, Repetition};
use super::reorder::Order;
use super::seeded::Seeded;
use super::source::OpenSource;
use super::state::{Formatter, Made, NamesFrom};
use super::{batches, order, part, repeated};
use crate::names::{copy_names, note_numbers};
use crate::progress::{Cancel, Progress, Unit};
use crate::sorting::partition::{self, Buckets};
use crate::sorting::pieces::Pieces;
use crate::sorting::record::{Record, Wide, unsortable};
use crate::sorting::sorter::{Collected, Sorter};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use topostream_formats::manifest::{Ids, TopologyManifest};
use topostream_formats::packed::PackedParameters;
use topostream_formats::write::StoreWriter;
use topostream_formats::{Direction, EdgeSource, Encoding, Manifest, Result, VertexOrder, WeightType};
use topostream_readers::VertexList;

/// Lists that pages refer to take at most one part in this many of the memory. Otherwise pages copy them.
const BATCHES_PART: u64 = 4;

impl<'a, R: Record> Formatter<'a, R> {
    pub(super) fn run(
        mut source: Box<dyn EdgeSource>,
        open: &mut OpenSource<'_>,
        (list, names): (Option<VertexList>, Option<NamesFrom<'a>>),
        path: &Path,
        options: &'a FormatOptions,
        progress: &'a dyn Progress,
        cancel: &'a Cancel,
    ) -> Result<FormatReport> {
        let info = source.info().clone();
        let budget = Budget::new(&mut *source, options)?;
        let tag = part::tag(&info, options);
        let writer = StoreWriter::create(path, options.layout.clone(), tag)?;
        let folder = options.temporary.clone().unwrap_or_else(|| writer.temporary().to_owned());
        let (edges, naming) = (Collected::Memory(Vec::new()), Naming::vertices_below(0));
        let (duplicates_removed, repeated, edges_max) = (0, 0, 0);
        let mirrored = !info.directed || info.mirror || options.symmetrize;
        let mut formatter = Self {
            options,
            writer,
            folder,
            progress,
            cancel,
            budget,
            edges,
            naming,
            list,
            names,
            order_of_names: None,
            duplicates_removed,
            combined: 0,
            repeated,
            mirrored,
            edges_max,
        };
        formatter.check_adjacency(&info)?;
        let made = match Seeded::of(&*source, options) {
            Some(seeded) => formatter.make_seeded(&seeded)?,
            None => None,
        };
        let made = match made {
            Some(made) => made,
            None => formatter.make_sorted(source, open)?,
        };
        let made = formatter.with_names(made)?;
        let (duplicates_removed, combined) = (formatter.duplicates_removed, formatter.combined);
        let repeated = formatter.repeated.max(duplicates_removed + combined);
        let manifest = Manifest {
            tag,
            created_by: concat!("topostream ", env!("CARGO_PKG_VERSION")).into(),
            origin: info.name,
            vertices: made.vertices,
            edges: made.edges,
            input_edges: made.input_edges,
            directed: info.directed && !options.symmetrize,
            weights: options.layout.weights,
            encoding: formatter.encoding(),
            page_bytes: options.layout.page_bytes,
            order: made.order,
            ids: made.ids,
            stripes: options.layout.stripes.clone(),
            out: made.out,
            in_lists: made.in_lists,
            part: made.part,
        };
        cancel.check()?;
        formatter.writer.finish(&manifest)?;
        let Made { self_loops_removed, seen, rounding, .. } = made;
        Ok(FormatReport { manifest, self_loops_removed, duplicates_removed, combined, repeated, seen, rounding })
    }

    /// Writes the names of the vertices, if they have names: at last, when no edges are in memory.
    fn with_names(&mut self, made: Made) -> Result<Made> {
        let Some(names) = self.names else { return Ok(made) };
        self.edges = Collected::Memory(Vec::new());
        self.progress.begin("write names", None, Unit::Edges);
        let (order, memory_bytes) = (self.order_of_names.take(), self.budget.left(0));
        let ids = match names {
            NamesFrom::Dictionary(names) => names.write(&mut self.writer, order.as_ref(), memory_bytes, self.cancel)?,
            NamesFrom::Store(names) => {
                let order = order.expect("numbers have been noted");
                copy_names(names, &order, &mut self.writer, (&self.folder, memory_bytes), self.cancel)?
            }
        };
        self.progress.end();
        Ok(Made { ids, ..made })
    }

    /// Collects all edges, sorts them, and writes their lists.
    fn make_sorted(&mut self, source: Box<dyn EdgeSource>, open: &mut OpenSource<'_>) -> Result<Made> {
        let place = source.place();
        let ingested = match self.options.repeated {
            Some(Repeated::First) => {
                let ingested = self.ingest::<Wide>(source, open)?;
                self.keep_first(ingested, &place)?
            }
            Some(Repeated::Sum | Repeated::Max) => {
                let ingested = self.ingest::<R>(source, open)?;
                self.combine(ingested, &place)?
            }
            Some(Repeated::Min) | None => self.ingest::<R>(source, open)?,
        };
        let Ingested { edges, naming, input_edges, self_loops_removed, mut seen, rounding, once, .. } = ingested;
        let vertices = naming.vertices();
        (self.edges, self.naming) = (edges, naming);
        let mut known = self.known();
        known.records *= 1 + u64::from(once);
        self.budget.check(&known)?;
        let (mut pairs, found) = if once { self.unite_edges()? } else { (None, Repetition::default()) };
        seen.both_ways += found.both_ways;
        let (order, ids) = self.number_vertices(pairs.as_deref_mut())?;
        let mut part = None;
        let (out, edges) = match self.options.part {
            _ if let Some(pairs) = pairs => self.write_pairs(pairs)?,
            Some(number) => {
                let made = self.write_part(number)?;
                part = Some(made.part);
                (made.out, made.edges)
            }
            None if self.options.shards > 1 => self.write_shards()?,
            None => self.write_lists(Direction::Out)?,
        };
        let own = self.destinations(part.as_ref());
        self.count_repeated(found.repeated);
        let in_lists = if self.options.in_edges { Some(self.write_in_lists(edges, &own)?) } else { None };
        Ok(Made { order, ids, out, in_lists, part, vertices, edges, input_edges, self_loops_removed, seen, rounding })
    }

    /// Reads the source into a sorter.
    fn ingest<K: Record>(&self, source: Box<dyn EdgeSource>, open: &mut OpenSource<'_>) -> Result<Ingested<K>> {
        let sorter = self.unnumbered_sorter(self.budget.sort_bytes());
        let once = pairs::is_possible::<K>(&*source, self.options)
            .then(|| self.sorter(self.budget.once_bytes()).with_records(source.info().edges.unwrap_or(u64::MAX)));
        // If there are more of them, they are sorted in both directions from the beginning.
        let edges = source.info().edges.unwrap_or(0);
        let once = once.filter(|once| edges <= once.room() as u64);
        ingest::<K>(source, open, self.options, (sorter, once), self.progress, self.cancel)
    }

    /// A sorter of this much memory.
    pub(super) fn sorter<K: Record>(&self, memory_bytes: u64) -> Sorter<K> {
        Sorter::new(&self.folder, memory_bytes, self.cancel.clone())
    }

    /// A sorter of edges that are not renumbered yet.
    pub(super) fn unnumbered_sorter<K: Record>(&self, memory_bytes: u64) -> Sorter<K> {
        let sorter = self.sorter(memory_bytes);
        let sorter = if order::is_before_sorting(self.options) { sorter.unsorted() } else { sorter };
        // Edges are combined, and renumbered, where they are.
        let in_pieces = self.options.order == VertexOrder::Natural && !repeated::is_needed(self.options);
        if in_pieces { sorter.in_pieces() } else { sorter }
    }

    /// Renumbers the vertices if an order was requested, and writes the file of ids if one is needed. Edges are pairs,
    /// if there are any.
    fn number_vertices(&mut self, pairs: Option<&mut [R]>) -> Result<(VertexOrder, Ids)> {
        if self.options.order == VertexOrder::Natural {
            return Ok((VertexOrder::Natural, self.natural_ids()?));
        }
        let order = match pairs {
            Some(pairs) => self.reorder_pairs(pairs)?,
            None => self.reorder()?,
        };
        if let Some(encoding) = order.encoding {
            self.writer.set_encoding(encoding);
        }
        let ids = if order.kind == VertexOrder::Natural { self.natural_ids()? } else { self.ids_in(&order)? };
        // From here on the edges carry vertex numbers.
        self.naming = Naming::vertices_below(self.naming.vertices());
        Ok((order.kind, ids))
    }

    fn natural_ids(&mut self) -> Result<Ids> {
        match self.names {
            Some(NamesFrom::Dictionary(_)) => return Ok(Ids::Range { first: 0 }),
            Some(NamesFrom::Store(_)) => {
                self.order_of_names = Some(note_numbers(&self.folder, self.naming.originals())?);
                return Ok(Ids::Range { first: 0 });
            }
            None => {}
        }
        match self.naming.first() {
            Some(first) => Ok(Ids::Range { first }),
            None => Ok(self.writer.write_ids(|| self.naming.originals())?),
        }
    }

    fn ids_in(&mut self, order: &Order) -> Result<Ids> {
        let originals: Vec<u64> = match self.naming.first() {
            None if !order.by_id => self.naming.originals().collect(),
            _ => Vec::new(),
        };
        let original = |&vertex: &u32| match self.naming.first() {
            _ if order.by_id => u64::from(vertex),
            Some(first) => first + u64::from(vertex),
            None => originals[vertex as usize],
        };
        if self.names.is_some() {
            self.order_of_names = Some(note_numbers(&self.folder, order.vertices.iter().map(original))?);
            return Ok(Ids::Range { first: 0 });
        }
        self.writer.write_ids(|| order.vertices.iter().map(original))
    }

    /// Writes the sorted edges as the lists of a direction. Also returns their number.
    pub(super) fn write_lists(&mut self, direction: Direction) -> Result<(TopologyManifest, u64)> {
        let known = self.known();
        let left = self.budget.left(known.map_bytes + self.budget.writing_bytes(&known));
        let batches_bytes = batches::memory_bytes(self.writer.layout()).filter(|&bytes| bytes <= left / BATCHES_PART);
        self.shrink_edges(left - batches_bytes.unwrap_or(0))?;
        let stage = if direction == Direction::Out { "write out-lists" } else { "write in-lists" };
        let mut lists = self.writer.topology(direction)?;
        let weights = self.options.layout.weights.unwrap_or(WeightType::U32);
        let edges = match PackedParameters::of(self.writer.layout().encoding).filter(|_| batches_bytes.is_some()) {
            Some(parameters) => self.write_batches(stage, parameters, &mut lists)?,
            None => {
                self.each_edge(stage, |source, dest, weight| lists.push(source, dest, unsortable(weight, weights)))?
            }
        };
        Ok((self.end_lists(lists, self.naming.vertices())?, edges))
    }

    /// The encoding of the pages. Plain images are as small as they can be; but pages of weights that are not packed
    /// have been written with the size of the images that were foreseen.
    fn encoding(&self) -> Encoding {
        match self.writer.layout().encoding {
            Encoding::Packed { step, own, .. } if self.options.layout.weights.is_none_or(WeightType::is_packable) => {
                Encoding::Packed { edges_max: self.edges_max, step, own }
            }
            foreseen => foreseen,
        }
    }

    /// Reverses the edges to these destinations, sorts them again and writes them.
    fn write_in_lists(&mut self, edges: u64, dests: &Range<u64>) -> Result<TopologyManifest> {
        if *dests != (0..self.naming.vertices()) || !self.reverse_in_memory()? {
            let sort_bytes = self.sort_beside(0)?;
            let mut sorter = Sorter::new(&self.folder, sort_bytes, self.cancel.clone()).in_pieces();
            self.each_edge("sort in-edges", |source, dest, weight| match dests.contains(&dest.into()) {
                true => sorter.push(R::new(dest, source, weight)),
                false => Ok(()),
            })?;
            self.edges = sorter.finish()?;
            self.naming = Naming::vertices_below(self.naming.vertices());
        }
        let (summary, written) = self.write_lists(Direction::In)?;
        assert_eq!(written, edges, "as many edges go in as go out");
        Ok(summary)
    }

    /// Reverses and sorts edges that are in memory where they are. Their ids stay as they are: vertices have the order
    /// of their ids.
    fn reverse_in_memory(&mut self) -> Result<bool> {
        let left = self.budget.left(self.naming.memory_bytes());
        let Some(beside_bytes) = left.checked_sub(self.edges.memory_bytes()) else { return Ok(false) };
        let records = match std::mem::replace(&mut self.edges, Collected::Memory(Vec::new())) {
            Collected::Memory(records) => records,
            Collected::Pieces(pieces) => pieces.into_records(),
            runs @ Collected::Runs(_) => {
                self.edges = runs;
                return Ok(false);
            }
        };
        let reversed = |record: R| {
            let (source, dest, weight) = record.parts();
            R::new(dest, source, weight)
        };
        let buckets = Buckets::of_records(&records, reversed);
        let sorted = self.sort_in_place("sort in-edges", records, &buckets, beside_bytes, reversed)?;
        self.edges = Collected::Pieces(sorted);
        Ok(true)
    }

    /// Renumbers the records by `rename` and sorts them, with `beside_bytes` of further memory.
    pub(super) fn sort_in_place(
        &self,
        stage: &str,
        records: Vec<R>,
        buckets: &Buckets,
        beside_bytes: u64,
        rename: impl Fn(R) -> R + Sync,
    ) -> Result<Pieces<R>> {
        self.sort_and_reduce_in_place(stage, records, (buckets, beside_bytes), rename, |_| ())
    }

    /// As [`sort_in_place`](Self::sort_in_place); and `reduce` leaves out records that have been sorted.
    pub(super) fn sort_and_reduce_in_place(
        &self,
        stage: &str,
        records: Vec<R>,
        (buckets, beside_bytes): (&Buckets, u64),
        rename: impl Fn(R) -> R + Sync,
        reduce: impl Fn(&mut Vec<R>) + Sync,
    ) -> Result<Pieces<R>> {
        // Each record is renumbered first, then sorted.
        self.progress.begin(stage, Some(2 * records.len() as u64), Unit::Edges);
        let passed = AtomicU64::new(0);
        let sorted = partition::sort_and_reduce(records, buckets, beside_bytes, rename, reduce, |records| {
            let before = passed.fetch_add(records as u64, Ordering::Relaxed);
            self.progress.position(before + records as u64);
            self.cancel.check()
        })?;
        self.progress.end();
        Ok(sorted)
    }
}
