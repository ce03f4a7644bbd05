//! `run` with algorithms that give every vertex a number, against values computed by hand.

use crate::graph::columns;
use crate::program::Folder;

/// The values that a run writes, by ascending id.
#[track_caller]
fn values(folder: &Folder, run: &str) -> Vec<(u64, f64)> {
    folder.run(&format!("run {run} --output values.txt")).succeeds();
    let mut values: Vec<_> =
        columns(&folder.read("values.txt"), ' ').into_iter().map(|(id, row)| (id, row[0])).collect();
    values.sort_by_key(|(id, _)| *id);
    values
}

#[track_caller]
fn assert_values(found: &[(u64, f64)], expected: &[(u64, f64)]) {
    let near = |(one, other): (&(u64, f64), &(u64, f64))| one.0 == other.0 && (one.1 - other.1).abs() <= 1e-4;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} instead of {expected:?}");
}

#[test]
fn widths_are_right() {
    let folder = Folder::new();
    folder.write("g.txt", "10 20 5\n20 30 7\n10 30 3\n40 10 1\n");
    folder.run("format g.txt whole").succeeds();
    let run = folder.run("run widest whole --source 10 --output w.txt").succeeds();
    run.prints(&["widest on", "reached 3 of 4 vertices"]);
    assert_eq!(folder.read("w.txt"), "10 4294967295\n20 5\n30 5\n40 0\n");
    folder.run("format g.txt float --weight-type f32").succeeds();
    folder.run("run widest float --source 10 --output w.csv").succeeds().prints(&["reached 3 of 4 vertices"]);
    assert_eq!(columns(&folder.read("w.csv"), ',')[&10], [f64::INFINITY]);
    folder.run("run widest whole --source 11").fails(1, &["--source 11"]);
    folder.run("format g.txt none --weight-type ignore").succeeds();
    folder.run("run widest none --source 10").fails(1, &["widest needs weights"]);
}

#[test]
fn walks_begin_at_seeds() {
    let folder = Folder::new();
    folder.write("g.txt", "10 20\n20 30\n40 10\n");
    folder.run("format g.txt s --order degree").succeeds();
    let expected = [(10, 0.15), (20, 0.1275), (30, 0.108375), (40, 0.0)];
    assert_values(&values(&folder, "rwr s --source 10 --source 10 --dangling ignore"), &expected);
    let found = values(&folder, "personalized-pagerank s --source 40 --source 20 --damping 0 --iterations 3");
    assert_values(&found, &[(10, 0.0), (20, 0.5), (30, 0.0), (40, 0.5)]);
    folder.run("run rwr s --source 10 --top 1").succeeds().prints(&["personalized-pagerank on", "rank"]);
    folder.run("run rwr s --source 10 --source 11").fails(1, &["--source 11"]);
    // On a ring all ranks are equal, by any algorithm.
    folder.write("ring.txt", "1 2\n2 3\n3 4\n4 1\n");
    folder.run("format ring.txt ring").succeeds();
    assert_values(
        &values(&folder, "delta-pagerank ring --tolerance 1e-5"),
        &[(1, 0.25), (2, 0.25), (3, 0.25), (4, 0.25)],
    );
}

#[test]
fn heat_voltages_and_labels_are_right() {
    let folder = Folder::new();
    folder.write("g.txt", "10 20 1\n20 30 3\n");
    folder.run("format g.txt s --symmetrize").succeeds();
    let found = values(&folder, "circuit s --source 10=8 --source 30=-4");
    assert_values(&found, &[(10, 8.0), (20, -1.0), (30, -4.0)]);
    let found = values(&folder, "circuit s --source 10=8 --source 30=-4 --ignore-weights");
    assert_values(&found, &[(10, 8.0), (20, 2.0), (30, -4.0)]);
    // Of the weight at vertex 20, a quarter is on the edge from 10.
    let found = values(&folder, "heat s --source 10 --alpha 0.5 --iterations 2");
    assert_values(&found, &[(10, 1.0), (20, 0.1875), (30, 0.0625)]);
    let found = values(&folder, "adsorption s --source 10 --inject 0.5 --abandon 0.1 --iterations 1");
    assert_values(&found, &[(10, 0.5), (20, 0.1), (30, 0.0)]);
    folder.run("run heat s --source max-degree --top 2").succeeds().prints(&["heat on", "temperature"]);
    folder.run("run heat s --source 11=3").fails(1, &["--source 11"]);
    folder.run("run circuit s --source 20=1 --source 20=2").fails(1, &["--source 20", "duplicate vertex"]);
    folder.run("run heat s --source 10 --alpha 2").fails(1, &["alpha 2"]);
    folder.write("bad.txt", "10 20 0.5\n20 30 -0.25\n");
    folder.run("format bad.txt bad").succeeds();
    folder.run("run heat bad --source 10").fails(1, &["heat", "vertex 30", "negative"]);
}
