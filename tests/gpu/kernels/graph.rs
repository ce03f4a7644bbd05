//! A formatted graph with lists of every kind, and its input for kernels.

use super::RECORD_ID;
use tempfile::TempDir;
use topostream::Direction;
use topostream::device::gpu::compose::layout::{BatchHeader, BatchPage, DirectoryPage};
use topostream::device::gpu::compose::units::{append_rows, list_units, segment_units};
use topostream_formats::directory::DirectoryEntry;
use topostream_formats::page::{HEADER_BYTES, Page};
use topostream_formats::random::SplitMix64;
use topostream_formats::store::PageReader;
use topostream_formats::write::Layout;
use topostream_formats::{Edge, Encoding, IdSpace, MemorySource, PageId, SourceInfo, Store, Topology, WeightType};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::{Cancel, Quiet};

pub const VERTICES: u32 = 12_000;
pub const PAGE_BYTES: u32 = 64 << 10;

/// A pseudorandom generator.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        let mut random = SplitMix64(self.0);
        let drawn = random.draw();
        self.0 = random.0;
        drawn
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }
}

/// A directed graph: (source, dest, weight), unordered.
///
/// Vertex 5 has a list of several pages, 700 and 701 have long lists in a small page. 2000 to 4999 have no edges, nor
/// have two of three vertices after 9000; the others have a few or some dozens. The last vertex has one.
pub fn edges() -> Vec<(u32, u32, u32)> {
    let mut chance = Chance(7);
    let mut edges = Vec::new();
    for vertex in 0..VERTICES {
        let degree = match vertex {
            5 => 40_000,
            700 | 701 => 2049 + 4000 * (vertex - 700),
            2000..5000 => 0,
            9000.. if vertex % 3 != 2 => 0,
            _ if vertex % 50 == 0 => chance.below(200),
            VERTICES.. => unreachable!(),
            _ => 1 + chance.below(9),
        };
        for _ in 0..degree {
            edges.push((vertex, chance.below(VERTICES), chance.next() as u32));
        }
    }
    edges.push((VERTICES - 1, 0, 1));
    edges
}

/// Puts the page and the slot of each neighbour's record in the first shard in the place of the neighbour.
fn name_records(page: &mut [u8], topology: &Topology) {
    let edges = Page::open(page, Encoding::VertexId).unwrap().header().edge_count as usize;
    let starts = &topology.directory().starts()[..topology.shards()[0].pages.end as usize];
    for id in page[HEADER_BYTES..][..4 * edges].as_chunks_mut::<4>().0 {
        let vertex = u32::from_le_bytes(*id);
        let start = starts[starts.partition_point(|&start| start <= vertex) - 1];
        let first = starts.partition_point(|&before| before < start) as u32;
        *id = (first | (vertex - start) << 16).to_le_bytes();
    }
}

pub struct Graph {
    _folder: TempDir,
    store: Store,
    pub encoding: Encoding,
    pub weights: bool,
}

impl Graph {
    pub fn new(encoding: Encoding, weights: bool) -> Self {
        Self::grouped(1, encoding, weights)
    }

    /// Its out-lists grouped into this many shards.
    pub fn grouped(shards: u32, encoding: Encoding, weights: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph");
        // Pages of record ids are made of those of vertex ids, which have the same size.
        let written = if encoding == RECORD_ID { Encoding::VertexId } else { encoding };
        let layout = Layout { page_bytes: PAGE_BYTES, encoding: written, ..Layout::default() };
        let (in_edges, memory_bytes) = (true, 256 << 20);
        let options = FormatOptions { layout, in_edges, shards, memory_bytes, ..FormatOptions::plain() };
        let edge = |(source, dest, weight): (u32, u32, u32)| Edge {
            source: source.into(),
            dest: dest.into(),
            weight: weight.into(),
        };
        let info = SourceInfo {
            name: "memory".into(),
            ids: IdSpace::Range { first: 0, count: VERTICES.into() },
            mirror: false,
            directed: true,
            weights: weights.then_some(WeightType::U32),
            edges: None,
            bytes: None,
        };
        let all: Vec<_> = edges().into_iter().map(edge).collect();
        let mut open = || Ok(Box::new(MemorySource::new(info.clone(), all.clone())) as Box<_>);
        format(&mut open, &path, &options, &Quiet, &Cancel::default()).unwrap();
        Self { store: Store::open(&path).unwrap(), _folder: folder, encoding, weights }
    }

    pub fn topology(&self, direction: Direction) -> &Topology {
        self.store.topology(direction).unwrap()
    }

    pub fn is_grouped(&self, direction: Direction) -> bool {
        self.topology(direction).is_grouped()
    }

    pub fn out_degrees(&self) -> Vec<u32> {
        self.store.out_degrees().unwrap().values().to_vec()
    }

    pub fn starts(&self, direction: Direction) -> Vec<u32> {
        self.topology(direction).directory().starts().to_vec()
    }

    pub fn directory(&self, direction: Direction) -> Vec<DirectoryPage> {
        let page =
            |entry: &DirectoryEntry| DirectoryPage { start_vertex: entry.start_vertex, slot_count: entry.slot_count };
        self.topology(direction).directory().entries().iter().map(page).collect()
    }

    /// All pages as one batch for a kernel; `lanes` returns the number of lanes of each page.
    pub fn batch(&self, direction: Direction, segments: bool, mut lanes: impl FnMut() -> u32) -> Batch {
        let topology = self.topology(direction);
        let reader = PageReader::open(topology).unwrap();
        let page_bytes = topology.page_bytes() as usize;
        let weight_bytes = if self.weights { topology.weight_page_bytes() as usize } else { 0 };
        let mut batch = Batch { header: BatchHeader::default(), pages: vec![], words: vec![], rows: vec![] };
        for number in 0..topology.page_count() {
            let mut words = vec![0u32; (page_bytes + weight_bytes) / 4];
            let (page, weights) = bytemuck::cast_slice_mut::<u32, u8>(&mut words).split_at_mut(page_bytes);
            reader.read(PageId(number), page, weights).unwrap();
            if self.encoding == RECORD_ID {
                name_records(page, topology);
            }
            let page = Page::open(page, self.encoding).unwrap();
            let header = page.header();
            let degree = topology.directory().run_degree(PageId(number));
            let mut entry = BatchPage {
                word: batch.words.len() as u32,
                first_unit: batch.header.unit_count,
                start_vertex: header.start_vertex,
                slot_count: header.slot_count,
                edge_count: header.edge_count,
                degree: if header.large == 1 { degree as u32 } else { 0 },
                row: batch.rows.len() as u32,
                lanes_log2: lanes(),
            };
            if segments {
                entry.lanes_log2 = 0;
                batch.header.unit_count += segment_units(entry.edge_count, self.weights);
                append_rows(&page, self.weights, &mut batch.rows);
            } else {
                batch.header.unit_count += list_units(&entry);
            }
            batch.pages.push(entry);
            batch.words.extend(words);
        }
        batch.header.page_count = batch.pages.len() as u32;
        batch
    }
}

pub struct Batch {
    pub header: BatchHeader,
    pub pages: Vec<BatchPage>,
    pub words: Vec<u32>,
    pub rows: Vec<u32>,
}

impl Batch {
    /// The words of the batch table.
    pub fn described(&self) -> Vec<u32> {
        let mut words = bytemuck::cast_slice(&[self.header]).to_vec();
        words.extend_from_slice(bytemuck::cast_slice(&self.pages));
        words
    }
}
