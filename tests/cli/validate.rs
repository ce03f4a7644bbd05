//! `run --validate` and `validate`: right answers pass, and wrong ones are shown.

use crate::program::{Done, Folder};
use std::path::Path;

#[test]
fn searches_are_validated_after_the_run() {
    let folder = Folder::new();
    folder.rmat("s", 10, "--in-edges --random-weights u32:1:9");
    for options in ["", "--parents", "--parents --top-down", "--parents --memory 40MiB"] {
        let done = folder.run(&format!("run bfs s --source max-degree --validate {options}")).succeeds();
        done.prints(&["validated by Graph500's rules", "vertices reached, 16,384 edges"]);
    }
    folder.run("run sssp s --source max-degree --validate").succeeds().prints(&["validated by Graph500's rules"]);
    // The output is still valid JSON.
    folder.run("run bfs s --source max-degree --validate --json").succeeds().json();
    let plain = folder.run("run bfs s --source max-degree").succeeds();
    assert!(!plain.stdout.contains("validated"), "{}", plain.stdout);
}

/// A copy of a data set of this repository, to be changed.
fn data_set(name: &str) -> Folder {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/graphalytics").join(name);
    std::fs::create_dir(folder.path("data")).unwrap();
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::copy(&path, folder.path(&format!("data/{name}"))).unwrap();
    }
    folder
}

/// The rows of all tables in order: algorithm and verdict.
fn verdicts(done: &Done) -> Vec<(&str, &str)> {
    let lines = done.stdout.lines().filter(|line| !line.contains("verdict") && !line.contains(':'));
    lines
        .filter_map(|line| {
            let (name, rest) = line.trim().split_once(' ')?;
            Some((name, rest.trim().split("  ").next()?))
        })
        .collect()
}

/// Checks for exit code 1 and the number of failed answers.
#[track_caller]
fn fails(done: Done, words: &[&str]) -> Done {
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    assert!(done.stderr.contains("did not pass"), "{}", done.stderr);
    done.prints(words)
}

const EXAMPLE: [(&str, &str); 6] =
    [("bfs", "passes"), ("cdlp", "passes"), ("lcc", "passes"), ("pr", "passes"), ("sssp", "passes"), ("wcc", "passes")];

#[test]
fn the_data_sets_of_this_repository_pass() {
    for name in ["bfs", "cdlp", "lcc", "pr", "sssp", "wcc"] {
        let folder = data_set(name);
        let done = folder.run("validate data --device cpu").succeeds();
        let (directed, undirected) = (format!("test-{name}-directed"), format!("test-{name}-undirected"));
        done.prints(&[&directed, &undirected]);
        let again = folder.run(&format!("validate data/{directed}.properties --device cpu")).succeeds();
        assert_eq!((verdicts(&again), verdicts(&again).len()), (vec![(name, "passes")], 1));
    }
    let folder = data_set("example");
    let done = folder.run("validate data --device cpu").succeeds().prints(&["example-directed", "example-undirected"]);
    let passed: Vec<_> = verdicts(&done).into_iter().filter(|row| EXAMPLE.contains(row)).collect();
    assert_eq!(passed, [EXAMPLE, EXAMPLE].concat(), "{}", done.stdout);
}

