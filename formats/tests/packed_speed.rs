//! Rates of encoding and decoding packed pages, on one core: an ignored test, for
//! `cargo test --release -p topostream-formats --test packed_speed -- --ignored --nocapture`.

use std::time::Instant;
use topostream_formats::Encoding;
use topostream_formats::buffer::AlignedBuffer;
use topostream_formats::packed::{PackedPage, PackedParameters, PackedParts, PageEncoder, UNIT, UnitDecoder};
use topostream_formats::page::{Page, PageHeader};

const PAGE_BYTES: u32 = 1 << 20;

/// Lists, as (vertex, neighbour) in order.
struct Graph {
    name: &'static str,
    vertices: u32,
    edges: Vec<(u32, u32)>,
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// R-MAT (0.57, 0.19, 0.19, 0.05), 16 edges a vertex.
fn rmat(scale: u32) -> Vec<(u32, u32)> {
    let mut state = 1;
    let edge = |_| {
        let (mut source, mut dest) = (0u32, 0u32);
        for _ in 0..scale {
            let draw = random(&mut state) % 100;
            let (down, right) = match draw {
                0..57 => (0, 0),
                57..76 => (0, 1),
                76..95 => (1, 0),
                _ => (1, 1),
            };
            (source, dest) = (source << 1 | down, dest << 1 | right);
        }
        (source, dest)
    };
    (0..16u32 << scale).map(edge).collect()
}

fn renumber(edges: &mut [(u32, u32)], vertices: u32, key: impl Fn(u32, &[u32]) -> u64) {
    let mut degrees = vec![0u32; vertices as usize];
    edges.iter().for_each(|&(u, v)| {
        degrees[u as usize] += 1;
        degrees[v as usize] += 1;
    });
    let mut order: Vec<u32> = (0..vertices).collect();
    order.sort_by_key(|&vertex| key(vertex, &degrees));
    let mut number = vec![0; vertices as usize];
    order.iter().zip(0..).for_each(|(&vertex, at)| number[vertex as usize] = at);
    edges.iter_mut().for_each(|edge| *edge = (number[edge.0 as usize], number[edge.1 as usize]));
    edges.sort_unstable();
}

fn graphs() -> Vec<Graph> {
    let scale: u32 = std::env::var("SCALE").ok().map_or(20, |scale| scale.parse().unwrap());
    let vertices = 1 << scale;
    let scrambled = |vertex: u32, _: &[u32]| random(&mut u64::from(vertex));
    let mut all = Vec::new();
    let mut edges = rmat(scale);
    renumber(&mut edges, vertices, scrambled);
    all.push(Graph { name: "R-MAT, scrambled ids", vertices, edges: edges.clone() });
    renumber(&mut edges, vertices, |vertex, degrees| u64::from(u32::MAX - degrees[vertex as usize]));
    all.push(Graph { name: "R-MAT, degree order", vertices, edges });
    let mut state = 7;
    let mut edges: Vec<(u32, u32)> = (0..16 << scale)
        .map(|_| ((random(&mut state) >> 32) as u32 % vertices, (random(&mut state) >> 32) as u32 % vertices))
        .collect();
    edges.sort_unstable();
    all.push(Graph { name: "uniform", vertices, edges });
    let side = 1 << (scale / 2);
    let grid = (0..side * side).flat_map(|v: u32| {
        let (x, y) = (v % side, v / side);
        let all = [
            (y > 0, v.wrapping_sub(side)),
            (x > 0, v.wrapping_sub(1)),
            (x + 1 < side, v + 1),
            (y + 1 < side, v + side),
        ];
        all.into_iter().filter(|&(there, _)| there).map(move |(_, to)| (v, to))
    });
    all.push(Graph { name: "grid", vertices: side * side, edges: grid.collect() });
    all
}

fn encode(graph: &Graph, encoding: Encoding) -> (Vec<AlignedBuffer>, f64) {
    let started = Instant::now();
    let mut encoder = PageEncoder::new(PAGE_BYTES, PackedParameters::of(encoding).unwrap());
    let mut pages = Vec::new();
    encoder.clear(0);
    let (mut start_vertex, mut slots, mut at) = (0, 0, 0);
    let mut emit = |encoder: &mut PageEncoder, start_vertex: u32, slot_count: u32| {
        let mut page = AlignedBuffer::new(PAGE_BYTES as usize);
        let edge_count = encoder.edge_count();
        encoder.write(&PageHeader { start_vertex, slot_count, edge_count, ..PageHeader::default() }, &mut page);
        encoder.clear(0);
        pages.push(page);
    };
    for vertex in 0..graph.vertices {
        if !encoder.open_list(vertex, None) {
            emit(&mut encoder, start_vertex, slots);
            (start_vertex, slots) = (vertex, 0);
            assert!(encoder.open_list(vertex, None));
        }
        slots += 1;
        while at < graph.edges.len() && graph.edges[at].0 == vertex {
            if !encoder.push(graph.edges[at].1) {
                let begin = graph.edges[..at].partition_point(|edge| edge.0 < vertex);
                let moved = encoder.take_from(encoder.edge_count() - (at - begin) as u32);
                emit(&mut encoder, start_vertex, slots - 1);
                (start_vertex, slots) = (vertex, 1);
                assert!(encoder.open_list(vertex, None));
                moved.iter().for_each(|&to| assert!(encoder.push(to)));
                continue;
            }
            at += 1;
        }
    }
    emit(&mut encoder, start_vertex, slots);
    (pages, started.elapsed().as_secs_f64())
}

fn open<'a>(page: &'a [u8], encoding: Encoding, graph: &Graph, portable: bool) -> PackedPage<'a> {
    let page = PackedPage::open(page, encoding, &(0..graph.vertices.into())).unwrap();
    if portable { page.portable() } else { page }
}

