//! Graph500's checks: correct answers pass, and every kind of wrong answer is detected and named.

use crate::common::*;
use crate::reference::*;
use proptest::prelude::*;
use topostream::checks::graph500::{CheckOptions, Checked, check_bfs, check_sssp, memory_bytes};
use topostream::error::{Rule, Violation};
use topostream::model::algorithm::Values;
use topostream::{Error, PageId, Store, VertexId};
use topostream_formats::Encoding;
use topostream_formats::OriginalId;
use topostream_tools::format::FormatOptions;

/// An open store, and its files.
struct Opened {
    store: Store,
    _files: TestStore,
}

impl std::ops::Deref for Opened {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

fn opened(files: TestStore) -> Opened {
    Opened { store: files.open(), _files: files }
}

type Levels = Vec<Option<u64>>;
type Parents = Vec<Option<u32>>;

fn check_tree_of(store: &Store, source: u32, levels: &Levels, parents: Option<&Parents>) -> Result<Checked, Error> {
    let level = |vertex: u32| levels[vertex as usize];
    let parent = parents.map(|parents| Values::new(|vertex| parents[vertex as usize].map(VertexId)));
    check_bfs(store, VertexId(source), &Values::new(level), parent.as_ref(), &CheckOptions::default())
}

fn check_ways(store: &Store, source: u32, distances: &[f64], parents: Option<&Parents>) -> Result<Checked, Error> {
    check_ways_in(false, store, source, distances, parents)
}

fn check_ways_in(
    single: bool,
    store: &Store,
    source: u32,
    distances: &[f64],
    parents: Option<&Parents>,
) -> Result<Checked, Error> {
    let distance = |vertex: u32| distances[vertex as usize];
    let parent = parents.map(|parents| Values::new(|vertex| parents[vertex as usize].map(VertexId)));
    let options = CheckOptions { single, ..CheckOptions::default() };
    check_sssp(store, VertexId(source), &Values::new(distance), parent.as_ref(), &options)
}

#[track_caller]
fn violation(result: Result<Checked, Error>) -> Violation {
    match result {
        Err(Error::Wrong(violation)) => *violation,
        other => panic!("no violation: {other:?}"),
    }
}

/// The parent of each reached vertex: the first vertex of the edge list with an edge to it from one level up.
fn tree(graph: &EdgeList, source: u32, levels: &Levels) -> Parents {
    let mut parents = vec![None; levels.len()];
    parents[source as usize] = Some(source);
    for &(from, to) in &graph.edges {
        let (up, level) = (levels[from as usize], levels[to as usize]);
        if level.is_some_and(|level| level > 0 && up == Some(level - 1)) {
            parents[to as usize].get_or_insert(from);
        }
    }
    parents
}

/// The parent of each reached vertex by distances: over a tight edge from a nearer source. The graphs that use this do
/// not need edges of length 0.
fn shortest_path_tree(weighted: &Weighted, source: u32, distances: &[f64]) -> Parents {
    let mut parents = vec![None; distances.len()];
    parents[source as usize] = Some(source);
    for (&(from, to), &weight) in weighted.graph.edges.iter().zip(&weighted.weights) {
        let (near, far) = (distances[from as usize], distances[to as usize]);
        let sum = match weighted.float {
            true => f64::from(near as f32 + f32::from_bits(weight)),
            false => near + f64::from(weight),
        };
        if far.is_finite() && sum == far && near < far {
            parents[to as usize].get_or_insert(from);
        }
    }
    parents
}

/// 0 → 1 → 2 → 3, 0 → 2, 3 → 3; 4 → 1 and 5 → 4, unreachable from 0; vertices without edges, for more pages.
fn small() -> EdgeList {
    EdgeList::new(40_000, vec![(0, 1), (1, 2), (2, 3), (0, 2), (3, 3), (4, 1), (5, 4)])
}

fn small_answer() -> (Levels, Parents) {
    let mut levels = vec![None; 40_000];
    let mut parents = vec![None; 40_000];
    for (vertex, level, parent) in [(0, 0, 0), (1, 1, 0), (2, 1, 0), (3, 2, 2)] {
        (levels[vertex], parents[vertex]) = (Some(level), Some(parent));
    }
    (levels, parents)
}

/// An original id that is a number.
fn number(id: &OriginalId) -> u64 {
    match id {
        OriginalId::Number(number) => *number,
        OriginalId::Name(name) => panic!("a name: {name}"),
    }
}

#[test]
fn each_rule_is_checked() {
    let store = opened(TestStore::new(&small(), &small_pages(Encoding::VertexId)));
    let (levels, parents) = small_answer();
    let checked = check_tree_of(&store, 0, &levels, Some(&parents)).unwrap();
    assert_eq!((checked.reached, checked.edges), (4, 7));
    assert_eq!(checked.pages, u64::from(store.topology(topostream::Direction::Out).unwrap().page_count()));
    let broken = |change: &dyn Fn(&mut Levels, &mut Parents)| {
        let (mut levels, mut parents) = (levels.clone(), parents.clone());
        change(&mut levels, &mut parents);
        violation(check_tree_of(&store, 0, &levels, Some(&parents)))
    };
    let found =
        |violation: &Violation| (violation.rule, number(&violation.vertex), violation.other.as_ref().map(number));
    // 1: another root, no parent, a parent without a level, a parent that is not a vertex, cycles of two lengths.
    for (vertex, other, change) in [
        (0, None, &(|levels: &mut Levels, _: &mut Parents| levels[0] = Some(1)) as &dyn Fn(&mut Levels, &mut Parents)),
        (0, None, &|levels, _| levels[0] = None),
        (0, Some(1), &|_, parents| parents[0] = Some(1)),
        (0, None, &|_, parents| parents[0] = None),
        (3, None, &|_, parents| parents[3] = None),
        (4, Some(5), &|_, parents| parents[4] = Some(5)),
        (3, Some(4), &|_, parents| parents[3] = Some(4)),
        (3, None, &|_, parents| parents[3] = Some(40_000)),
        (3, Some(3), &|_, parents| parents[3] = Some(3)),
        (2, Some(3), &|_, parents| parents[2] = Some(3)),
    ] {
        let violation = broken(change);
        assert_eq!(found(&violation), (Rule::Tree, vertex, other), "{violation}");
    }
    // 2: from the tree only.
    let violation = broken(&|_, parents| parents[2] = Some(1));
    assert_eq!(found(&violation), (Rule::TreeEdge, 2, Some(1)), "{violation}");
    assert!(
        violation.to_string().contains("vertex 2 with parent 1 is at level 1, but its parent is at level 1"),
        "{violation}"
    );
    // 3: forbidden by 0 → 2; the error names the page.
    let violation = broken(&|levels, parents| {
        (levels[2], parents[2]) = (Some(2), Some(1));
        levels[3] = Some(3);
    });
    assert_eq!(found(&violation), (Rule::EveryEdge, 0, Some(2)), "{violation}");
    assert_eq!(violation.page.as_ref().unwrap().1, PageId(0));
    let text = violation.to_string();
    assert!(text.contains("the edge from vertex 0 to vertex 2 leads from level 0 to level 2 ("), "{text}");
    assert!(text.ends_with("pages.0: page 0)"), "{text}");
    // 4: a missing vertex.
    let violation = broken(&|levels, parents| (levels[3], parents[3]) = (None, None));
    assert_eq!(found(&violation), (Rule::Spans, 2, Some(3)), "{violation}");
    // 5: a correct level over a missing edge; and an unreachable vertex.
    let violation = broken(&|_, parents| parents[3] = Some(1));
    assert_eq!(found(&violation), (Rule::InGraph, 3, Some(1)), "{violation}");
    assert!(violation.to_string().contains("vertex 3 with parent 1 has no edge from that parent ("), "{violation}");
    assert_eq!(violation.page.unwrap().1, PageId(0));
    let violation = broken(&|levels, parents| (levels[5], parents[5]) = (Some(3), Some(3)));
    // 5 → 4 leaves what is reached then.
    assert_eq!(found(&violation), (Rule::Spans, 5, Some(4)), "{violation}");
    let violation = broken(&|levels, parents| (levels[7], parents[7]) = (Some(3), Some(3)));
    assert_eq!(found(&violation), (Rule::InGraph, 7, Some(3)), "{violation}");
}

#[test]
fn levels_without_parents_are_checked() {
    let store = opened(TestStore::new(&small(), &small_pages(Encoding::VertexId)));
    let (levels, _) = small_answer();
    assert_eq!(check_tree_of(&store, 0, &levels, None).unwrap().edges, 7);
    for (rule, vertex, wrong) in [
        (Rule::Tree, 0, None),
        (Rule::EveryEdge, 0, Some((2, Some(2)))),
        (Rule::Spans, 2, Some((3, None))),
        (Rule::TreeEdge, 3, Some((3, Some(1)))),
        (Rule::TreeEdge, 8, Some((8, Some(4)))),
    ] {
        let mut levels = levels.clone();
        let (place, level) = wrong.unwrap_or((0, Some(7)));
        levels[place] = level;
        let violation = violation(check_tree_of(&store, 0, &levels, None));
        assert_eq!((violation.rule, number(&violation.vertex)), (rule, vertex), "{violation}");
    }
}

/// 0 → 1 by 4 and by 2; 1 → 2 by 3; 0 → 2 by 7; 2 ⇄ 3 and 5 ⇄ 6 by 0; 4 → 0.
fn small_weighted(float: bool) -> Weighted {
    let edges = [(0, 1, 4), (0, 1, 2), (1, 2, 3), (0, 2, 7), (2, 3, 0), (3, 2, 0), (5, 6, 0), (6, 5, 0), (4, 0, 1)];
    let weight = |weight: u32| if float { (weight as f32).to_bits() } else { weight };
    Weighted {
        graph: EdgeList::new(7, edges.iter().map(|&(from, to, _)| (from, to)).collect()),
        weights: edges.iter().map(|&(_, _, of)| weight(of)).collect(),
        float,
    }
}

#[test]
fn each_rule_of_distances_is_checked() {
    const FAR: f64 = f64::INFINITY;
    for float in [false, true] {
        let store = opened(TestStore::weighted(&small_weighted(float), true, &small_pages(Encoding::VertexId)));
        let (right, tree) =
            ([0.0, 2.0, 5.0, 5.0, FAR, FAR, FAR], vec![Some(0), Some(0), Some(1), Some(2), None, None, None]);
        assert_eq!(check_ways(&store, 0, &right, Some(&tree)).unwrap().reached, 4);
        check_ways(&store, 0, &right, None).unwrap();
        let broken = |places: &[(usize, f64)], parents: Option<&[(usize, Option<u32>)]>| {
            let (mut distances, mut tree) = (right, tree.clone());
            places.iter().for_each(|&(place, distance)| distances[place] = distance);
            parents.into_iter().flatten().for_each(|&(place, parent)| tree[place] = parent);
            let violation = violation(check_ways(&store, 0, &distances, parents.map(|_| &tree)));
            (violation.rule, number(&violation.vertex), violation.other.as_ref().map(number))
        };
        for parents in [None, Some(&[][..])] {
            assert_eq!(broken(&[(0, 1.0)], parents), (Rule::Tree, 0, None));
            assert_eq!(broken(&[(1, f64::NAN)], parents), (Rule::Tree, 1, None));
            assert_eq!(broken(&[(1, -2.0)], parents), (Rule::Tree, 1, None));
            assert_eq!(broken(&[(2, 6.0), (3, 6.0)], parents), (Rule::EveryEdge, 1, Some(2)));
            assert_eq!(broken(&[(3, 6.0)], parents), (Rule::EveryEdge, 2, Some(3)));
        }
        // 2: too small a distance, with and without a tree.
        assert_eq!(broken(&[(2, 4.0), (3, 4.0)], Some(&[])), (Rule::TreeEdge, 2, Some(1)));
        assert_eq!(broken(&[(2, 4.0), (3, 4.0)], None), (Rule::TreeEdge, 2, None));
        assert_eq!(broken(&[], Some(&[(2, Some(0))])), (Rule::TreeEdge, 2, Some(0)));
        // Two vertices that justify only each other, by edges of length 0.
        assert_eq!(broken(&[(5, 9.0), (6, 9.0)], None), (Rule::TreeEdge, 5, None));
        assert_eq!(broken(&[(5, 9.0), (6, 9.0)], Some(&[(5, Some(6)), (6, Some(5))])), (Rule::Tree, 5, Some(6)));
        // 4 and 5.
        assert_eq!(broken(&[(3, FAR)], None), (Rule::Spans, 2, Some(3)));
        assert_eq!(broken(&[], Some(&[(3, Some(1))])), (Rule::InGraph, 3, Some(1)));
    }
}

/// A long path of edges of length 0 against file order: each pass over the pages follows at least one part of it.
#[test]
fn edges_of_length_zero_are_followed() {
    let edges: Vec<(u32, u32)> = (1..50).map(|vertex| (vertex, vertex - 1)).collect();
    let weighted = Weighted { weights: vec![0; edges.len()], graph: EdgeList::new(50, edges), float: false };
    let store = opened(TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId)));
    let checked = check_ways(&store, 49, &[0.0; 50], None).unwrap();
    assert_eq!((checked.reached, checked.edges % 49), (50, 0));
    assert!(checked.edges >= 2 * 49);
}

