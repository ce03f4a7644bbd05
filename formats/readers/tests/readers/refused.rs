//! Files that are no edge lists are named in the error, with a way round.

use topostream_readers::{self as readers, ColumnChoice, InputFile, Kind, Options, TableOptions};

use super::{Sample, assert_fails};

#[track_caller]
fn refused(name: &str, contents: impl AsRef<[u8]>, words: &[&str]) {
    let sample = Sample::new(name, contents);
    assert_fails(sample.read(), &[words, &[name]].concat());
    let opened = readers::open_inputs(&[InputFile::new(&sample.path)], &Options::default(), &TableOptions::default());
    assert_fails(opened, &[words, &[name]].concat());
}

#[test]
fn formats_of_other_programs() {
    let binary = |begin: &[u8]| [begin, &[0; 64]].concat();
    let galois: Vec<u8> = [1u64, 4, 3, 2].into_iter().flat_map(u64::to_le_bytes).collect();
    let utf16: Vec<u8> = "\u{feff}1 2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, Vec<u8>, &[&str]); 31] = [
        ("g.gml", b"graph [\n  node [ id 1 ]\n]\n".to_vec(), &["a GML graph", "read_gml(\"g.gml\")"]),
        ("g.txt", b"Creator \"igraph\"\nVersion 1\ngraph\n[\n  node\n".to_vec(), &["a GML graph"]),
        ("g.gexf", b"<?xml version=\"1.0\"?>\n<gexf><graph/></gexf>".to_vec(), &["a GEXF graph", "read_gexf"]),
        ("g.xml", b"<?xml version=\"1.0\"?>\n<a/>".to_vec(), &["an XML document"]),
        ("g.txt", b"<!DOCTYPE html>\n<html><body>Not found</body>".to_vec(), &["a web page", "download"]),
        ("g.md", b"| source | target |\n|:---|---:|\n| 1 | 2 |\n".to_vec(), &["a table with drawn lines", "sed -E"]),
        ("h.md", b"a | b\n--- | ---\n1 | 2\n".to_vec(), &["a table with drawn lines"]),
        ("psql.txt", b" a | b\n---+---\n 1 | 2\n(1 row)\n".to_vec(), &["a table with drawn lines", "psql --csv"]),
        ("mysql.txt", b"+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n".to_vec(), &["a table with drawn lines"]),
        ("ruled.txt", b"source target\n------ ------\n1 2\n".to_vec(), &["a table with drawn lines"]),
        ("g.dot", b"// c\ndigraph g {\n  a -> b;\n}\n".to_vec(), &["a DOT graph", "gvpr"]),
        ("g.gdf", b"nodedef>name VARCHAR\na\n".to_vec(), &["a GDF graph", "edgedef>"]),
        ("g.json", b"{\"nodes\": [], \"links\": []}".to_vec(), &["a JSON document", "jq", "g.json"]),
        ("g.cnf", b"c x\np cnf 3 2\n1 -2 0\n".to_vec(), &["a DIMACS formula"]),
        ("g.min", b"p min 4 5\nn 1 4\na 1 2 0 4 2\n".to_vec(), &["a DIMACS file of another problem", "--columns"]),
        ("g.npy", binary(b"\x93NUMPY\x01\0"), &["an array of NumPy", "numpy.load"]),
        ("g.pkl", binary(b"\x80\x04\x95"), &["a pickle", "pickle.load"]),
        ("g.h5", binary(b"\x89HDF\r\n\x1a\n"), &["an HDF5 file", "to_parquet"]),
        ("g.db", binary(b"SQLite format 3\0"), &["an SQLite database", "sqlite3 -csv"]),
        ("g.xls", binary(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), &["an Excel workbook", "CSV"]),
        ("g.gr", binary(&galois), &["a binary graph of Galois", "graph-convert"]),
        ("g.graph", binary(b"\x02\xff\0\x13"), &["a graph of WebGraph"]),
        ("g.properties", b"graphclass = it.unimi.dsi.webgraph.BVGraph\n".to_vec(), &["a graph of WebGraph"]),
        ("g.dl", b"dl n=3 format=edgelist1\ndata:\n1 2\n".to_vec(), &["a DL file of UCINET"]),
        ("g.vna", b"*node data\nid\na\n*tie data\nfrom to\n".to_vec(), &["a VNA network"]),
        ("g.txt", utf16, &["text in UTF-16", "iconv"]),
        ("g.g6", b">>graph6<<DQc\n".to_vec(), &["a file of graph6", "read_graph6"]),
        ("g.7z", binary(b"7z\xbc\xaf\x27\x1c"), &["a 7-Zip archive"]),
        ("g.txt.lz4", binary(b"\x04\x22\x4d\x18"), &["lz4", "topostream format - STORE"]),
        ("g.rb", b"title\n 10 2 3 5\nrua   3 3 5 0\n(4I4) (4I4)\n 1 2\n".to_vec(), &["Harwell-Boeing", "hb_read"]),
        ("g.sql", b"INSERT INTO edges VALUES (1, 2);\n".to_vec(), &["an SQL script"]),
    ];
    for (name, contents, words) in cases {
        refused(name, contents, words);
    }
}

