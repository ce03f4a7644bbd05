//! Subgraphs: induced by vertices, edges between sets, egonets; from every kind of store, into new stores, including
//! failures.

use crate::common::*;
use crate::reference::cross_edges::cross_edges;
use crate::reference::neighbourhood::{Way, hops};
use crate::reference::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use topostream::extract::{ExtractOptions, HopDirection, Subgraph, crossing, induced, within_hops};
use topostream::{Store, VertexId, VertexSet};
use topostream_formats::edge::{IdSpace, SourceInfo};
use topostream_formats::write::Layout;
use topostream_formats::{Edge, EdgeSource, Encoding, Error as StoreError, MemorySource, VertexOrder};
use topostream_tools::format::{FormatOptions, format};
use topostream_tools::progress::{Cancel, Quiet};

/// An edge with its weight, by original ids.
type Triple = (u64, u64, u64);

const VERTICES: u32 = 6_000;

/// A list of several large pages, a vertex with edges from all others, loops, repeated edges, vertices without edges.
fn graph() -> EdgeList {
    let mut edges = random_edges(0..5900, 40_000, 51);
    edges.extend((0..40_000).map(|number| (77, number % 5900)));
    edges.extend((0..5900).map(|number| (number, 78)));
    edges.extend([(5, 5), (5, 5), (5, 6), (5, 6), (5999, 5999)]);
    EdgeList::new(VERTICES, edges)
}

fn members() -> Vec<u32> {
    let mut state = 1 << 35 | 9;
    let mut members: Vec<u32> = (0..5900).filter(|_| draw(&mut state) >> 20 & 3 == 0).collect();
    members.extend([5, 6, 77, 78, 5950, 5999]);
    members.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Vertices of a store by their original ids, read from a file.
fn set(store: &Store, ids: impl IntoIterator<Item = u64>) -> Arc<VertexSet> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids.txt");
    let lines: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    std::fs::write(&file, format!("# wanted\n{}\n\n% and again\n{}\n", lines.join("\n"), lines.join("\r\n"))).unwrap();
    Arc::new(VertexSet::read(&file, store).unwrap())
}

fn wide(ids: &[u32]) -> impl Iterator<Item = u64> {
    ids.iter().copied().map(u64::from)
}

fn sorted(mut edges: Vec<Triple>) -> Vec<Triple> {
    edges.sort_unstable();
    edges
}

/// All edges of a source, sorted; undirected ones from the smaller end.
fn drained(source: &mut dyn EdgeSource) -> Result<Vec<Triple>, StoreError> {
    let (mut chunk, mut edges, once) = (Vec::new(), Vec::new(), source.info().mirror);
    loop {
        source.read(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(sorted(edges));
        }
        for &Edge { source, dest, weight } in &chunk {
            edges.push(if once { (source.min(dest), source.max(dest), weight) } else { (source, dest, weight) });
        }
    }
}

fn unweighted(edges: &[(u32, u32)]) -> Vec<Triple> {
    sorted(edges.iter().map(|&(source, dest)| (source.into(), dest.into(), 0)).collect())
}

fn whole(store: TestStore) -> (TestStore, Arc<Store>) {
    let open = Arc::new(store.open());
    (store, open)
}

#[test]
fn every_edge_among_vertices_comes_once() {
    let (graph, members) = (graph(), members());
    let expected = unweighted(&cross_edges(&graph, &members, &members));
    let others: Vec<u32> = (0..VERTICES).step_by(3).collect();
    let across = unweighted(&cross_edges(&graph, &members, &others));
    for (number, encoding) in ENCODINGS.into_iter().enumerate() {
        let second = tempfile::tempdir().unwrap();
        let layout = Layout { stripes: vec![".".into(), second.path().into()], ..small_pages(encoding).layout };
        let shards = 1 + number as u32 % 3;
        let order = [VertexOrder::Natural, VertexOrder::Degree][number % 2];
        let (_folder, store) = whole(TestStore::new(
            &graph,
            &FormatOptions { layout, shards, order, in_edges: false, ..small_pages(encoding) },
        ));
        let (from, to) = (set(&store, wide(&members)), set(&store, wide(&others)));
        assert_eq!(from.count(), members.len() as u64);
        let options = ExtractOptions::default();
        let mut part = induced(Arc::clone(&store), Arc::clone(&from), &options).unwrap();
        assert_eq!(drained(&mut part).unwrap(), expected, "{encoding}, {shards} shards");
        let mut ids = Vec::new();
        part.extra_vertices(&mut ids).unwrap();
        assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), wide(&members).collect());
        let mut part = crossing(Arc::clone(&store), from, to, &options).unwrap();
        assert_eq!(drained(&mut part).unwrap(), across, "{encoding}, {shards} shards");
    }
}