#[test]
fn tolerance_is_for_single_precision() {
    let near = |float, single| {
        let store = opened(TestStore::weighted(&small_weighted(float), true, &small_pages(Encoding::VertexId)));
        let far = f64::INFINITY;
        let off = 5.0 * (1.0 + 1e-8);
        check_ways_in(single, &store, 0, &[0.0, 2.0, off, off, far, far, far], None)
    };
    near(true, true).unwrap();
    assert_eq!(violation(near(true, false)).rule, Rule::EveryEdge);
    assert_eq!(violation(near(false, false)).rule, Rule::EveryEdge);
}

/// Within a cutoff every vertex must be reached, beyond it none.
#[test]
fn distances_up_to_a_cutoff() {
    const FAR: f64 = f64::INFINITY;
    for float in [false, true] {
        let store = opened(TestStore::weighted(&small_weighted(float), true, &small_pages(Encoding::VertexId)));
        let check = |cutoff, distances: [f64; 7], tree: Option<[Option<u32>; 7]>| {
            let parent = tree.as_ref().map(|tree| Values::new(|vertex| tree[vertex as usize].map(VertexId)));
            let options = CheckOptions { cutoff, ..CheckOptions::default() };
            check_sssp(&store, VertexId(0), &Values::new(|at| distances[at as usize]), parent.as_ref(), &options)
        };
        let (near, all) = ([0.0, 2.0, FAR, FAR, FAR, FAR, FAR], [0.0, 2.0, 5.0, 5.0, FAR, FAR, FAR]);
        let tree = [Some(0), Some(0), None, None, None, None, None];
        for cutoff in [2.0, 4.9] {
            assert_eq!(check(cutoff, near, None).unwrap().reached, 2);
            assert_eq!(check(cutoff, near, Some(tree)).unwrap().reached, 2);
            assert_eq!(violation(check(cutoff, all, None)).rule, Rule::Tree);
        }
        check(5.0, all, None).unwrap();
        assert_eq!(violation(check(5.0, near, None)).rule, Rule::Spans);
        assert_eq!(violation(check(5.0, near, Some(tree))).rule, Rule::Spans);
    }
}

