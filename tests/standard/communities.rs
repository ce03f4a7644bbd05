//! Label propagation.

use crate::adapter;
use crate::common::{FETCHERS, TestStore, engine_options, small_pages, thorough};
use crate::everywhere::{everywhere_by, found};
use crate::reference::communities::communities;
use crate::reference::{EdgeList, random_edges};
use topostream::Engine;
use topostream::algorithms::LabelPropagation;
use topostream::device::DeviceChoice;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, VertexOrder};
use topostream_tools::format::FormatOptions;

/// Groups with few edges between them, a hub whose list spans several pages, loops, repeated edges and edges in both
/// directions, vertices without edges.
fn graph() -> EdgeList {
    let mut edges = Vec::new();
    for group in 0..40u32 {
        edges.extend(random_edges(group * 60..(group + 1) * 60, 500, group.into()));
    }
    edges.extend(random_edges(0..2400, 900, 77));
    edges.extend((0..2400).map(|vertex| (7, vertex)));
    edges.extend((0..20_000).map(|number| (7, number % 40)));
    edges.extend((100..200).flat_map(|vertex| [(vertex, vertex), (vertex, vertex + 1), (vertex + 1, vertex)]));
    EdgeList::new(2450, edges)
}

/// One range of vertices and several, one iteration and several.
fn check(store: &TestStore, graph: &EdgeList, directed: bool) {
    for (iterations, ranges) in [(1, false), (6, false), (5, true)] {
        let expected = communities(graph, iterations, directed);
        let run = |engine: &Engine| {
            let table_bytes = ranges.then(|| table_bytes(&engine.options().devices, directed));
            LabelPropagation::run(engine, iterations, table_bytes, &mut |_| {})
        };
        everywhere_by(store, run, |found, way| {
            let supersteps = found.report.steps.len() as u32;
            assert!(found.column("community") == expected, "{way}, {iterations} iterations, in ranges: {ranges}");
            assert!(if ranges { supersteps > iterations } else { supersteps <= iterations }, "{way}: {supersteps}");
        });
    }
}

/// Enough memory for the hub, not for all vertices: CPUs alone keep counts for long lists only, and one buffer for the
/// others.
fn table_bytes(devices: &[DeviceChoice], directed: bool) -> u64 {
    let sparing = !directed && devices.iter().all(|device| *device == DeviceChoice::Cpu);
    8 * if sparing { 24_000 } else { 30_000 }
}

#[test]
fn directed() {
    let graph = graph();
    check(&TestStore::new(&graph, &small_pages(Encoding::VertexId)), &graph, true);
}

#[test]
fn undirected() {
    let graph = graph();
    let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
    check(&TestStore::new(&graph, &options), &graph.symmetrized(), false);
}

/// The smallest label is the smallest original id, independent of internal ids.
#[test]
fn vertices_in_another_order() {
    let graph = graph();
    let options = FormatOptions { order: VertexOrder::Degree, ..small_pages(Encoding::VertexId) };
    check(&TestStore::new(&graph, &options), &graph, true);
}

/// Disjoint stars and bipartite graphs with lists of every length at which GPUs count otherwise, and one longer; the
/// labels of a list are all different at first, a few later, and many in lists that share their ends.
fn lengths(lengths: &[u32]) -> EdgeList {
    let (mut edges, mut next) = (Vec::new(), 0u32);
    for &length in lengths {
        let leaves = next + 2..next + 2 + length;
        // Two vertices with the same neighbours, so that leaves have ties; every fourth is in a triangle.
        edges.extend(leaves.clone().flat_map(|leaf| [(next, leaf), (next + 1, leaf)]));
        let triangles = leaves.clone().step_by(4).filter(|leaf| leaf + 1 < leaves.end);
        edges.extend(triangles.map(|leaf| (leaf, leaf + 1)));
        next = leaves.end;
    }
    // Lists whose neighbours keep many labels: pairs of vertices beside each other.
    let (pairs, hub) = (next + 1..next + 1 + 12_000, next);
    edges.extend(pairs.clone().step_by(2).flat_map(|vertex| [(vertex, vertex + 1), (vertex, vertex + 1)]));
    edges.extend(pairs.clone().map(|vertex| (hub, vertex)));
    // Repeated edges decide in the first iteration, and ties between those that are repeated.
    let repeated = [pairs.end - 1, pairs.end - 3, pairs.end - 3, pairs.end - 1];
    edges.extend(repeated.map(|vertex| (hub, vertex)));
    EdgeList::new(pairs.end + 5, edges)
}

/// GPUs alone count lists by a thread, by 32, by a workgroup whose table has room for their labels or not, and in the
/// table in device memory: lists on several pages, and those of 65,536 neighbours or more.
#[test]
fn lists_of_every_length() {
    if adapter::off() {
        return;
    }
    let some = [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 128, 129, 255, 256, 257, 1024, 1025, 2048, 2049, 5000];
    let (pages, long, longest) = ([9, 17_000], [9, 20_000, 66_000], [9, 65_535, 65_536, 300]);
    // The lists of twenty lengths in another order are no other lists.
    for (all, page_bytes) in
        [(&some[..], 64 << 10), (&pages[..], 64 << 10), (&long[..], 1 << 20), (&longest[..], 1 << 20)]
    {
        let graph = lengths(all);
        let layout = Layout { page_bytes, ..small_pages(Encoding::VertexId).layout };
        let orders: &[VertexOrder] = if all.len() < some.len() || !thorough() {
            &[VertexOrder::Natural]
        } else {
            &[VertexOrder::Natural, VertexOrder::Degree]
        };
        for &order in orders {
            let options =
                FormatOptions { symmetrize: true, layout: layout.clone(), order, ..small_pages(Encoding::VertexId) };
            let (store, expected) = (TestStore::new(&graph, &options), communities(&graph.symmetrized(), 4, false));
            let options = engine_options(None, 2, FETCHERS[1]).with_memory_bytes(1 << 30);
            for device in [adapter::device(), DeviceChoice::Cpu] {
                let engine = store.engine(options.clone().with_device(device.clone()));
                let run = match LabelPropagation::run(&engine, 4, None, &mut |_| {}) {
                    // Too many iterations in one thread: an error, not a wrong answer.
                    Err(error) if all == longest && error.to_string().contains("total number of loop rounds") => {
                        continue;
                    }
                    run => run.unwrap_or_else(|error| panic!("{device}, {all:?}: {error}")),
                };
                assert_eq!(run.report.steps.len(), 4, "one range");
                let found = found(&engine, &run).unwrap();
                let wrong =
                    found.column("community").iter().zip(&expected).position(|(found, expected)| found != expected);
                assert_eq!(wrong, None, "{device}, {page_bytes}, {order:?}");
            }
        }
    }
}

#[test]
fn too_little_memory_for_the_table_is_refused() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let engine = store.engine(Default::default());
    let Err(error) = LabelPropagation::run(&engine, 3, Some(1000), &mut |_| {}) else { panic!("the hub has no room") };
    assert!(error.to_string().contains("1000 were given"), "{error}");
}
