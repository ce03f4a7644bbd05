//! Bad input: exit code 1, a message with the position and what was expected, and no store that can be opened.

use crate::program::Folder;

#[test]
fn malformed_lines_are_reported_with_their_number() {
    let folder = Folder::new();
    folder.write("bad.txt", "0 1\n1 2\nfoo bar\n3 4\n");
    folder.run("format bad.txt s").fails(1, &["bad.txt:3", "expected a vertex id", "found \"foo bar\""]);
    folder.assert_nothing_left("s");
    folder.write("short.txt", "0 1\n7\n");
    folder.run("format short.txt s").fails(1, &["short.txt:2", "expected", "found \"7\""]);
    folder.write("unweighted.txt", "0 1\n");
    let done = folder.run("format unweighted.txt s --weight-type u32");
    done.fails(1, &["unweighted.txt:1", "expected 3 columns", "found \"0 1\""]);
    folder.write("bad.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n");
    folder.run("format bad.mtx s").fails(1, &["bad.mtx:3", "expected", "found"]);
    folder.write("odd.u64", [0; 20]);
    folder.run("format odd.u64 s").fails(1, &["odd.u64", "expected", "20 bytes"]);
    folder.assert_nothing_left("s");
}

#[test]
fn missing_and_truncated_input() {
    let folder = Folder::new();
    folder.run("format nothing.txt s").fails(1, &["nothing.txt", "No such file"]);
    folder.assert_nothing_left("s");
    folder.run("generate rmat --scale 10 --edges-file e.el").succeeds();
    if folder.shell("gzip e.el").code != Some(0) {
        eprintln!("skipped: there is no gzip");
        return;
    }
    folder.run("format e.el.gz whole").succeeds();
    let packed = std::fs::read(folder.path("e.el.gz")).unwrap();
    folder.write("cut.el.gz", &packed[..packed.len() / 2]);
    folder.run("format cut.el.gz s").fails(1, &["cut.el.gz", "incomplete"]);
    folder.assert_nothing_left("s");
}

#[test]
fn ids_that_do_not_fit() {
    let folder = Folder::new();
    folder.write("wide.txt", "0 5000000000\n");
    let done = folder.run("format wide.txt s --ids keep");
    done.fails(1, &["wide.txt:1: vertices: 5000000001 is more than the limit of 4294967296", "--ids compact"]);
    folder.assert_nothing_left("s");
    folder.run("format wide.txt compact --ids compact").succeeds();
    folder.run("format wide.txt s --ids 10").fails(1, &["wide.txt:1: vertex id 5000000000", "expected 0 to 9"]);
    folder.assert_nothing_left("s");
}

