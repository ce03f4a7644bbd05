//! Communities by Leiden's and Louvain's algorithms.

use crate::common::{TestStore, small_pages};
use crate::reference::leiden::communities;
use crate::reference::{Arguments, Compare, EdgeList, Graph, Weighted, Weights, random_edges};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use topostream::algorithms::leiden::{Leiden, Objective, Partitions, Quality};
use topostream::checkpoint::{Checkpoints, Every};
use topostream::checks::communities::{Partition, check_communities};
use topostream::model::algorithm::{Answer, AnswerValues, Values};
use topostream::{EngineOptions, VertexId};
use topostream_formats::Encoding;
use topostream_formats::encoding::PLAIN_PAGES;
use topostream_formats::write::Layout;
use topostream_tools::format::FormatOptions;

/// Groups with few edges between them, a hub whose list spans several pages, loops, repeated edges and vertices without
/// edges.
fn graph(groups: u32, edges_of_each: usize) -> EdgeList {
    let mut edges = Vec::new();
    for group in 0..groups {
        edges.extend(random_edges(group * 60..(group + 1) * 60, edges_of_each, group.into()));
    }
    let vertices = groups * 60;
    edges.extend(random_edges(0..vertices, edges_of_each * groups as usize / 4, 77));
    edges.extend((0..vertices).map(|vertex| (7, vertex)));
    edges.extend((0..50).flat_map(|vertex| [(vertex, vertex), (vertex, vertex + 1), (vertex, vertex + 1)]));
    EdgeList::new(vertices + 20, edges)
}

/// Runs it; returns the label of each vertex, and the quality.
fn run(store: &TestStore, leiden: Leiden, options: EngineOptions) -> (Vec<f64>, Quality) {
    let found = leiden.run(&store.engine(options), &mut |_| {}).unwrap();
    let labels = found.last().column::<VertexId>("community").unwrap();
    (labels.iter().map(|label| f64::from(label.0)).collect(), found.qualities()[0])
}

/// The quality by its definition: sums over all pairs of vertices of the same community.
fn modularity(graph: &EdgeList, weights: Option<&[u32]>, labels: &[f64], directed: bool, resolution: f64) -> f64 {
    let (mut out, mut into) = (vec![0.0; labels.len()], vec![0.0; labels.len()]);
    let (mut inside, mut total) = (0.0, 0.0);
    for (place, &(source, dest)) in graph.edges.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[place].into());
        // An undirected graph has each edge both ways, but loops once.
        let ends = if !directed && source == dest { 2.0 } else { 1.0 };
        total += ends * weight;
        out[labels[source as usize] as usize] += ends * weight;
        into[labels[dest as usize] as usize] += ends * weight;
        if labels[source as usize] == labels[dest as usize] {
            inside += ends * weight;
        }
    }
    let by_chance: f64 = out.iter().zip(&into).map(|(out, into)| (out / total) * (into / total)).sum();
    inside / total - resolution * by_chance
}

/// The oracle's communities.
fn expected(graph: &EdgeList, weights: Option<&[u32]>, directed: bool, words: &str, refines: bool) -> Vec<f64> {
    let graph = Graph::of_edges(graph, weights.map(|weights| (weights, Weights::U32)), directed);
    communities(&graph, &Arguments::of(words), refines).into_iter().map(f64::from).collect()
}

/// Levels on which vertices move one after another, and levels of batches.
#[test]
fn equals_the_oracle() {
    for (groups, edges) in [(12, 200), (60, 700)] {
        let graph = graph(groups, edges);
        for directed in [true, false] {
            let random = EdgeList::new(3000, random_edges(0..3000, 40_000, 9));
            let graph = if groups > 20 && directed { random } else { graph.clone() };
            let options = FormatOptions { symmetrize: !directed, ..small_pages(Encoding::VertexId) };
            let (store, graph) =
                (TestStore::new(&graph, &options), if directed { graph.clone() } else { graph.symmetrized() });
            for (words, leiden) in [
                ("", Leiden::default()),
                ("--seed 5 --resolution 2.5", Leiden { seed: 5, resolutions: vec![2.5], ..Leiden::default() }),
                ("--iterations 1", Leiden { iterations: 1, refines: false, ..Leiden::default() }),
                (
                    "--objective cpm --resolution 0.05",
                    Leiden { objective: Objective::Cpm, resolutions: vec![0.05], ..Leiden::default() },
                ),
            ] {
                let expected = expected(&graph, None, directed, words, leiden.refines);
                let (resolution, objective) = (leiden.resolutions[0], leiden.objective);
                let (found, quality) = run(&store, leiden, EngineOptions::default());
                Compare::Groups.check(&found, &expected).unwrap_or_else(|error| panic!("{words}, {directed}: {error}"));
                if objective == Objective::Modularity {
                    let by_definition = modularity(&graph, None, &found, directed, resolution);
                    assert!((quality.value - by_definition).abs() < 1e-12, "{quality:?}, not {by_definition}");
                }
            }
        }
    }
}

