//! The kernels on a GPU or on Mesa's software Vulkan, compared with plain computations. Skipped without an adapter.

mod algorithms;
mod doubles;
mod gpu;
mod graph;
mod inflate;
mod merges;
mod messages;
mod parts;
mod speed;

use std::collections::HashMap;
use std::sync::LazyLock;

use self::gpu::{Buffers, Gpu};
use self::graph::{Batch, Chance, Graph, PAGE_BYTES, VERTICES, edges};
use crate::common::{skipped, thorough};
use topostream::Direction;
use topostream::device::gpu::compose::layout::{CensusTotal, Counters, Fill, HubHeader, Step, grid};
use topostream::device::gpu::compose::{Declared, KernelName, ModuleOptions, Resource, compose};
use topostream::model::algorithm::{Shader, Visit};
use topostream::model::attributes::{Attribute, AttributeType, Initial, Merge, Role};
use topostream_formats::Encoding;

/// The layout of earlier stores: neighbours as page and slot, in a word.
const RECORD_ID: Encoding = Encoding::RecordId { page_bytes: 2, slot_bytes: 2 };

/// The distribution of edges.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WorkSplit {
    /// `lists` with 2^lanes_log2 lanes, 6 for a random number for each page; then `hubs` with a queue of this many
    /// entries.
    Lists {
        lanes_log2: u32,
        queue: u32,
    },
    Segments,
}

const WORK_SPLITS: [WorkSplit; 9] = [
    WorkSplit::Lists { lanes_log2: 0, queue: 100 },
    WorkSplit::Lists { lanes_log2: 1, queue: 100 },
    WorkSplit::Lists { lanes_log2: 2, queue: 0 },
    WorkSplit::Lists { lanes_log2: 3, queue: 3 },
    WorkSplit::Lists { lanes_log2: 4, queue: 5 },
    WorkSplit::Lists { lanes_log2: 5, queue: 100 },
    WorkSplit::Lists { lanes_log2: 6, queue: 100 },
    WorkSplit::Lists { lanes_log2: 6, queue: 1 },
    WorkSplit::Segments,
];

/// An algorithm over a graph on a GPU, with its buffers.
struct Rig<'a> {
    gpu: &'a Gpu,
    graph: &'a Graph,
    algorithm: Declared,
    options: ModuleOptions,
    buffers: Buffers,
}

impl<'a> Rig<'a> {
    /// Buffers of 2^`chunk_log2` vertices; with `portable`, only features of every device.
    fn new(gpu: &'a Gpu, graph: &'a Graph, algorithm: Declared, chunk_log2: u32, portable: bool) -> Self {
        let options = ModuleOptions {
            encoding: graph.encoding,
            page_bytes: PAGE_BYTES,
            weights: graph.weights,
            direction: Direction::Out,
            visit: Visit::All,
            grouped: false,
            attribute_chunk_vertices_log2: chunk_log2,
            vertices: VERTICES.into(),
            sharded: false,
            held_vertices: VERTICES.into(),
            bordering: None,
            float_atomics: gpu.float_atomics && !portable,
            wide_integers: gpu.wide_integers && !portable,
            in_place: portable,
            unpacks: false,
            loops_limited: portable,
            levels: 0,
            clears: false,
            lists: false,
            tabled: false,
            subgroups: gpu.subgroups && !portable,
        };
        let mut rig = Self { gpu, graph, algorithm, options, buffers: HashMap::new() };
        rig.put_column(Resource::OutDegrees, 1, &graph.out_degrees());
        for (place, attribute) in rig.algorithm.attributes.clone().iter().enumerate() {
            let words = vec![attribute.initial.of(0); column_words(attribute.of)];
            rig.put_attribute(place, &words);
        }
        for frontier in [Resource::Frontier, Resource::NextFrontier] {
            rig.put_column(frontier, 0, &vec![0; VERTICES.div_ceil(32) as usize]);
        }
        rig.put(Resource::Counters, &[0; size_of::<Counters>() / 4]);
        rig.put(Resource::Totals, &[0; 4 * 64]);
        rig.step(Step::default());
        rig
    }

    fn put(&mut self, resource: Resource, words: &[u32]) {
        self.buffers.insert(resource, self.gpu.buffer(words));
    }

    /// Puts a column with this many words per vertex; 0 for bits.
    fn put_column(&mut self, resource: impl Fn(u32) -> Resource, words_each: usize, words: &[u32]) {
        let chunk = 1usize << self.options.attribute_chunk_vertices_log2;
        let chunk_words = if words_each == 0 { chunk / 32 } else { chunk * words_each };
        for (number, words) in words.chunks(chunk_words).enumerate() {
            self.put(resource(number as u32), words);
        }
    }

    fn put_attribute(&mut self, place: usize, words: &[u32]) {
        let words_each = words_each(self.algorithm.attributes[place].of);
        self.put_column(|chunk| Resource::Attribute { place, chunk }, words_each, words);
    }

