//! Any edges with any options, compared with an oracle that sorts in memory.

use super::feed::{Feed, draws, open_and_verify, run, small_pages};
use super::scratch;
use super::spec_reader::{self, Graph, Triple};
use super::thorough;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use topostream_formats::{Encoding, Error, IdSpace, VertexOrder, WeightType};
use topostream_tools::format::{FormatOptions, IdPolicy, OrderFrom};

/// The expected contents of a store, in original ids.
#[derive(Debug, PartialEq)]
struct Expected {
    vertices: BTreeSet<u64>,
    edges: Vec<Triple>,
    directed: bool,
    self_loops: u64,
    duplicates: u64,
}

/// Orders weights as numbers.
fn rank(weight: u64, of: WeightType) -> i128 {
    match of {
        WeightType::U32 | WeightType::U64 => weight.into(),
        WeightType::F32 => (weight as i32 ^ ((weight as i32 >> 31) & i32::MAX)).into(),
        WeightType::F64 => (weight as i64 ^ ((weight as i64 >> 63) & i64::MAX)).into(),
    }
}

fn oracle(feed: &Feed, options: &FormatOptions) -> Expected {
    let weights = feed.info.weights.filter(|_| options.keep_weights);
    let mut edges: Vec<Triple> =
        feed.edges.iter().map(|&(u, v, w)| (u, v, if weights.is_some() { w } else { 0 })).collect();
    let named: BTreeSet<u64> = edges.iter().flat_map(|edge| [edge.0, edge.1]).collect();
    let given = edges.len();
    edges.retain(|edge| !(options.remove_self_loops && edge.0 == edge.1));
    let self_loops = (given - edges.len()) as u64;
    if options.symmetrize {
        // Each edge is as often in both directions as in the one that has it more often.
        let mut counts = BTreeMap::new();
        edges.iter().for_each(|&edge| *counts.entry(edge).or_insert(0usize) += 1);
        for (&(u, v, w), &count) in counts.iter().filter(|((u, v, _), _)| u != v) {
            let missing = count.saturating_sub(counts.get(&(v, u, w)).copied().unwrap_or(0));
            edges.extend(vec![(v, u, w); missing]);
        }
    } else if feed.info.mirror {
        let reverse: Vec<Triple> = edges.iter().filter(|e| e.0 != e.1).map(|&(u, v, w)| (v, u, w)).collect();
        edges.extend(reverse);
    }
    let all = edges.len();
    edges.sort_by_key(|&(u, v, w)| (u, v, rank(w, weights.unwrap_or(WeightType::U32))));
    if options.remove_duplicates {
        edges.dedup_by_key(|edge| (edge.0, edge.1));
    }
    let space = match options.ids {
        IdPolicy::Auto => feed.info.ids,
        IdPolicy::Keep => IdSpace::UpToLargest,
        IdPolicy::Compact => IdSpace::Named,
        IdPolicy::Below(count) => IdSpace::Range { first: 0, count },
    };
    let vertices = match space {
        IdSpace::Range { first, count } => (first..first + count).collect(),
        IdSpace::UpToLargest => named.last().map_or(BTreeSet::new(), |&last| (0..=last).collect()),
        IdSpace::Named => {
            named.into_iter().chain(feed.extra.iter().chain(feed.declared.iter().flatten()).copied()).collect()
        }
    };
    let duplicates = (all - edges.len()) as u64;
    Expected { vertices, edges, directed: feed.info.directed && !options.symmetrize, self_loops, duplicates }
}

/// The edges of a store in original ids, sorted like the oracle's.
fn in_original_ids(graph: &Graph, edges: &[Triple], of: WeightType) -> Vec<Triple> {
    let id = |vertex: u64| graph.ids[vertex as usize];
    let mut edges: Vec<Triple> = edges.iter().map(|&(u, v, w)| (id(u), id(v), w)).collect();
    edges.sort_by_key(|&(u, v, w)| (u, v, rank(w, of)));
    edges
}

