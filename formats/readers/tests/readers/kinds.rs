//! The canonical graph in every format.

use topostream_formats::{IdSpace, WeightType};
use topostream_readers::{Kind, recognise};

use super::{CANONICAL, Sample, gap_binary, lists};

const PAIRS: &str = "0 1\n0 2\n1 2\n2 0\n2 3\n4 4\n";
const TRIPLES: &str = "0 1 5\n0 2 3\n1 2 9\n2 0 7\n2 3 1\n4 4 2\n";

fn unweighted() -> Vec<(u64, u64)> {
    CANONICAL.iter().map(|&(source, dest, _)| (source, dest)).collect()
}

fn from_one() -> Vec<(u64, u64, u64)> {
    CANONICAL.iter().map(|&(source, dest, weight)| (source + 1, dest + 1, weight)).collect()
}

#[test]
fn text_as_snap_writes_it() {
    let text = "# Directed graph: canonical\r\n# FromNodeId\tToNodeId\r\n0\t1\r\n0\t2\r\n\r\n1\t2\r\n\
        \x20 2 0 \r\n2\t3\r\n% odd\r\n4\t4";
    let graph = Sample::new("canonical.txt", text).read().unwrap();
    assert_eq!(graph.pairs(), unweighted());
    assert_eq!((graph.info.ids, graph.info.weights), (IdSpace::Named, None));
    assert!(graph.info.directed && !graph.info.mirror);
    assert_eq!(graph.info.name, "canonical.txt");
}

#[test]
fn text_with_commas_and_a_byte_order_mark() {
    let text = format!("\u{feff}{}", TRIPLES.replace(' ', ","));
    let graph = Sample::new("canonical.csv", text).read().unwrap();
    assert_eq!(graph.triples(), CANONICAL);
    assert_eq!(graph.info.weights, Some(WeightType::U32));
}

#[test]
fn text_without_an_extension_is_recognised_by_its_numbers() {
    let sample = Sample::new("canonical", format!("# comment\n{PAIRS}"));
    assert_eq!(recognise(&sample.path).unwrap(), Kind::Text);
    assert_eq!(sample.read().unwrap().pairs(), unweighted());
}

#[test]
fn text_without_edges_is_an_error() {
    for text in ["", "# nothing\n", "\u{feff}", "\n\n  \n"] {
        let error = Sample::new("empty.txt", text).read().map(drop).unwrap_err().to_string();
        assert!(error.contains("expected an edge list, found ") && error.contains("empty.txt"), "{error}");
    }
}

#[test]
fn gap_text() {
    let graph = Sample::new("canonical.el", PAIRS).read().unwrap();
    assert_eq!((graph.pairs(), graph.info.ids), (unweighted(), IdSpace::UpToLargest));
    let graph = Sample::new("canonical.wel", TRIPLES).read().unwrap();
    assert_eq!((graph.triples(), graph.info.weights), (CANONICAL.to_vec(), Some(WeightType::U32)));
}

#[test]
fn matrix_market() {
    let text = "%%MatrixMarket matrix coordinate integer general\n% six vertices\n\n6 6 6\n\
                1 2 5\n1 3 3\n2 3 9\n3 1 7\n3 4 1\n5 5 2\n";
    let graph = Sample::new("canonical.mtx", text).read().unwrap();
    assert_eq!(graph.triples(), from_one());
    assert_eq!(graph.info.ids, IdSpace::Range { first: 1, count: 6 });
    assert!(graph.info.directed && !graph.info.mirror);
    assert_eq!(graph.info.weights, Some(WeightType::U32));
}

/// Rows and columns of a matrix that is not square are different vertices, and that is said.
#[test]
fn a_rectangular_matrix_is_bipartite() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n3 2 3\n1 1\n2 2\n3 2\n";
    let graph = Sample::new("tall.mtx", text).read().unwrap();
    assert_eq!(graph.pairs(), [(1, 4), (2, 5), (3, 5)]);
    assert_eq!(graph.info.ids, IdSpace::Range { first: 1, count: 5 });
}