#[test]
fn rows_that_are_no_edges() {
    let cases: [(&str, &str, &[&str]); 31] = [
        ("a.jsonl", "{\"source\": 1, \"target\": 2}\n{\"source\": 2, \"target\": 3}\n", &["JSON lines", "jq"]),
        ("a.txt", "[[1, 2], [2, 3]]\n", &["a JSON array", "jq"]),
        ("a.txt", "[1, 2]\n[2, 3]\n[3, 1]\n", &["JSON lines", "jq"]),
        ("a.txt", "(1, 2)\n(2, 3)\n(3, 1)\n", &["a list of tuples", "tr -d '()'"]),
        ("a.txt", "('a', 'b'),\n('b', 'c'),\n", &["a list of tuples"]),
        ("a.txt", "1 -> 2\n2 -> 3\n3 -> 1\n", &["an arrow in the middle", "--columns 1,3"]),
        ("a.txt", "a => b\nb => c\n", &["an arrow in the middle"]),
        ("a.csv", "a,->,b\nb,->,c\n", &["an arrow in the middle"]),
        ("a.txt", "1 - 2\n2 - 3\n3 - 1\n", &["a dash in the middle", "--symmetrize"]),
        ("a.txt", "a -- b\nb -- c\n", &["a dash in the middle"]),
        ("a.csv", "1->2\n2->3\n", &["joined by arrows or dashes", "sed"]),
        ("a.txt", "1-2\n2-3\n", &["joined by arrows or dashes"]),
        ("a.csv", ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", &["an adjacency matrix with names", "read_csv"]),
        ("a.tsv", "\tx\ty\nx\t0\t2.5\ny\t2.5\t0\n", &["an adjacency matrix with names"]),
        ("a.csv", "id;x;y\nx;0;1\ny;;0\n", &["an adjacency matrix with names"]),
        ("a.txt", "a b c\na 0 1 0\nb 1 0 1\nc 0 1 0\n", &["an adjacency matrix with names"]),
        ("a.txt", "0 1 0\n1 0 1\n0 1 0\n", &["an adjacency matrix", "mmwrite"]),
        ("a.csv", "a,b,c\n0,1,0\n1,0,1\n0,1,0\n", &["an adjacency matrix"]),
        ("a.txt", "0 1 0 1\n1 0 1 0\n0 1 0 1\n1 0 1 0\n", &["an adjacency matrix"]),
        ("a.csv", "0,0.5,1.5,0\n0.5,0,2,0\n1.5,2,0,0\n0,0,0,0\n", &["an adjacency matrix"]),
        ("a.lgl", "# a\nb 1.0\nc 2\n# b\nc\n", &["a graph of LGL", "awk"]),
        ("a.txt", "# 1\n2 0.5\n3 0.5\n# 2\n3 1\n", &["a graph of LGL"]),
        ("a.txt", "# a\nb\nc\n# b\nc\n", &["a graph of LGL"]),
        (
            "a.log",
            "2024-01-01 12:00:00 INFO ann in\n2024-01-01 12:00:05 INFO bob in\n2024-01-02 1:1:1 WARN x y\n",
            &["a log"],
        ),
        ("a.txt", "[2024-01-01 12:00:00] ann sent mail\n[2024-01-01 12:00:01] bob sent mail\n", &["a log"]),
        ("a.txt", "0.5 1.5 2.5\n0.25 1.75 3.5\n", &["numbers with fractions", "--columns", "--names"]),
        ("a.csv", "x,y\n0.5,1.5\n0.25,1.75\n", &["numbers with fractions"]),
        ("a.txt", "1 0.5\n2 0.7\n3 0.9\n", &["numbers with fractions"]),
        (
            "a.nt",
            "<http://a/1> <http://b/k> <http://a/2> .\n<http://a/2> <http://b/k> <http://a/3> .\n",
            &["triples of RDF"],
        ),
        ("a.txt", "1: 2 3\n2: 3\n3: 1\n", &["neighbours after a colon", "awk"]),
        ("a.txt", "source=1 target=2\nsource=2 target=3\n", &["key=value"]),
    ];
    for (name, text, words) in cases {
        refused(name, text, words);
    }
}

/// Lists that resemble those, and are read as before.
#[test]
fn lists_that_are_read() {
    for text in [
        "1 2\n2 3\n3 1\n",
        "0 1 0\n1 0 1\n0 2 0\n",
        "0 1\n1 0\n",
        "# a\n1 2\n# b\n2 3\n",
        "# 5\n1 2\n2 3\n",
        "1 2 0.5\n2 3 1.5\n3 1 0.25\n",
        "0 1 {'weight': 1}\n1 2 {'weight': 2.5}\n",
        "1 2 -1\n2 3 1\n",
        "3,1,1\n1,2,4\n2,3,1\n",
    ] {
        assert!(Sample::new("a.txt", text).read().is_ok(), "{text}");
    }
    for text in [
        "ann bob\nbob cid\ncid ann\n",
        "a-b,c-d\nc-d,e-f\n",
        "src,dst,x\na,b,0.5\nb,c,1.5\n",
        "id,source,target\n0.5,a,b\n1.5,b,c\n",
        "10.0.0.1 10.0.0.2\n10.0.0.2 10.0.0.3\n",
        "{5f1c} {77aa}\n{77aa} {12bc}\n",
        "ann,x,1\nbob,y,2\n",
        "graph theory\ntheory proof\nproof graph\n",
        "p edge\nedge p\np q\n",
    ] {
        let sample = Sample::new("a.csv", text);
        let opened =
            readers::open_inputs(&[InputFile::new(&sample.path)], &Options::default(), &TableOptions::default());
        assert!(opened.is_ok(), "{text}: {:?}", opened.err());
    }
}

/// Columns that are chosen are read from rows of any form.
#[test]
fn columns_overrule() {
    let columns = ColumnChoice { numbers: Some((1, 3, None)), ..ColumnChoice::default() };
    let table = TableOptions { columns, ..TableOptions::default() };
    for text in ["1 -> 2\n2 -> 3\n", "1 - 2\n2 - 3\n", "0 1 0\n1 0 1\n0 1 0\n"] {
        let sample = Sample::new("a.txt", text);
        let opened = readers::open_inputs(&[InputFile::new(&sample.path)], &Options::default(), &table);
        assert!(opened.is_ok(), "{text}: {:?}", opened.err());
    }
}

/// A kind that is named, where the first bytes announce another.
#[test]
fn another_kind_than_the_one_named() {
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n";
    let dimacs = "c x\np sp 3 1\na 1 2 5\n";
    let cases = [
        (matrix, Kind::Text, "matrix-market"),
        (matrix, Kind::GapText, "matrix-market"),
        (matrix, Kind::Csv, "matrix-market"),
        (matrix, Kind::Metis, "matrix-market"),
        (matrix, Kind::RawU32, "matrix-market"),
        ("AdjacencyGraph\n1\n0\n0\n", Kind::Text, "adjacency"),
        (dimacs, Kind::Text, "dimacs"),
        (dimacs, Kind::MatrixMarket, "dimacs"),
        ("*Vertices 2\n*Arcs\n1 2\n", Kind::Text, "pajek"),
        ("%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n", Kind::Text, "matrix-market"),
    ];
    for (text, kind, other) in cases {
        let sample = Sample::new("a.txt", text);
        let words = [&format!("a file of the kind {kind}")[..], &format!("which is {other}"), "drop --kind"];
        assert_fails(sample.read_as(kind), &words);
        let options = Options { kind: Some(kind), ..Options::default() };
        let opened = readers::open_inputs(&[InputFile::new(&sample.path)], &options, &TableOptions::default());
        assert_fails(opened, &words);
    }
    let graphml = "<?xml version=\"1.0\"?><graphml><graph edgedefault=\"directed\"><edge source=\"1\" target=\"2\"/></graph>\
                   </graphml>";
    assert_eq!(Sample::new("a.txt", graphml).read_as(Kind::GraphMl).unwrap().pairs(), [(1, 2)]);
    assert_fails(Sample::new("a.txt", "graph [\n]\n").read_as(Kind::Csv), &["a GML graph"]);
    // Columns of words are a table, also if they begin as lines of DIMACS do.
    assert!(Sample::new("a.txt", "1 2\n2 3\n").read_as(Kind::Csv).is_ok());
}
