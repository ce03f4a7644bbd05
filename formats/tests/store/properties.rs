//! Any graph in any layout is read as it was written, by the crate and by the second reader.

use super::canonical::by_destination;
use super::library::{self, Plan};
use super::scratch;
use super::spec_reader::{self, Triple};
use proptest::prelude::*;
use std::path::PathBuf;
use topostream_formats::manifest::Feature;
use topostream_formats::write::Layout;
use topostream_formats::{Encoding, Store, VertexOrder, WeightType};

/// Graphs of up to 300 vertices; now and then a hub whose list takes several pages of 64 KiB, first, middle or last.
fn graphs() -> impl Strategy<Value = (u64, Vec<Triple>)> {
    let hub = prop_oneof![6 => Just(0usize), 1 => 8180usize..8200, 1 => 16_370usize..16_390, 1 => 30_000usize..70_000];
    let parts = (1u64..300, 0usize..400, hub, any::<u64>(), 0u64..3, 0u64..3);
    let graph = parts.prop_map(|(vertices, edges, hub, seed, before, behind)| {
        let mut state = seed;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut list: Vec<Triple> =
            (0..edges).map(|_| (before + draw(vertices), before + draw(vertices), draw(5))).collect();
        let at = before + draw(vertices);
        list.extend((0..hub).map(|i| (at, before + draw(vertices), i as u64)));
        (before + vertices + behind, list)
    });
    prop_oneof![1 => Just((0, Vec::new())), 1 => Just((1, Vec::new())), 12 => graph]
}

pub fn layouts() -> impl Strategy<Value = Layout> {
    // From the smallest pages to ones that their bytes fill first.
    let edges_max = prop::sample::select(vec![1024, 2048, 15 * 1024, 63 * 1024, 1 << 20]);
    let packed = (edges_max, any::<bool>(), any::<bool>()).prop_map(|(edges_max, step, own)| Encoding::Packed {
        edges_max,
        step,
        own,
    });
    let encoding = prop_oneof![2 => Just(Encoding::VertexId), 5 => packed];
    let weights = prop::sample::select(vec![
        None,
        Some(WeightType::U32),
        Some(WeightType::F32),
        Some(WeightType::U64),
        Some(WeightType::F64),
    ]);
    (encoding, weights, 1usize..=3, 16u32..=17).prop_map(|(encoding, weights, stripes, page)| {
        let stripes = [".", "second", "further/third"][..stripes].iter().map(PathBuf::from).collect();
        Layout { page_bytes: 1 << page, encoding, weights, stripes, ..Layout::default() }
    })
}

/// The ends of shards that are cut at multiples of 64 vertices. Shards may be empty, or contain all vertices.
fn shard_ends(cuts: &[u64], vertices: u64) -> Vec<u64> {
    let mut ends: Vec<u64> = cuts.iter().map(|word| (64 * word).min(vertices)).collect();
    ends.sort_unstable();
    if !ends.is_empty() {
        ends.push(vertices);
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn graphs_are_read_as_written(
        (vertices, mut edges) in graphs(),
        layout in layouts(),
        in_lists: bool,
        cuts in prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(0u64..7, 1..5)],
    ) {
        let is_wide = layout.weights.is_some_and(WeightType::is_wide);
        match layout.weights {
            None => edges.iter_mut().for_each(|edge| edge.2 = 0),
            // Weights use all 64 bits; weight 0 stays 0.
            Some(_) if is_wide => edges.iter_mut().for_each(|edge| edge.2 = edge.2.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            Some(_) => {}
        }
        let folder = scratch::in_memory();
        let packed = layout.encoding.is_packed();
        let shard_ends = shard_ends(&cuts, vertices);
        let order = VertexOrder::Natural;
        let shards = &shard_ends;
        let plan =
            Plan { vertices, edges: &edges, layout, in_lists, shard_ends: shards, ids: None, order, part: None };
        library::write(folder.path(), &plan).unwrap();
        let features = [(Feature::Packed, packed), (Feature::Shards, !cuts.is_empty()), (Feature::Weights64, is_wide)];
        let expected: Vec<Feature> = features.into_iter().filter(|has| has.1).map(|has| has.0).collect();
        prop_assert_eq!(Store::open(folder.path()).unwrap().manifest().features(), expected);
        let by_spec = spec_reader::read(folder.path()).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&library::read(folder.path()).unwrap(), &by_spec);
        edges.sort_unstable();
        prop_assert_eq!(&by_spec.out, &edges);
        prop_assert_eq!(by_spec.vertices, vertices);
        prop_assert_eq!(by_spec.in_lists, in_lists.then(|| by_destination(&edges)));
    }
}
