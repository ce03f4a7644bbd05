//! Lists that pages refer to become the same pages as neighbours that are passed one by one.

use topostream_formats::directory::DirectoryEntry;
use topostream_formats::manifest::TopologyManifest;
use topostream_formats::packed::{PackedParameters, SharedLists};
use topostream_formats::random::SplitMix64;
use topostream_formats::write::{Layout, StoreWriter, TopologyWriter};
use topostream_formats::{Direction, Encoding};

const VERTICES: u32 = 300_000;

/// Sorted edges: empty, short and long lists, long gaps of empty ones, and some that take several pages.
fn edges(seed: u64, distinct: bool) -> Vec<(u32, u32)> {
    let mut draws = SplitMix64(seed);
    let mut draw = |below: u64| draws.draw() % below;
    let (mut edges, mut source) = (Vec::new(), 0);
    while source < VERTICES {
        let degree = [3, 12, 12, 40, 700][draw(5) as usize];
        let degree = if draw(900) == 0 { 150_000 } else { draw(degree) };
        let near = degree < 1000 && draw(2) == 0;
        let dest = |draw: u64| if near { (source + draw as u32 % 300) % VERTICES } else { draw as u32 % VERTICES };
        edges.extend((0..degree).map(|_| (source, dest(draw(1 << 40)))));
        source += 1 + if draw(100) == 0 { draw(20_000) as u32 } else { draw(3) as u32 };
    }
    edges.sort_unstable();
    if distinct {
        edges.dedup();
    }
    edges
}

/// The checksums and entries of a topology in two shards, or not grouped.
fn written(
    encoding: Encoding,
    ends: &[u32],
    push: impl Fn(&mut TopologyWriter, u32, u32),
) -> (TopologyManifest, Vec<DirectoryEntry>) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout { page_bytes: 1 << 16, encoding, ..Layout::default() };
    let mut writer = StoreWriter::create(folder.path(), layout, 7).unwrap();
    let mut topology = writer.topology(Direction::Out).unwrap();
    let mut from = 0;
    for &end in ends {
        push(&mut topology, from, end);
        if ends.len() > 1 {
            topology.end_shard(end.into(), VERTICES.into()).unwrap();
        }
        from = end;
    }
    topology.finish(VERTICES.into()).unwrap()
}

/// Passes edges in batches that end anywhere, some of those that begin and end with lists one by one.
fn push_batches(to: &mut TopologyWriter, edges: &[(u32, u32)], parameters: PackedParameters, origin: u32, seed: u64) {
    let (mut draws, mut at) = (SplitMix64(seed), 0);
    while at < edges.len() {
        let end = (at + 1 + (draws.draw() % [9, 2000, 50_000][at % 3]) as usize).min(edges.len());
        let batch = &edges[at..end];
        let before = at.checked_sub(1).map(|before| edges[before]).filter(|before| before.0 == batch[0].0);
        let goes_on = edges.get(end).is_some_and(|next| next.0 == batch[batch.len() - 1].0);
        if before.is_none() && !goes_on && draws.draw() % 2 == 0 {
            batch.iter().for_each(|&(source, dest)| to.push(source, dest, 0).unwrap());
        } else {
            let mut lists = SharedLists::default();
            lists.dests.extend(batch.iter().map(|edge| edge.1));
            lists.lengths.extend(batch.chunk_by(|a, b| a.0 == b.0).map(|list| (list[0].0, list.len() as u32)));
            lists.measure(parameters, origin, before.map(|before| before.1));
            to.push_lists(&lists.into()).unwrap();
        }
        at = end;
    }
}

#[test]
fn shared_lists_become_the_same_pages() {
    for (seed, (step, own)) in (1..).zip([(false, false), (true, false), (false, true), (true, true)]) {
        let edges = edges(seed, step);
        // With few neighbours a page its plain image is full first.
        let shards = [VERTICES / 3 / 64 * 64, VERTICES];
        for (edges_max, ends) in [(8 << 10, &shards[1..]), (63 << 10, &shards)] {
            let encoding = Encoding::Packed { edges_max, step, own };
            let parameters = PackedParameters::of(encoding).unwrap();
            let of_shard = |from: u32, end: u32| -> Vec<(u32, u32)> {
                edges.iter().copied().filter(|edge| (from..end).contains(&edge.1)).collect()
            };
            let expected = written(encoding, ends, |to, from, end| {
                of_shard(from, end).iter().for_each(|&(source, dest)| to.push(source, dest, 0).unwrap());
            });
            let found = written(encoding, ends, |to, from, end| {
                push_batches(to, &of_shard(from, end), parameters, from, seed);
            });
            assert!(expected.0.large_pages > 1 && expected.0.pages > 10, "{:?}", expected.0);
            assert_eq!(found.0, expected.0, "{seed}, {edges_max}, {ends:?}");
            assert_eq!(found.1, expected.1, "{seed}, {edges_max}, {ends:?}");
        }
    }
}
