//! Edges with the same ends become one edge: compared with an oracle that groups the edges of the input in a table.

use super::feed::{Feed, draws, open_and_verify, run, small_pages};
use super::scratch;
use super::spec_reader::{self, Triple};
use super::thorough;
use proptest::prelude::*;
use std::collections::BTreeMap;
use topostream_formats::{Encoding, Error, IdSpace, VertexOrder, WeightType};
use topostream_tools::format::{FormatOptions, Repeated};

/// A weight as a number: every weight that the tests use is exact in double precision.
fn number(bits: u64, of: WeightType) -> f64 {
    match of {
        WeightType::U32 | WeightType::U64 => bits as f64,
        WeightType::F32 => f32::from_bits(bits as u32).into(),
        WeightType::F64 => f64::from_bits(bits),
    }
}

fn bits(number: f64, of: WeightType) -> u64 {
    match of {
        WeightType::U32 | WeightType::U64 => number as u64,
        WeightType::F32 => (number as f32).to_bits().into(),
        WeightType::F64 => number.to_bits(),
    }
}

/// The one weight in the place of several, which are in the order of the input.
fn one(weights: &[u64], repeated: Repeated, of: WeightType) -> u64 {
    let mut numbers: Vec<f64> = weights.iter().map(|&weight| number(weight, of)).collect();
    let first = numbers[0];
    numbers.sort_by(f64::total_cmp);
    let chosen = match repeated {
        Repeated::Sum => numbers.iter().copied().reduce(|sum, number| sum + number).unwrap(),
        Repeated::Min => numbers[0],
        Repeated::Max => numbers[numbers.len() - 1],
        Repeated::First => first,
    };
    bits(chosen, of)
}

/// The edges of a store, sorted by their ends.
fn expected(feed: &Feed, options: &FormatOptions) -> Vec<Triple> {
    let (repeated, of) = (options.repeated.unwrap(), feed.info.weights.unwrap());
    let mut groups: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    // If a graph's edges are listed at both ends, either end may come first.
    let pairs = !feed.info.directed && repeated == Repeated::First;
    for &(u, v, w) in feed.edges.iter().filter(|edge| !options.remove_self_loops || edge.0 != edge.1) {
        groups.entry((u, v)).or_default().push(w);
        if u != v && (options.symmetrize || feed.info.mirror || pairs) {
            groups.entry((v, u)).or_default().push(w);
        }
    }
    groups.into_iter().map(|((u, v), weights)| (u, v, one(&weights, repeated, of))).collect()
}

fn check(feed: &Feed, options: &FormatOptions) -> Result<(), TestCaseError> {
    let folder = scratch::in_memory();
    let mut options = options.clone();
    let report = loop {
        match run(feed, folder.path(), &options) {
            // How many neighbours there are is known only after all edges have been read.
            Err(Error::Memory { needed_bytes, .. }) if needed_bytes > options.memory_bytes => {
                options.memory_bytes = needed_bytes;
            }
            other => break other.unwrap(),
        }
    };
    open_and_verify(folder.path()).unwrap();
    let graph = spec_reader::read(folder.path()).map_err(TestCaseError::fail)?;
    let in_ids = |edges: &[Triple]| {
        let id = |vertex: u64| graph.ids[vertex as usize];
        let mut edges: Vec<Triple> = edges.iter().map(|&(u, v, w)| (id(u), id(v), w)).collect();
        edges.sort_unstable();
        edges
    };
    let expected = expected(feed, &options);
    prop_assert_eq!(&in_ids(&graph.out), &expected);
    if let Some(in_lists) = &graph.in_lists {
        prop_assert_eq!(&in_ids(in_lists), &expected);
    }
    prop_assert_eq!(report.manifest.edges, expected.len() as u64);
    prop_assert_eq!(report.duplicates_removed + report.combined > 0, report.repeated > 0);
    if options.repeated != Some(Repeated::Min) {
        let mirrored = options.symmetrize || feed.info.mirror;
        let ends = feed.edges.iter().map(|edge| edge.0 == edge.1);
        let listed: usize = ends
            .map(|is_loop| match is_loop {
                true => usize::from(!options.remove_self_loops),
                false => 1 + usize::from(mirrored),
            })
            .sum();
        prop_assert_eq!(report.combined as usize, listed - expected.len());
    }
    Ok(())
}

fn rules() -> impl Strategy<Value = (Repeated, WeightType)> {
    use Repeated::{First, Max, Min, Sum};
    use WeightType::{F32, F64, U32, U64};
    let rules = [Sum, Min, Max].into_iter().flat_map(|rule| [U32, F32, U64, F64].map(|of| (rule, of)));
    prop::sample::select(rules.chain([(First, U32), (First, F32)]).collect::<Vec<_>>())
}

/// Sums of tenths depend on the order in which they are added.
fn weight(draw: u64, of: WeightType) -> u64 {
    bits(if of.is_float() { draw as f64 / 10.0 - 0.2 } else { draw as f64 }, of)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if thorough() { 200 } else { 80 }))]
    #[test]
    fn edges_with_the_same_ends_become_one(
        pairs in prop::collection::vec((0u64..6, 0u64..6, 0u64..30), 0..120),
        (repeated, of) in rules(),
        [symmetrize, loops, in_edges, wide, read_once, packed] in prop::array::uniform6(any::<bool>()),
        direction in 0..3,
        order in prop::sample::select(vec![VertexOrder::Natural, VertexOrder::Degree, VertexOrder::Bfs]),
        shards in prop::sample::select(vec![1u32, 1, 3]),
    ) {
        let id = |vertex: u64| if wide && vertex > 3 { vertex << 40 } else { vertex };
        let mut edges: Vec<Triple> = pairs.iter().map(|&(u, v, w)| (id(u), id(v), weight(w, of))).collect();
        if direction == 2 {
            // Undirected, listed at both ends in another order.
            let no_loops = edges.iter().rev().filter(|edge| edge.0 != edge.1);
            let back: Vec<Triple> = no_loops.map(|&(u, v, w)| (v, u, w)).collect();
            edges.extend(back);
        }
        let mut feed = Feed::new(IdSpace::Named, Some(of), edges);
        (feed.info.directed, feed.info.mirror, feed.read_once) = (direction == 0, direction == 1, read_once);
        let symmetrize = symmetrize && direction == 0;
        let mut options = FormatOptions {
            repeated: Some(repeated),
            symmetrize,
            remove_self_loops: loops,
            in_edges,
            order,
            shards,
            memory_bytes: 1 << 20,
            ..small_pages()
        };
        if packed {
            options.layout.encoding = Encoding::Packed { edges_max: 63 << 10, step: false, own: false };
        }
        check(&feed, &options)?;
    }
}

