//! Errors of readers name the file, the line, its text and what was expected.

use topostream_readers::{self as readers, Kind, Options};

use super::{CANONICAL, Sample, assert_fails, gap_binary, lists};

/// A file name, its contents, and parts of the message.
type Case<'a> = (&'a str, &'a str, &'a [&'a str]);

#[track_caller]
fn assert_all_fail(cases: &[Case]) {
    for (name, contents, parts) in cases {
        let result = Sample::new(name, contents).read();
        assert_fails(result, &[parts, &[*name][..]].concat());
    }
}

const ID: &str = "expected a vertex id from 0 to 18446744073709551615";

#[test]
fn text() {
    assert_all_fail(&[
        ("a.txt", "# c\n0 1\n0 -1\n", &["a.txt:3: ", ID, "found \"0 -1\""]),
        ("a.txt", "x y\n", &["a.txt: ", "ids that are integers", "strings"]),
        ("a.txt", "0 1\n18446744073709551616 1\n", &["a.txt:2: ", ID]),
        ("a.txt", "0 1\n1.5 2\n", &["a.txt:2: ", ID]),
        ("a.txt", "0 1\n1\n", &["a.txt:2: ", "2 columns: source dest"]),
        ("a.txt", "0 1\n1 2 3\n", &["a.txt:2: ", "2 columns", "\"1 2 3\""]),
        ("a.txt", "0 1 5\n\n1 2\n", &["a.txt:3: ", "3 columns: source dest weight"]),
        ("a.txt", "7\n", &["a.txt:1: ", "at least 2 columns"]),
        ("a.txt", "1 2 3 4\n", &["a.txt:1: ", "--weight-type ignore"]),
        ("a.txt", "1,,2\n", &["a.txt:1: ", "a cell is empty"]),
    ]);
    let long = format!("0 1\n{}\n", "9".repeat(200 << 10));
    assert_fails(Sample::new("a.txt", long).in_small_blocks(), &["a.txt:2: ", "a line of at most 65536 bytes", "999…"]);
}

#[test]
fn matrix_market() {
    let general = "%%MatrixMarket matrix coordinate pattern general\n";
    let with = |rest: &str| format!("{general}{rest}");
    assert_all_fail(&[
        ("a.mtx", "2 1\n1113 1\n", &["a.mtx:1: ", "%%MatrixMarket matrix coordinate", "--kind text", "\"2 1\""]),
        ("a.mtx", "%%MatrixMarket matrix array real general\n", &["a.mtx:1: ", "a sparse matrix"]),
        ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n", &["a.mtx:1: ", "complex"]),
        ("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n", &["a.mtx:1: ", "general or symmetric"]),
        ("a.mtx", "%%MatrixMarket vector coordinate real general\n", &["a.mtx:1: ", "<pattern|integer|real>"]),
        ("a.mtx", general, &["the size line", "the end of the file"]),
        ("a.mtx", &with("% c\n2 2\n"), &["a.mtx:3: ", "rows columns entries", "\"2 2\""]),
        ("a.mtx", &with("2 2 2\n1 1\n"), &["2 edges, as the size line says", "found 1 edge"]),
        ("a.mtx", &with("2 2 1\n1 1\n\n1 2\n2 2\n"), &["a.mtx:5: ", "the end of the file after 1 edge", "\"1 2\""]),
        ("a.mtx", &with("2 3 1\n3 1\n"), &["a.mtx:3: ", "a row from 1 to 2, a column from 1 to 3"]),
        ("a.mtx", &with("2 2 1\n0 1\n"), &["a.mtx:3: ", "from 1 to 2"]),
        ("a.mtx", &with("2 2 1\n1 1 1\n"), &["a.mtx:3: ", "\"1 1 1\""]),
    ]);
    let integer = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 -3\n";
    assert_fails(Sample::new("a.mtx", integer).read(), &["a.mtx:3: ", "--weight-type f32", "\"1 2 -3\""]);
}

#[test]
fn dimacs() {
    assert_all_fail(&[
        ("a.gr", "p sp 3\na 1 2 3\n", &["a.gr:1: ", "p sp VERTICES EDGES"]),
        ("a.gr", "p min 3 1\na 1 2 0 4 3\n", &["a.gr: ", "a DIMACS file of another problem"]),
        ("a.gr", "p sp 3 2\na 1 2 3\n", &["2 edges, as the p line says", "found 1 edge"]),
        ("a.gr", "p sp 3 1\na 1 2 3\nc\na 2 1 4\n", &["a.gr:4: ", "after 1 edge"]),
        ("a.gr", "p sp 3 1\na 1 4 3\n", &["a.gr:2: ", "vertex ids from 1 to 3"]),
        ("a.gr", "p sp 3 1\na 0 1 3\n", &["a.gr:2: ", "vertex ids from 1 to 3"]),
        ("a.gr", "p sp 3 1\na 1 x 3\n", &["a.gr:2: ", "vertex ids from 1 to 3"]),
        ("a.gr", "p sp 3 1\na 1 2\n", &["a.gr:2: ", "a SOURCE DEST WEIGHT"]),
        ("a.gr", "p sp 3 1\na 1 2 0.5\n", &["a.gr:2: ", "--weight-type f32"]),
        ("a.gr", "a 1 2 3\np sp 3 1\n", &["a.gr:2: ", "one p line at most"]),
        ("a.gr", "a 1 2 3\ne 1 2\n", &["a.gr:2: ", "a SOURCE DEST WEIGHT", "\"e 1 2\""]),
    ]);
}

#[test]
fn metis() {
    assert_all_fail(&[
        ("a.graph", "x\n", &["a.graph:1: ", "the header of a METIS graph", "\"x\""]),
        ("a.graph", "% c\n3\n", &["a.graph:2: ", "VERTICES EDGES"]),
        ("a.graph", "3 1 2\n", &["a.graph:1: ", "three digits of 0 and 1"]),
        ("a.graph", "2 1\n2\n3\n", &["a.graph:3: ", "a neighbour from 1 to 2", "\"3\""]),
        ("a.graph", "2 1\n0\n1\n", &["a.graph:2: ", "a neighbour from 1 to 2"]),
        ("a.graph", "2 1\n2\n1\n\n1\n", &["a.graph:5: ", "the end of the file after the lines of 2 vertices"]),
        ("a.graph", "4 1\n2\n1\n", &["4 vertex lines, as the header says", "found 2 vertex lines"]),
        (
            "a.graph",
            "2 2\n2\n1\n",
            &["4 neighbours in all, twice the header's 2 edges", "found 2, 0 of them self-loops"],
        ),
        (
            "a.graph",
            "2 1 1\n2 5\n1\n",
            &["a.graph:3: ", "the weight of the edge to neighbour 1", "the end of the line"],
        ),
        ("a.graph", "2 1 1\n2 5\n1 0.5\n", &["a.graph:3: ", "--weight-type f32", "\"0.5\""]),
        ("a.graph", "2 1 10\n9 2\n\n", &["a.graph:3: ", "1 numbers before the neighbours"]),
        ("a.graph", "2 1 10\nx 2\n\n", &["a.graph:2: ", "the size or a weight of the vertex"]),
    ]);
}

#[test]
fn adjacency() {
    assert_all_fail(&[
        ("a.adj", "Adjacency\n1\n", &["a.adj:1: ", "AdjacencyGraph or WeightedAdjacencyGraph", "\"Adjacency\""]),
        ("a.adj", "AdjacencyGraph\n2\n", &["the number of edges", "the end of the file"]),
        ("a.adj", "AdjacencyGraph\n2\n1\n0\n", &["an offset for each vertex"]),
        ("a.adj", "AdjacencyGraph\n2\n1\n1\n1\n0\n", &["a.adj:4: ", "0 as the first offset", "\"1\""]),
        ("a.adj", "AdjacencyGraph\n3\n2\n0\n2\n1\n1\n1\n", &["a.adj:6: ", "an offset from 2 to 2", "\"1\""]),
        ("a.adj", "AdjacencyGraph\n2\n1\n0\n2\n0\n", &["a.adj:5: ", "an offset from 0 to 1"]),
        ("a.adj", "AdjacencyGraph\n2\n1\n0\n1\n2\n", &["a.adj:6: ", "a dest id below 2", "\"2\""]),
        ("a.adj", "AdjacencyGraph\n2\n1\n0\n1\n", &["a dest id below 2", "the end of the file"]),
        ("a.adj", "AdjacencyGraph\n2\n1\n0\n1\n1\n0\n", &["a.adj:7: ", "the end of the file after", "\"0\""]),
        ("a.adj", "AdjacencyGraph\n0\n1\n1\n", &["a.adj:3: ", "0 edges, since there are no vertices"]),
        ("a.adj", "WeightedAdjacencyGraph 1 1 0 0 0.5", &["a.adj:1: ", "--weight-type f32"]),
        ("a.adj", "WeightedAdjacencyGraph 1 1 0 0", &["a.adj:1: ", "an integer weight", "the end of the file"]),
    ]);
}

#[test]
fn gap_binary_files() {
    let lists = lists(6, &CANONICAL);
    let good = gap_binary(false, &lists, false);
    let fails = |bytes: &[u8], parts: &[&str]| assert_fails(Sample::new("a.sg", bytes).read(), parts);
    fails(b"", &["a.sg: ", "the header of a serialized graph"]);
    fails(&good[..16], &["the header of a serialized graph"]);
    fails(&[&[2], &good[1..]].concat(), &["directed (0 or 1)"]);
    fails(&good[..good.len() - 1], &["97 bytes for 6 vertices, 6 edges without weights", "found 96 bytes"]);
    fails(&[&good[..], b"x"].concat(), &["97 bytes", "found 98 bytes"]);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    fails(&with(17, 1), &["an offset from 0 to 0 at byte 17", "found 1"]);
    fails(&with(33, 1), &["an offset from 2 to 6 at byte 33", "found 1"]);
    fails(&with(65, 5), &["an offset from 6 to 6 at byte 65", "found 5"]);
    fails(&with(77, 6), &["a neighbour below 6 at byte 77", "found 6"]);
    fails(&with(80, 0x80), &["a neighbour below 6 at byte 77", "found -214748"]);
    let negative = gap_binary(false, &[vec![(0, -3)]], true);
    assert_fails(Sample::new("a.wsg", negative).read(), &["a.wsg: ", "--weight-type f32", "at byte 33", "found -3"]);
}

#[test]
fn graphalytics() {
    assert_all_fail(&[
        ("a.properties", "graph.a.directed = true\n", &["graph.NAME.edge-file", "found none"]),
        ("a.properties", "graph.a.edge-file = a.e\n", &["graph.NAME.directed", "found none"]),
        ("a.properties", "graph.a.edge-file = a.e\ngraph.a.directed = yes\n", &["true or false", "found yes"]),
        ("a.v", "1\n", &["a.properties or ", "a.e", "found neither"]),
    ]);
    let base = "graph.a.edge-file = a.e\ngraph.a.vertex-file = a.v\ngraph.a.directed = true\n";
    let typed = format!("{base}graph.a.edge-properties.types = date\n");
    assert_fails(Sample::new("a.properties", typed).and("a.e", "").read(), &["real or integer", "found date"]);
    assert_fails(Sample::new("a.properties", base).read(), &["a.e: open: "]);
    let sample = Sample::new("a.properties", base).and("a.e", "1 2\n1 2 3\n").and("a.v", "1\n");
    assert_fails(sample.read(), &["a.e:2: ", "2 columns"]);
    let sample = Sample::new("a.properties", base).and("a.e", "1 2\n").and("a.v", "1\n2 x\n");
    assert_fails(sample.read(), &["a.v:2: ", "one vertex id", "\"2 x\""]);
    let several = Sample::new("a.e", "1 2\n").and("b.e", "1 2\n");
    let result = super::read(several.folder.path(), &Options::default());
    assert_fails(result, &["one .e file", "a.e and ", "b.e"]);
}

#[test]
fn raw_pairs() {
    assert_fails(Sample::new("a.u32", [0; 12]).read(), &["a.u32: ", "a multiple of 8 bytes", "found 12 bytes"]);
    assert_fails(Sample::new("a.u64", [0; 24]).read(), &["a.u64: ", "a multiple of 16 bytes", "found 24 bytes"]);
}

#[test]
fn names_and_kinds() {
    let parts = ["a.xyz: ", ".mtx", ".wsg", "%%MatrixMarket", "--kind", "begins \"hello"];
    assert_fails(Sample::new("a.xyz", "hello, world\n").read(), &parts);
    assert_fails(Sample::new("a.xyz", "").read(), &["an empty file"]);
    let folder = tempfile::tempdir().unwrap();
    assert_fails(super::read(&folder.path().join("none.txt"), &Options::default()), &["none.txt: open: "]);
    assert_fails(super::read(folder.path(), &Options::default()), &["a .properties or .e file", "neither"]);
    let text = Options { kind: Some(Kind::Text), ..Options::default() };
    assert_fails(super::read(folder.path(), &text), &["expected a file, found a directory"]);
    assert!(readers::recognise(folder.path().join("none.txt")).is_err());
}