#[test]
fn a_symmetric_matrix_is_undirected() {
    let text = "%%matrixmarket MATRIX Coordinate Pattern Symmetric\n3 3 2\n2 1\n3 3\n";
    let sample = Sample::new("symmetric", text);
    assert_eq!(recognise(&sample.path).unwrap(), Kind::MatrixMarket);
    let graph = sample.read().unwrap();
    assert_eq!(graph.pairs(), [(2, 1), (3, 3)]);
    assert!(!graph.info.directed && graph.info.mirror);
}

#[test]
fn dimacs() {
    let text = "c canonical\np sp 6 6\na 1 2 5\na 1 3 3\nc between\na 2 3 9\na 3 1 7\na 3 4 1\na 5 5 2\n";
    for name in ["canonical.gr", "canonical"] {
        let graph = Sample::new(name, text).read().unwrap();
        assert_eq!(graph.triples(), from_one());
        assert_eq!(graph.info.ids, IdSpace::Range { first: 1, count: 6 });
    }
}

#[test]
fn dimacs_without_its_p_line() {
    let graph = Sample::new("canonical", TRIPLES.lines().map(|line| format!("a {line}\n")).collect::<String>());
    let graph = graph.read().unwrap();
    assert_eq!((graph.triples(), graph.info.ids), (CANONICAL.to_vec(), IdSpace::Named));
}

#[test]
fn metis() {
    let text = "% triangle, a loop, an isolated vertex\n5 4\n2 3\n% inside\n 1 3 \n1 2\n4 4\n\n";
    let graph = Sample::new("canonical.graph", text).read().unwrap();
    assert_eq!(graph.pairs(), [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2), (4, 4), (4, 4)]);
    assert_eq!(graph.info.ids, IdSpace::Range { first: 1, count: 5 });
    assert!(!graph.info.directed && !graph.info.mirror);
}

#[test]
fn metis_with_all_kinds_of_weights() {
    let plain = [(1, 2, 7), (2, 1, 7), (2, 3, 4), (3, 2, 4)];
    for (header, lines) in [
        ("3 2 1", ["2 7", "1 7 3 4", "2 4"]),
        ("3 2 011", ["9 2 7", "9 1 7 3 4", "9 2 4"]),
        ("3 2 011 2", ["9 8 2 7", "9 8 1 7 3 4", "9 8 2 4"]),
        ("3 2 111 2", ["1 9 8 2 7", "1 9 8 1 7 3 4", "1 9 8 2 4"]),
        ("3 2 101", ["1 2 7", "1 1 7 3 4", "1 2 4"]),
    ] {
        let graph = Sample::new("weighted.graph", format!("{header}\n{}", lines.join("\n"))).read().unwrap();
        assert_eq!((graph.triples(), graph.info.weights), (plain.to_vec(), Some(WeightType::U32)), "{header}");
    }
    let graph = Sample::new("sizes.graph", "2 1 110\n1 9 2\n1 9 1\n").read().unwrap();
    assert_eq!((graph.pairs(), graph.info.weights), (vec![(1, 2), (2, 1)], None));
}

#[test]
fn adjacency_graphs() {
    let offsets = "0\n2\n3\n5\n5\n6\n";
    let graph = Sample::new("canonical", format!("AdjacencyGraph\n6\n6\n{offsets}1\n2\n2\n0\n3\n4\n")).read().unwrap();
    assert_eq!(graph.pairs(), unweighted());
    assert_eq!(graph.info.ids, IdSpace::Range { first: 0, count: 6 });
    let text = format!("WeightedAdjacencyGraph\n6\n6\n{offsets}1 2 2 0 3 4\n5 3 9 7 1 2");
    let graph = Sample::new("canonical.adj", text).read().unwrap();
    assert_eq!((graph.triples(), graph.info.weights), (CANONICAL.to_vec(), Some(WeightType::U32)));
    assert!(Sample::new("empty.adj", "AdjacencyGraph 0 0").read().unwrap().edges.is_empty());
    assert!(Sample::new("empty.adj", "AdjacencyGraph 2 0 0 0").read().unwrap().edges.is_empty());
}

