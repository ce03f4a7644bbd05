//! Headers of plain lists: KONECT, SNAP, sizes in the first row, and Matrix Market's banner.

use std::path::Path;

use topostream_formats::{IdSpace, WeightType};
use topostream_readers::{self as readers, InputFile, Kind, Opened, Options, TableOptions, WeightsOption};

use super::{Sample, assert_fails};

/// What is said of a file.
fn note(sample: &Sample) -> String {
    readers::open(&sample.path, &Options::default()).unwrap().note().unwrap_or_default()
}

fn opened(path: &Path, table: &TableOptions) -> Opened {
    readers::open_inputs(&[InputFile::new(path)], &Options::default(), table).unwrap()
}

/// Name and rows of a list; its pairs, and whether it is directed and mirrored.
type Case<'a> = (&'a str, &'a str, &'a [(u64, u64)], [bool; 2]);

const DIRECTED: [bool; 2] = [true, false];
const ONCE: [bool; 2] = [false, true];
const BOTH: [bool; 2] = [false, false];

#[test]
fn konect_and_snap() {
    let cases: [Case; 12] = [
        ("out.ring", "% sym unweighted\n% 3 3 3\n1 2\n2 3\n3 1\n", &[(1, 2), (2, 3), (3, 1)], ONCE),
        ("out.ring", "% sym\n1 2\n2 3\n3 1\n", &[(1, 2), (2, 3), (3, 1)], ONCE),
        ("a.edges", "% sym unweighted\r\n1\t2\r\n", &[(1, 2)], ONCE),
        ("out.both", "% sym unweighted\n1 2\n2 1\n2 3\n3 2\n", &[(1, 2), (2, 1), (2, 3), (3, 2)], BOTH),
        ("out.asym", "% asym unweighted\n% 2 2 2\n1 2\n2 1\n", &[(1, 2), (2, 1)], DIRECTED),
        ("out.bip", "% bip unweighted\n% 4 3 2\n1 1\n2 1\n2 2\n3 2\n", &[(1, 4), (2, 4), (2, 5), (3, 5)], DIRECTED),
        ("out.time", "% sym positive\n% 2 3 3\n1 2 1 1082008561\n2 3 1 1082008562\n", &[(1, 2), (2, 3)], ONCE),
        (
            "a.txt",
            "# Undirected graph: a.txt\n# Nodes: 4 Edges: 3\n4\t2\n2\t9\n9\t1\n",
            &[(4, 2), (2, 9), (9, 1)],
            ONCE,
        ),
        ("a.txt", "# Undirected graph (each unordered pair of nodes is saved once): a\n1\t2\n", &[(1, 2)], ONCE),
        ("a.txt", "# Undirected graph: a\n1 2\n2 1\n", &[(1, 2), (2, 1)], BOTH),
        ("a.txt", "# Directed graph: a\n1 2\n2 1\n", &[(1, 2), (2, 1)], DIRECTED),
        ("a.txt", "# undirected, or so I think\n1 2\n", &[(1, 2)], DIRECTED),
    ];
    for (name, text, pairs, direction) in cases {
        let sample = Sample::new(name, text);
        let graph = sample.read().unwrap();
        assert_eq!((graph.pairs(), [graph.info.directed, graph.info.mirror]), (pairs.to_vec(), direction), "{text}");
        assert!(!note(&sample).is_empty(), "{text}");
        let as_listed = Options { directed: true, ..Options::default() };
        let graph = super::read(&sample.path, &as_listed).unwrap();
        assert_eq!([graph.info.directed, graph.info.mirror], DIRECTED, "{text}");
    }
    let said = note(&Sample::new("out.ring", "% sym unweighted\n1 2\n2 3\n"));
    assert!(
        said.contains("`% sym unweighted` undirected, each edge listed once") && said.contains("--directed"),
        "{said}"
    );
    assert!(note(&Sample::new("a.txt", "# undirected, or so I think\n1 2\n")).contains("--symmetrize"));
    assert_eq!(note(&Sample::new("a.txt", "# Ring\n1 2\n")), "");
}