    fn column(&self, resource: impl Fn(u32) -> Resource, words: usize) -> Vec<u32> {
        let chunks = (0..self.options.chunks()).flat_map(|chunk| self.gpu.read(&self.buffers[&resource(chunk)]));
        chunks.take(words).collect()
    }

    fn attribute(&self, place: usize) -> Vec<u32> {
        let words = column_words(self.algorithm.attributes[place].of);
        self.column(|chunk| Resource::Attribute { place, chunk }, words)
    }

    fn step(&mut self, step: Step) {
        let last = VERTICES - 1;
        let step = Step { vertices_last: last, own_last: last, part_last: last, ..step };
        self.put(Resource::Step, bytemuck::cast_slice(&[step]));
    }

    fn run(&self, kernel: KernelName, grid: [u32; 2]) {
        self.gpu.run(&compose(&self.algorithm, kernel, &self.options), &self.buffers, grid);
    }

    /// Runs the edge function over all pages; returns the number of edges counted.
    fn run_edges(&mut self, direction: Direction, visit: Visit, sharing: WorkSplit) -> u64 {
        (self.options.direction, self.options.visit) = (direction, visit);
        self.options.grouped = self.graph.is_grouped(direction);
        self.put(Resource::Starts, &self.graph.starts(direction));
        self.put(Resource::Counters, &[0; size_of::<Counters>() / 4]);
        let mut chance = Chance(3);
        let batch: Batch = match sharing {
            WorkSplit::Segments => self.graph.batch(direction, true, || 0),
            WorkSplit::Lists { lanes_log2: 6, .. } => self.graph.batch(direction, false, || chance.below(6)),
            WorkSplit::Lists { lanes_log2, .. } => self.graph.batch(direction, false, || lanes_log2),
        };
        self.put(Resource::Pages, &batch.words);
        self.put(Resource::Batch, &batch.described());
        // Rows shorter than the units: the grid has a second row, and workgroups without a unit.
        let units = batch.header.unit_count;
        let two_rows = [units.div_ceil(2).max(1), 2];
        match sharing {
            WorkSplit::Segments => {
                self.put(Resource::Rows, &batch.rows);
                self.run(KernelName::Segments, two_rows);
            }
            WorkSplit::Lists { queue, .. } => {
                let header = HubHeader { capacity: queue, ..HubHeader::default() };
                let mut words: Vec<u32> = bytemuck::cast_slice(&[header]).to_vec();
                words.resize(4 + 5 * queue.max(1) as usize, 0xdead_beef);
                self.put(Resource::HubQueue, &words);
                self.run(KernelName::Lists, two_rows);
                self.run(KernelName::Hubs, [2, 2]);
            }
        }
        let counters: Counters = bytemuck::cast_slice(&self.gpu.read(&self.buffers[&Resource::Counters]))[0];
        if let (WorkSplit::Lists { .. }, Visit::All) = (sharing, visit) {
            let wanted = match direction {
                Direction::Out if self.options.grouped => 1,
                Direction::Out => 2 + 3,
                Direction::In => 0,
            };
            assert!(counters.hub_wanted >= wanted, "{counters:?}");
        }
        counters.edges()
    }
}

fn words_each(of: AttributeType) -> usize {
    match of {
        AttributeType::Bit => 0,
        AttributeType::U32 | AttributeType::F32 => 1,
        AttributeType::F64 | AttributeType::Fixed63 | AttributeType::U64 => 2,
    }
}

fn column_words(of: AttributeType) -> usize {
    match words_each(of) {
        0 => VERTICES.div_ceil(32) as usize,
        words => words * VERTICES as usize,
    }
}

/// One GPU for all of these tests, which share its pipelines.
fn gpu() -> Option<&'static Gpu> {
    static GPU: LazyLock<Option<Gpu>> = LazyLock::new(Gpu::open);
    match &*GPU {
        Some(gpu) => println!("on {}", gpu.name),
        None => {
            skipped("no adapter, or TOPOSTREAM_GPU_TESTS=off");
            assert!(
                std::env::var("TOPOSTREAM_GPU_TESTS").is_ok_and(|asked| asked == "off")
                    || std::env::var_os("TOPOSTREAM_GPU_TESTS").is_none(),
                "an adapter is required"
            );
        }
    }
    GPU.as_ref()
}

/// Sums, for every vertex, all arguments of each edge.
const TALLY: &str = "
struct Record { edges: u32 }
fn list_open(list: List) -> Record { return Record(0u); }
fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    (*record).edges += 1u;
    told_add(neighbour, (list.vertex * 31u + weight * 7u) ^ (list_degree(list) * 13u));
    return true;
}
fn list_close(record: Record, list: List) {
    edges_add(list.vertex, record.edges);
    if list.whole { wholes_add(list.vertex, 1u); }
    if list.whole && record.edges != list_degree(list) { wholes_add(list.vertex, 1000u); }
}
";

