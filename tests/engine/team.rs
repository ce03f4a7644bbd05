//! Several devices that share a run: numbers × strategies × assignments × algorithms, with the CPU as several devices.
//! GPUs are tested in tests/gpu.

use crate::common::*;
use crate::reference::*;
use crate::sharing::*;
use topostream::EngineOptions;
use topostream::device::DeviceChoice;
use topostream_formats::Encoding;
use topostream_tools::generate::Rmat;

/// Several devices, each of them the CPU.
fn cpus(devices: usize, draw: usize) -> EngineOptions {
    // Frames with room for weights.
    let buffer = [None, Some(18), Some(33)][draw % 3];
    let options = engine_options(buffer, 1 + draw % 3, FETCHERS[draw % 3]);
    options.with_devices(vec![DeviceChoice::Cpu; devices])
}

fn check(name: &str, graph: &EdgeList, shapes: &[Shape]) {
    shapes.iter().for_each(|&shape| Shared::new(name, graph, shape).check(&DEVICES, cpus));
}

const fn shape(directed: bool, float: bool, encoding: Encoding, shards: u32) -> Shape {
    Shape { directed, float, encoding, shards }
}

#[test]
fn rmat_graphs() {
    let graph = generated(&mut Rmat::new(13, 8, 5).generate().unwrap());
    check("rmat", &graph, &[shape(true, false, Encoding::VertexId, 1), shape(false, true, ENCODINGS[2], 1)]);
}

/// As many shards as devices, more, fewer, and a prime number of them.
#[test]
fn stores_with_shards() {
    let graph = generated(&mut Rmat::new(12, 16, 6).generate().unwrap());
    check("rmat", &graph, &[shape(true, true, Encoding::VertexId, 2), shape(false, false, ENCODINGS[1], 3)]);
    check("rmat", &graph, &[shape(true, false, ENCODINGS[2], 7)]);
}

/// More devices than pages, devices without vertices, an empty graph.
#[test]
fn tiny_graphs() {
    let graphs = [
        (0, vec![]),
        (1, vec![(0, 0)]),
        (2, vec![(0, 1)]),
        (3, vec![(0, 1), (1, 2), (2, 0)]),
        (70, vec![(0, 69), (69, 33)]),
    ];
    for (vertices, edges) in graphs {
        let graph = EdgeList::new(vertices, edges);
        check(
            "little",
            &graph,
            &[shape(true, false, Encoding::VertexId, 1), shape(false, true, Encoding::VertexId, 4)],
        );
    }
}

/// Lists of several pages, and numbers of vertices without small divisors.
#[test]
fn hubs_and_isolated_vertices() {
    let n = 30_001;
    let mut edges = random_edges(7..n - 101, 20_000, 2);
    edges.extend((0..n).map(|vertex| (1, vertex)));
    edges.extend((0..n).map(|vertex| (vertex, n / 2)));
    edges.extend((0..n - 5).map(|vertex| (n / 2, vertex)));
    check("hubs", &EdgeList::new(n, edges), &[shape(true, false, ENCODINGS[1], 1), shape(true, true, ENCODINGS[0], 3)]);
}