/// Formats edges, verifies the store and compares it with the oracle. The budget is the formatter's minimum.
fn check(feed: &Feed, options: &FormatOptions) -> Result<(), TestCaseError> {
    let folder = scratch::in_memory();
    let mut options = FormatOptions { memory_bytes: 0, ..options.clone() };
    let report = loop {
        match run(feed, folder.path(), &options) {
            Err(Error::Memory { needed_bytes, .. }) => {
                prop_assert!(needed_bytes < 1 << 30, "{needed_bytes} bytes");
                // How many neighbours there are is known only after all edges have been read.
                let is_later = options.order == VertexOrder::Bfs && needed_bytes > options.memory_bytes;
                prop_assert!(options.memory_bytes == 0 || is_later, "{} bytes do not suffice", options.memory_bytes);
                options.memory_bytes = needed_bytes;
            }
            other => break other.unwrap(),
        }
    };
    open_and_verify(folder.path()).unwrap();
    let graph = spec_reader::read(folder.path()).map_err(TestCaseError::fail)?;
    let expected = oracle(feed, &options);
    let of = feed.info.weights.unwrap_or(WeightType::U32);
    let found = Expected {
        vertices: graph.ids.iter().copied().collect(),
        edges: in_original_ids(&graph, &graph.out, of),
        directed: graph.directed,
        self_loops: report.self_loops_removed,
        duplicates: report.duplicates_removed,
    };
    prop_assert!(found == expected, "{} edges, {} expected", found.edges.len(), expected.edges.len());
    prop_assert_eq!(graph.ids.len(), expected.vertices.len());
    let shards = report.manifest.out.shards.as_ref().map_or(1, Vec::len);
    prop_assert_eq!(shards as u32, options.shards);
    prop_assert_eq!(report.manifest.input_edges, feed.edges.len() as u64);
    let in_lists = graph.in_lists.as_ref().map(|edges| in_original_ids(&graph, edges, of));
    prop_assert_eq!(in_lists.is_some(), options.in_edges && expected.directed);
    prop_assert!(in_lists.is_none_or(|edges| edges == expected.edges));
    match &options.order_from {
        Some(OrderFrom::File(path)) => check_list(&graph, &expected, path),
        Some(OrderFrom::Sample) => check_order(&graph, &expected, report.manifest.order),
        None => {
            prop_assert_eq!(report.manifest.order, options.order);
            check_order(&graph, &expected, options.order)
        }
    }
}

/// Checks that the vertices are in the order of a file, and those that it does not list in natural order behind them.
fn check_list(graph: &Graph, expected: &Expected, path: &Path) -> Result<(), TestCaseError> {
    let bytes = std::fs::read(path).unwrap();
    let mut ids: Vec<u64> = match path.extension().unwrap().to_str().unwrap() {
        "u32" => bytes.chunks(4).map(|id| u32::from_le_bytes(id.try_into().unwrap()).into()).collect(),
        "u64" => bytes.chunks(8).map(|id| u64::from_le_bytes(id.try_into().unwrap())).collect(),
        _ => {
            let text = String::from_utf8(bytes).unwrap();
            text.lines().filter_map(|line| line.trim().parse().ok()).collect()
        }
    };
    let listed: BTreeSet<u64> = ids.iter().copied().collect();
    ids.extend(expected.vertices.difference(&listed));
    prop_assert_eq!(&graph.ids, &ids);
    Ok(())
}

/// By turns a file of some vertices and a sample.
fn order_from(folder: &Path, vertices: &BTreeSet<u64>, seed: Option<u64>) -> Option<OrderFrom> {
    match seed? {
        seed if seed.is_multiple_of(3) => Some(OrderFrom::Sample),
        seed => Some(OrderFrom::File(write_list(folder, vertices, seed / 3))),
    }
}

/// Writes some of the vertices in a random order, as text or raw ids.
fn write_list(folder: &Path, vertices: &BTreeSet<u64>, seed: u64) -> PathBuf {
    let mut draw = draws(seed);
    let mut ids: Vec<u64> = vertices.iter().copied().collect();
    (1..ids.len()).rev().for_each(|last| ids.swap(last, draw(last as u64 + 1) as usize));
    if seed.is_multiple_of(2) {
        ids.truncate(draw(ids.len() as u64 + 1) as usize);
    }
    let narrow = ids.iter().all(|&id| id < 1 << 32);
    let (name, bytes): (_, Vec<u8>) = match draw(3) {
        0 if narrow => ("order.u32", ids.iter().flat_map(|&id| (id as u32).to_le_bytes()).collect()),
        1 => ("order.u64", ids.iter().flat_map(|id| id.to_le_bytes()).collect()),
        _ => {
            let line = |id: &u64| format!(" {id}{}", ["\n", "\r\n", "\n# a comment\n\n"][draw(3) as usize]);
            ("order.txt", ids.iter().map(line).collect::<String>().into_bytes())
        }
    };
    std::fs::write(folder.join(name), bytes).unwrap();
    folder.join(name)
}