fn tally() -> Declared {
    let attribute = |name, of| Attribute {
        name,
        of,
        role: Role::Writable,
        merge: Merge::Add,
        initial: Initial::Bits(0),
        lane: None,
    };
    let attributes = vec![
        attribute("told", AttributeType::U32),
        attribute("edges", AttributeType::U32),
        attribute("wholes", AttributeType::U32),
        attribute("done", AttributeType::Bit),
    ];
    let shader = Shader::new("tally.wgsl", TALLY);
    Declared::new("tally", shader, attributes, true)
}

/// A random set with one of `every` vertices.
fn some_vertices(every: u32, seed: u64) -> Vec<u32> {
    let mut chance = Chance(seed);
    let mut words = vec![0u32; VERTICES.div_ceil(32) as usize];
    for vertex in 0..VERTICES {
        if chance.below(every) == 0 || vertex == 5 || vertex == 701 {
            words[vertex as usize / 32] |= 1 << (vertex % 32);
        }
    }
    words
}

fn has(words: &[u32], vertex: u32) -> bool {
    words[vertex as usize / 32] >> (vertex % 32) & 1 != 0
}

/// Each edge of each visited list is processed once, with the right vertex, degree, neighbour and weight.
fn edges_are_told(gpu: &Gpu, graph: &Graph, direction: Direction, visit: Visit, chunk_log2: u32, portable: bool) {
    let set = some_vertices(40, 9);
    let visited = |vertex| match visit {
        Visit::All => true,
        Visit::None => false,
        Visit::Frontier | Visit::Within(_) => has(&set, vertex),
        Visit::Without(_) => !has(&set, vertex),
    };
    let of = |(source, dest, weight): (u32, u32, u32)| match direction {
        Direction::Out => (source, dest, weight),
        Direction::In => (dest, source, weight),
    };
    let edges: Vec<_> = edges().into_iter().map(of).collect();
    let mut degrees = vec![0u32; VERTICES as usize];
    edges.iter().for_each(|&(vertex, ..)| degrees[vertex as usize] += 1);
    let (mut told, mut count) = (vec![0u32; VERTICES as usize], 0);
    let mut seen = vec![0u32; VERTICES as usize];
    for &(vertex, neighbour, weight) in edges.iter().filter(|(vertex, ..)| visited(*vertex)) {
        let weight = if graph.weights { weight } else { 0 };
        let degree = degrees[vertex as usize].wrapping_mul(13);
        let tale = vertex.wrapping_mul(31).wrapping_add(weight.wrapping_mul(7)) ^ degree;
        told[neighbour as usize] = told[neighbour as usize].wrapping_add(tale);
        seen[vertex as usize] += 1;
        count += 1;
    }
    for sharing in WORK_SPLITS {
        let case = format!("{sharing:?}, {direction:?}, {visit:?}, {:?}", graph.encoding);
        let mut rig = Rig::new(gpu, graph, tally(), chunk_log2, portable);
        rig.put_column(Resource::Frontier, 0, &set);
        rig.put_attribute(3, &set);
        // If all lists are visited, the host knows the number of edges.
        let counted = if visit == Visit::All { 0 } else { count };
        assert_eq!(rig.run_edges(direction, visit, sharing), counted, "edges counted: {case}");
        assert!(rig.attribute(1) == seen, "edges of lists: {case}");
        assert!(rig.attribute(0) == told, "edges told: {case}");
        let wholes = rig.attribute(2);
        assert!(wholes.iter().all(|&wholes| wholes <= 1), "whole lists: {case}");
        if graph.is_grouped(direction) {
            assert!(wholes.iter().all(|&wholes| wholes == 0), "parts of lists: {case}");
        } else if matches!(sharing, WorkSplit::Lists { lanes_log2: 0, .. }) {
            let expected = |vertex: usize| (1..=2048).contains(&degrees[vertex]) && visited(vertex as u32);
            assert!((0..VERTICES as usize).all(|at| wholes[at] == u32::from(expected(at))), "whole lists: {case}");
        }
    }
}

#[test]
fn every_edge_is_processed_once() {
    let Some(gpu) = gpu() else { return };
    for encoding in [Encoding::VertexId, RECORD_ID] {
        // By default, one of the two.
        for weights in [false, true].into_iter().filter(|&one| thorough() || one == (encoding == RECORD_ID)) {
            let graph = Graph::new(encoding, weights);
            edges_are_told(gpu, &graph, Direction::Out, Visit::All, 32, false);
            edges_are_told(gpu, &graph, Direction::In, Visit::Frontier, 12, true);
        }
    }
}