/// Neither threads, nor memory, nor the encoding of pages count.
#[test]
fn the_same_bits_everywhere() {
    // Without clear communities there are many partitions of about the same quality.
    let graph = EdgeList::new(3000, random_edges(0..3000, 40_000, 5));
    let base = |encoding, page_bytes| {
        let small = small_pages(encoding);
        FormatOptions { symmetrize: true, layout: Layout { page_bytes, ..small.layout }, ..small }
    };
    let packed = Encoding::packed(1 << 18, PLAIN_PAGES).unwrap();
    let stores = [base(Encoding::VertexId, 1 << 16), base(packed, 1 << 18), base(Encoding::VertexId, 1 << 17)];
    let mut answers = Vec::new();
    for store in stores.map(|options| TestStore::new(&graph, &options)) {
        for threads in [1, 2, 5] {
            let options =
                EngineOptions::default().with_threads(threads).with_memory_bytes((40 + 20 * threads as u64) << 20);
            answers.push(run(&store, Leiden::default(), options));
        }
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let store = TestStore::new(&graph, &base(Encoding::VertexId, 1 << 16));
    let other = run(&store, Leiden { seed: 1, ..Leiden::default() }, EngineOptions::default());
    assert!(answers[0].0 != other.0, "another seed is another answer");
    assert!((answers[0].1.value / other.1.value - 1.0).abs() < 0.02, "{:?}, {:?}", answers[0].1, other.1);
}

/// Levels on disk: the same bits as in memory.
#[test]
fn lists_on_disk() {
    // Some ten pages each way: a level that is on disk reads them all for every range of its groups.
    let random = random_edges(0..5_000, 50_000, 5);
    let loops = (0..400).flat_map(|vertex| [(vertex, vertex), (vertex, vertex + 1), (9, vertex * 10)]);
    let graph = EdgeList::new(5_010, random.into_iter().chain(loops).collect());
    let weights: Vec<u32> = (0..graph.edges.len() as u32).map(|edge| edge.wrapping_mul(2_654_435_761) >> 24).collect();
    for (directed, weighted) in [(false, false), (true, false), (true, true)] {
        let base = small_pages(Encoding::packed(1 << 16, PLAIN_PAGES).unwrap());
        let options = FormatOptions { symmetrize: !directed, in_edges: directed, ..base };
        let store = match weighted {
            true => {
                let float = weights.iter().map(|&weight| (weight as f32 / 8.0).to_bits()).collect();
                let weighted = Weighted { graph: graph.clone(), weights: float, float: true };
                TestStore::weighted(&weighted, true, &options)
            }
            false => TestStore::new(&graph, &options),
        };
        let leiden = Leiden { weights: weighted, iterations: 1, ..Leiden::default() };
        let in_memory = run(&store, leiden.clone(), EngineOptions::default());
        // The last has ranges of few groups, and groups that do not fit.
        for (lists_bytes_max, levels_min) in
            [(9 << 18, 1), (1 << 17, 3), (1 << 14, 4)].into_iter().skip(directed.into())
        {
            let on_disk = run(&store, Leiden { lists_bytes_max, ..leiden.clone() }, EngineOptions::default());
            assert!(in_memory.0 == on_disk.0, "directed {directed}: {:?}, {:?}", in_memory.1, on_disk.1);
            assert_eq!(in_memory.1.value.to_bits(), on_disk.1.value.to_bits());
            assert!(on_disk.1.levels_on_disk >= levels_min, "{:?}", on_disk.1);
        }
        let folder = store.path().parent().unwrap().to_owned();
        let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with("topostream-leiden")));
    }
}

