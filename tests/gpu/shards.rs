//! Stores with out-lists grouped for shards, on one device: lists have parts, and answers are the same.

use crate::common::*;
use crate::gpu_test;
use crate::graphs;
use crate::reference::*;
use crate::setting::*;
use crate::shapes::check_all;
use crate::weighted::{expected_sums, weighted, weighted_sums};
use topostream::Direction;
use topostream::device::settings::Distribution;
use topostream_formats::Encoding;
use topostream_tools::format::FormatOptions;

/// Checks ranks and searches over a directed graph with in-lists, and over the undirected graph, whose grouped
/// out-lists serve as in-lists. By default, one of the two.
fn check_shards(name: &str, graph: &EdgeList, shards: u32, setting: &Setting) {
    for symmetrize in [false, true].into_iter().filter(|&one| thorough() || one == shards.is_multiple_of(2)) {
        let options = FormatOptions { shards, symmetrize, ..setting.store_options() };
        let store = TestStore::new(graph, &options);
        assert_eq!(store.open().topology(Direction::Out).unwrap().shards().len(), shards as usize);
        let what = format!("{name}, {shards} shards, undirected {symmetrize}, {setting:?}");
        let expected = if symmetrize { graph.symmetrized() } else { graph.clone() };
        let options = setting.options();
        within(120, &what.clone(), move || check_all(&store.engine(options), &expected, &what));
    }
}

gpu_test! {
    /// Fewer vertices than the minimum of a shard, empty shards, more shards than pages.
    fn small_graphs() {
        let random = EdgeList::new(300, random_edges(0..300, 2000, 8));
        for (number, shards) in [2, 3, 256].into_iter().enumerate() {
            let distribution = DISTRIBUTIONS[(4 * number) % DISTRIBUTIONS.len()];
            let setting = Setting { encoding: ENCODINGS[number % 2], distribution, ..Setting::default() };
            check_shards("no vertex", &EdgeList::new(0, Vec::new()), shards, &setting);
            check_shards("a loop", &EdgeList::new(1, vec![(0, 0)]), shards, &setting);
            check_shards("random", &random, shards, &Setting { cache: Cache::Off, ..setting });
        }
    }
}

gpu_test! {
    /// With every distribution of work, and without each fast path: lists of one record and of several pages in each
    /// shard.
    fn lists_of_every_length() {
        let (dense, hubs) = (graphs::dense().edges, graphs::hubs().edges);
        // All of them take long on software Vulkan: by default, the first, the last and one in between.
        for (number, distribution) in some(DISTRIBUTIONS.into_iter().enumerate(), 4) {
            let encoding = ENCODINGS[number % ENCODINGS.len()];
            let (cache, fast_paths) = ([Cache::All, Cache::Off][number % 2], fast_paths()[number % 7]);
            let setting = Setting { encoding, distribution, cache, fast_paths, ..Setting::default() };
            check_shards("dense", &dense, 2 + number as u32 % 3, &setting);
            // By default only with segments, which split lists.
            if distribution == Distribution::Segments || (thorough() && number % 8 == 0) {
                check_shards("hubs", &hubs, 3, &setting);
            }
        }
    }
}

gpu_test! {
    /// Weights stay with their edges in every shard.
    fn weights() {
        let graph = graphs::hubs().edges;
        for (encoding, shards) in [(Encoding::VertexId, 3), (PACKED, 5)] {
            let setting = Setting { encoding, ..Setting::default() };
            let store =
                TestStore::from_source(|| weighted(&graph), &FormatOptions { shards, ..setting.store_options() });
            for distribution in [DISTRIBUTIONS[1], DISTRIBUTIONS[7], DISTRIBUTIONS[8]] {
                let engine = store.engine(Setting { distribution, ..setting.clone() }.options());
                for direction in [Direction::Out, Direction::In] {
                    let found = weighted_sums(&engine, direction).unwrap();
                    assert_eq!(found, expected_sums(&graph, direction), "{encoding}, {distribution:?}, {direction:?}");
                }
            }
        }
    }
}
