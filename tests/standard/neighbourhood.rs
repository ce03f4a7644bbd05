//! Vertices within some hops of one or several sources, in either direction.

use crate::common::{FETCHERS, TestStore, engine_options, small_pages};
use crate::everywhere::{everywhere, run};
use crate::reference::neighbourhood::{Way, hops};
use crate::reference::{EdgeList, random_edges};
use topostream::VertexId;
use topostream::algorithms::{Bfs, Neighbourhood};
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Few edges a vertex, so that hops are many; a hub in each direction, a loop, repeated edges, a path.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..12_000, 16_000, 41);
    edges.extend((0..9000).map(|number| (77, number)));
    edges.extend((0..9000).map(|number| (number + 2500, 78)));
    edges.extend([(5, 5), (5, 6), (5, 6)]);
    edges.extend((12_000..12_040).map(|vertex| (vertex, vertex + 1)));
    EdgeList::new(12_100, edges)
}

fn levels(graph: &EdgeList, sources: &[u32], way: Way, hops_max: u32) -> Vec<f64> {
    let levels = hops(graph, sources, way, hops_max.into()).into_iter();
    levels.map(|level| level.map_or(-1.0, |level| level as f64)).collect()
}

fn vertices(sources: &[u32]) -> Vec<VertexId> {
    sources.iter().copied().map(VertexId).collect()
}

fn search(sources: &[u32], hops_max: u32, against: bool) -> Bfs {
    Bfs { sources: vertices(sources), hops_max: Some(hops_max), against, ..Bfs::from(VertexId(0)) }
}

#[test]
fn hops_along_edges_and_against_them() {
    let graph = graph();
    let with_in_lists = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let options = FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) };
    let without = TestStore::new(&graph, &options);
    let grouped = TestStore::new(&graph, &FormatOptions { shards: 2, ..options });
    let sources = [5, 900, 12_000];
    for (way, stores) in [(Way::Along, &[&with_in_lists][..]), (Way::Against, &[&with_in_lists, &without, &grouped])] {
        let expected = levels(&graph, &sources, way, 9);
        for store in stores {
            let search = |_: &_| search(&sources, 9, way == Way::Against);
            everywhere(store, search, |found, name| assert!(found.column("level") == expected, "{way:?}: {name}"));
        }
    }
}

#[test]
fn hops_either_way() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let options = small_pages(Encoding::VertexId);
    let grouped = TestStore::new(&graph, &FormatOptions { shards: 3, ..options });
    for (store, sources, hops_max) in [(&store, &[12_020, 8][..], 5), (&grouped, &[5], 2)] {
        let expected = levels(&graph, sources, Way::Either, hops_max);
        let make = |_: &_| Neighbourhood { sources: vertices(sources), hops_max: Some(hops_max) };
        everywhere(store, make, |found, name| assert!(found.column("level") == expected, "{hops_max} hops: {name}"));
    }
}

/// Bounds from 0 to more hops than there are.
#[test]
fn every_bound_is_kept() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    for hops_max in [0, 1, 2, 3, 40, 41, u32::MAX] {
        for (way, against) in [(Way::Along, false), (Way::Against, true)] {
            let found = run(&engine, search(&[12_040, 5], hops_max, against)).unwrap();
            assert!(found.column("level") == levels(&graph, &[12_040, 5], way, hops_max), "{way:?}, {hops_max}");
        }
        let either = Neighbourhood { sources: vertices(&[12_040, 5]), hops_max: Some(hops_max) };
        let found = run(&engine, either).unwrap();
        assert!(found.column("level") == levels(&graph, &[12_040, 5], Way::Either, hops_max), "{hops_max}");
    }
}

/// One hop from one vertex reads the pages of its lists, not the graph.
#[test]
fn near_neighbours_are_found_without_reading_the_graph() {
    let graph = graph();
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
    let one = run(&engine, search(&[12_020], 1, false)).unwrap();
    assert_eq!(one.report.steps.iter().map(|step| step.pages).sum::<u64>(), 1);
    let both = Neighbourhood { sources: vertices(&[12_020]), hops_max: Some(1) };
    assert_eq!(run(&engine, both).unwrap().report.steps.iter().map(|step| step.pages).sum::<u64>(), 2);
}

#[test]
fn bad_sources_and_stores_are_refused() {
    let graph = EdgeList::new(3, vec![(0, 1)]);
    let store = TestStore::new(&graph, &FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) });
    let engine = store.engine(engine_options(None, 1, FETCHERS[0]));
    let refused = |result: Result<_, topostream::Error>| result.map(|_| ()).unwrap_err().to_string();
    let both = Neighbourhood { sources: vec![VertexId(0)], hops_max: Some(1) };
    assert!(refused(run(&engine, both)).contains("--in-edges"));
    assert!(refused(run(&engine, search(&[0, 3], 1, false))).contains("source vertex 3 does not exist"));
    assert!(refused(run(&engine, search(&[], 1, false))).contains("needs a source"));
}
