//! A store in shards becomes partial stores: one for each machine of a cluster.
//!
//! ```text
//!  shard 0 ─▶ decoded lists ─▶ pages of part 0       in-lists ─▶ lists of part 0's vertices
//!  shard 1 ─▶ decoded lists ─▶ pages of part 1       …
//!                 └─ hashes of all edges ─▶ all manifests, at the end
//! ```
//!
//! Lists are packed anew, since a part numbers its pages from 0 and in-lists begin at other vertices. The result is,
//! byte by byte, what `format` makes of the same edges for a part alone. It takes the memory of some pages, whatever
//! the size of the graph, and of the degrees if pages are packed.

pub(crate) mod lists;

use crate::progress::{Cancel, Progress, Unit};
use lists::{ShardLists, page_bytes};
use std::ops::Range;
use std::path::{Path, PathBuf};
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::manifest::{Ids, TopologyManifest};
use topostream_formats::packed::edges_max_of;
use topostream_formats::part::{EdgesHash, PartManifest, WholeFigures, ranges, tag_of};
use topostream_formats::write::{Layout, StoreWriter, TopologyWriter};
use topostream_formats::{
    Direction, Encoding, Error, Manifest, Result, Store, Topology, WeightType, chunks, memory, threads,
};

/// The folders of a part.
#[derive(Clone, Debug)]
pub struct PartFolders {
    /// The part's own.
    pub path: PathBuf,
    /// The stripes of its pages; by default only `.`, its own folder.
    pub stripes: Vec<PathBuf>,
}

impl PartFolders {
    /// A part in one folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), stripes: vec![".".into()] }
    }
}

/// How a store is split.
#[derive(Clone, Debug)]
pub struct SplitOptions {
    /// The folders of each part, by number.
    pub parts: Vec<PartFolders>,
    /// Whether parts have in-lists, if the graph is undirected. Parts of directed graphs have them if the store does.
    pub in_edges: bool,
    /// The memory budget, in bytes.
    pub memory_bytes: u64,
}

/// Main memory for any graph, in bytes.
const BASE_BYTES: u64 = 40 << 20;
/// Memory for each written page, in bytes: its entry, its checksums, with room to grow.
const PAGE_ENTRY_BYTES: u64 = 64;

/// Makes the parts of a store that is grouped in as many shards. They appear one after another when all are written.
///
/// # Errors
/// [`Error::Invalid`] if the store has another number of shards, is a part itself, or has record ids, or a folder is
/// not free; [`Error::Memory`]; any defect of the store, by page; [`Error::Io`]; [`Error::Interrupted`].
pub fn split(store: &Store, options: &SplitOptions, progress: &dyn Progress, cancel: &Cancel) -> Result<Vec<Manifest>> {
    threads::start_shared_pool()?;
    let splitter = Splitter::new(store, options, progress, cancel)?;
    let mut writers = options.parts.iter().zip(0..).map(|(folders, number)| {
        StoreWriter::create(&folders.path, splitter.layout(folders), tag_of(store.manifest().tag, number))
    });
    let writers = writers.by_ref().collect::<Result<Vec<_>>>()?;
    splitter.run(writers)
}

struct Splitter<'a> {
    store: &'a Store,
    options: &'a SplitOptions,
    progress: &'a dyn Progress,
    cancel: &'a Cancel,
    out: &'a Topology,
    /// The shards of the out-lists: a single one if there is one part.
    ends: Vec<u64>,
    /// Pages that are read side by side.
    at_once: usize,
}

/// A part before the whole graph's figures are known.
struct Made {
    out: TopologyManifest,
    in_lists: Option<TopologyManifest>,
    edges: u64,
    edges_hash: EdgesHash,
    /// The smallest `edges_max` of a packed encoding that holds all pages.
    edges_max: u32,
}