#[test]
fn gap_binary_graphs() {
    let lists = lists(6, &CANONICAL);
    for directed in [true, false] {
        let graph = Sample::new("canonical.sg", gap_binary(directed, &lists, false)).read().unwrap();
        assert_eq!((graph.pairs(), graph.info.weights), (unweighted(), None));
        assert_eq!(graph.info.ids, IdSpace::Range { first: 0, count: 6 });
        assert_eq!((graph.info.directed, graph.info.mirror), (directed, false));
        let weighted = gap_binary(directed, &lists, true);
        let graph = Sample::new("canonical.wsg", &weighted).read().unwrap();
        assert_eq!((graph.triples(), graph.info.weights), (CANONICAL.to_vec(), Some(WeightType::U32)));
        let graph = Sample::new("canonical.bin", &weighted).read_as(Kind::GapBinary).unwrap();
        assert_eq!(graph.triples(), CANONICAL);
    }
    assert!(Sample::new("empty.sg", gap_binary(true, &[], false)).read().unwrap().edges.is_empty());
}

#[test]
fn graphalytics_by_every_name() {
    let properties = "# canonical\ngraph.c.vertex-file = c.v\ngraph.c.edge-file = c.e\ngraph.c.directed = false\n\
                      graph.c.edge-properties.names = weight\ngraph.c.edge-properties.types = integer\n";
    let sample = Sample::new("c.properties", properties).and("c.e", TRIPLES).and("c.v", "0\n1\n2\n3\n4\n5\n");
    for name in ["c.properties", "c.e", "c.v", "c", "."] {
        let graph = super::read(&sample.folder.path().join(name), &Default::default()).unwrap();
        assert_eq!((graph.triples(), graph.extra.as_slice()), (CANONICAL.to_vec(), &[0, 1, 2, 3, 4, 5][..]), "{name}");
        assert!(!graph.info.directed && graph.info.mirror);
        assert_eq!((graph.info.ids, graph.info.weights), (IdSpace::Named, Some(WeightType::U32)));
    }
}

#[test]
fn graphalytics_with_several_properties_or_none() {
    let properties = |types: &str| {
        format!("graph.c.edge-file = c.e\ngraph.c.directed = true\ngraph.c.edge-properties.types = {types}\n")
    };
    let sample = Sample::new("c.properties", properties("real, integer")).and("c.e", "8 9 0.5 3\n");
    let graph = sample.read().unwrap();
    assert_eq!(graph.triples(), [(8, 9, 0.5f32.to_bits().into())]);
    assert!(graph.info.directed && graph.extra.is_empty());
    let graph = Sample::new("c.properties", properties("")).and("c.e", "8 9\n").read().unwrap();
    assert_eq!(graph.pairs(), [(8, 9)]);
    let graph = Sample::new("c.e", TRIPLES).and("c.v", "17\n").read().unwrap();
    assert_eq!((graph.triples(), graph.extra), (CANONICAL.to_vec(), vec![17]));
    assert!(graph.info.directed);
}

#[test]
fn raw_pairs() {
    let ids = CANONICAL.iter().flat_map(|&(source, dest, _)| [source, dest]);
    let bytes: Vec<u8> = ids.clone().flat_map(u64::to_le_bytes).collect();
    assert_eq!(Sample::new("canonical.u64", bytes).read().unwrap().pairs(), unweighted());
    let bytes: Vec<u8> = ids.flat_map(|id| (id as u32).to_le_bytes()).collect();
    let graph = Sample::new("canonical.bin", bytes).read_as(Kind::RawU32).unwrap();
    assert_eq!((graph.pairs(), graph.info.ids), (unweighted(), IdSpace::Named));
}