/// The first edge between two vertices may be listed at either end, so that both are compared: that alone repeats none.
#[test]
fn edges_that_are_listed_at_both_ends_are_not_repeated() {
    let listed = |edges: &[Triple]| {
        let mut feed = Feed::new(IdSpace::Named, Some(WeightType::U32), edges.to_vec());
        feed.info.directed = false;
        let options = FormatOptions { repeated: Some(Repeated::First), memory_bytes: 1 << 30, ..small_pages() };
        check(&feed, &options).unwrap();
        let report = run(&feed, scratch::in_memory().path(), &options).unwrap();
        (report.combined, report.repeated)
    };
    let once = [(2, 1, 5), (1, 2, 5), (3, 3, 6), (2, 3, 7), (3, 2, 7)];
    assert_eq!(listed(&once), (0, 0));
    let twice = [&once[..], &[(1, 2, 4), (2, 1, 4)]].concat();
    assert_eq!(listed(&twice), (2, 2));
}

/// Edges before the first wide id of an input that is read once are numbered again: which end they were listed at is
/// not forgotten.
#[test]
fn edges_before_a_wide_id_keep_their_direction() {
    let wide = 4 << 40;
    let edges = vec![(1, 0, 0), (0, wide, 0), (wide, 0, 0), (0, 1, 0)];
    for repeated in [Repeated::First, Repeated::Max] {
        let mut feed = Feed::new(IdSpace::Named, Some(WeightType::U32), edges.clone());
        (feed.info.directed, feed.read_once) = (false, true);
        let options = FormatOptions { repeated: Some(repeated), memory_bytes: 1 << 20, ..small_pages() };
        check(&feed, &options).unwrap();
        feed.edges = edges[..3].to_vec().into();
        let folder = scratch::in_memory();
        let error = run(&feed, folder.path(), &FormatOptions { memory_bytes: 1 << 30, ..options }).unwrap_err();
        assert!(error.to_string().contains("both"), "{error}");
    }
}

/// More edges than the minimum memory holds: they are combined on their way from runs on disk to another one.
#[test]
fn runs_on_disk_are_combined() {
    for (number, (repeated, of)) in
        [(Repeated::Sum, WeightType::F32), (Repeated::Max, WeightType::U64), (Repeated::First, WeightType::U32)]
            .into_iter()
            .enumerate()
    {
        let mut draw = draws(number as u64);
        let edges = (0..700_000).map(|_| (draw(300), draw(300), weight(draw(200), of))).collect();
        let feed = Feed::new(IdSpace::UpToLargest, Some(of), edges);
        check(
            &feed,
            &FormatOptions { repeated: Some(repeated), in_edges: true, memory_bytes: 1 << 20, ..small_pages() },
        )
        .unwrap();
    }
}

#[test]
fn sums_that_do_not_fit_name_the_edge_and_what_helps() {
    let error = |repeated, of: WeightType, weights: [u64; 2]| {
        let edges = weights.map(|weight| (7, 1 << 40, weight)).to_vec();
        let feed = Feed::new(IdSpace::Named, Some(of), edges);
        let options = FormatOptions { repeated: Some(repeated), memory_bytes: 1 << 30, ..small_pages() };
        run(&feed, scratch::in_memory().path(), &options).unwrap_err().to_string()
    };
    let (single, double) = (f32::MAX.to_bits().into(), f64::MAX.to_bits());
    for (of, weights, sum, advice) in [
        (WeightType::U32, [u32::MAX.into(), 1], "found 4294967296 for", "--weight-type u64"),
        (WeightType::U64, [u64::MAX, 1], "found 18446744073709551616 for", "--weight-type f64"),
        (WeightType::F32, [single; 2], "that f32 holds", "--weight-type f64"),
        (WeightType::F64, [double; 2], "found inf for", "--repeated max"),
    ] {
        let text = error(Repeated::Sum, of, weights);
        for part in ["the edges from 7 to 1099511627776", sum, advice] {
            assert!(text.contains(part), "{part:?} is not in: {text}");
        }
    }
    let text = error(Repeated::First, WeightType::U64, [1, 2]);
    assert!(text.contains("u64") && text.contains("no room"), "{text}");
}

#[test]
fn weights_are_needed() {
    let feed = Feed::new(IdSpace::UpToLargest, None, vec![(0, 1, 0), (0, 1, 0)]);
    for repeated in [Repeated::Sum, Repeated::Min, Repeated::Max, Repeated::First] {
        let options = FormatOptions { repeated: Some(repeated), memory_bytes: 1 << 30, ..small_pages() };
        let text = run(&feed, scratch::in_memory().path(), &options).unwrap_err().to_string();
        assert!(
            text.contains(&format!("--repeated {}", repeated.name())) && text.contains("--remove-duplicates"),
            "{text}"
        );
    }
}
