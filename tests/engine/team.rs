//! Several devices that share a run: numbers × strategies × assignments × algorithms, with the CPU as several devices.
//! GPUs are tested in tests/gpu.

use crate::common::*;
use crate::reference::*;
use crate::sharing::*;
use topostream::EngineOptions;
use topostream::VertexId;
use topostream::algorithms::{Bfs, Traffic};
use topostream::device::DeviceChoice;
use topostream::device::settings::GpuSettings;
use topostream::model::algorithm::Algorithm;
use topostream::predict::{Assumed, DeviceProfile, Machines, UserOptions, choose};
use topostream::team::{Assignment, Strategy};
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

/// Without rates, `auto` shards what GPUs would have to merge, if all of them keep their pages.
#[test]
fn the_strategy_of_unmeasured_devices() {
    let graph = generated(&mut Rmat::new(12, 8, 4).generate().unwrap());
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId)).open();
    let chosen = |algorithm: &dyn Algorithm, profile: DeviceProfile| {
        let options = UserOptions {
            memory_bytes: 1 << 30,
            trace_bytes: 0,
            buffer_bytes: None,
            strategy: Strategy::Auto,
            assignment: Assignment::Auto,
            machines: Machines::ALONE,
            assumed: Assumed::default(),
        };
        choose(None, algorithm, &store, &options, &[profile.clone(), profile])
    };
    let gpu =
        |cache_bytes| DeviceProfile::gpu("gpu", Some(8 << 30), &GpuSettings { cache_bytes, ..GpuSettings::default() });
    let push = pagerank(5, Dangling::Spread, Traffic::Push);
    let all = store.topologies().map(|topology| u64::from(topology.page_count()) << 16).sum::<u64>();
    assert_eq!(chosen(&push, gpu(None)), Strategy::Shard);
    assert_eq!(chosen(&push, gpu(Some(all))), Strategy::Shard);
    assert_eq!(chosen(&push, gpu(Some(1 << 16))), Strategy::Replicate, "pages would cross both buses");
    assert_eq!(chosen(&push, DeviceProfile::cpu(4)), Strategy::Replicate);
    assert_eq!(chosen(&Bfs::from(VertexId(0)), gpu(None)), Strategy::Replicate, "messages");
    let pull = pagerank(5, Dangling::Spread, Traffic::Pull);
    assert_eq!(chosen(&pull, gpu(None)), Strategy::Replicate, "every list is on the device that owns its vertex");
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