/// The position of a refused id, in text, in lists and in binary pairs.
#[test]
fn refused_ids_are_located() {
    let folder = Folder::new();
    let mut text: String = (0..50_000).map(|line| format!("{} {}\n", line % 90, line % 70)).collect();
    text.insert_str(text.len() / 2, "\n# a comment\n");
    let line = text.lines().count() + 1;
    folder.write("t.txt", text.clone() + "5 100\n" + &text);
    folder.run("format t.txt s --ids 100").fails(1, &[&format!("t.txt:{line}: vertex id 100: expected 0 to 99")]);
    folder.write("m.graph", "4 3\n% a comment\n2\n1 3\n% another\n2 4\n3\n");
    folder.run("format m.graph s --ids 4").fails(1, &["m.graph:6: vertex id 4: expected 0 to 3"]);
    let pairs: Vec<u8> = [0u32, 1, 1, 2, 7, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    folder.write("p.u32", pairs);
    folder.run("format p.u32 s --ids 7").fails(1, &["p.u32: the pair at byte 16: vertex id 7: expected 0 to 6"]);
    folder.write("a.adj", "AdjacencyGraph\n3\n2\n0\n1\n1\n1\n2\n");
    folder.run("format a.adj s --ids 2").fails(1, &["a.adj: vertex id 2: expected 0 to 1"]);
    folder.write("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n8589934592 8589934592 1\n1 2\n");
    folder.run("format wide.mtx s").fails(1, &["wide.mtx: vertices: 8589934592 is more than the limit"]);
    folder.assert_nothing_left("s");
}

/// A few bytes of input do not become gigabytes without an option.
#[test]
fn too_many_vertices_for_the_edges() {
    let folder = Folder::new();
    folder.write("huge.el", "0 4294967295\n");
    let words = ["huge.el: 4294967296 vertices", "for 1 edge:", "--ids compact", "--ids 4294967296"];
    folder.run("format huge.el s").fails(1, &words);
    folder.assert_nothing_left("s");
    folder.run("format huge.el few --ids compact").succeeds().prints(&["2 vertices"]);
    folder.write("large.txt", "0 5000000\n");
    folder.run("format large.txt s --ids keep").fails(1, &["large.txt: 5000001 vertices", "--ids 5000001"]);
    folder.run("format large.txt insisted --ids 5000001").succeeds().prints(&["5,000,001 vertices"]);
    folder.run("format large.txt named").succeeds().prints(&["2 vertices"]);
    folder.write("large.mtx", "%%MatrixMarket matrix coordinate pattern general\n5000000 9 1\n5000000 2\n");
    folder.run("format large.mtx s").fails(1, &["large.mtx: 5000009 vertices, as its header says", "--ids 5000010"]);
    // Input with a list for each of five million vertices has enough bytes.
    folder.write("lines.graph", format!("5000000 1\n2\n1\n{}", "\n".repeat(4_999_998)));
    folder.run("format lines.graph lines").succeeds().prints(&["5,000,000 vertices"]);
    folder.write("allowed.el", "0 4000000\n");
    folder.run("format allowed.el allowed").succeeds().prints(&["4,000,001 vertices"]);
    folder.assert_nothing_left("s");
}

/// A file that claims to be undirected and to list both directions must do so.
#[test]
fn edges_without_their_reverse() {
    let folder = Folder::new();
    let says = "since the graph is undirected and lists each edge at both ends; found 0 and 1";
    folder.write("m.graph", "% a comment\n3 2\n2 3\n1\n2\n");
    folder.run("format m.graph s").fails(1, &["m.graph:3: expected the edge from 3 to 1 as often", says]);
    folder.shell("cat m.graph | \"$0\" format - s --kind metis").fails(1, &["standard input: expected the edge", says]);
    folder.write("w.graph", "2 1 1\n2 5\n1 7\n");
    let words = ["w.graph:2: expected the edge from 2 to 1 with weight 5 as often", says];
    folder.run("format w.graph s").fails(1, &words);
    folder.run("format w.graph unweighted --weight-type ignore").succeeds();
    folder.run("verify unweighted").succeeds();
    folder.run("format m.graph both --symmetrize").succeeds();
    folder.run("verify both").succeeds();
    // A serialized graph of three vertices, undirected by its first byte: 0 → 1, 2; 1 → 0; 2 → 1.
    let mut bytes = vec![0];
    [4u64, 3, 0, 2, 3, 4].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    [1u32, 2, 0, 1].iter().for_each(|dest| bytes.extend(dest.to_le_bytes()));
    folder.write("g.sg", &bytes);
    let words = ["g.sg: the neighbour at byte 53: expected the edge from 2 to 0 as often", says];
    folder.run("format g.sg s").fails(1, &words);
    folder.shell("cat g.sg | \"$0\" format - s --kind gap-binary").fails(1, &["the neighbour at byte 53", says]);
    folder.assert_nothing_left("s");
}

/// The edges of a Graphalytics graph must be between declared vertices.
#[test]
fn an_edge_to_a_vertex_that_is_not_declared() {
    let folder = Folder::new();
    let properties = "graph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\ngraph.g.directed = ";
    folder.write("g.v", "5\n1\n5000000000\n7\n5\n");
    for directed in ["true", "false"] {
        folder.write("g.properties", format!("{properties}{directed}\n"));
        folder.write("g.e", "1 5\n# none\n5 6\n");
        folder.run("format g.properties s").fails(1, &["g.e:3: vertex id 6: no such vertex is declared"]);
        folder.run("format g.properties s --ids compact").fails(1, &["g.e:3: vertex id 6"]);
        folder.assert_nothing_left("s");
        folder.write("g.e", "1 5\n5 5000000000\n5000000000 1\n");
        folder.run(&format!("format g.properties {directed}")).succeeds().prints(&["4 vertices"]);
        folder.run(&format!("verify {directed}")).succeeds();
    }
    // In the benchmark's format for undirected graphs, each edge is listed at both ends.
    folder.write("test-bfs-undirected.properties", "graph.t.edge-file = t.e\ngraph.t.directed = false\n");
    folder.write("undir-input", "1 2 3\n2 1\n3\n");
    let words = ["undir-input:1: expected the edge from 3 to 1 as often"];
    folder.run("format test-bfs-undirected.properties s").fails(1, &words);
    folder.assert_nothing_left("s");
}

#[test]
fn a_store_is_never_overwritten() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.write("e.txt", "0 1\n");
    folder.run("format e.txt s").fails(1, &["s: there is a store already", "remove it"]);
    folder.run("generate rmat --scale 9 --store s").fails(1, &["there is a store already"]);
    folder.run("verify s").succeeds().prints(&["4,096 edges"]);
}

