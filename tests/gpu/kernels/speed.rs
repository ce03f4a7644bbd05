//! The speed of kernels over pages in device memory: `SCALE=22 cargo test --test kernels -- --ignored
//! --nocapture`.

use std::collections::HashMap;

use topostream::algorithms::{Bfs, PageRank, Sums, Traffic};
use topostream::device::gpu::compose::layout::{
    BatchHeader, BatchPage, Counters, Fill, HubHeader, Step, WORKGROUP, edges_per_unit, grid,
};
use topostream::device::gpu::compose::units::list_units;
use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, Resource, compose};
use topostream::model::algorithm::{Algorithm, Visit};
use topostream::model::attributes::AttributeType;
use topostream::{Direction, VertexId};
use topostream_formats::Encoding;

use super::gpu::{Buffers, Gpu};
use super::graph::Chance;

const PAGE_WORDS: usize = (1 << 20) / 4;

/// An R-MAT graph of 2^scale vertices with 16 edges each on average, in small pages only.
struct Pages {
    words: Vec<u32>,
    pages: Vec<BatchPage>,
    rows: Vec<u32>,
    degrees: Vec<u32>,
    edges: u64,
}

/// With `scrambled`, vertices are in random order; otherwise those with many edges come first.
fn rmat(scale: u32, scrambled: bool) -> Vec<(u32, u32)> {
    let mut chance = Chance(1);
    let mut names: Vec<u32> = (0..1 << scale).collect();
    for at in (1..names.len()).rev().filter(|_| scrambled) {
        names.swap(at, Chance(at as u64).below(at as u32 + 1) as usize);
    }
    let name = |vertex: u32| names[vertex as usize];
    let edge = |_| {
        let (mut source, mut dest) = (0, 0);
        let mut bits = 0;
        for level in 0..scale {
            if level % 4 == 0 {
                bits = chance.next();
            }
            let quadrant = bits & 0xffff;
            bits >>= 16;
            source = source << 1 | u32::from(quadrant >= 49_807);
            dest = dest << 1 | u32::from((37_356..49_807).contains(&quadrant) || quadrant >= 62_259);
        }
        (name(source), name(dest))
    };
    (0..16u64 << scale).map(edge).collect()
}

impl Pages {
    fn new(scale: u32, scrambled: bool) -> Self {
        let edges = rmat(scale, scrambled);
        let vertices = 1usize << scale;
        let mut begin = vec![0u32; vertices + 1];
        edges.iter().for_each(|edge| begin[edge.0 as usize + 1] += 1);
        let degrees = begin[1..].to_vec();
        (0..vertices).for_each(|at| begin[at + 1] += begin[at]);
        let mut dests = vec![0u32; edges.len()];
        let mut next = begin.clone();
        for (source, dest) in &edges {
            dests[next[*source as usize] as usize] = *dest;
            next[*source as usize] += 1;
        }
        for at in 0..vertices {
            dests[begin[at] as usize..begin[at + 1] as usize].sort_unstable();
        }
        let (words, pages, rows) = Default::default();
        let mut all = Self { words, pages, rows, degrees, edges: edges.len() as u64 };
        let mut first = 0;
        while first < vertices {
            let mut end = first;
            let fits = |end: usize| (begin[end] - begin[first]) as usize + end - first + 9 <= PAGE_WORDS;
            while end < vertices && fits(end + 1) {
                end += 1;
            }
            assert!(end > first, "a list of more than a page");
            all.push(first, &begin[first..=end], &dests);
            first = end;
        }
        all
    }

    fn push(&mut self, first: usize, begin: &[u32], dests: &[u32]) {
        let word = self.words.len();
        self.words.resize(word + PAGE_WORDS, 0);
        let own = &dests[begin[0] as usize..begin[begin.len() - 1] as usize];
        self.words[word + 8..][..own.len()].copy_from_slice(own);
        for (slot, at) in begin.iter().enumerate() {
            self.words[word + PAGE_WORDS - 1 - slot] = at - begin[0];
        }
        self.pages.push(BatchPage {
            word: word as u32,
            start_vertex: first as u32,
            slot_count: begin.len() as u32 - 1,
            edge_count: own.len() as u32,
            row: self.rows.len() as u32,
            ..BatchPage::default()
        });
        for edge in (0..own.len() as u32).step_by(edges_per_unit(false) as usize) {
            self.rows.push(begin.partition_point(|at| at - begin[0] <= edge) as u32 - 1);
        }
        self.rows.push(begin.len() as u32 - 1);
    }