impl<'a> Splitter<'a> {
    fn new(
        store: &'a Store,
        options: &'a SplitOptions,
        progress: &'a dyn Progress,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let out = store.topology(Direction::Out).expect("every store has out-lists");
        let ends = out.shards().iter().map(|shard| shard.destinations.end).collect();
        let mut splitter = Self { store, options, progress, cancel, out, ends, at_once: 0 };
        splitter.check()?;
        for (number, folders) in options.parts.iter().enumerate() {
            StoreWriter::check(&folders.path, &splitter.layout(folders))?;
            if let Some(same) = options.parts[..number].iter().position(|before| is_same(before, folders)) {
                let path = folders.path.display();
                return Err(Error::Invalid(format!("{path}: given for part {same} and for part {number}")));
            }
        }
        splitter.at_once = splitter.pages_at_once()?;
        Ok(splitter)
    }

    /// Checks that the store can be split like this.
    fn check(&self) -> Result<()> {
        let (path, parts) = (self.store.path().display(), self.options.parts.len());
        let refuse = |what: String| Err(Error::Invalid(format!("{path}: {what}")));
        if let Some(part) = self.store.part() {
            return refuse(format!("is {} of a graph already", part.place()));
        }
        if self.ends.len() != parts {
            let (advice, shards) = (format!("`topostream reformat {path} NEW --shards {parts}`"), self.ends.len());
            return refuse(match shards {
                1 => {
                    format!("its lists are not grouped by shard; {advice} makes a store that can be split into {parts}")
                }
                _ => format!("it has {shards} shards, for as many parts, but {parts} are named; {advice} makes others"),
            });
        }
        if let Encoding::RecordId { .. } = self.store.manifest().encoding {
            return refuse(
                "neighbours are addresses of records, which parts do not have of each other; reformat it with \
                 `--encoding packed` or `vertex-id`"
                    .into(),
            );
        }
        if self.options.in_edges && self.store.topology(Direction::In).is_none() {
            return refuse("the store has no in-lists; `topostream reformat` makes one with `--in-edges`".into());
        }
        Ok(())
    }

    /// The layout of a part: the layout of the store, with images of packed pages as large as they may become.
    fn layout(&self, folders: &PartFolders) -> Layout {
        let manifest = self.store.manifest();
        let encoding = match manifest.encoding {
            // Pages of weights have the size that was foreseen.
            Encoding::Packed { edges_max, step, own } if manifest.weights.is_none_or(WeightType::is_packable) => {
                match Encoding::packed(manifest.page_bytes, PLAIN_PAGES) {
                    Ok(Encoding::Packed { edges_max: usual, .. }) => {
                        Encoding::Packed { edges_max: usual.max(edges_max), step, own }
                    }
                    _ => manifest.encoding,
                }
            }
            other => other,
        };
        let (page_bytes, weights) = (manifest.page_bytes, manifest.weights);
        Layout { page_bytes, encoding, weights, stripes: folders.stripes.clone(), overwrite: false }
    }

    /// Whether the parts have in-lists.
    fn has_in_lists(&self) -> bool {
        match self.store.manifest().directed {
            true => self.store.topology(Direction::In).is_some(),
            false => self.options.in_edges && self.ends.len() > 1,
        }
    }

    /// The number of pages that fit in the remaining memory, at most one for each thread. Merging lists reads
    /// from all shards at a time.
    fn pages_at_once(&self) -> Result<usize> {
        let manifest = self.store.manifest();
        let degrees = if manifest.encoding.is_packed() { 4 * manifest.vertices } else { 0 };
        let most = self.out.shards().iter().map(|shard| shard.pages.len() as u64).max().unwrap_or(0);
        let of_in_lists = manifest.in_lists.as_ref().map_or(most, |lists| lists.pages);
        let pages = 2 * most.max(of_in_lists) + 2;
        let edges = self.store.edges() / self.ends.len() as u64 * 2;
        let tables = PAGE_ENTRY_BYTES * pages
            + if manifest.encoding.is_packed() {
                2 * chunks::memory_bytes(pages, edges, manifest.page_bytes)
            } else {
                0
            };
        let writing = TopologyWriter::memory_bytes(&self.layout(&self.options.parts[0])) + tables;
        let merges = !manifest.directed && self.has_in_lists();
        let least = if merges { self.ends.len() as u64 } else { 1 };
        let (page, fixed) = (page_bytes(self.out), BASE_BYTES + degrees + writing);
        let (needed_bytes, budget_bytes) = (fixed + least * page, self.options.memory_bytes);
        if needed_bytes > budget_bytes {
            let parts = format!("program {BASE_BYTES}, degrees {degrees}, writing {writing}, {least} pages of {page}");
            return Err(Error::Memory { what: "splitting".into(), needed_bytes, budget_bytes, parts });
        }
        memory::probe("splitting", needed_bytes)?;
        let most = least.max(rayon::current_num_threads() as u64);
        Ok(((budget_bytes - fixed) / page).min(most) as usize)
    }