/// Several resolutions are what each is alone, in memory and from disk, and so are columns of one run.
#[test]
fn several_resolutions() {
    let graph = EdgeList::new(5_000, random_edges(0..5_000, 25_000, 6));
    let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::packed(1 << 16, PLAIN_PAGES).unwrap()) };
    let small = EdgeList::new(300, random_edges(0..300, 1500, 6));
    for (graph, lists_bytes_max) in [(&graph, u64::MAX), (&graph, 1 << 18), (&small, u64::MAX)] {
        let store = TestStore::new(graph, &options);
        let resolutions = vec![2.0, 0.5, 1.25, 100.0];
        let leiden = Leiden { lists_bytes_max, ..Leiden::default() };
        let engine = || store.engine(EngineOptions::default());
        let all = Leiden { resolutions: resolutions.clone(), ..leiden.clone() }.run(&engine(), &mut |_| {}).unwrap();
        let answers = all.answers();
        let names: Vec<_> = answers.iter().map(|answer| &*answer.name).collect();
        assert_eq!(names, ["community_2", "community_0.5", "community_1.25", "community_100"]);
        for ((answer, quality), resolution) in answers.iter().zip(all.qualities()).zip(resolutions) {
            let alone = Leiden { resolutions: vec![resolution], ..leiden.clone() };
            let (labels, of_one) = run(&store, alone, EngineOptions::default());
            let AnswerValues::Vertex(values) = &answer.values else { panic!("communities are vertices") };
            let found: Vec<_> = values.iter(store.open().vertices()).map(|of| f64::from(of.unwrap().0)).collect();
            assert!(found == labels, "{resolution}");
            assert_eq!((quality.value.to_bits(), quality.communities), (of_one.value.to_bits(), of_one.communities));
        }
    }
}