    /// The batch table and the number of units; for segments if `lanes_log2` is none.
    fn batch(&self, lanes_log2: Option<u32>) -> (Vec<u32>, u32) {
        let mut header = BatchHeader { page_count: self.pages.len() as u32, ..BatchHeader::default() };
        let mut words = Vec::new();
        for page in &self.pages {
            let lanes = lanes_log2.unwrap_or(0);
            // 6: by the page's mean degree.
            let hybrid = (page.edge_count / page.slot_count).max(1).ilog2().min(5);
            let lanes_log2_of = if lanes == 6 { hybrid } else { lanes };
            let page = BatchPage { first_unit: header.unit_count, lanes_log2: lanes_log2_of, ..*page };
            header.unit_count += match lanes_log2 {
                Some(_) => list_units(&page),
                None => page.edge_count.div_ceil(edges_per_unit(false)),
            };
            words.extend_from_slice(bytemuck::cast_slice::<BatchPage, u32>(&[page]));
        }
        let mut all: Vec<u32> = bytemuck::cast_slice(&[header]).to_vec();
        all.extend(words);
        (all, header.unit_count)
    }
}

/// Buffers for an algorithm, with every vertex active and none visited.
fn buffers(gpu: &Gpu, pages: &Pages, declared: &Declared) -> Buffers {
    let vertices = pages.degrees.len();
    let mut buffers: Buffers = HashMap::new();
    for (place, attribute) in declared.attributes.iter().enumerate() {
        let words = match attribute.of {
            AttributeType::Bit => vertices / 32,
            AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => 2 * vertices,
            AttributeType::U32 | AttributeType::F32 => vertices,
        };
        let share = if attribute.name == "share" { 1e-9f32.to_bits() } else { attribute.initial.of(0) };
        buffers.insert(Resource::Attribute { place, chunk: 0 }, gpu.buffer(&vec![share; words]));
    }
    let step = Step {
        vertices_last: vertices as u32 - 1,
        own_last: vertices as u32 - 1,
        part_last: vertices as u32 - 1,
        scalars: [1e-9, 0.85, 0.0, 0.0],
        ..Step::default()
    };
    buffers.insert(Resource::Step, gpu.buffer(bytemuck::cast_slice(&[step])));
    buffers.insert(Resource::Frontier(0), gpu.buffer(&vec![u32::MAX; vertices / 32]));
    buffers.insert(Resource::NextFrontier(0), gpu.buffer(&vec![0; vertices / 32]));
    buffers.insert(Resource::OutDegrees(0), gpu.buffer(&pages.degrees));
    buffers.insert(Resource::Counters, gpu.buffer(&[0; size_of::<Counters>() / 4]));
    buffers.insert(Resource::Totals, gpu.buffer(&vec![0; 4 << 14]));
    buffers.insert(Resource::Pages, gpu.buffer(&pages.words));
    buffers.insert(Resource::Rows, gpu.buffer(&pages.rows));
    let mut queue: Vec<u32> = bytemuck::cast_slice(&[HubHeader { capacity: 1 << 16, ..HubHeader::default() }]).to_vec();
    queue.resize(4 + (5 << 16), 0);
    buffers.insert(Resource::HubQueue, gpu.buffer(&queue));
    buffers
}

fn options(gpu: &Gpu, pages: &Pages, direction: Direction, visit: Visit, wide: bool) -> ModuleOptions {
    ModuleOptions {
        encoding: Encoding::VertexId,
        page_bytes: PAGE_WORDS as u32 * 4,
        weights: false,
        direction,
        visit,
        grouped: false,
        attribute_chunk_vertices_log2: 32,
        vertices: pages.degrees.len() as u64,
        sharded: false,
        held_vertices: pages.degrees.len() as u64,
        bordering: None,
        float_atomics: gpu.float_atomics,
        wide_integers: gpu.wide_integers && wide,
        in_place: false,
        unpacks: false,
        loops_limited: false,
        levels: 0,
        clears: false,
        lists: false,
        tabled: false,
        subgroups: gpu.subgroups,
    }
}