/// More edges than a chunk has, from one page and from several.
#[test]
fn chunks_end_within_lists() {
    let edges: Vec<(u32, u32)> = (0..600_000u32).map(|number| (number / 300_000, number % 1000)).collect();
    let graph = EdgeList::new(1000, edges);
    let options = small_pages(Encoding::VertexId);
    let layout = Layout { page_bytes: 4 << 20, ..options.layout.clone() };
    for options in [FormatOptions { layout, ..options.clone() }, options] {
        let (_folder, store) = whole(TestStore::new(&graph, &options));
        let all = set(&store, 0..1000);
        let mut part = induced(store, all, &ExtractOptions::default()).unwrap();
        assert_eq!(drained(&mut part).unwrap(), unweighted(&graph.edges));
    }
}

/// Weights, directions, ids and isolated vertices are kept: the store of a subgraph equals a store formatted from it.
#[test]
fn parts_become_stores() {
    let members = members();
    for (directed, float) in [(true, false), (false, true), (false, false)] {
        let weighted = Weighted::by_chance(graph(), float, 3);
        let (_folder, store) = whole(TestStore::weighted(&weighted, directed, &small_pages(Encoding::VertexId)));
        let wanted = set(&store, wide(&members));
        let open = || induced(Arc::clone(&store), Arc::clone(&wanted), &ExtractOptions::default()).unwrap();
        let part = TestStore::from_source(|| Box::new(open()), &small_pages(Encoding::VertexId));
        let part = Arc::new(part.open());
        let manifest = part.manifest();
        assert_eq!((manifest.directed, manifest.weights), (directed, store.manifest().weights));
        let ids = part.ids().unwrap();
        let found: Vec<u64> = (0..part.vertices()).map(|vertex| ids.original(VertexId(vertex as u32))).collect();
        assert_eq!(found, wide(&members).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
        let everything = set(&part, found);
        let found = drained(&mut induced(part, everything, &ExtractOptions::default()).unwrap()).unwrap();
        let inside: BTreeSet<u32> = members.iter().copied().collect();
        let edges = weighted.graph.edges.iter().zip(&weighted.weights);
        let among = edges.filter(|((source, dest), _)| inside.contains(source) && inside.contains(dest));
        let expected = among.map(|(&(source, dest), &weight)| {
            let (first, second) = if directed { (source, dest) } else { (source.min(dest), source.max(dest)) };
            (first.into(), second.into(), weight.into())
        });
        assert_eq!(found, sorted(expected.collect()), "directed: {directed}, f32: {float}");
    }
}

/// Ids of more than 32 bits: the formatter opens its source twice.
#[test]
fn ids_may_be_wide() {
    let far = 1u64 << 40;
    let edges = [(1, 2), (2, 3), (3, 4), (4, 1)].map(|(source, dest)| Edge {
        source: far * source,
        dest: far * dest,
        weight: 0,
    });
    let info = SourceInfo { ids: IdSpace::Named, edges: None, ..MemorySource::pairs(0, &[]).info().clone() };
    let source = || Box::new(MemorySource::new(info.clone(), edges.to_vec())) as Box<dyn EdgeSource>;
    let (_folder, store) = whole(TestStore::from_source(source, &small_pages(Encoding::VertexId)));
    let wanted = set(&store, [far, 2 * far, 3 * far]);
    let open = || induced(Arc::clone(&store), Arc::clone(&wanted), &ExtractOptions::default()).unwrap();
    let part = TestStore::from_source(|| Box::new(open()), &small_pages(Encoding::VertexId));
    let (part, all) = (Arc::new(part.open()), set(&part.open(), [far, 2 * far, 3 * far]));
    let found = drained(&mut induced(part, all, &ExtractOptions::default()).unwrap()).unwrap();
    assert_eq!(found, [(far, 2 * far, 0), (2 * far, 3 * far, 0)]);
}

#[test]
fn egonets_contain_vertices_within_some_hops() {
    let mut edges = random_edges(0..3000, 6000, 52);
    edges.extend([(2999, 3001), (3001, 3002), (3003, 3001)]);
    edges.extend((0..20).flat_map(|number| [(7, 100 + number), (200 + number, 7)]));
    let graph = EdgeList::new(3_010, edges);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let undirected =
        TestStore::weighted(&Weighted::by_chance(graph.clone(), false, 1), false, &small_pages(Encoding::VertexId));
    for (way, asked) in
        [(Way::Along, HopDirection::Out), (Way::Against, HopDirection::In), (Way::Either, HopDirection::Both)]
    {
        for (store, way) in [(&store, way), (&undirected, Way::Either)] {
            let engine = store.engine(engine_options(None, 2, FETCHERS[0]));
            let found = within_hops(&engine, &[VertexId(3001), VertexId(7), VertexId(7)], 2, asked).unwrap();
            let expected = hops(&graph, &[3001, 7], way, 2);
            let expected: Vec<u32> = (0..3_010).filter(|&vertex| expected[vertex as usize].is_some()).collect();
            assert!((4..2000).contains(&expected.len()));
            assert_eq!(found.iter().map(|vertex| vertex.0).collect::<Vec<_>>(), expected, "{way:?}");
        }
    }
}

/// Only pages with wanted lists are read: damage elsewhere is ignored, damage there is an error with the page.
#[test]
fn other_pages_are_not_read() {
    let graph = EdgeList::new(30_000, random_edges(0..30_000, 150_000, 53));
    let (folder, store) = whole(TestStore::new(&graph, &small_pages(Encoding::VertexId)));
    let pages = std::fs::metadata(folder.path().join("pages.0")).unwrap().len() / PAGE;
    let mut bytes = std::fs::read(folder.path().join("pages.0")).unwrap();
    assert!(pages > 5, "{pages} pages");
    bytes[3 * PAGE as usize + 1000] ^= 4;
    std::fs::write(folder.path().join("pages.0"), bytes).unwrap();
    let damaged = Arc::new(folder.open());
    let starts = store.topology(topostream::Direction::Out).unwrap().directory().starts().to_vec();
    let part = |vertices: std::ops::Range<u32>| {
        let wanted = Arc::new(VertexSet::of(store.vertices(), |vertex| vertices.contains(&vertex)));
        induced(Arc::clone(&damaged), wanted, &ExtractOptions::default()).unwrap()
    };
    let mut before = part(0..starts[3]);
    assert_eq!(before.info().bytes, Some(3 * PAGE));
    let inside: Vec<u32> = (0..starts[3]).collect();
    assert_eq!(drained(&mut before).unwrap(), unweighted(&cross_edges(&graph, &inside, &inside)));
    assert_eq!(before.bytes_read(), 3 * PAGE);
    let message = drained(&mut part(0..starts[4])).unwrap_err().to_string();
    assert!(message.contains("pages.0") && message.contains("page 3"), "{message}");
    // A failed extraction leaves no store.
    let new = tempfile::tempdir().unwrap();
    let failed = formatted(|| part(0..30_000), &new.path().join("part"), &Cancel::default());
    assert!(failed.unwrap_err().to_string().contains("page 3"));
    assert!(Store::open(new.path().join("part")).is_err());
}

fn formatted(part: impl Fn() -> Subgraph, path: &Path, cancel: &Cancel) -> Result<(), StoreError> {
    let mut open = || Ok(Box::new(part()) as Box<dyn EdgeSource>);
    format(&mut open, path, &small_pages(Encoding::VertexId), &Quiet, cancel).map(drop)
}

#[test]
fn an_interrupted_extraction_leaves_nothing() {
    let (_folder, store) = whole(TestStore::new(&graph(), &small_pages(Encoding::VertexId)));
    let wanted = set(&store, 0..6000);
    let cancel = Arc::new(AtomicBool::new(false));
    let options = ExtractOptions { cancel: Arc::clone(&cancel), ..ExtractOptions::default() };
    let part = || induced(Arc::clone(&store), Arc::clone(&wanted), &options).unwrap();
    let new = tempfile::tempdir().unwrap();
    cancel.store(true, Ordering::Relaxed);
    let failed = formatted(part, &new.path().join("part"), &Cancel::default());
    assert!(matches!(failed, Err(StoreError::Interrupted)), "{failed:?}");
    assert!(Store::open(new.path().join("part")).is_err());
    cancel.store(false, Ordering::Relaxed);
    formatted(part, &new.path().join("part"), &Cancel::default()).unwrap();
    assert_eq!(Store::open(new.path().join("part")).unwrap().edges(), graph().edges.len() as u64);
}

#[test]
fn memory_is_bounded_and_reported() {
    let (_folder, store) = whole(TestStore::new(&graph(), &small_pages(Encoding::VertexId)));
    let wanted = set(&store, 0..6000);
    let within = |memory_bytes| {
        let options = ExtractOptions { memory_bytes, ..ExtractOptions::default() };
        induced(Arc::clone(&store), Arc::clone(&wanted), &options)
    };
    let Err(topostream::Error::Memory { needed_bytes, .. }) = within(1 << 20) else { panic!("1 MiB is too little") };
    assert!(within(needed_bytes - 1).is_err());
    let mut least = within(needed_bytes).unwrap();
    assert_eq!(least.memory_bytes(), needed_bytes);
    assert_eq!(drained(&mut least).unwrap(), unweighted(&graph().edges));
}

#[test]
fn files_of_ids_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids.txt");
    let graph = EdgeList::new(10, vec![(1, 2), (3, 4), (3, 5)]);
    for order in [VertexOrder::Natural, VertexOrder::Degree] {
        let options = FormatOptions { order, ..small_pages(Encoding::VertexId) };
        let (_folder, store) = whole(TestStore::new(&graph, &options));
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            VertexSet::read(&file, &store).map(|set| set.count()).map_err(|error| error.to_string())
        };
        assert_eq!(read(""), Ok(0));
        assert!(VertexSet::read(&folder.path().join("none"), &store).unwrap_err().to_string().contains("none"));
        assert_eq!(read("3\n1\n3"), Ok(2));
        let missing = read("1\n10\n").unwrap_err();
        assert!(missing.contains("ids.txt") && missing.contains("10") && missing.contains("graph"), "{missing}");
        for (text, line) in [("1\n2 3\n", 2), ("x\n", 1), ("1\n\n-4\n", 3), ("1\n2.5\n", 2)] {
            let message = read(text).unwrap_err();
            assert!(message.contains(&format!("ids.txt:{line}: expected a vertex id")), "{message}");
        }
    }
}
