//! `extract`, and the output of `run` for neighbourhoods, degrees and sets.

use crate::program::Folder;

/// Two triangles with a bridge, a tail, and ids with gaps.
const EDGES: &str = "10 20 5\n20 30 6\n30 10 7\n30 40 8\n40 50 9\n50 60 10\n60 40 11\n60 70 12\n";

fn folder(options: &str) -> Folder {
    let folder = Folder::new();
    folder.write("edges.txt", EDGES);
    folder.run(&format!("format edges.txt g {options}")).succeeds();
    folder
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn vertices_from_a_file_become_a_store_or_a_list() {
    let folder = folder("");
    folder.write("ids.txt", "# a triangle, the bridge, and one apart\n10\n20\n30\n40\n70\n");
    folder.run("extract g --vertices ids.txt --output part.txt").succeeds().prints(&["part.txt: 4 edges"]);
    assert_eq!(lines(&folder.read("part.txt")), ["10 20 5", "20 30 6", "30 10 7", "30 40 8"]);
    folder.run("extract g part --vertices ids.txt").succeeds();
    folder.run("info part").succeeds().prints(&["5"]);
    folder.run("verify part").succeeds();
    folder.run("run sssp part --source 10 --output far.txt --device cpu").succeeds();
    assert_eq!(lines(&folder.read("far.txt")), ["10 0", "20 5", "30 11", "40 19", "70 -1"]);
}

#[test]
fn an_egonet_is_the_neighbourhood_of_a_vertex() {
    let folder = folder("--in-edges");
    let of = |options: &str| {
        folder.run(&format!("extract g --ego 40 {options} --device cpu --output ego.txt")).succeeds();
        folder.read("ego.txt")
    };
    assert_eq!(lines(&of("")), ["40 50 9"]);
    assert_eq!(lines(&of("--hops 2")), ["40 50 9", "50 60 10", "60 40 11"]);
    assert_eq!(lines(&of("--direction in")), ["30 40 8", "60 40 11"]);
    assert_eq!(lines(&of("--direction both")), ["30 40 8", "40 50 9", "50 60 10", "60 40 11"]);
    assert_eq!(lines(&of("--hops 0")), Vec::<&str>::new());
    folder.run("extract g alone --ego 40 --hops 0 --device cpu").succeeds();
    folder.run("run degrees alone --device cpu --output d.txt").succeeds();
    assert_eq!(folder.read("d.txt"), "40 0 0\n");
}

#[test]
fn an_undirected_edge_is_written_once() {
    let folder = folder("--symmetrize");
    folder.run("extract g --ego 40 --hops 1 --device cpu --output ego.txt").succeeds();
    let list = folder.read("ego.txt");
    assert_eq!(list.lines().count(), 4);
    folder.run("extract g part --ego 40 --hops 1 --order natural --device cpu").succeeds();
    folder.run("run degrees part --device cpu --output d.csv --histogram h.csv").succeeds();
    assert_eq!(folder.read("d.csv"), "vertex,degree\n30,1\n40,3\n50,2\n60,2\n");
    assert_eq!(folder.read("h.csv"), "degree,vertices_of_degree\n1,1\n2,2\n3,1\n");
}

#[test]
fn bad_requests_leave_nothing() {
    let folder = folder("");
    folder.write("bad.txt", "10\n11\n");
    folder.run("extract g part --vertices bad.txt").fails(1, &["bad.txt:2", "the graph"]);
    folder.assert_nothing_left("part");
    folder.run("extract g part --ego 11").fails(1, &["--ego 11", "no vertex with that id"]);
    folder.run("extract g part --ego 10 --direction both").fails(1, &["--in-edges"]);
    folder.run("extract g part --vertices none.txt").fails(1, &["none.txt"]);
    folder.run("extract g part --ego 10 --memory 1MiB").fails(1, &["bytes"]);
    folder.assert_nothing_left("part");
    for line in [
        "extract g",
        "extract g part",
        "extract g part --vertices ids.txt --ego 10",
        "extract g part --vertices ids.txt --hops 2",
        "extract g part --vertices ids.txt --output part.txt",
        "extract g --vertices ids.txt --output part.txt --page-size 64KiB",
    ] {
        folder.run(line).fails(2, &["Usage"]);
    }
    // A store is not written over its input.
    folder.run("extract g g --ego 10 --device cpu").fails(1, &["g"]);
    folder.run("verify g").succeeds();
}

#[test]
fn sets_degrees_and_neighbourhoods_are_printed() {
    let folder = folder("--in-edges");
    folder.write("a.txt", "30\n40\n60\n");
    folder.write("b.txt", "40\n10\n70\n");
    let run = folder.run("run cross-edges g --from a.txt --to b.txt --edges ab.txt --output c.txt --device cpu");
    run.succeeds().prints(&[
        "cross-edges: 4; vertices that they leave: 2; vertices in --from: 3; vertices in --to: 3",
        "ab.txt: 4 edges",
    ]);
    assert_eq!(lines(&folder.read("ab.txt")), ["30 10 7", "30 40 8", "60 40 11", "60 70 12"]);
    assert_eq!(lines(&folder.read("c.txt")), ["10 0", "20 0", "30 2", "40 0", "50 0", "60 2", "70 0"]);
    let run = folder.run("run degrees g --histogram h.csv --device cpu").succeeds();
    run.prints(&["degree", "vertices by out_degree", "vertices by in_degree", "2 to 3"]);
    let expected = "degree,vertices_of_out_degree,vertices_of_in_degree\n0,1,0\n1,4,6\n2,2,1\n";
    assert_eq!(folder.read("h.csv"), expected);
    folder
        .run("run neighbourhood g --source 10 --source 70 --hops 1 --direction both --output n.txt --device cpu")
        .succeeds();
    assert_eq!(lines(&folder.read("n.txt")), ["10 0", "20 1", "30 1", "40 -1", "50 -1", "60 1", "70 0"]);
    folder.run("run bfs g --source 10 --max-depth 2 --output l.txt --device cpu").succeeds();
    assert_eq!(lines(&folder.read("l.txt")), ["10 0", "20 1", "30 2", "40 -1", "50 -1", "60 -1", "70 -1"]);
    folder.run("run bfs g --source 10 --max-depth 2 --validate").fails(2, &["--validate"]);
}