/// A file-size limit simulates a full disk: writes beyond it fail.
#[test]
#[cfg(unix)]
fn a_file_that_cannot_grow() {
    let folder = Folder::new();
    // Shells count in 512 bytes or 1 KiB; the pages alone are 4 MiB.
    let limited = "trap '' XFSZ; ulimit -f 1000 || exit 99; exec \"$0\" generate rmat --scale 16";
    let done = folder.shell(&format!("{limited} --store s"));
    if done.code == Some(99) {
        eprintln!("skipped: no limit can be set");
        return;
    }
    done.fails(1, &["s/.topostream-partial/pages.0: write: File too large"]);
    folder.assert_nothing_left("s");
    folder
        .shell(&format!("{limited} --store s --encoding vertex-id --order natural --memory 52MiB"))
        .fails(1, &["s", "File too large"]);
    folder.assert_nothing_left("s");
    folder.shell(&format!("{limited} --edges-file e.el")).fails(1, &["e.el", "write", "File too large"]);
    assert_eq!(folder.names("."), Vec::<String>::new());
}

/// Nothing outside the store's folder is written, even if it contains links.
#[test]
#[cfg(unix)]
fn links_in_a_folder_are_not_followed() {
    let folder = Folder::new();
    folder.write("mine", "precious");
    for file in ["pages.0", "degrees.bin", "in/pages.0", "graph.json"] {
        std::fs::create_dir_all(folder.path("s/in")).unwrap();
        std::os::unix::fs::symlink(folder.path("mine"), folder.path("s").join(file)).unwrap();
        folder.run("generate rmat --scale 12 --store s --in-edges").fails(1, &["s: "]);
        folder.run("info s").fails(1, &["graph"]);
        assert_eq!(folder.read("mine"), "precious");
        std::fs::remove_dir_all(folder.path("s")).unwrap();
    }
}

#[test]
fn what_is_no_store() {
    let folder = Folder::new();
    folder.write("file", "text");
    std::fs::create_dir(folder.path("folder")).unwrap();
    for name in ["file", "folder", "nothing"] {
        for command in ["info", "verify", "run pagerank", "run bfs --source 1"] {
            let words = [&format!("{name}: not a graph store")[..], "no graph.json", "topostream format"];
            folder.run(&format!("{command} {name}")).fails(1, &words);
        }
    }
}

#[test]
fn missing_parts_of_a_store() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.run("run bfs s --source 256").fails(1, &["--source 256", "no vertex with that id"]);
    folder.run("run pagerank s --traffic pull").fails(1, &["in-lists", "--in-edges"]);
    folder.run("run pagerank s --damping 1.5").fails(1, &["damping 1.5"]);
    folder.run("run pagerank s --tolerance 0").fails(1, &["tolerance 0", "at least 1e-7"]);
    folder.run("generate rmat --scale 8 -a 0.9 --store r").fails(1, &["a, b and c sum to 1.28"]);
    folder.run("generate rmat --scale 8 --random-weights u32:9:1 --store r").fails(1, &["9 to 1"]);
    folder.run("generate geometric --vertices 99 --radius 0 --store r").fails(1, &["a radius of 0", "above 0"]);
    folder.run("generate geometric --vertices 99 --degree 0 --store r").fails(2, &["--degree", "above 0"]);
    folder.run("generate geometric --vertices 99 --degree nan --store r").fails(2, &["--degree", "above 0"]);
    folder.run("generate rmat --vertices 0 --store r").fails(1, &["at least 1 vertex"]);
    folder.run("generate rmat --vertices 4294967297 --store r").fails(1, &["4294967297", "4294967296"]);
    folder.run("generate rmat --scale 8 --vertices 200 --store r").fails(2, &["--scale", "--vertices"]);
    folder.run("generate rmat --store r").fails(2, &["--scale"]);
    folder.run("generate rmat --scale 8 --like gap --store r").fails(2, &["gap", "parmat"]);
    folder.run("generate rmat --scale 8 --edges-file e.doc").fails(1, &["e.doc", ".el, .wel, .txt, .u32 or .u64"]);
    folder.run("generate rmat --scale 8 --edges-file nowhere/e.el").fails(1, &["nowhere", "No such file"]);
    folder.assert_nothing_left("r");
}

/// Bytes on which the decoders of Parquet panic: of levels, of prefixes, and of lengths that divide a character.
#[test]
fn panics_of_decoders_are_errors_with_the_column() {
    let folder = Folder::new();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tables/pyarrow-delta.parquet");
    let bytes = std::fs::read(path).unwrap();
    let places = [(1412, "from"), (1416, "from"), (1613, "from"), (1650, "from"), (6040, "to"), (6137, "to")];
    for (place, column) in places {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        folder.write("e.parquet", damaged);
        let column = format!("row group 0, column `{column}`");
        let done = folder.run("format e.parquet s").fails(1, &["e.parquet: expected a valid Parquet file", &column]);
        assert!(!done.stderr.contains("panicked") && done.stderr.lines().count() == 1, "{}", done.stderr);
        folder.assert_nothing_left("s");
    }
}
