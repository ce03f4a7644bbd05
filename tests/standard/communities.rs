//! Label propagation.

use crate::common::{TestStore, small_pages};
use crate::everywhere::everywhere_by;
use crate::reference::communities::communities;
use crate::reference::{EdgeList, random_edges};
use topostream::Engine;
use topostream::algorithms::LabelPropagation;
use topostream::device::DeviceChoice;
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

#[test]
fn too_little_memory_for_the_table_is_refused() {
    let store = TestStore::new(&graph(), &small_pages(Encoding::VertexId));
    let engine = store.engine(Default::default());
    let Err(error) = LabelPropagation::run(&engine, 3, Some(1000), &mut |_| {}) else { panic!("the hub has no room") };
    assert!(error.to_string().contains("1000 were given"), "{error}");
}
