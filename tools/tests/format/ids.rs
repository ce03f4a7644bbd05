//! Ids at the edges of what 32 and 64 bits hold.

use super::feed::{Feed, open_and_verify, run, small_pages};
use super::spec_reader;
use topostream_formats::{Error, IdSpace, Store, VertexId};
use topostream_tools::format::{FormatOptions, IdPolicy};

#[test]
fn the_largest_ids_there_are() {
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

/// Scattered ids take memory by their number, not by the largest of them.
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

#[test]
fn more_vertices_than_32_bits_is_a_limit() {
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