/// Lists that cannot be read from disk are refused, with what to do.
#[test]
fn lists_that_must_fit_in_memory() {
    let graph = EdgeList::new(5000, random_edges(0..5000, 60_000, 3));
    for (options, expected) in [
        (FormatOptions { shards: 2, ..small_pages(Encoding::VertexId) }, "are divided into shards: raise --memory"),
        (
            FormatOptions { in_edges: false, ..small_pages(Encoding::VertexId) },
            "there are no in-lists of this directed graph: raise --memory, or reformat",
        ),
    ] {
        let store = TestStore::new(&graph, &options);
        let leiden = Leiden { lists_bytes_max: 1, ..Leiden::default() };
        let error =
            leiden.run(&store.engine(EngineOptions::default()), &mut |_| {}).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn weights() {
    let graph = graph(12, 200);
    let integers: Vec<u32> = (0..graph.edges.len() as u32).map(|edge| edge.wrapping_mul(2_654_435_761) >> 24).collect();
    let expected = expected(&graph, Some(&integers), true, "--weights", true);
    for float in [false, true] {
        let bits = |&weight: &u32| if float { (weight as f32 / 8.0).to_bits() } else { weight };
        let weighted = Weighted { graph: graph.clone(), weights: integers.iter().map(bits).collect(), float };
        let store = TestStore::weighted(&weighted, true, &small_pages(Encoding::VertexId));
        let (found, quality) = run(&store, Leiden { weights: true, ..Leiden::default() }, EngineOptions::default());
        let by_definition = modularity(&graph, Some(&integers), &found, true, 1.0);
        assert!((quality.value - by_definition).abs() < 1e-12, "float {float}: {quality:?}, not {by_definition}");
        // Whole numbers over 8 become whole numbers times a power of two.
        Compare::Groups.check(&found, &expected).unwrap_or_else(|error| panic!("float {float}: {error}"));
    }
}

/// A run that goes on from any checkpoint has the same answer.
#[test]
fn checkpoints() {
    const VERTICES: u32 = 5_000;
    let graph = EdgeList::new(VERTICES, random_edges(0..VERTICES, 25_000, 6));
    let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::packed(1 << 16, PLAIN_PAGES).unwrap()) };
    let store = TestStore::new(&graph, &options);
    let folder = store.path().with_file_name("checkpoints");
    let open = |every, resume| Checkpoints::open(&folder, Every::Supersteps(every), resume, |_| {}).map(Arc::new);
    let with = |checkpoints: Arc<Checkpoints>| store.engine(EngineOptions::default().with_checkpoints(checkpoints));
    for (resolutions, lists_bytes_max) in [(vec![1.0], u64::MAX), (vec![1.0], 1 << 18), (vec![1.0, 3.0], u64::MAX)] {
        let leiden = Leiden { keeps_levels: resolutions.len() == 1, resolutions, lists_bytes_max, ..Leiden::default() };
        let answers = |partitions: &Partitions| -> Vec<Vec<u32>> {
            let column = |answer: &Answer<'_>| {
                let AnswerValues::Vertex(values) = &answer.values else { panic!("communities are vertices") };
                (0..VERTICES).map(|vertex| values.get(vertex).unwrap().0).collect()
            };
            partitions.answers().iter().map(column).collect()
        };
        let run = |checkpoints| {
            let levels = Arc::default();
            let leiden = Leiden { levels: Arc::clone(&levels), ..leiden.clone() };
            let partitions = leiden.run(&with(checkpoints), &mut |_| {}).unwrap();
            (answers(&partitions), levels.get().unwrap().clone(), partitions)
        };
        let mut before = None;
        for every in [1, 2, 3] {
            let checkpoints = open(every, false).unwrap();
            let whole = run(Arc::clone(&checkpoints));
            let reported = whole.2.report.checkpoints.as_ref().unwrap();
            assert!(reported.written > 0 && reported.resumed.is_none(), "{reported:?}");
            drop(checkpoints);
            let other = Leiden { seed: 1, ..leiden.clone() };
            let error = other.run(&with(open(every, true).unwrap()), &mut |_| {}).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("parameter seed: 0 in the checkpoint, 1 in this run"), "{error}");
            let checkpoints = open(1 << 40, true).unwrap();
            let resumed = run(Arc::clone(&checkpoints));
            let reported = resumed.2.report.checkpoints.as_ref().unwrap();
            assert!(reported.written == 0 && reported.resumed.is_some(), "{reported:?}");
            assert!(resumed.0 == whole.0 && resumed.1 == whole.1, "every {every}");
            assert!(before.is_none_or(|before| before == whole.0));
            checkpoints.clear().unwrap();
            before = Some(whole.0);
        }
    }
}