/// Parts of lists in three shards are passed as parts, with the degree of the whole list.
#[test]
fn parts_of_lists_are_processed_once() {
    let Some(gpu) = gpu() else { return };
    for (encoding, weights) in [(Encoding::VertexId, true), (RECORD_ID, false)] {
        let graph = Graph::grouped(3, encoding, weights);
        edges_are_told(gpu, &graph, Direction::Out, Visit::All, 32, false);
        edges_are_told(gpu, &graph, Direction::Out, Visit::Frontier, 12, true);
        edges_are_told(gpu, &graph, Direction::In, Visit::All, 13, false);
    }
}

#[test]
fn only_lists_that_are_visited_are_read() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    edges_are_told(gpu, &graph, Direction::Out, Visit::Frontier, 14, false);
    edges_are_told(gpu, &graph, Direction::Out, Visit::Without(3), 13, true);
    edges_are_told(gpu, &graph, Direction::In, Visit::Without(3), 5 + 7, false);
    edges_are_told(gpu, &graph, Direction::In, Visit::Within(3), 13, true);
    edges_are_told(gpu, &graph, Direction::Out, Visit::Within(3), 14, false);
}

#[test]
fn the_frontier_is_counted() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    let degrees = graph.out_degrees();
    for (every, chunk_log2, grid) in [(1, 12, [3, 2]), (90, 20, [1, 1]), (90, 13, [64, 1])] {
        let mut rig = Rig::new(gpu, &graph, tally(), chunk_log2, false);
        let set = some_vertices(every, 4);
        rig.put_column(Resource::NextFrontier, 0, &set);
        rig.run(KernelName::Census, grid);
        let words = gpu.read(&rig.buffers[&Resource::Totals]);
        let wide = |halves: [u32; 2]| u64::from(halves[1]) << 32 | u64::from(halves[0]);
        let totals = bytemuck::cast_slice::<u32, CensusTotal>(&words).iter();
        let found = totals.fold((0, 0), |sum, total| (sum.0 + wide(total.vertices), sum.1 + wide(total.edges)));
        let members = (0..VERTICES).filter(|&vertex| has(&set, vertex));
        let expected = members.fold((0, 0), |sum, vertex| (sum.0 + 1, sum.1 + u64::from(degrees[vertex as usize])));
        assert_eq!(found, expected);
    }
}

#[test]
fn pages_with_a_vertex_to_visit_are_next() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    for direction in [Direction::Out, Direction::In] {
        let directory = graph.directory(direction);
        for (visit, every) in [
            (Visit::Frontier, 3000),
            (Visit::Within(3), 3000),
            (Visit::Within(3), 1),
            (Visit::Frontier, 1),
            (Visit::Without(3), 1),
            (Visit::Without(3), 2),
        ] {
            let mut rig = Rig::new(gpu, &graph, tally(), 12, false);
            let mut set = some_vertices(every, 4);
            set[VERTICES as usize / 64] &= 0xffff_fff0;
            rig.put_column(Resource::NextFrontier, 0, &set);
            rig.put_attribute(3, &set);
            rig.put(Resource::Directory, bytemuck::cast_slice(&directory));
            rig.put(Resource::NextPages, &vec![0; directory.len().div_ceil(32)]);
            rig.step(Step { page_count: directory.len() as u32, own_last: VERTICES - 1, ..Step::default() });
            (rig.options.direction, rig.options.visit) = (direction, visit);
            rig.run(KernelName::NextPages, [1, 1]);
            let next = gpu.read(&rig.buffers[&Resource::NextPages]);
            for (number, page) in directory.iter().enumerate() {
                let mut vertices = page.start_vertex..page.start_vertex + page.slot_count;
                let expected = vertices.any(|vertex| has(&set, vertex) != matches!(visit, Visit::Without(_)));
                assert_eq!(has(&next, number as u32), expected, "page {number} of {direction:?}, {visit:?}");
            }
        }
    }
}

#[test]
fn buffers_are_filled() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    let mut rig = Rig::new(gpu, &graph, tally(), 12, false);
    rig.put(Resource::Filled, &[7; 3000]);
    rig.put(Resource::Fill, bytemuck::cast_slice(&[Fill { value: u32::MAX, words: 2999, ..Fill::default() }]));
    rig.run(KernelName::Fill, grid(3));
    let words = gpu.read(&rig.buffers[&Resource::Filled]);
    assert!(words[..2999].iter().all(|&word| word == u32::MAX) && words[2999] == 7);
    let fill = Fill { value: 8192, words: 2000, increment: 1, ..Fill::default() };
    rig.put(Resource::Fill, bytemuck::cast_slice(&[fill]));
    rig.run(KernelName::Fill, grid(3));
    let words = gpu.read(&rig.buffers[&Resource::Filled]);
    assert!(words[..2000].iter().copied().eq(8192..10_192) && words[2000] == u32::MAX);
}
