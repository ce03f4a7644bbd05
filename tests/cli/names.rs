//! Ids that are names, from the input to the answers; and what is said of inputs.

use crate::program::Folder;
use std::path::Path;

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tables").join(name).display().to_string()
}

/// The columns of a CSV file, by its first one; its cells have no commas.
fn column(text: &str, place: usize) -> Vec<(String, f64)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[place].parse().unwrap())
    };
    let mut rows: Vec<_> = text.lines().skip(1).map(row).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

/// NetworkX's own file, and its answers by name.
#[test]
fn answers_by_name_are_those_of_networkx() {
    let folder = Folder::new();
    let done = folder.run(&format!("format {} karate --symmetrize", data("networkx-karate.tsv"))).succeeds();
    done.prints(&["read as csv", "separated by tabs", "ids are strings", "undirected", "0 self-loops"]);
    folder.run("verify karate").succeeds();
    folder.run("info karate").succeeds().prints(&["names (strings)"]);
    let expected = std::fs::read_to_string(data("networkx-karate-answers.csv")).unwrap();
    folder.run("run pagerank karate --tolerance 1e-7 --output ranks.csv --device cpu").succeeds();
    let (found, ranks) = (column(&folder.read("ranks.csv"), 1), column(&expected, 1));
    assert_eq!(found.len(), 34);
    for (found, expected) in found.iter().zip(&ranks) {
        assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-5, "{found:?} {expected:?}");
    }
    // A name with a blank is one argument.
    let mut command = folder.command("run bfs karate --output levels.csv --device cpu --source");
    assert!(command.arg("Mr Hi").output().unwrap().status.success());
    assert_eq!(column(&folder.read("levels.csv"), 1), column(&expected, 2));
    folder.run("run bfs karate --source nobody").fails(1, &["--source nobody: the graph has no vertex with that id"]);
    folder.run("run pagerank karate --output ranks.npy").fails(1, &["names do not fit in a .npy file"]);
}

#[test]
fn parts_of_graphs_and_other_stores_keep_names() {
    let folder = Folder::new();
    folder.run(&format!("format {} all --in-edges", data("duckdb.parquet"))).succeeds();
    folder.write("some.txt", "person 01\nperson 02\nperson 03\nä ö\n");
    folder.run("extract all some --vertices some.txt").succeeds();
    folder.run("verify some").succeeds();
    folder.run("run components some --output parts.csv --device cpu").succeeds();
    let parts = folder.read("parts.csv");
    let mut names: Vec<&str> = parts.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["person 01", "person 02", "person 03", "ä ö"]);
    folder.write("wrong.txt", "person 01\nnobody\n");
    folder.run("extract all none --vertices wrong.txt").fails(1, &["wrong.txt:2", "nobody"]);
    folder.run("extract all --output e.el --vertices some.txt").fails(1, &["--output", "names"]);
    folder.run("reformat all plain --drop-weights --encoding vertex-id --order natural").succeeds();
    folder.run("verify plain").succeeds();
    folder.run("info plain").succeeds().prints(&["names (strings)", "weights         none"]);
}

#[test]
fn numbers_are_reformatted_too() {
    let folder = Folder::new();
    folder.write("e.txt", "5 7 1\n7 9 2\n9 5 3\n5 9 4\n");
    folder.run("format e.txt one").succeeds().prints(&["read as text", "directed, weights u32"]);
    folder.run("reformat one two --in-edges --order degree").succeeds();
    folder.run("verify two").succeeds();
    folder.run("run sssp two --source 5 --output d.csv --device cpu").succeeds();
    assert_eq!(column(&folder.read("d.csv"), 1), [("5".into(), 0.0), ("7".into(), 1.0), ("9".into(), 3.0)]);
    folder.run("reformat one one").fails(1, &["one"]);
    folder.run("run bfs one --source here").fails(1, &["--source here", "expected an id of this graph"]);
}

#[test]
fn both_sides_of_a_bipartite_graph() {
    let folder = Folder::new();
    folder.write("b.csv", "user,item\n1,1\n1,2\n2,1\n");
    folder.run("format b.csv b --bipartite").succeeds().prints(&["`user:…` and `item:…`"]);
    folder.run("run bfs b --source user:1 --output l.csv --device cpu").succeeds();
    assert_eq!(folder.read("l.csv").lines().count(), 5, "two users and two items");
    let ratings: String = (0..500).map(|at| format!("{},{}\n", at % 50, 1000 + at * 7 % 90)).collect();
    folder.write("r.csv", ratings);
    folder.run("format r.csv r").succeeds().prints(&["hint", "--bipartite"]);
    let once: String = (0..500u32).map(|at| format!("{} {}\n", at % 97, 97 + at * 31 % 200)).collect();
    folder.write("u.txt", once);
    folder.run("format u.txt u").succeeds().prints(&["hint", "--symmetrize"]);
    folder.write("tall.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 2 2\n1 1\n3 2\n");
    folder.run("format tall.mtx tall").succeeds().prints(&["not square", "columns 4 to 5"]);
}

#[test]
fn inputs_that_are_refused() {
    let folder = Folder::new();
    folder.write("empty.csv", "");
    folder.run("format empty.csv s").fails(1, &["empty.csv", "an empty file"]);
    folder.write("e.csv", "a,b\n1,2\n");
    folder.run("format e.csv s --source c").fails(1, &["a column \"c\"", "`a`, `b`"]);
    folder.run("format e.csv s --columns 1,1").fails(2, &["two different columns"]);
    folder.run("format e.csv - s").fails(2, &["standard input"]);
    folder.run("format nothing-*.csv s").fails(1, &["a pattern that files match"]);
    folder.write("n.csv", "a,b\nb,c\n");
    folder.run("format n.csv s --ids keep").fails(1, &["names are numbered"]);
    folder.run("format n.csv s --memory 30MiB").fails(1, &["needs", "hint: at least"]);
    folder.assert_nothing_left("s");
    let done = folder.shell("printf 'u;v\\nx;y\\n' | \"$0\" format - s --kind csv");
    done.succeeds().prints(&["separated by `;`, with a header"]);
}

/// Names have vertices in a store: an order of names is one of a store.
#[test]
fn an_order_may_list_names() {
    let folder = Folder::new();
    folder.write("e.csv", "from,to\nann,bob\nbob,c d\nc d,ann\nann,c d\n");
    folder.write("order.txt", "c d\n\nann\n");
    folder.run("format e.csv g --order-file order.txt").fails(1, &["--order-file", "reformat"]);
    folder.run("format e.csv g").succeeds();
    folder.run("reformat g ordered --order-file order.txt").succeeds();
    folder.run("verify ordered").succeeds();
    folder.run("run degrees ordered -o degrees.csv").succeeds();
    assert_eq!(folder.read("degrees.csv"), "vertex,out_degree,in_degree\nc d,1,2\nann,2,1\nbob,1,1\n");
    folder.write("order.txt", "c d\neve\n");
    folder.run("reformat g other --order-file order.txt").fails(1, &["order.txt", "order.txt:2", "eve"]);
    folder.write("order.txt", "ann\nbob\nann\n");
    folder.run("reformat g other --order-file order.txt").fails(1, &["every vertex at most once"]);
    folder.assert_nothing_left("other");
}