/// Seconds for all pages: the sum of each page's fastest run, so that other processes are not measured.
fn fastest(pages: &[AlignedBuffer], mut work: impl FnMut(&[u8])) -> f64 {
    let mut timed = |page: &AlignedBuffer| {
        let started = Instant::now();
        work(page);
        started.elapsed().as_secs_f64()
    };
    pages.iter().map(|page| (0..25).map(|_| timed(page)).fold(f64::MAX, f64::min)).sum()
}

#[test]
#[ignore = "measures"]
fn rates_of_packed_pages() {
    for graph in graphs() {
        let edges = graph.edges.len() as f64;
        for (step, own) in [(false, false), (false, true)] {
            if own && graph.name != "grid" {
                continue;
            }
            let Encoding::Packed { edges_max, .. } = Encoding::packed(PAGE_BYTES, 4).unwrap() else { unreachable!() };
            let encoding = Encoding::Packed { edges_max, step, own };
            let (pages, encode_s) = encode(&graph, encoding);
            let mut parts = PackedParts::default();
            pages.iter().for_each(|page| parts += open(page, encoding, &graph, false).parts());
            println!(
                "{} own {own}: {} pages, {:.3} bytes an edge: gaps {:.3} exceptions {:.3} ({:.2} a block) \
                 degrees {:.3} headers {:.3} unused {:.3}; encode {:.0} M edges/s",
                graph.name,
                pages.len(),
                pages.len() as f64 * f64::from(PAGE_BYTES) / edges,
                parts.gap_bytes as f64 / edges,
                parts.exception_bytes as f64 / edges,
                parts.exceptions as f64 / edges * 128.0,
                parts.degree_bytes as f64 / edges,
                parts.header_bytes as f64 / edges,
                parts.unused_bytes as f64 / edges,
                edges / encode_s / 1e6
            );
            let mut image = AlignedBuffer::new(encoding.plain_bytes(PAGE_BYTES) as usize);
            let mut at = 0;
            for page in &pages {
                open(page, encoding, &graph, false).check().unwrap();
                open(page, encoding, &graph, false).inflate(&mut image).unwrap();
                let plain = Page::open(&image, encoding.plain()).unwrap();
                open(page, encoding, &graph, false).check_details(&plain).unwrap();
                let neighbours: &[u32] = bytemuck::cast_slice(plain.neighbour_bytes());
                let expected = graph.edges[at..at + neighbours.len()].iter().map(|edge| edge.1);
                assert!(expected.eq(neighbours.iter().copied()));
                at += neighbours.len();
            }
            for portable in [true, false] {
                let mut out = [0; UNIT];
                let units = fastest(&pages, |page| {
                    let page = open(page, encoding, &graph, portable);
                    let mut decoder = UnitDecoder::new(&page);
                    for unit in 0..page.unit_count() {
                        std::hint::black_box(decoder.decode(unit, &mut out).unwrap());
                    }
                });
                let single = fastest(&pages, |page| {
                    let page = open(page, encoding, &graph, portable);
                    for unit in (0..page.unit_count()).rev() {
                        std::hint::black_box(page.decode_unit(unit, &mut out).unwrap());
                    }
                });
                let inflate = fastest(&pages, |page| {
                    let page = open(page, encoding, &graph, portable);
                    page.inflate(&mut image[..page.image_bytes()]).unwrap();
                });
                let check = fastest(&pages, |page| open(page, encoding, &graph, portable).check().unwrap());
                println!(
                    "  {}: units {:.2}, single units {:.2}, inflate {:.2}, check {:.1} G edges/s",
                    if portable { "portable" } else { "vectors" },
                    edges / units / 1e9,
                    edges / single / 1e9,
                    edges / inflate / 1e9,
                    edges / check / 1e9
                );
            }
        }
    }
}
