//! Pajek's networks, and the DIMACS files of other problems than shortest paths.

use topostream_formats::{IdSpace, WeightType};
use topostream_readers::{self as readers, Kind, Options, WeightsOption};

use super::{Sample, assert_fails};

fn note(sample: &Sample) -> String {
    readers::open(&sample.path, &Options::default()).unwrap().note().unwrap_or_default()
}

/// Name and text of a file; its triples, the number of vertices, whether it is directed and mirrored.
type Case<'a> = (&'a str, &'a str, &'a [(u64, u64, u64)], u64, [bool; 2]);

const DIRECTED: [bool; 2] = [true, false];
const ONCE: [bool; 2] = [false, true];
const BOTH: [bool; 2] = [false, false];

#[track_caller]
fn assert_read(kind: Kind, cases: &[Case]) {
    for (name, text, triples, vertices, direction) in cases {
        let sample = Sample::new(name, text);
        assert_eq!(readers::recognise(&sample.path).unwrap(), kind, "{text}");
        let graph = sample.read().unwrap();
        assert_eq!(graph.triples(), *triples, "{text}");
        assert_eq!(graph.info.ids, IdSpace::Range { first: 1, count: *vertices }, "{text}");
        assert_eq!([graph.info.directed, graph.info.mirror], *direction, "{text}");
        assert_eq!(sample.in_small_blocks().unwrap().triples(), *triples, "{text}");
    }
}

#[test]
fn pajek() {
    assert_read(
        Kind::Pajek,
        &[
            (
                "a.net",
                "*Vertices 3\n1 \"a\"\n2 \"b\"\n3 \"c\"\n*Arcs :1 \"knows\"\n1 2\n2 3\n",
                &[(1, 2, 0), (2, 3, 0)],
                3,
                DIRECTED,
            ),
            ("a.txt", "*Vertices 4\r\n*Edges\r\n1 2 5\r\n2 3 2\r\n", &[(1, 2, 5), (2, 3, 2)], 4, ONCE),
            (
                "a",
                "% by x\n*Network n\n*vertices 3\n*arcs\n1 2 2\n*edges\n2 3 7\n3 3 1\n",
                &[(1, 2, 2), (2, 3, 7), (3, 2, 7), (3, 3, 1)],
                3,
                DIRECTED,
            ),
            ("a.net", "*Vertices 3\n*Arcslist\n1 2 3\n2 3\n", &[(1, 2, 0), (1, 3, 0), (2, 3, 0)], 3, DIRECTED),
            ("a.net", "*Vertices 3 1\n*Edgeslist\n1 2 3\n", &[(1, 2, 0), (1, 3, 0)], 3, ONCE),
            ("a.net", "*Vertices 3\n*Edges\n1 2 3 c Blue\n2 3\n", &[(1, 2, 3), (2, 3, 1)], 3, ONCE),
            ("a.net", "*Vertices 3\n*Arcs\n1 2 c Blue\n*Arcs :2 \"x\"\n2 1\n", &[(1, 2, 0), (2, 1, 0)], 3, DIRECTED),
            ("a.net", "*Vertices 3\n1 \"a\" 0.1 0.2\n*Arcs\n*Edges\n", &[], 3, DIRECTED),
            ("a.net", "*Vertices 2\n*Arcs\n1 2 0.5\n", &[(1, 2, u64::from(0.5f32.to_bits()))], 2, DIRECTED),
            ("a.net", "*Vertices 2\n1 \"a b\"\n% c\n\n*Edges\n1 1\n", &[(1, 1, 0)], 2, ONCE),
        ],
    );
    assert!(
        note(&Sample::new("a.net", "*Vertices 2\n1 \"a\"\n*Edges\n1 2 7\n2 2\n")).contains("1 row without a weight")
    );
    let said = note(&Sample::new("a.net", "*Vertices 2\n1 \"a\"\n*Arcs :1\n1 2\n*Arcs :2\n2 1\n"));
    assert!(said.contains("2 sections") && said.contains("labels of vertices are not kept"), "{said}");
    let fails = |text: &str, words: &[&str]| assert_fails(Sample::new("a.net", text).read(), words);
    fails("*Vertices 3\n*Arcs\n1 4\n", &["a.net:3", "vertex ids from 1 to 3", "\"1 4\""]);
    fails("*Vertices 3\n*Arcslist\n1 2 9\n", &["a.net:3", "vertex ids from 1 to 3"]);
    fails("*Vertices x\n", &["a.net:1", "*Vertices and the number of vertices"]);
    fails("*Arcs\n1 2\n", &["a.net:1", "*Vertices before arcs"]);
    fails("*Vertices 2\n*Matrix\n0 1\n1 0\n", &["a.net:2", "a matrix is not read"]);
    fails("*Vertices 2\n*Arcs\n1 2\n*Vertices 3\n", &["a.net:4", "one network"]);
    fails("*Vertices 2\n*Partition p\n", &["a.net:2", "*Arcslist"]);
    fails("*Network n\n1 2\n", &["a.net:2", "*Vertices"]);
    let sample = Sample::new("a.net", "*Vertices 2\n*Arcs\n1 2\n");
    assert_fails(sample.read_with_weights(WeightsOption::As(WeightType::U32)), &["weights", "drop --weight-type"]);
    let directed = Options { directed: true, ..Options::default() };
    let mixed = Sample::new("a.net", "*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n");
    assert_eq!(super::read(&mixed.path, &directed).unwrap().pairs(), [(1, 2), (2, 3)]);
}