fn measure(gpu: &Gpu, pages: &Pages, algorithm: &impl Algorithm, direction: Direction, wide: bool, label: &str) {
    let declared = Declared::of(algorithm, direction == Direction::In).unwrap();
    let mut buffers = buffers(gpu, pages, &declared);
    let visits = algorithm.declare(direction == Direction::In).visits;
    let visit = visits.iter().find(|visit| visit.0 == direction).map_or(Visit::All, |visit| visit.1);
    let options = options(gpu, pages, direction, visit, wide);
    for lanes in [None, Some(0), Some(2), Some(4), Some(5), Some(6)] {
        let (batch, units) = pages.batch(lanes);
        buffers.insert(Resource::Batch, gpu.buffer(&batch));
        let module = |kernel| compose(&declared, kernel, &options);
        let seconds = match lanes {
            None => gpu.time(&[(&module(KernelName::Segments), grid(units))], &buffers, Resource::HubQueue),
            Some(_) => {
                let (lists, hubs) = (module(KernelName::Lists), module(KernelName::Hubs));
                gpu.time(&[(&lists, grid(units)), (&hubs, [2048, 1])], &buffers, Resource::HubQueue)
            }
        };
        let speed = pages.edges as f64 / seconds / 1e9;
        let name = lanes.map_or("segments".into(), |lanes| format!("lists, 2^{lanes} lanes"));
        println!("{label}, {name}: {:.2} ms, {speed:.1} G edges/s", seconds * 1e3);
    }
    if !declared.traversal {
        let blocks = (pages.degrees.len() as u32).div_ceil(WORKGROUP).min(1 << 11);
        let module = compose(&declared, KernelName::VertexPhase, &options);
        let seconds = gpu.time(&[(&module, grid(blocks))], &buffers, Resource::HubQueue);
        println!(
            "{label}, vertex phase: {:.2} ms, {:.1} G/s",
            seconds * 1e3,
            pages.degrees.len() as f64 / seconds / 1e9
        );
    }
}

#[test]
#[ignore = "needs an idle hardware GPU"]
fn speed() {
    let Some(gpu) = Gpu::open() else { return };
    let scale = std::env::var("SCALE").map_or(20, |scale| scale.parse().expect("SCALE is a number"));
    let scrambled = std::env::var_os("SCRAMBLED").is_some();
    let pages = Pages::new(scale, scrambled);
    let (name, count) = (&gpu.name, pages.pages.len());
    println!("{name}: scale {scale}, scrambled {scrambled}, {count} pages, {} edges", pages.edges);
    let fill = Fill { value: 7, words: 4, ..Fill::default() };
    let nothing = HashMap::from([
        (Resource::Fill, gpu.buffer(bytemuck::cast_slice(&[fill]))),
        (Resource::Filled, gpu.buffer(&[0; 4])),
    ]);
    let bfs = Declared::of(&Bfs::from(VertexId(0)), false).unwrap();
    let module = compose(&bfs, KernelName::Fill, &options(&gpu, &pages, Direction::Out, Visit::All, true));
    let seconds = gpu.time(&[(&module, [1, 1])], &nothing, Resource::Filled);
    println!("nothing: {:.3} ms", seconds * 1e3);
    for (traffic, direction) in [(Traffic::Push, Direction::Out), (Traffic::Pull, Direction::In)] {
        for (sums, wide, label) in
            [(Sums::Exact, true, "exact"), (Sums::Exact, false, "exact in halves"), (Sums::Single, true, "single")]
        {
            let pagerank = PageRank { traffic, sums, ..PageRank::default() };
            measure(&gpu, &pages, &pagerank, direction, wide, &format!("{traffic:?}, {label}"));
        }
    }
    measure(&gpu, &pages, &Bfs::from(VertexId(0)), Direction::Out, true, "BFS, all active");
}
