//! Published graphs. Small ones are in `tests/data` of the repository, the others in the folder that
//! `TOPOSTREAM_TEST_DATA` names. A graph that is missing in that folder fails its test. If the variable is not set, the
//! test is skipped with a message on stderr.

use std::collections::HashSet;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use topostream_formats::{IdSpace, WeightType};
use topostream_readers::{Kind, Options};

use super::{Graph, assert_fails, read};

/// Returns the path of a published file; `None` if its test is skipped.
fn file(relative: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(relative);
    if here.exists() {
        return Some(here);
    }
    let Some(folder) = env::var_os("TOPOSTREAM_TEST_DATA") else {
        let why = "is not part of this repository, and TOPOSTREAM_TEST_DATA is not set";
        let _ = writeln!(std::io::stderr(), "skipped: {relative} {why}");
        return None;
    };
    let path = PathBuf::from(folder).join(relative);
    assert!(path.exists(), "TOPOSTREAM_TEST_DATA: {} does not exist", path.display());
    Some(path)
}

fn open(relative: &str) -> Option<Graph> {
    file(relative).map(|path| read(&path, &Options::default()).unwrap())
}

/// Edges, self-loops, and edges that repeat another (in either direction, if `undirected`).
fn figures(graph: &Graph, undirected: bool) -> [usize; 3] {
    let mut seen = HashSet::new();
    let [mut loops, mut repeated] = [0, 0];
    for (source, dest) in graph.pairs() {
        let swap = undirected && source > dest;
        if source == dest {
            loops += 1;
        } else if !seen.insert(if swap { (dest, source) } else { (source, dest) }) {
            repeated += 1;
        }
    }
    [graph.edges.len(), loops, repeated]
}

#[test]
fn metis_graphs() {
    for (name, vertices, expected) in [
        ("karate", 34, [156, 0, 78]),
        ("PGPgiantcompo", 10_680, [48_632, 0, 24_316]),
        ("wing", 62_032, [243_088, 0, 121_544]),
    ] {
        let Some(graph) = open(&format!("{name}/{name}.graph")) else { continue };
        assert_eq!(figures(&graph, true), expected, "{name}");
        assert_eq!(graph.info.ids, IdSpace::Range { first: 1, count: vertices });
    }
}

#[test]
fn snap_text() {
    if let Some(graph) = open("facebook_combined/facebook_combined.txt") {
        assert_eq!(figures(&graph, true), [88_234, 0, 0]);
    }
    if let Some(graph) = open("wiki-Vote/wiki-Vote.txt") {
        assert_eq!(figures(&graph, false), [103_689, 0, 0]);
        let ids: HashSet<u64> = graph.pairs().into_iter().flat_map(|(source, dest)| [source, dest]).collect();
        assert_eq!((ids.len(), graph.info.ids), (7_115, IdSpace::Named));
    }
}

#[test]
fn a_dimacs_graph_without_its_p_line() {
    for (path, expected, zeros) in [
        ("bremen-cut/bremen-cut.gr.xz", [19_226, 100, 209], 8),
        ("bremen_dist/bremen_dist.gr", [86_475, 305, 1_059], 21),
    ] {
        let Some(graph) = open(path) else { continue };
        assert_eq!(figures(&graph, false), expected);
        assert_eq!(graph.info.ids, IdSpace::Named);
        assert_eq!(graph.info.weights, Some(WeightType::U32));
        assert_eq!(graph.edges.iter().filter(|edge| edge.weight == 0).count(), zeros);
    }
}

#[test]
fn canonical_files() {
    for (path, edges, weights) in [
        ("karate/karate.el.zst", 78, None),
        ("rmat-12/rmat-12.el.zst", 31_274, None),
        ("bremen-cut/bremen-cut.wel.zst", 18_917, Some(WeightType::U32)),
        ("PGPgiantcompo/PGPgiantcompo.el.zst", 24_316, None),
        ("wing/wing.el.zst", 121_544, None),
        ("facebook_combined/facebook_combined.el.zst", 88_234, None),
        ("wiki-Vote/wiki-Vote.el.zst", 103_689, None),
        ("luxembourg_osm/luxembourg_osm.el.zst", 119_666, None),
        ("Cornell5/Cornell5.el.zst", 790_777, None),
        ("uk-2007-05-100k/uk-2007-05-100k.el.zst", 3_034_945, None),
        ("synth-kron16/synth-kron16.el.zst", 909_646, None),
        ("bremen_dist/bremen_dist.wel.zst", 85_111, Some(WeightType::U32)),
        ("chicago-regional/chicago-regional.wel.zst", 39_018, Some(WeightType::F32)),
    ] {
        let Some(graph) = open(path) else { continue };
        assert_eq!((graph.edges.len(), graph.info.weights), (edges, weights), "{path}");
        assert_eq!(graph.info.ids, IdSpace::UpToLargest);
    }
}

#[test]
fn files_whose_contents_do_not_match_their_names() {
    if let Some(path) = file("luxembourg_osm/luxembourg_osm.mtx") {
        assert_fails(read(&path, &Options::default()), &["luxembourg_osm.mtx:1: ", "--kind text", "\"2 1\""]);
        let text = Options { kind: Some(Kind::Text), ..Options::default() };
        assert_eq!(figures(&read(&path, &text).unwrap(), true), [119_666, 0, 0]);
    }
    if let Some(path) = file("chicago-regional/chicagoregional_net.csv") {
        assert_fails(read(&path, &Options::default()), &["chicagoregional_net.csv:1: ", "a vertex id", "from"]);
    }
    if let Some(path) = file("uk-2007-05-100k/uk-2007-05@100000.graph") {
        assert_fails(read(&path, &Options::default()), &["100000.graph:1: ", "the header of a METIS graph"]);
    }
}

#[test]
fn graphalytics_examples() {
    for (name, directed, vertices, edges) in [("example-directed", true, 10, 17), ("example-undirected", false, 9, 12)]
    {
        let Some(properties) = file(&format!("graphalytics/example/{name}.properties")) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let copy = |from: &Path| std::fs::copy(from, folder.path().join(from.file_name().unwrap())).unwrap();
        copy(&properties);
        for extension in ["e", "v"] {
            copy(&file(&format!("graphalytics/example/{name}.{extension}")).unwrap());
        }
        let graph = read(folder.path(), &Options::default()).unwrap();
        assert_eq!((graph.edges.len(), graph.extra.len()), (edges, vertices));
        assert_eq!((graph.info.directed, graph.info.mirror), (directed, !directed));
        assert_eq!(graph.info.weights, Some(WeightType::F32));
    }
    if let Some(path) = file("graphalytics/sssp/dir-input.e") {
        let graph = read(&path, &Options::default()).unwrap();
        assert!(graph.info.directed && !graph.extra.is_empty() && graph.info.weights == Some(WeightType::F32));
    }
}
