//! Components of edge lists, without a store: compared with runs over stores, and by hand.

use crate::columnar::parquet;
use crate::program::Folder;
use serde_json::json;
use std::path::Path;

/// The rows of a CSV file, in any order.
fn rows(folder: &Folder, name: &str) -> Vec<String> {
    let text = folder.read(name);
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    rows[1..].sort_unstable();
    rows
}

#[test]
fn components_of_files_are_those_of_stores() {
    let folder = Folder::new();
    folder.run("generate rmat --scale 10 --edge-factor 1 --edges-file sparse.el").succeeds();
    folder.run("generate uniform --vertices 600 --edges 300 --edges-file e.txt").succeeds();
    // Ids beyond 32 bits; a header with vertices that have no edge; a table of vertices.
    let wide: String = (0..500u64).map(|edge| format!("{} {}\n", edge << 40, (edge + edge % 3) << 40)).collect();
    folder.write("wide.txt", wide);
    folder.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n7 7 3\n1 2\n6 5\n5 2\n");
    folder.write("v.csv", "name\nz\nb\na\nc\nalone\n");
    folder.write("n.csv", "from,to\nz,b\nc,a\na,c\n");
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tables");
    let inputs = ["sparse.el", "e.txt", "wide.txt", "m.mtx", "n.csv", "n.csv --vertices v.csv", "a.tsv b.tsv"];
    folder.write("a.tsv", "1\t2\n5\t6\n");
    folder.write("b.tsv", "9\t6\n2\t3\n");
    let more = ["duckdb.parquet", "networkx-karate.tsv"].map(|name| tables.join(name).display().to_string());
    for input in inputs.into_iter().chain(more.iter().map(String::as_str)) {
        let (files, options) =
            input.split_once(" --").map_or((input, String::new()), |(files, rest)| (files, format!(" --{rest}")));
        folder.run(&format!("format {files} s --overwrite{options}"));
        folder.run("run components s --device cpu --output expected.csv").succeeds();
        folder.run(&format!("components {input} -o found.csv")).succeeds().prints(&["components: ", "found.csv"]);
        assert_eq!(rows(&folder, "found.csv"), rows(&folder, "expected.csv"), "{input}");
        folder.run(&format!("components {input} -o found.parquet --json")).succeeds();
        let (batches, _) = parquet(&folder, "found.parquet");
        let count: usize = batches.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!(count + 1, rows(&folder, "found.csv").len(), "{input}");
    }
    // A pipe is read once.
    let done = folder.shell("cat sparse.el | \"$0\" components - --kind gap-text -o piped.csv");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    folder.run("components sparse.el -o found.csv").succeeds();
    assert_eq!(folder.read("piped.csv"), folder.read("found.csv"));
}

const MATCHES: &str = "left,right,score\n7,5,0.95\n5,3,0.9\n9,8,0.5\n2,9,0.8999999\n";

#[test]
fn each_threshold_has_a_column_and_later_edges_are_added() {
    let folder = Folder::new();
    folder.write("m.csv", MATCHES);
    let options = "--source left --dest right --weight score --threshold 0.9,0.95,0.3";
    let done = folder.run(&format!("components m.csv {options} -o all.csv")).succeeds();
    done.prints(&["component_0.95: 5", "component_0.9: 4", "component_0.3: 2", "4 edges of 6 vertices"]);
    let expected = "vertex,component_0.3,component_0.9,component_0.95\n\
                    2,2,2,2\n3,3,3,3\n5,3,3,5\n7,3,3,5\n8,2,8,8\n9,2,9,9\n";
    assert_eq!(folder.read("all.csv"), expected);
    // The first two edges, then the others.
    let lines: Vec<&str> = MATCHES.lines().collect();
    folder.write("first.csv", [lines[0], lines[1], lines[2]].join("\n") + "\n");
    folder.write("then.csv", [lines[0], lines[3], lines[4]].join("\n") + "\n");
    for labels in ["labels.parquet", "labels.csv", "labels.arrow"] {
        folder.run(&format!("components first.csv {options} -o {labels}")).succeeds();
        folder.run(&format!("components then.csv {options} --labels {labels} -o again.csv")).succeeds();
        assert_eq!(folder.read("again.csv"), expected, "{labels}");
    }
    folder.run("components then.csv --labels labels.csv").fails(1, &["labels.csv", "component"]);

    // Names, and one without a weight's column.
    folder.write("first.csv", "from,to\nzoe,yan\nkim,lou\n");
    folder.write("then.csv", "from,to\nlou,yan\nnew,pia\n");
    folder.run("components first.csv -o labels.parquet").succeeds();
    folder.run("components then.csv --labels labels.parquet -o again.csv").succeeds();
    let expected = ["kim,kim", "lou,kim", "new,new", "pia,new", "yan,kim", "zoe,kim"];
    assert_eq!(rows(&folder, "again.csv")[1..], expected);
    let report = folder.run("components then.csv --labels labels.parquet --top 1 --json").succeeds().json();
    let groups = &report["columns"]["component"]["groups"];
    assert_eq!((&report["edges"], &groups["count"]), (&json!(2), &json!(2)));
    assert_eq!(groups["largest"], json!([{"id": "kim", "vertices": 4}]));
}

#[test]
fn what_cannot_be_linked_is_refused() {
    let folder = Folder::new();
    folder.write("e.txt", "1 2\n2 3\n");
    folder.write("n.csv", "from,to\nz,b\n");
    folder.run("format e.txt s").succeeds();
    folder.run("components s").fails(1, &["s is a store", "topostream run components s"]);
    folder.run("components e.txt -o e.txt").fails(1, &["e.txt", "would replace an input"]);
    folder.run("components e.txt --threshold 0.5").fails(1, &["e.txt:1", "weights are required"]);
    folder.write("e.csv", "source,target\n1,2\n");
    folder.run("components e.csv --threshold 0.5").fails(1, &["e.csv", "weight"]);
    folder.run("components e.txt --threshold nan").fails(2, &["--threshold NaN", "expected a number"]);
    folder.run("components n.csv -o n.npy").fails(1, &["names do not fit in a .npy file"]);
    folder.run("components e.txt --json -o -").fails(2, &["--json"]);
    folder.run("components none.txt").fails(1, &["none.txt"]);
    folder.run("components e.txt -o no/such.csv").fails(1, &["no/such.csv"]);
    folder.run("components e.txt --labels n.csv").fails(1, &["n.csv", "\"vertex\""]);
    folder.write("labels.csv", "vertex,component\nz,b\n");
    folder.run("components e.txt --labels labels.csv").fails(1, &["labels.csv", "not integers"]);
    for input in ["e.txt", "n.csv", "e.csv"] {
        let line = format!("components {input} --top 1 -o out.csv --memory");
        let done = folder.run(&format!("{line} 1MiB")).fails(1, &["needs", "hint: at least "]);
        let hint = done.stderr.split("at least ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        folder.run(&format!("{line} {hint}")).succeeds();
        std::fs::remove_file(folder.path("out.csv")).unwrap();
    }
    folder.write("bad.txt", "1 2\n3 x\n");
    folder.run("components bad.txt -o out.csv").fails(1, &["bad.txt:2"]);
    let left = folder.names(".");
    assert!(!left.iter().any(|name| name.contains("out.csv") || name.contains("topostream-")), "{left:?}");
}