    fn run(&self, mut writers: Vec<StoreWriter>) -> Result<Vec<Manifest>> {
        let mut made = Vec::new();
        for (own, writer) in ranges(&self.ends).into_iter().zip(&mut writers) {
            made.push(self.write(made.len(), &own, writer)?);
        }
        let whole = WholeFigures {
            edges: made.iter().map(|part| part.edges).sum(),
            edges_hash: EdgesHash::sum(made.iter().map(|part| part.edges_hash)),
            degree_max: self.out.summary().degree_max,
        };
        let manifests: Vec<Manifest> =
            made.into_iter().zip(0..).map(|(part, number)| self.manifest(part, number, whole)).collect();
        self.cancel.check()?;
        writers.into_iter().zip(&manifests).try_for_each(|(writer, manifest)| writer.finish(manifest))?;
        Ok(manifests)
    }

    /// Writes all files of a part except its manifest.
    fn write(&self, number: usize, own: &Range<u64>, writer: &mut StoreWriter) -> Result<Made> {
        let (vertices, last) = (self.store.vertices(), self.ends.len() - 1);
        self.write_degrees(writer)?;
        copy_ids(self.store, writer)?;
        let shard = &self.out.shards()[number];
        self.progress.begin(
            &format!("write part {number} of 0 to {last}"),
            Some(shard.pages.len() as u64),
            Unit::Pages,
        );
        let mut lists = ShardLists::open(self.store, self.out, shard, 0, self.at_once, self.cancel)?;
        let mut topology = writer.part_lists(own)?;
        let (mut edges, mut edges_hash, mut passed) = (0, EdgesHash::default(), 0);
        let count = || {
            passed += 1;
            self.progress.position(passed);
        };
        lists.each(0..vertices, count, |vertex, (dests, weights)| {
            edges += dests.len() as u64;
            dests.iter().enumerate().for_each(|(at, &dest)| edges_hash.add(vertex, dest, weights.get(at)));
            topology.push_list(vertex, dests, weights)
        })?;
        drop(lists);
        let (summary, pages) = topology.finish(vertices)?;
        self.progress.end();
        let out = TopologyManifest { degrees_crc: self.out.summary().degrees_crc, ..summary };
        let mut edges_max = edges_max_of(&pages);
        drop(pages);
        let mut in_lists = None;
        if self.has_in_lists() {
            let (summary, of_in_lists) = self.write_in_lists(number, own, writer)?;
            edges_max = edges_max.max(of_in_lists);
            in_lists = Some(summary);
        }
        Ok(Made { out, in_lists, edges, edges_hash, edges_max })
    }