#[test]
fn invalid_weights() {
    for weight in [-1.0f32, f32::MIN_POSITIVE * -0.5] {
        let graph = EdgeList::new(3, vec![(0, 1), (2, 1)]);
        let weighted = Weighted { graph, weights: vec![1f32.to_bits(), weight.to_bits()], float: true };
        let store = opened(TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId)));
        // It does not matter if it is unreachable.
        check_ways(&store, 0, &[0.0, 1.0, f64::INFINITY], None).unwrap();
        let violation = violation(check_ways(&store, 2, &[f64::INFINITY, 0.0, 0.0], None));
        assert_eq!(
            (violation.rule, number(&violation.vertex), violation.other.as_ref().map(number)),
            (Rule::EveryEdge, 2, Some(1)),
            "{violation}"
        );
    }
}

/// An edge of infinite length is not a path, nor, in single precision, is one whose sum exceeds `f32`.
#[test]
fn infinite_edges_are_ignored() {
    let (infinite, large) = ((f32::INFINITY, 1.0), (f32::MAX, f32::MAX));
    for (single, (first, second)) in [(false, infinite), (true, infinite), (true, large)] {
        let graph = EdgeList::new(3, vec![(0, 1), (1, 2)]);
        let weighted = Weighted { graph, weights: vec![first.to_bits(), second.to_bits()], float: true };
        let store = opened(TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId)));
        let right = if first.is_finite() {
            [0.0, f64::from(first), f64::INFINITY]
        } else {
            [0.0, f64::INFINITY, f64::INFINITY]
        };
        check_ways_in(single, &store, 0, &right, None).unwrap();
        let (vertex, mut wrong) = (right.iter().position(|value| value.is_infinite()).unwrap(), right);
        wrong[vertex] = f64::from(f32::MAX);
        wrong[2] = f64::from(f32::MAX);
        let tree = vec![Some(0), Some(0), Some(1)];
        assert_eq!(violation(check_ways_in(single, &store, 0, &wrong, None)).rule, Rule::TreeEdge);
        assert_eq!(violation(check_ways_in(single, &store, 0, &wrong, Some(&tree))).rule, Rule::TreeEdge);
    }
    // In double precision it is.
    let graph = EdgeList::new(3, vec![(0, 1), (1, 2)]);
    let weighted = Weighted { graph, weights: vec![f32::MAX.to_bits(), f32::from_bits(1).to_bits()], float: true };
    let store = opened(TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId)));
    let most = f64::from(f32::MAX);
    check_ways(&store, 1, &[f64::INFINITY, 0.0, f32::from_bits(1).into()], None).unwrap();
    assert_eq!(violation(check_ways(&store, 1, &[f64::INFINITY, 0.0, 0.0], None)).rule, Rule::TreeEdge);
    assert_eq!(violation(check_ways(&store, 0, &[0.0, most, f64::INFINITY], None)).rule, Rule::Spans);
}