/// A folder where no level can be put is refused at the beginning.
#[test]
fn folders_for_levels() {
    let graph = EdgeList::new(5000, random_edges(0..5000, 60_000, 3));
    let store = TestStore::new(&graph, &FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) });
    for folder in [store.path().join("graph.json"), store.path(), store.path().with_file_name("nowhere")] {
        let leiden = Leiden { lists_bytes_max: 1, temporary: Some(folder.clone()), ..Leiden::default() };
        let error = leiden.run(&store.engine(EngineOptions::default()), &mut |_| {}).map(|_| ()).unwrap_err();
        let expected =
            format!("{}: a level does not fit in memory, and no folder for it can be made", folder.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

/// The levels go from small groups to the communities, each of whole groups of the one before.
#[test]
fn levels() {
    let graph = EdgeList::new(20_000, random_edges(0..19_990, 100_000, 6));
    let options = FormatOptions { symmetrize: true, ..small_pages(Encoding::VertexId) };
    let store = TestStore::new(&graph, &options);
    let levels = Arc::default();
    let leiden = Leiden { keeps_levels: true, levels: Arc::clone(&levels), ..Leiden::default() };
    let (labels, _) = run(&store, leiden, EngineOptions::default());
    let mut all: Vec<Vec<f64>> = Vec::new();
    let add = |_, level: Vec<AtomicU32>| {
        all.push(level.into_iter().map(|label| label.into_inner().into()).collect());
        Ok::<_, ()>(())
    };
    levels.get().unwrap().each(add).unwrap();
    assert!(all.len() > 2, "{} levels", all.len());
    for two in all.windows(2) {
        for (small, large) in two[0].iter().zip(&two[1]) {
            assert_eq!(two[1][*small as usize], *large, "a group is within one of the next level");
        }
        let count = |level: &[f64]| level.iter().zip(0u32..).filter(|(label, at)| **label == f64::from(*at)).count();
        assert!(count(&two[0]) > count(&two[1]));
    }
    assert!(all.last() == Some(&labels));
}

/// The check by stored edges passes what a run has found, and nothing else.
#[test]
fn wrong_communities_are_found() {
    let graph = graph(4, 80);
    let weights: Vec<u32> = (0..graph.edges.len() as u32).map(|edge| edge * 7 % 11).collect();
    for (directed, weighted, objective) in [
        (false, false, Objective::Modularity),
        (true, false, Objective::Modularity),
        (true, true, Objective::Modularity),
        (false, false, Objective::Cpm),
    ] {
        let options = FormatOptions { symmetrize: !directed, ..small_pages(Encoding::VertexId) };
        let store = match weighted {
            true => {
                let weighted = Weighted { graph: graph.clone(), weights: weights.clone(), float: false };
                TestStore::weighted(&weighted, true, &options)
            }
            false => TestStore::new(&graph, &options),
        };
        let resolutions = vec![if objective == Objective::Cpm { 0.02 } else { 1.0 }];
        let leiden = Leiden { weights: weighted, objective, resolutions, ..Leiden::default() };
        let (labels, quality) = run(&store, leiden, EngineOptions::default());
        let opened = store.open();
        let check = |labels: &[f64], value: f64| {
            let values = Values::new(|vertex: u32| Some(VertexId(labels[vertex as usize] as u32)));
            let quality = Quality { value, ..quality };
            let name = ("leiden", "community");
            let partition = Partition { name, labels: &values, objective, weights: weighted, quality };
            check_communities(&opened, &partition, &AtomicBool::new(false)).map_err(|error| error.to_string())
        };
        let checked = check(&labels, quality.value).unwrap();
        assert_eq!((checked.communities, checked.edges), (quality.communities, opened.edges()));
        let error = check(&labels, quality.value + 1e-6).unwrap_err();
        assert!(error.contains("its quality is "), "{error}");
        // The last vertices have no edges: each is a community, and two of them are not one.
        let (one, other) = (labels.len() - 2, labels.len() - 1);
        let mut joined = labels.clone();
        joined[other] = one as f64;
        let error = check(&joined, quality.value).unwrap_err();
        assert!(error.contains(&format!("of vertex {one} leads to its vertex {other}")), "{error}");
        joined[one] = 0.0;
        let error = check(&joined, quality.value).unwrap_err();
        assert!(error.contains(&format!("of vertex {other} is not named after one of its vertices")), "{error}");
    }
}

#[test]
fn what_is_no_graph_for_it_is_refused() {
    let graph = graph(2, 50);
    let store = TestStore::new(&graph, &small_pages(Encoding::VertexId));
    let refused = |leiden: Leiden, options: EngineOptions| {
        leiden.run(&store.engine(options), &mut |_| {}).map(|_| ()).unwrap_err().to_string()
    };
    let resolution = refused(Leiden { resolutions: vec![-1.0], ..Leiden::default() }, EngineOptions::default());
    assert_eq!(resolution, "leiden: a resolution of -1: expected one from 0 to 1000");
    let weights = refused(Leiden { weights: true, ..Leiden::default() }, EngineOptions::default());
    assert_eq!(weights, "--weights: the store has no weights");
    let memory = refused(Leiden::default(), EngineOptions::default().with_memory_bytes(1 << 10));
    assert!(memory.starts_with("leiden needs "), "{memory}");
    let empty = TestStore::new(&EdgeList::new(3, Vec::new()), &small_pages(Encoding::VertexId));
    let (found, quality) = run(&empty, Leiden::default(), EngineOptions::default());
    assert_eq!((found, quality.value), (vec![0.0, 1.0, 2.0], 0.0));
    for (resolutions, expected) in [
        (vec![1.0, 0.5, 1.0], "leiden: the resolution 1 is there twice"),
        (Vec::new(), "leiden: expected at least one resolution"),
    ] {
        assert_eq!(refused(Leiden { resolutions, ..Leiden::default() }, EngineOptions::default()), expected);
    }
}
