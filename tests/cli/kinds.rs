//! What the program says of headers, of other formats, and of what it does not read.

use crate::program::Folder;

/// The edges that a file makes, and what is said of it.
#[test]
fn headers_are_obeyed_and_said() {
    let folder = Folder::new();
    let cases = [
        (
            "out.ring-friends",
            "% sym unweighted\n% 5 5 5\n1 2\n2 3\n3 4\n4 5\n5 1\n",
            [
                "5 vertices, 10 edges",
                "read as text: by its header `% sym unweighted` undirected",
                "undirected, no weights",
            ],
        ),
        (
            "snap.txt",
            "# Undirected graph: ring.txt\n# Ring\n# Nodes: 6 Edges: 6\n# From\tTo\n4\t2\n2\t9\n9\t1\n1\t7\n7\t5\n5\t4\n",
            ["6 vertices, 12 edges", "`# Undirected graph: ring.txt` undirected, each edge listed once", "--directed"],
        ),
        (
            "nr.edges",
            "5 5 5\n2 1 3\n3 2 1\n4 3 2\n5 4 9\n5 1 4\n",
            ["5 vertices, 5 edges", "the first row `5 5 5` is its sizes", "0 self-loops"],
        ),
        (
            "out.bip",
            "% bip unweighted\n% 4 3 2\n1 1\n2 1\n2 2\n3 2\n",
            [
                "5 vertices, 4 edges",
                "1 to 3 on the left, 1 to 2 on the right, which become 4 to 5",
                "directed, no weights",
            ],
        ),
        (
            "names.txt",
            "% sym unweighted\nann bob\nbob cid\n",
            ["3 vertices, 4 edges", "by its header `% sym unweighted` undirected", "ids are names"],
        ),
        (
            "short.txt",
            "# Undirected graph: a\n# Nodes: 9 Edges: 9\n1 2\n2 3\n",
            ["3 vertices, 4 edges", "the header says 9 edges, and 2 were read", "is the file complete?"],
        ),
        (
            "a.net",
            "*Vertices 3\n1 \"a\"\n2 \"b\"\n3 \"c\"\n*Arcs :1 \"knows\"\n1 2\n2 3\n",
            ["3 vertices, 2 edges", "read as pajek: 2 arcs", "labels of vertices are not kept"],
        ),
        (
            "a.col",
            "p edge 4 2\ne 1 2\ne 2 3\n",
            ["4 vertices, 4 edges", "read as dimacs: `p edge`: undirected", "--directed"],
        ),
    ];
    for (name, text, words) in cases {
        folder.write(name, text);
        folder.run(&format!("format {name} {name}.store")).succeeds().prints(&words);
        folder.run(&format!("verify {name}.store")).succeeds();
    }
    folder.write("mixed.txt", "% sym unweighted\n1 2\n2 1\n2 3\n3 4\n");
    folder.run("format mixed.txt s").fails(1, &["mixed.txt", "each in both", "--symmetrize --remove-duplicates"]);
    folder.assert_nothing_left("s");
    folder.run("format mixed.txt once --symmetrize --remove-duplicates").succeeds().prints(&["4 vertices, 6 edges"]);
    folder.run("format out.ring-friends directed --directed").succeeds().prints(&["5 vertices, 5 edges", "--directed"]);
    folder.run("format nr.edges row --no-header").succeeds().prints(&["6 edges", "1 self-loop"]);
    folder.run("format out.ring-friends s --directed --symmetrize").fails(2, &["cannot be used with"]);
    let weighted = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
    folder.write("m.mtx", weighted);
    folder.run("format m.mtx lower --directed").succeeds().prints(&["3 vertices, 2 edges", "directed, no weights"]);
}

/// From a pipe, the rows are counted while they are read.
#[test]
#[cfg(unix)]
fn headers_of_pipes() {
    let folder = Folder::new();
    let rows: String = (0..200_000u32).map(|row| format!("{} {}\n", row % 999 + 1, row * 7919 % 999 + 1)).collect();
    folder.write("whole.edges", format!("999 999 200000\n{rows}"));
    folder.write("cut.edges", format!("999 999 200001\n{rows}"));
    folder
        .shell("cat whole.edges | \"$0\" format - whole")
        .succeeds()
        .prints(&["999 vertices, 200,000 edges", "sizes"]);
    let words = ["standard input: expected 200001 edges, as the first row says", "--no-header", "found 200000 edges"];
    folder.shell("cat cut.edges | \"$0\" format - s").fails(1, &words);
    folder.write("bip.txt", "% bip\n1 1\n2 1\n");
    folder
        .shell("cat bip.txt | \"$0\" format - bip")
        .succeeds()
        .prints(&["3 vertices, 2 edges", "`source:…` and `dest:…`"]);
    folder.assert_nothing_left("s");
}

#[test]
fn what_is_no_edge_list() {
    let folder = Folder::new();
    let cases = [
        ("arrows.txt", "1 -> 2\n2 -> 3\n3 -> 1\n", ["an arrow in the middle", "--columns 1,3"]),
        (
            "matrix.csv",
            ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
            ["an adjacency matrix with names", "pandas.read_csv(\"matrix.csv\""],
        ),
        ("g.gml", "graph [\n  node [ id 1 ]\n]\n", ["a GML graph, which is not read", "networkx.read_gml(\"g.gml\")"]),
        ("lines.json", "{\"source\": 1, \"target\": 2}\n{\"source\": 2, \"target\": 3}\n", ["JSON lines", "jq -r"]),
        ("log.txt", "2024-01-01 12:00:00 INFO ann in\n2024-01-01 12:00:05 INFO bob in\n", ["lines of a log", "CSV"]),
    ];
    for (name, text, words) in cases {
        folder.write(name, text);
        folder.run(&format!("format {name} s")).fails(1, &[&[name][..], &words].concat());
        folder.assert_nothing_left("s");
    }
    folder
        .run("format arrows.txt arrows --columns 1,3")
        .succeeds()
        .prints(&["3 vertices, 3 edges", "ids are integers"]);
    folder.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n");
    let words = ["m.mtx: expected a file of the kind text", "which is matrix-market: drop --kind"];
    folder.run("format m.mtx s --kind text").fails(1, &words);
    folder.assert_nothing_left("s");
}

#[test]
#[cfg(unix)]
fn archives() {
    let folder = Folder::new();
    folder.shell("mkdir ring two bad").succeeds();
    folder.write("ring/out.ring", "% sym unweighted\n1 2\n2 3\n3 1\n");
    folder.write("ring/meta.ring", "name: ring\n");
    if folder.shell("tar czf ring.tar.gz ring").code != Some(0) {
        eprintln!("skipped: there is no tar");
        return;
    }
    let words = ["3 vertices, 6 edges", "read as text: `out.ring` of the archive; by its header `% sym unweighted`"];
    folder.run("format ring.tar.gz ring.store").succeeds().prints(&words);
    folder.shell("cat ring.tar.gz | \"$0\" format - piped").succeeds().prints(&words);
    folder.write("two/a.csv", "1,2\n");
    folder.write("two/b.csv", "1,2\n");
    folder.shell("tar cf two.tar two").succeeds();
    folder
        .run("format two.tar s")
        .fails(1, &["two.tar: expected an archive with one edge list", "two/a.csv, two/b.csv"]);
    folder.write("bad/e.txt", "1 2\n3\n");
    folder.shell("tar cf bad.tar bad").succeeds();
    folder.run("format bad.tar s").fails(1, &["bad.tar/bad/e.txt:2", "found \"3\""]);
    folder.assert_nothing_left("s");
}