#[test]
fn weights_of_konect() {
    let weights = |text: &str, option| {
        let graph = Sample::new("out.a", text).read_with_weights(option).unwrap();
        (graph.triples(), graph.info.weights)
    };
    let bits = |value: f32| u64::from(value.to_bits());
    let signed = "% sym signed\n1 2 -1\n2 3 1\n";
    let expected = (vec![(1, 2, bits(-1.0)), (2, 3, bits(1.0))], Some(WeightType::F32));
    assert_eq!(weights(signed, WeightsOption::Auto), expected);
    let timed = "% asym positive\n1 2 5 1082008561\n";
    assert_eq!(weights(timed, WeightsOption::Auto), (vec![(1, 2, 5)], Some(WeightType::U32)));
    assert_eq!(weights(timed, WeightsOption::Ignore), (vec![(1, 2, 0)], None));
    // A column of ones, before the time stamp.
    assert_eq!(weights("% asym unweighted\n1 2 1 77\n", WeightsOption::Auto), (vec![(1, 2, 0)], None));
    let dynamic = Sample::new("out.d", "% asym dynamic\n1 2 1 100\n1 2 -1 200\n");
    assert_fails(dynamic.read(), &["out.d", "add and remove edges", "--weight-type ignore"]);
    assert_eq!(dynamic.read_with_weights(WeightsOption::Ignore).unwrap().pairs(), [(1, 2), (1, 2)]);
}

/// Headers and rows that contradict each other.
#[test]
fn contradictions_are_refused() {
    let mixed = "% sym unweighted\n1 2\n2 1\n2 3\n3 4\n";
    assert_fails(Sample::new("out.a", mixed).read(), &["out.a", "each in both", "--symmetrize", "--directed"]);
    assert_eq!(
        super::read(&Sample::new("out.a", mixed).path, &Options { directed: true, ..Options::default() })
            .unwrap()
            .edges
            .len(),
        4
    );
    let beyond = Sample::new("out.a", "% bip unweighted\n% 2 3 2\n1 1\n3 3\n");
    assert_fails(beyond.read(), &["out.a:4", "a source from 1 to 3 and a dest from 1 to 2"]);
    assert_fails(Sample::new("out.a", "% bip\n1 1\n").read(), &["out.a", "% EDGES LEFT RIGHT", "--bipartite"]);
    assert_fails(Sample::new("out.a", "% sym\n1 2 3 4 5\n").read(), &["out.a:2", "2 to 4 columns"]);
}

/// As tables, whose ids may be names.
#[test]
fn headers_of_tables() {
    let sample = Sample::new("out.bip", "% bip unweighted\n1 1\n2 1\n2 2\n");
    let Opened::Names(mut table) = opened(&sample.path, &TableOptions::default()) else { panic!("ids are apart") };
    let mut batches = Vec::new();
    table.read(&mut batches).unwrap();
    let readers::Ids::Names(names) = &batches[0].ids else { panic!("names") };
    assert!(names.iter().eq([&b"source:1"[..], b"dest:1", b"source:2", b"dest:1", b"source:2", b"dest:2"]));
    assert!(table.info().directed && table.taken().text.contains("% bip"), "{}", table.taken().text);
    let sample = Sample::new("a.txt", "% sym unweighted\nann bob\nbob cid\n");
    let Opened::Names(table) = opened(&sample.path, &TableOptions::default()) else { panic!("names") };
    assert!(table.info().mirror && !table.info().directed && table.taken().text.contains("% sym"));
    // The first row is no edge of a table either.
    let sample = Sample::new("a.edges", "5 5 5\n2 1 3\n3 2 1\n4 3 2\n5 4 9\n5 1 4\n");
    let columns = readers::ColumnChoice { numbers: Some((1, 2, None)), ..Default::default() };
    let Opened::Numbers(mut source, taken) = opened(&sample.path, &TableOptions { columns, ..Default::default() })
    else {
        panic!("integers")
    };
    let mut chunk = Vec::new();
    source.read(&mut chunk).unwrap();
    assert_eq!(chunk.len(), 5);
    assert!(taken.text.contains("`5 5 5` is its sizes"), "{}", taken.text);
}

#[test]
fn a_first_row_of_sizes() {
    let range = |first, count| IdSpace::Range { first, count };
    let cases: [(&str, usize, IdSpace); 9] = [
        ("5 5 5\n2 1 3\n3 2 1\n4 3 2\n5 4 9\n5 1 4\n", 5, range(1, 5)),
        ("% a comment\n6 6 4\n1 2\n2 3\n3 4\n4 5\n", 4, range(1, 6)),
        ("4 4 4\n0 1\n1 2\n2 3\n3 0\n", 4, range(0, 4)),
        ("5 6\n1 2\n1 3\n2 3\n3 4\n4 5\n5 1\n", 6, range(1, 5)),
        ("4 4\n1 2 0.5\n2 3 0.25\n3 4 1\n4 1 2\n", 4, range(1, 4)),
        ("4 2 5\n1 1\n2 1\n3 2\n4 2\n4 1\n", 5, range(1, 6)),
        // Edges: a path whose ids descend, a loop, and ids beyond the first row.
        ("5 4\n4 3\n3 2\n2 1\n1 0\n", 5, IdSpace::Named),
        ("5 5 9\n1 2 3\n2 3 1\n", 3, IdSpace::Named),
        ("3 3 2\n1 2 5\n2 4 6\n", 3, IdSpace::Named),
    ];
    for (text, edges, ids) in cases {
        let sample = Sample::new("a.edges", text);
        let graph = sample.read().unwrap();
        assert_eq!((graph.edges.len(), graph.info.ids), (edges, ids), "{text}");
    }
    assert_eq!(Sample::new("a.edges", "4 2 5\n1 1\n2 1\n3 2\n4 2\n4 1\n").read().unwrap().pairs()[4], (4, 5));
    assert!(note(&Sample::new("a.edges", "5 5 9\n1 2 3\n2 3 1\n")).contains("is read as an edge, since 2 rows follow"));
    assert!(note(&Sample::new("a.txt", "5 4\n4 3\n3 2\n2 1\n1 0\n")).contains("--header"));
}