#[test]
fn invalid_input_is_refused() {
    let store = opened(TestStore::new(&small(), &small_pages(Encoding::VertexId)));
    let (levels, _) = small_answer();
    assert!(matches!(check_ways(&store, 0, &[0.0; 3], None), Err(Error::Parameter(_))));
    assert!(matches!(check_tree_of(&store, 40_000, &levels, None), Err(Error::Parameter(_))));
    let level = Values::new(|vertex| levels[vertex as usize]);
    let needed_bytes = memory_bytes(&store, false);
    let check = |memory_bytes| {
        let options = CheckOptions { memory_bytes, ..CheckOptions::default() };
        check_bfs(&store, VertexId(0), &level, None, &options)
    };
    check(needed_bytes).unwrap();
    assert!(
        matches!(check(needed_bytes - 1), Err(Error::Memory { needed_bytes: needed, .. }) if needed == needed_bytes)
    );
    let options = CheckOptions::default();
    options.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(check_bfs(&store, VertexId(0), &level, None, &options), Err(Error::Interrupted)));
}

/// A flipped bit is an error of the page, not of the answer.
#[test]
fn damaged_pages_are_found() {
    let files = TestStore::new(&small(), &small_pages(Encoding::VertexId));
    let path = files.path().join("pages.0");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (levels, _) = small_answer();
    let error = check_tree_of(&files.open(), 0, &levels, None).unwrap_err();
    assert!(matches!(error, Error::Store(_)), "{error}");
    assert!(error.to_string().contains("pages.0: page 0"), "{error}");
}