/// Checks that the vertices are sorted by the keys of the requested order.
fn check_order(graph: &Graph, expected: &Expected, order: VertexOrder) -> Result<(), TestCaseError> {
    let (mut out, mut all) = (BTreeMap::new(), BTreeMap::new());
    for &(u, v, _) in &expected.edges {
        *out.entry(u).or_insert(0i64) += 1;
        *all.entry(u).or_insert(0i64) += 1;
        *all.entry(v).or_insert(0i64) += 1;
    }
    let key = |id: &u64| match order {
        VertexOrder::Natural => (0, *id),
        VertexOrder::Degree => (-all.get(id).copied().unwrap_or(0), *id),
        VertexOrder::OutFirst => (i64::from(!out.contains_key(id)), *id),
        VertexOrder::DegreeGroups => (-all.get(id).map_or(0, |&degree| 1 + i64::from((degree as u64).ilog2())), *id),
        VertexOrder::Bfs | VertexOrder::Listed => (0, 0),
    };
    if order == VertexOrder::Bfs {
        prop_assert_eq!(&graph.ids, &breadth_first(&expected.vertices, &expected.edges, &all));
    }
    prop_assert!(graph.ids.iter().map(key).is_sorted(), "{order:?}");
    Ok(())
}

/// The vertices in breadth-first order, by sets of neighbours; `degrees` has those with edges.
fn breadth_first(vertices: &BTreeSet<u64>, edges: &[Triple], degrees: &BTreeMap<u64, i64>) -> Vec<u64> {
    let mut neighbours: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for &(u, v, _) in edges {
        neighbours.entry(u).or_default().insert(v);
        neighbours.entry(v).or_default().insert(u);
    }
    let (mut order, mut rest) = (Vec::new(), vertices.clone());
    let first = degrees.iter().max_by_key(|&(&id, &degree)| (degree, std::cmp::Reverse(id))).map(|(&id, _)| id);
    for start in first.into_iter().chain(neighbours.keys().copied()) {
        let mut level: Vec<u64> = rest.take(&start).into_iter().collect();
        while !level.is_empty() {
            let reached = level.iter().flat_map(|id| &neighbours[id]).filter(|id| rest.remove(id)).copied().collect();
            order.append(&mut level);
            level = reached;
        }
    }
    order.extend(rest);
    order
}

fn all_options() -> impl Strategy<Value = FormatOptions> {
    let encodings = ["vertex", "packed", "packed, own", "packed, few"];
    use VertexOrder::{Bfs, Degree, DegreeGroups, Natural, OutFirst};
    let orders = vec![Natural, Degree, OutFirst, DegreeGroups, Bfs];
    let flags = prop::array::uniform5(any::<bool>());
    let shards = prop_oneof![8 => Just(1u32), 8 => 2u32..7, 1 => Just(40)];
    (flags, prop::sample::select(encodings.to_vec()), prop::sample::select(orders), 1usize..=3, shards).prop_map(
        |(
            [symmetrize, remove_duplicates, remove_self_loops, in_edges, keep_weights],
            encoding,
            order,
            stripes,
            shards,
        )| {
            let mut options = FormatOptions {
                symmetrize,
                remove_duplicates,
                remove_self_loops,
                in_edges,
                keep_weights,
                order,
                shards,
                ..small_pages()
            };
            if encoding.starts_with("packed") {
                let edges_max = if encoding.ends_with("few") { 1024 } else { 63 << 10 };
                let (step, own) = (remove_duplicates, encoding.ends_with("own"));
                options.layout.encoding = Encoding::Packed { edges_max, step, own };
            }
            options.layout.stripes = [".", "second", "third"][..stripes].iter().map(PathBuf::from).collect();
            options
        },
    )
}

/// A distribution of ids: a source's id space, a policy, and the id of the i-th of 40 vertices.
#[derive(Clone, Copy, Debug)]
enum Ids {
    Range(u64),
    UpToLargest,
    Sparse,
    Wide,
    Keep,
    Below,
}