/// The benchmark's layout: graphs and outputs in a folder for each algorithm, and all properties in one folder,
/// including those of missing data sets.
#[test]
fn the_benchmarks_folder_layout_passes() {
    let folder = Folder::new();
    let data = folder.path("graphalytics");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/graphalytics");
    std::fs::create_dir_all(data.join("properties")).unwrap();
    for name in ["bfs", "cdlp", "lcc", "pr", "sssp", "wcc", "example"] {
        std::fs::create_dir(data.join(name)).unwrap();
        for entry in std::fs::read_dir(source.join(name)).unwrap() {
            let path = entry.unwrap().path();
            let properties = path.extension().is_some_and(|extension| extension == "properties");
            let to = data.join(if properties { "properties" } else { name });
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let text = std::fs::read_to_string(data.join("properties/example-directed.properties")).unwrap();
    std::fs::write(data.join("properties/graph500-22.properties"), text.replace("example-directed", "graph500-22"))
        .unwrap();
    let run = |path: &Path| folder.run(&format!("validate {} --device cpu", path.display()));
    let done = run(&data).succeeds().prints(&["test-bfs-directed", "test-sssp-undirected", "example-undirected"]);
    assert!(!done.stdout.contains("graph500"), "a data set without its graph: {}", done.stdout);
    let done = run(&data.join("sssp")).succeeds();
    assert_eq!(verdicts(&done), [("sssp", "passes"), ("sssp", "passes")]);
    run(&data.join("properties/example-directed.properties")).succeeds();
}

#[test]
fn wrong_answers_are_shown() {
    let folder = data_set("example");
    let change = |file: &str, from: &str, to: &str| {
        let path = format!("data/example-directed-{file}");
        let text = folder.read(&path);
        assert!(text.contains(from), "{text}");
        folder.write(&path, text.replace(from, to));
    };
    let validate =
        |options: &str| folder.run(&format!("validate data/example-directed.properties --device cpu {options}"));
    change("BFS", "\n4 2\n", "\n4 3\n");
    change("SSSP", "\n2 Infinity\n", "\n2 7\n");
    change("PR", "3 1.550469", "3 1.560469");
    let done = fails(
        validate(""),
        &[
            "bfs: vertex 4: expected 3, found 2",
            "sssp: vertex 2: expected 7e0, found inf",
            "pr: vertex 3: expected 1.56",
        ],
    );
    assert!(done.stderr.contains("3 of the answers"), "{}", done.stderr);
    // A requested algorithm runs alone.
    validate("--algorithm wcc").succeeds();
    // A component that is split, and two that are merged.
    change("WCC", "\n4 1\n", "\n4 9\n");
    fails(
        validate("--algorithm wcc"),
        &["wcc: vertex 4: expected 9, found 1, like other vertices of the group of vertex 1"],
    );
    // Within the epsilon.
    change("PR", "3 1.560469", "3 1.550470");
    change("SSSP", "\n3 5.0", "\n3 Infinity\n#");
    fails(validate("--algorithm sssp"), &["sssp: vertex 2: expected 7e0", "sssp: vertex 3: expected inf, found 5e-1"]);
    change("SSSP", "\n3 Infinity\n#", "\n3 5.0");
    change("SSSP", "\n2 7\n", "\n2 Infinity\n");
    validate("--algorithm pr --algorithm sssp").succeeds();
}

#[test]
fn two_groups_are_not_one() {
    let folder = data_set("wcc");
    let text = folder.read("data/dir-output");
    // Other labels, which do not matter.
    folder.write("data/dir-output", text.replace(" 1", " 77").replace(" 6", " 18446744073709551615"));
    folder.run("validate data/test-wcc-directed.properties --device cpu").succeeds();
    folder.write("data/dir-output", text.replace(" 6", " 1"));
    fails(
        folder.run("validate data/test-wcc-directed.properties --device cpu"),
        &["wcc: vertex 6: expected 1, in the group of vertex 1, found a group of its own"],
    );
}

/// A reference must have every vertex exactly once.
#[test]
fn references_of_other_vertices_are_refused() {
    let folder = data_set("bfs");
    let text = folder.read("data/dir-output");
    let with = |text: String| {
        folder.write("data/dir-output", text);
        folder.run("validate data/test-bfs-directed.properties --device cpu")
    };
    fails(with(text.replace("\n4 2", "")), &["dir-output", "9 lines, and none for vertex 4"]);
    fails(with(text.replace("\n4 2", "\n11 2")), &["dir-output:4: expected one of the graph's 10 vertices"]);
    fails(
        with(text.replace("\n4 2", "\n3 1")),
        &["dir-output:4: expected every vertex once, but vertex 3 occurs twice"],
    );
    fails(with(text.replace("\n4 2", "\n4 two")), &["dir-output:4: expected a vertex id and a whole number"]);
    fails(with(text.replace("\n4 2", "\n4 2 7")), &["dir-output:4: expected a vertex id and a whole number"]);
    // In any order, with blank lines, without a final newline.
    let turned: Vec<&str> = text.lines().rev().collect();
    with(turned.join("\n\n")).succeeds();
}

#[test]
fn outputs_are_references_of_another_run() {
    let folder = data_set("example");
    folder.run("validate data/example-undirected.properties --device cpu --output out --store s").succeeds();
    assert_eq!(folder.read("out/example-undirected-BFS"), folder.read("data/example-undirected-BFS"));
    assert_eq!(folder.read("out/example-undirected-WCC"), folder.read("data/example-undirected-WCC"));
    for name in folder.names("out") {
        std::fs::copy(folder.path(&format!("out/{name}")), folder.path(&format!("data/{name}"))).unwrap();
    }
    // The store that was kept, with other vertex ids.
    let done = folder.run("validate data/example-undirected --device cpu --store s").succeeds();
    assert_eq!(verdicts(&done).into_iter().filter(|row| EXAMPLE.contains(row)).collect::<Vec<_>>(), EXAMPLE);
    folder.run("format data/example-undirected.properties d --order degree").succeeds();
    folder.run("validate data/example-undirected --device cpu --store d --output in-order").succeeds();
    assert_eq!(folder.read("in-order/example-undirected-BFS"), folder.read("data/example-undirected-BFS"));
    folder.run("validate data --store s").fails(2, &["is for one data set, and here are 2"]);
}

#[test]
fn missing_files_are_named() {
    let folder = data_set("example");
    std::fs::remove_file(folder.path("data/example-directed-BFS")).unwrap();
    let validate =
        |options: &str| folder.run(&format!("validate data/example-directed.properties --device cpu {options}"));
    validate("").succeeds().prints(&["no reference output"]);
    fails(validate("--algorithm bfs"), &["no reference output"]);
    let text = folder.read("data/example-directed.properties");
    folder.write("data/example-directed.properties", text.replace("bfs.source-vertex = 1", "bfs.source-vertex = 77"));
    fails(validate(""), &["bfs: bfs.source-vertex = 77: the graph has no vertex with that id"]);
    folder.write("data/example-directed.properties", text.replace("pr.num-iterations = 2", "pr.num-iterations = two"));
    fails(validate(""), &["pr.num-iterations = a whole number, found two"]);
    folder.write("data/example-directed.properties", text.replace("= bfs,", "= apsp,"));
    validate("").fails(1, &["\"apsp\" is not an algorithm of Graphalytics"]);
    folder.run("validate nowhere").fails(1, &["nowhere", "a properties file"]);
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.run("validate empty").fails(1, &["empty", "the .properties file of a Graphalytics data set"]);
    let bfs = data_set("bfs");
    std::fs::remove_file(bfs.path("data/dir-output")).unwrap();
    let done = bfs.run("validate data/test-bfs-directed.properties --device cpu").prints(&["no reference output"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("nothing was compared"), "{}", done.stderr);
}
