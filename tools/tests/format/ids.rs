//! Ids near the limits of 32 and 64 bits.

use super::feed::{Feed, open_and_verify, run, small_pages};
use super::spec_reader;
use topostream_formats::{Error, IdSpace, Store, VertexId};
use topostream_tools::format::{FormatOptions, IdPolicy};

#[test]
fn the_largest_ids_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let largest = u64::MAX;
    let edges = vec![(largest, 0, 0), (1 << 32, (1 << 32) - 1, 0), (0, largest, 0)];
    run(&Feed::new(IdSpace::Named, None, edges), folder.path(), &small_pages()).unwrap();
    open_and_verify(folder.path()).unwrap();
    let graph = spec_reader::read(folder.path()).unwrap();
    assert_eq!(graph.ids, [0, (1 << 32) - 1, 1 << 32, largest]);
    assert_eq!(graph.out, [(0, 3, 0), (2, 1, 0), (3, 0, 0)]);
    let ids = Store::open(folder.path()).unwrap().ids().unwrap();
    assert_eq!(ids.vertex(largest), Some(VertexId(3)));
    assert_eq!(ids.vertex(17), None);
}

/// The memory for scattered ids depends on their number, not on the largest id.
#[test]
fn scattered_ids_need_no_memory_for_the_gaps() {
    for step in [1u64 << 20, 0xFFFF_FFF1, 1 << 40] {
        let folder = tempfile::tempdir().unwrap();
        let edges = (0..4096u64).map(|i| (i * step, (i * 7 % 4096) * step, 0)).collect();
        let options = FormatOptions { memory_bytes: 96 << 20, ..small_pages() };
        run(&Feed::new(IdSpace::Named, None, edges), folder.path(), &options).unwrap();
        let graph = spec_reader::read(folder.path()).unwrap();
        assert!(graph.ids.iter().copied().eq((0..4096).map(|i| i * step)));
        assert!(graph.out.iter().copied().eq((0..4096).map(|i| (i, i * 7 % 4096, 0))));
    }
}

/// A pipe whose ids exceed 32 bits after more edges than memory holds: those are already in sorted runs.
#[test]
fn wide_ids_after_many_edges_of_a_pipe() {
    let narrow = 700_000u64;
    let mut edges: Vec<_> = (0..narrow).map(|i| (i % 5000, i * 7919 % 5003, 0)).collect();
    edges.extend([(1 << 40, 3, 0), (3, 1 << 40, 0), (1 << 40, 1 << 40, 0)]);
    edges.extend((0..narrow).map(|i| (i % 77, i % 83, 0)));
    let options = FormatOptions { memory_bytes: 64 << 20, remove_self_loops: true, ..small_pages() };
    let [once, twice] = [true, false].map(|read_once| {
        let folder = tempfile::tempdir().unwrap();
        let feed = Feed { read_once, ..Feed::new(IdSpace::Named, None, edges.clone()) };
        let report = run(&feed, folder.path(), &options).unwrap();
        open_and_verify(folder.path()).unwrap();
        let graph = spec_reader::read(folder.path()).unwrap();
        assert_eq!(report.manifest.input_edges, edges.len() as u64);
        (report.self_loops_removed, graph.ids, graph.out)
    });
    assert!(once == twice);
    assert_eq!(once.1.last(), Some(&(1 << 40)));
    assert_eq!(once.2.len() as u64 + once.0, edges.len() as u64);
}

/// An undirected list of more edges than memory holds, one of them without its reverse. In a pipe, its line is unknown.
#[test]
fn a_missing_reverse_among_many() {
    let edges: Vec<_> =
        (0..800_000u64).flat_map(|i| [(i % 999, 1000 + i % 997, 0), (1000 + i % 997, i % 999, 0)]).collect();
    let options = FormatOptions { memory_bytes: 64 << 20, ..small_pages() };
    let found = |lonely: Option<usize>, read_once| {
        let folder = tempfile::tempdir().unwrap();
        let mut edges = edges.clone();
        if let Some(at) = lonely {
            edges.insert(at, (1234, 567, 0));
        }
        let mut feed = Feed { read_once, ..Feed::new(IdSpace::Range { first: 0, count: 2000 }, None, edges) };
        feed.info.directed = false;
        run(&feed, folder.path(), &options).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(found(None, true), Ok(()));
    let says = "expected the edge from 567 to 1234 as often as that from 1234 to 567";
    for at in [0, 700_000, 1_600_000] {
        let error = found(Some(at), false).unwrap_err();
        let first = edges[..at].iter().position(|&edge| edge == (1234, 567, 0)).unwrap_or(at);
        assert!(error.starts_with(&format!("input.txt:{}: {says}", first + 1)), "{at}: {error}");
    }
    let error = found(Some(700_000), true).unwrap_err();
    assert!(error.starts_with(&format!("edges of a test: {says}")), "{error}");
}

#[test]
fn more_vertices_than_32_bits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let format = |ids, policy, edges| {
        run(&Feed::new(ids, None, edges), folder.path(), &FormatOptions { ids: policy, ..small_pages() })
    };
    let limit = |result| matches!(result, Err(Error::Limit { limit: 0x1_0000_0000, .. }));
    let many = (1 << 32) + 1;
    assert!(limit(format(IdSpace::Range { first: 0, count: many }, IdPolicy::Auto, vec![])));
    assert!(limit(format(IdSpace::Named, IdPolicy::Below(many), vec![])));
    assert!(limit(format(IdSpace::UpToLargest, IdPolicy::Auto, vec![(0, 1 << 32, 0)])));
    assert!(limit(format(IdSpace::Named, IdPolicy::Keep, vec![(u64::MAX, 0, 0)])));
    assert!(format(IdSpace::Named, IdPolicy::Compact, vec![(u64::MAX, 0, 0)]).is_ok());
}

/// Edges are taken by many tasks: the first wrong one is named, wherever it is, and not one that a task after it finds.
#[test]
fn the_first_of_several_wrong_edges_is_named() {
    let count = 600_000;
    let ids = IdSpace::Range { first: 1, count: 1000 };
    for wrong in [0, 4095, 4096, 99_999, 262_143, 262_144, count - 1] {
        let id = |at: usize| 1 + at as u64 % 1000;
        let mut edges: Vec<_> = (0..count).map(|at| (id(at), id(at / 7), 0)).collect();
        edges[wrong].1 = 0;
        edges[(wrong + 1).min(count - 1)].0 = 1001;
        edges[count - 1].0 = 1001;
        let folder = tempfile::tempdir().unwrap();
        let error = run(&Feed::new(ids, None, edges), folder.path(), &small_pages()).unwrap_err().to_string();
        let found = if wrong == count - 1 { 1001 } else { 0 };
        assert_eq!(error, format!("input.txt:{}: vertex id {found}: expected 1 to 1000", wrong + 1));
    }
}