    /// Writes the in-lists of the part's own vertices. Also returns the smallest `edges_max` that holds their pages.
    fn write_in_lists(
        &self,
        number: usize,
        own: &Range<u64>,
        writer: &mut StoreWriter,
    ) -> Result<(TopologyManifest, u32)> {
        let stage = format!("write in-lists of part {number} of 0 to {}", self.ends.len() - 1);
        self.progress.begin(&stage, None, Unit::Pages);
        let mut topology = writer.topology(Direction::In)?;
        let open = |lists: &'a Topology, shard, at_once| {
            ShardLists::open(self.store, lists, shard, own.start, at_once, self.cancel)
        };
        match self.store.topology(Direction::In).filter(|_| self.store.manifest().directed) {
            Some(in_lists) => {
                let mut lists = open(in_lists, &in_lists.shards()[0], self.at_once)?;
                lists.each(
                    own.clone(),
                    || {},
                    |vertex, (sources, weights)| topology.push_list(vertex, sources, weights),
                )?;
            }
            // The in-list of a vertex is its out-list, whose parts are in all shards.
            None => {
                let at_once = self.at_once / self.ends.len();
                let shards = self.out.shards().iter().map(|shard| open(self.out, shard, at_once));
                let mut shards = shards.collect::<Result<Vec<_>>>()?;
                for vertex in own.clone() {
                    let vertex = vertex as u32;
                    for lists in &mut shards {
                        lists.list(vertex, |(sources, weights)| match sources.is_empty() {
                            true => Ok(()),
                            false => topology.push_list(vertex, sources, weights),
                        })?;
                    }
                }
            }
        }
        let (summary, pages) = topology.finish(self.store.vertices())?;
        self.progress.end();
        Ok((summary, edges_max_of(&pages)))
    }

    /// Writes the out-degrees of the whole graph.
    fn write_degrees(&self, writer: &mut StoreWriter) -> Result<()> {
        let (vertices, crc) = (self.store.vertices(), self.out.summary().degrees_crc);
        if !self.store.manifest().encoding.is_packed() {
            return writer.copy(&self.store.path().join("degrees.bin"), "degrees.bin", 4 * vertices, crc);
        }
        let degrees = self.store.out_degrees()?;
        let mut file = writer.whole_degrees()?;
        file.push_all(degrees.values())?;
        file.finish(vertices)?;
        // The next part needs them again.
        self.store.keep_out_degrees(degrees);
        Ok(())
    }

    fn manifest(&self, made: Made, number: u32, whole: WholeFigures) -> Manifest {
        let folders = &self.options.parts[number as usize];
        let encoding = match self.layout(folders).encoding {
            Encoding::Packed { step, own, .. } if self.store.manifest().weights.is_none_or(WeightType::is_packable) => {
                Encoding::Packed { edges_max: made.edges_max, step, own }
            }
            foreseen => foreseen,
        };
        Manifest {
            tag: tag_of(self.store.manifest().tag, number),
            created_by: concat!("topostream ", env!("CARGO_PKG_VERSION")).into(),
            edges: made.edges,
            encoding,
            stripes: folders.stripes.clone(),
            out: made.out,
            in_lists: made.in_lists,
            part: Some(PartManifest { number, ends: self.ends.clone(), edges_hash: made.edges_hash, whole }),
            ..self.store.manifest().clone()
        }
    }
}

/// Whether two parts would be in one folder.
fn is_same(one: &PartFolders, other: &PartFolders) -> bool {
    let whole =
        |path: &Path| std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.components().collect());
    whole(&one.path) == whole(&other.path)
}

/// Copies the original ids.
fn copy_ids(store: &Store, writer: &mut StoreWriter) -> Result<()> {
    let vertices = store.vertices();
    let mut copy = |name: &str, bytes, crc| writer.copy(&store.path().join(name), name, bytes, crc);
    match store.manifest().ids {
        Ids::Range { .. } => Ok(()),
        Ids::File { crc, .. } => copy("ids.bin", 8 * vertices, crc),
        Ids::Packed { crc, bytes, .. } => copy("ids.bin", bytes, crc),
        Ids::Names { bytes, crc, index_crc, keys_crc, .. } => {
            let (index_bytes, keys_bytes) = topostream_formats::names::table_bytes(vertices);
            copy("names.bin", bytes, crc)?;
            copy("names.index", index_bytes, index_crc)?;
            copy("names.keys", keys_bytes, keys_crc)
        }
    }
}
