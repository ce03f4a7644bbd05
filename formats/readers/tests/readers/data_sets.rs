//! Graphalytics data sets: their files in various folders, their parameters and their reference outputs.

use super::{Sample, assert_fails, read};
use crate::packed::{gzip, zstandard};
use std::fs;
use std::path::Path;
use topostream_formats::{Error, WeightType};
use topostream_readers::{GraphalyticsData, Options, VertexList, VertexValues};

const PROPERTIES: &str = "# a graph\ngraph.c.vertex-file = c.v\ngraph.c.edge-file = c.e\ngraph.c.directed = true\n\
                          graph.c.edge-properties.names = time, weight\ngraph.c.edge-properties.types = integer, real\n\
                          graph.c.algorithms = bfs, SSSP,wcc\ngraph.c.bfs.source-vertex = 7\n\
                          graph.c.sssp.weight-property = weight\ngraph.c.pr.num-iterations = many\n";

fn names(path: &Path) -> Vec<String> {
    GraphalyticsData::find(path).unwrap().iter().map(|data| data.name().to_owned()).collect()
}

fn values(path: &Path) -> Result<Vec<(u64, u64)>, Error> {
    let (mut file, mut all) = (VertexValues::open(path, 1 << 20)?, Vec::new());
    while let Some(value) = file.next_value("a number")? {
        all.push(value);
    }
    Ok(all)
}

#[test]
fn parameters_and_references() {
    let sample = Sample::new("c.properties", PROPERTIES).and("c.e", "7 8 1 0.5\n").and("c-BFS", "7 0\n8 1\n");
    let folder = sample.folder.path();
    fs::write(folder.join("c-SSSP.gz"), gzip(b"7 0.0\n8 0.5\n")).unwrap();
    for path in ["c.properties", "c", "."] {
        assert_eq!(names(&folder.join(path)), ["c"], "{path}");
    }
    let data = &GraphalyticsData::find(folder).unwrap()[0];
    assert_eq!(data.algorithms(), ["bfs", "sssp", "wcc"]);
    assert_eq!(data.parameter::<u64>("bfs.source-vertex", "a vertex id").unwrap(), 7);
    assert!(data.has_graph());
    assert_eq!(data.reference("bfs"), Some(folder.join("c-BFS")));
    assert_eq!(data.reference("sssp"), Some(folder.join("c-SSSP.gz")));
    assert_eq!(data.reference("wcc"), None);
    let wrong = data.parameter::<u64>("pr.num-iterations", "a whole number");
    assert_fails(wrong, &["c.properties", "graph.c.pr.num-iterations = a whole number", "found many"]);
    let missing = data.parameter::<u64>("cdlp.max-iterations", "a whole number");
    assert_fails(missing, &["c.properties", "graph.c.cdlp.max-iterations", "no such line"]);
    fs::write(folder.join("d.properties"), PROPERTIES).unwrap();
    assert_eq!(names(folder), ["c", "d"]);
    assert_fails(GraphalyticsData::find(&folder.join("e")), &["a properties file"]);
}

/// Lists of vertices as text and as raw ids, plain and compressed; an extension of compression hides no other one.
#[test]
fn vertices_in_a_chosen_order() {
    let (folder, expected) = (tempfile::tempdir().unwrap(), [7, 0, (1 << 32) - 1, 12]);
    let narrow: Vec<u8> = expected.iter().flat_map(|&id| (id as u32).to_le_bytes()).collect();
    let wide: Vec<u8> = expected.iter().flat_map(|&id: &u64| id.to_le_bytes()).collect();
    let text = b"# hubs\n7\n\n0 \r\n% more\n4294967295\n12";
    for (name, bytes) in [
        ("a.txt", &text[..]),
        ("a", text),
        ("a.txt.gz", &gzip(text)),
        ("a.u32", &narrow),
        ("a.u32.zst", &zstandard(&narrow)),
        ("a.u64", &wide),
        ("a.u64.gz", &gzip(&wide)),
        ("empty.u64", b""),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let (mut list, mut ids) = (VertexList::open(&folder.path().join(name), 4096).unwrap(), Vec::new());
        while let Some(id) = list.next_id().unwrap() {
            ids.push(id);
        }
        assert_eq!(ids, if bytes.is_empty() { &[][..] } else { &expected[..] }, "{name}");
    }
    fs::write(folder.path().join("cut.u32"), &narrow[..10]).unwrap();
    let mut cut = VertexList::open(&folder.path().join("cut.u32"), 4096).unwrap();
    assert_eq!((cut.next_id().unwrap(), cut.next_id().unwrap()), (Some(7), Some(0)));
    assert_fails(cut.next_id(), &["cut.u32", "a multiple of 4 bytes", "found 10 bytes"]);
}