fn options(encoding: Encoding, shards: u32, undirected: bool) -> FormatOptions {
    FormatOptions { shards, symmetrize: undirected, in_edges: false, ..small_pages(encoding) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The answer of a queue search passes; with one level or parent changed, the verdict equals another checker's.
    #[test]
    fn agrees_with_the_oracle_on_trees(
        seed in 0u64..1000,
        encoding in 0..ENCODINGS.len(),
        shards in 1u32..4,
        undirected: bool,
        changes in prop::collection::vec((0u32..60, 0u64..7, any::<bool>()), 12),
    ) {
        let graph = EdgeList::new(60, random_edges(0..55, 110, seed));
        let store = opened(TestStore::new(&graph, &options(ENCODINGS[encoding], shards, undirected)));
        let graph = if undirected { graph.symmetrized() } else { graph };
        let source = graph.edges[0].0;
        let levels = levels(&graph, source);
        let parents = tree(&graph, source, &levels);
        prop_assert!(check_tree_of(&store, source, &levels, Some(&parents)).is_ok());
        prop_assert!(check_tree_of(&store, source, &levels, None).is_ok());
        for (vertex, value, of_levels) in changes {
            let (mut wrong, mut tree) = (levels.clone(), parents.clone());
            if of_levels {
                wrong[vertex as usize] = Some(value).filter(|&value| value < 6);
                let changed = wrong != levels;
                prop_assert_eq!(check_tree_of(&store, source, &wrong, None).is_err(), changed);
            } else {
                tree[vertex as usize] = Some(random_vertex(seed, value));
            }
            let wide: Vec<Option<u64>> = tree.iter().map(|parent| parent.map(u64::from)).collect();
            let expected = crate::reference::check_tree(&graph, source, &wrong, &wide);
            let found = check_tree_of(&store, source, &wrong, Some(&tree));
            prop_assert_eq!(found.is_err(), expected.is_err(), "{:?}, {:?}", found, expected);
        }
    }

    /// Dijkstra's distances pass; others do not.
    #[test]
    fn agrees_with_the_oracle_on_distances(
        seed in 0u64..1000,
        encoding in 0..ENCODINGS.len(),
        undirected: bool,
        float: bool,
        changes in prop::collection::vec((0u32..60, any::<bool>()), 12),
    ) {
        let graph = EdgeList::new(60, random_edges(0..55, 130, seed));
        let weighted = Weighted::by_chance(graph, float, seed);
        let store = opened(TestStore::weighted(&weighted, !undirected, &small_pages(ENCODINGS[encoding])));
        let weighted = if undirected { weighted.mirrored() } else { weighted };
        let source = weighted.graph.edges[0].0;
        let right = weighted.distances(source);
        prop_assert!(check_ways(&store, source, &right, None).is_ok());
        let tree = shortest_path_tree(&weighted, source, &right);
        if (0..60).all(|vertex| right[vertex].is_infinite() || tree[vertex].is_some()) {
            prop_assert!(check_ways(&store, source, &right, Some(&tree)).is_ok());
        }
        for (vertex, farther) in changes {
            let mut wrong = right.clone();
            let value = &mut wrong[vertex as usize];
            *value = match (value.is_finite(), farther) {
                (true, true) => *value * 1.01 + 1.0,
                (true, false) => f64::INFINITY,
                (false, _) => 3.0,
            };
            prop_assert!(check_ways(&store, source, &wrong, None).is_err());
            prop_assert!(check_ways(&store, source, &wrong, Some(&tree)).is_err());
        }
    }
}

fn random_vertex(seed: u64, value: u64) -> u32 {
    let mut state = seed << 8 | value << 1 | 1;
    draw(&mut state) as u32 % 60
}