/// Sizes are counted in files that are larger than a sample.
#[test]
fn sizes_of_a_large_list() {
    let rows: String = (0..200_000u32).map(|row| format!("{} {}\n", row % 999 + 1, row * 7919 % 999 + 1)).collect();
    assert!(rows.len() > 1 << 20);
    let sample = Sample::new("a.edges", format!("999 999 200000\n{rows}"));
    let graph = sample.read().unwrap();
    assert_eq!((graph.edges.len(), graph.info.ids), (200_000, IdSpace::Range { first: 1, count: 999 }));
    assert_eq!(sample.in_small_blocks().unwrap().edges.len(), 200_000);
    // One row less: the first row is an edge as well as the others, but for its columns.
    let sample = Sample::new("a.edges", format!("999 200001\n{rows}"));
    assert_eq!(sample.read().unwrap().edges.len(), 200_001);
}

#[test]
fn odd_matrix_market_files() {
    let pattern = "matrix coordinate pattern general\n";
    let body = "3 3 2\n1 2\n2 3\n";
    for banner in ["%MatrixMarket ", "% MatrixMarket ", "%%%MatrixMarket ", "%%matrixmarket ", "%% MatrixMarket "] {
        let sample = Sample::new("a.mtx", format!("{banner}{pattern}{body}"));
        assert_eq!(sample.read().unwrap().pairs(), [(1, 2), (2, 3)], "{banner}");
        assert_eq!(readers::recognise(&sample.path).unwrap(), Kind::MatrixMarket);
        assert_eq!(note(&sample).is_empty(), banner.starts_with("%%matrix"), "{banner}");
    }
    let with = |values: &str, rest: &str| format!("%%MatrixMarket matrix coordinate {values} general\n{rest}");
    let sample = Sample::new("a.mtx", with("pattern", "% 3 3 2\n1 2\n2 3\n"));
    assert_eq!((sample.read().unwrap().pairs(), note(&sample).contains("in a comment")), (vec![(1, 2), (2, 3)], true));
    let sample = Sample::new("a.mtx", with("integer", "% 3 3 2\n1 2 4\n2 3 5\n"));
    assert_eq!(sample.read().unwrap().triples(), [(1, 2, 4), (2, 3, 5)]);
    // A comment with numbers is none where a size line follows.
    let sample = Sample::new("a.mtx", with("pattern", "% 9 9 9\n3 3 2\n1 2\n2 3\n"));
    assert_eq!((sample.read().unwrap().edges.len(), note(&sample)), (2, String::new()));
    let sample = Sample::new("a.mtx", with("pattern", "% 1 1 1\n1 2\n2 3\n"));
    assert_fails(sample.read(), &["a.mtx:3", "stands in a comment that does not fit"]);
    let sample = Sample::new("a.mtx", with("pattern", "3 3 1\n1 2 0.5\n"));
    assert_fails(sample.read(), &["a.mtx:3", "no value, since the banner says pattern", "real or integer"]);
    let sample = Sample::new("a.mtx", with("real", "3 3 1\n1 2\n"));
    assert_fails(sample.read(), &["a.mtx:3", "a value, as the banner says", "write pattern"]);
}

#[test]
fn edge_arrays_of_pbbs() {
    let sample = Sample::new("ring", "EdgeArray\n0 1\n1 2\n2 0\n");
    assert_eq!(sample.read().unwrap().pairs(), [(0, 1), (1, 2), (2, 0)]);
    assert!(note(&sample).contains("PBBS"));
    let sample = Sample::new("a.txt", "WeightedEdgeArray\n0 1 5\n1 2 6\n");
    assert_eq!(sample.read().unwrap().triples(), [(0, 1, 5), (1, 2, 6)]);
}