/// The weight is the property that the parameters of shortest paths name, in whichever column it is.
#[test]
fn the_weight_is_the_property_that_is_named() {
    let properties = PROPERTIES.replace("graph.c.vertex-file = c.v\n", "");
    let sample = Sample::new("c.properties", &properties).and("c.e", "7 8 1 0.5\n8 7 2 1.5\n");
    let graph = sample.read().unwrap();
    assert_eq!(graph.info.weights, Some(WeightType::F32));
    assert_eq!(graph.triples(), [(7, 8, 0.5f32.to_bits().into()), (8, 7, 1.5f32.to_bits().into())]);
    for (wrong, text) in [("7 8 1\n", "4 columns"), ("7 8 1 0.5 9\n", "4 columns"), ("7 8 1 x\n", "a weight")] {
        let sample = Sample::new("c.properties", &properties).and("c.e", wrong);
        assert_fails(sample.read(), &["c.e:1: ", text]);
    }
    let other = properties.replace("weight-property = weight", "weight-property = length");
    assert_fails(Sample::new("c.properties", other).and("c.e", "").read(), &["weight-property length", "time, weight"]);
}

/// An untrusted properties file cannot open files in other folders.
#[test]
fn files_elsewhere_are_refused() {
    let sample = Sample::new("c.properties", PROPERTIES).and("c.e", "7 8 1 0.5\n").and("c.v", "7\n8\n");
    assert!(sample.read().is_ok());
    let absolute = sample.folder.path().join("c.e").display().to_string();
    for (file, name) in [("c.e", absolute.as_str()), ("c.e", "../x/c.e"), ("c.v", "/dev/null"), ("c.v", "a/../../c.v")]
    {
        let properties = PROPERTIES.replace(&format!("= {file}\n"), &format!("= {name}\n"));
        let sample = Sample::new("c.properties", properties).and("c.e", "7 8 1 0.5\n").and("c.v", "7\n8\n");
        assert_fails(
            sample.read(),
            &["c.properties: expected graph.", "= the name of a file in the same folder", name],
        );
    }
    for (file, key) in [("c.e", "edge-file"), ("c.v", "vertex-file")] {
        let sample = Sample::new("c.properties", PROPERTIES.replace(&format!("= {file}\n"), "=\n"));
        let sample = sample.and("c.e", "7 8 1 0.5\n").and("c.v", "7\n8\n");
        let expected = format!("c.properties: expected graph.NAME.{key} = the name of a file");
        assert_fails(sample.read(), &[&expected, "found no name"]);
    }
}

/// The benchmark's own tests: lists of neighbours, or files of edges, under other names and in other folders.
#[test]
fn the_benchmarks_own_tests() {
    let properties = |name: &str, directed: &str| {
        format!(
            "graph.{name}.edge-file = {name}.e\ngraph.{name}.directed = {directed}\ngraph.{name}.algorithms = bfs\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("properties/test-bfs-directed.properties", properties("test-bfs-directed", "true").as_bytes());
    write("properties/test-bfs-undirected.properties", properties("test-bfs-undirected", "false").as_bytes());
    write("properties/elsewhere.properties", properties("elsewhere", "true").as_bytes());
    write("bfs/dir-input", b"1 2 3\n4\n\n3 9\n");
    write("bfs/dir-output", b"1 0\n");
    write("bfs/undir-input.e.zst", &zstandard(b"1 2\n"));
    write("bfs/undir-input.v", b"1\n2\n5\n");
    let expected = ["test-bfs-directed", "test-bfs-undirected"];
    assert_eq!(names(folder.path()), expected);
    assert_eq!(names(&folder.path().join("bfs")), expected);
    let all = GraphalyticsData::find(&folder.path().join("bfs")).unwrap();
    let graph = read(all[0].path(), &Options::default()).unwrap();
    assert_eq!((graph.pairs(), graph.extra), (vec![(1, 2), (1, 3), (3, 9)], vec![1, 4, 3]));
    assert!(graph.info.directed && !graph.info.mirror);
    let graph = read(all[1].path(), &Options::default()).unwrap();
    assert_eq!((graph.pairs(), graph.extra), (vec![(1, 2)], vec![1, 2, 5]));
    assert!(!graph.info.directed && graph.info.mirror);
    assert!(all[0].reference("bfs").unwrap().ends_with("bfs/dir-output"));
    assert_eq!((all[0].reference("pr"), all[1].reference("bfs")), (None, None));
    write("bfs/dir-input", b"1 2\n3 x\n");
    assert_fails(read(all[0].path(), &Options::default()), &["dir-input:2: ", "a vertex and its neighbours"]);
    let missing = folder.path().join("properties/elsewhere.properties");
    assert_fails(read(&missing, &Options::default()), &["elsewhere.e", "open"]);
}

#[test]
fn values_by_line() {
    let sample = Sample::new("c-BFS", "# id level\n7 0\r\n\n 18446744073709551615\t3\n1 9223372036854775807");
    assert_eq!(values(&sample.path).unwrap(), [(7, 0), (u64::MAX, 3), (1, i64::MAX as u64)]);
    for wrong in ["7", "7 0 1", "x 0", "7 x", "-1 0", "7 -1", "7 1.0"] {
        let sample = Sample::new("c-BFS", format!("1 2\n{wrong}\n"));
        assert_fails(values(&sample.path), &["c-BFS:2: expected a vertex id and a number", wrong]);
    }
    assert!(values(&Sample::new("c-BFS", "").path).unwrap().is_empty());
}