/// Lists that are longer than a chunk.
#[test]
fn a_long_line_of_pajek() {
    let dests: String = (1..=300_000).map(|dest| format!(" {dest}")).collect();
    let graph = Sample::new("a.net", format!("*Vertices 300000\n*Arcslist\n1{dests}\n2 1\n")).read().unwrap();
    assert_eq!((graph.edges.len(), graph.pairs()[299_999], graph.pairs()[300_000]), (300_001, (1, 300_000), (2, 1)));
}

#[test]
fn dimacs_of_other_problems() {
    assert_read(
        Kind::Dimacs,
        &[
            ("a.col", "c x\np edge 5 3\ne 1 2\ne 2 3\ne 3 4\n", &[(1, 2, 0), (2, 3, 0), (3, 4, 0)], 5, ONCE),
            (
                "a.col",
                "p col 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n",
                &[(1, 2, 0), (2, 1, 0), (2, 3, 0), (3, 2, 0)],
                3,
                BOTH,
            ),
            ("a.clq", "p col 4 2\nn 1 5\ne 1 2\ne 2 3\n", &[(1, 2, 0), (2, 3, 0)], 4, ONCE),
            ("a.max", "p max 4 2\nn 1 s\nn 4 t\na 1 2 5\na 2 1 6\n", &[(1, 2, 5), (2, 1, 6)], 4, DIRECTED),
            ("a.asn", "p asn 4 1\nn 1\na 1 3 5\n", &[(1, 3, 5)], 4, DIRECTED),
            ("a.gr", "c pace\np tw 4 2\n1 2\n2 3\n", &[(1, 2, 0), (2, 3, 0)], 4, ONCE),
            ("a.txt", "p edge 2 9\r\ne 1 2\r\n", &[(1, 2, 0)], 2, ONCE),
        ],
    );
    let sample = Sample::new("a.txt", "e 1 2\ne 2 3\n");
    assert_eq!((sample.read().unwrap().pairs(), sample.read().unwrap().info.mirror), (vec![(1, 2), (2, 3)], true));
    assert!(note(&sample).contains("undirected, each edge listed once"));
    let sample = Sample::new("a.col", "p edge 5 9\ne 1 2\n");
    assert_eq!(readers::open(&sample.path, &Options::default()).unwrap().claimed_edges(), Some(9));
    let fails = |text: &str, words: &[&str]| assert_fails(Sample::new("a.col", text).read(), words);
    fails("p edge 3 1\ne 1 4\n", &["a.col:2", "vertex ids from 1 to 3"]);
    fails("p edge 3 1\ne 1 2 7\n", &["a.col:2", "an edge: e SOURCE DEST"]);
    fails("p edge 3 1\na 1 2 7\n", &["a.col:2", "an edge: e SOURCE DEST"]);
    fails("p edge 4 4\ne 1 2\ne 2 1\ne 2 3\ne 3 4\n", &["a.col", "each in both", "--directed"]);
    let sample = Sample::new("a.col", "p edge 3 1\ne 1 2\n");
    assert_fails(
        sample.read_with_weights(WeightsOption::As(WeightType::F32)),
        &["edges without weights", "drop --weight-type"],
    );
    assert_eq!(Sample::new("a.max", "p max 2 1\na 1 2 5\n").read().unwrap().info.weights, Some(WeightType::U32));
}