impl Ids {
    fn id(self, i: u64) -> u64 {
        match self {
            Self::Range(first) => first + 2 + i,
            Self::Sparse => i * i * 7 + 3,
            Self::Wide => [i, i + (1 << 32) - 20, i << 40, u64::MAX - i][i as usize % 4],
            Self::UpToLargest | Self::Keep | Self::Below => i + 1,
        }
    }

    fn space(self) -> IdSpace {
        match self {
            Self::Range(first) => IdSpace::Range { first, count: 45 },
            Self::UpToLargest => IdSpace::UpToLargest,
            _ => IdSpace::Named,
        }
    }

    fn policy(self) -> IdPolicy {
        match self {
            Self::Keep => IdPolicy::Keep,
            Self::Below => IdPolicy::Below(50),
            _ => IdPolicy::Auto,
        }
    }
}

fn id_spaces() -> impl Strategy<Value = Ids> {
    use Ids::{Below, Keep, Range, Sparse, UpToLargest, Wide};
    prop::sample::select(vec![Range(0), Range(1), Range(1 << 40), UpToLargest, Sparse, Wide, Wide, Keep, Below])
}

fn weight_types() -> impl Strategy<Value = Option<WeightType>> {
    prop::sample::select(vec![
        None,
        Some(WeightType::U32),
        Some(WeightType::F32),
        Some(WeightType::U64),
        Some(WeightType::F64),
    ])
}

fn weight(draw: u64, of: Option<WeightType>) -> u64 {
    match of {
        Some(WeightType::F32) => (draw as f32 - 2.5).to_bits().into(),
        // No single precision: all 64 bits count.
        Some(WeightType::F64) => (draw as f64 - 2.1).to_bits(),
        Some(WeightType::U64) => draw << 61 | draw,
        _ => draw,
    }
}

/// The number of cases: `usual`, or `all` if every case is tested.
fn cases(usual: u32, all: u32) -> u32 {
    if thorough() { all } else { usual }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60, 160)))]
    #[test]
    fn a_store_holds_the_edges_it_was_given(
        pairs in prop::collection::vec((0u64..40, 0u64..40, 0u64..6), 0..160),
        ids in id_spaces(),
        weights in weight_types(),
        mut options in all_options(),
        extra in prop::collection::vec(0u64..40, 0..6),
        mirror: bool,
        read_once: bool,
        declares: bool,
        listed in prop::option::weighted(0.3, any::<u64>()),
    ) {
        let edges = pairs.iter().map(|&(u, v, w)| (ids.id(u), ids.id(v), weight(w, weights))).collect();
        let mut feed = Feed::new(ids.space(), weights, edges);
        feed.info.mirror = mirror;
        feed.info.directed = !mirror;
        if ids.space() == IdSpace::Named {
            feed.extra = extra.iter().map(|&i| ids.id(i)).collect();
        }
        feed.read_once = read_once;
        if declares && ids.space() == IdSpace::Named {
            feed.extra.extend(pairs.iter().flat_map(|&(u, v, _)| [ids.id(u), ids.id(v)]));
            feed.declared = Some(std::mem::take(&mut feed.extra));
        }
        options.ids = ids.policy();
        let folder = tempfile::tempdir().unwrap();
        options.order_from = order_from(folder.path(), &oracle(&feed, &options).vertices, listed);
        check(&feed, &options)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2, 7)))]
    /// More edges than the minimum memory holds: they are sorted through several files.
    #[test]
    fn sorting_in_runs_changes_nothing(
        seed: u64,
        count in 550_000u64..1_300_000,
        vertices in prop::sample::select(vec![700u64, 40_000]),
        named: bool,
        weights in weight_types(),
        mut options in all_options(),
        listed in prop::option::weighted(0.3, any::<u64>()),
    ) {
        let mut draw = draws(seed);
        let step = if named { 3 } else { 1 };
        let space = if named { IdSpace::Named } else { IdSpace::Range { first: 0, count: vertices } };
        let edge = |_| {
            // Half of the edges leave a few vertices, so that some lists are long.
            let source = if draw(2) == 0 { draw(5) } else { draw(vertices) };
            (source * step, draw(vertices) * step, weight(draw(9), weights))
        };
        let feed = Feed::new(space, weights, (0..count).map(edge).collect());
        let folder = tempfile::tempdir().unwrap();
        options.order_from = order_from(folder.path(), &oracle(&feed, &options).vertices, listed);
        check(&feed, &options)?;
    }
}
