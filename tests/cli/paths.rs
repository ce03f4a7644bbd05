//! Paths between two vertices, parents, and searches up to a distance, as a user asks for them.

use crate::program::Folder;

/// a → b → c → d of length 1 each, a → d of length 3, b → e of length 0, e → b of length 0; x → a.
fn roads() -> Folder {
    let folder = Folder::new();
    let rows = "from,to,length\na,b,1\nb,c,1\nc,d,1\na,d,3\nb,e,0\ne,b,0\nx,a,1\n";
    folder.write("roads.csv", rows);
    // The first parent of several is that with the first name then.
    folder.run("format roads.csv roads --weight length --order natural").succeeds();
    folder
}

/// The rows of a CSV file, sorted.
fn rows(folder: &Folder, file: &str) -> Vec<String> {
    let mut rows: Vec<String> = folder.read(file).lines().map(str::to_owned).collect();
    rows[1..].sort_unstable();
    rows
}

#[test]
fn parents_of_shortest_paths_are_a_column() {
    let folder = roads();
    for device in ["cpu --threads 1", "cpu --threads 4", "cpu,cpu", "cpu,cpu --tune strategy=shard"] {
        for more in ["", "--delta 1", "--tune asynchronous", "--validate"] {
            if more == "--tune asynchronous" && device.contains("shard") {
                continue;
            }
            let options = format!("--source a --parents --output tree.csv --device {device} {more}");
            let done = folder.run(&format!("run sssp roads {options}")).succeeds();
            done.prints(&["parents: ", "pages read in 2 passes"]);
            // Of two ways to d the smaller parent: a and c are equally far. e has no nearer one than b.
            let expected = ["vertex,distance,parent", "a,0,a", "b,1,a", "c,2,b", "d,3,a", "e,1,b", "x,-1,-1"];
            assert_eq!(rows(&folder, "tree.csv"), expected, "{options}");
        }
    }
    let done = folder.run("run sssp roads --source a --parents --validate --single").succeeds();
    done.prints(&["validated by Graph500's rules: 5 vertices reached"]);
}

#[test]
fn a_path_is_shown_and_written() {
    let folder = roads();
    let done = folder.run("run sssp roads --source a --target c --path path.csv --device cpu").succeeds();
    let done = done.prints(&["path from a to c: 2 edges, distance 2\n", "5 of 6 vertices"]);
    let at = |text: &str| done_line(&done.stdout, text);
    assert!(at("a ") < at("b ") && at("b ") < at("c "), "{}", done.stdout);
    assert_eq!(folder.read("path.csv"), "vertex,distance\na,0\nb,1\nc,2\n");
    let json = folder.run("run sssp roads --source a --target e --json --device cpu").succeeds().json();
    let path = &json["answer"]["path"];
    assert_eq!((path["source"].as_str(), path["target"].as_str()), (Some("a"), Some("e")));
    assert_eq!((path["hops"].as_u64(), path["value"].as_u64()), (Some(2), Some(1)));
    let vertices: Vec<_> = path["vertices"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!((vertices, json["answer"]["reached"].as_u64()), (vec!["a", "b", "e"], Some(5)));

    // By hops the path to d is one edge; and back there is none.
    let done = folder.run("run bfs roads --source a --target d --path path.csv --device cpu").succeeds();
    done.prints(&["path from a to d: 1 edge, level 1\n"]);
    assert_eq!(folder.read("path.csv"), "vertex,level\na,0\nd,1\n");
    for command in ["bfs", "sssp"] {
        let done = folder.run(&format!("run {command} roads --source d --target a --path none.csv --device cpu"));
        done.succeeds().prints(&["no path from d to a was found"]);
        assert_eq!(folder.read("none.csv").lines().count(), 1);
        let json = folder.run(&format!("run {command} roads --source d --target a --json --device cpu")).succeeds();
        assert!(json.json()["answer"]["path"]["hops"].is_null());
        let done = folder.run(&format!("run {command} roads --source a --target a --device cpu")).succeeds();
        done.prints(&["path from a to a: 0 edges"]);
        folder.run(&format!("run {command} roads --source a --target nobody")).fails(1, &["--target nobody"]);
        folder.run(&format!("run {command} roads --source a --path p.csv")).fails(2, &["--target"]);
    }
}

fn done_line(text: &str, begin: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(begin)).unwrap_or_else(|| panic!("{begin:?}: {text}"))
}

/// A path of 70,000 edges has more vertices than one block, than the terminal shows and less than JSON lists.
#[test]
fn long_paths_are_whole_in_files_and_cut_for_people() {
    let folder = Folder::new();
    let edges: String = (0..70_000).map(|vertex| format!("{vertex} {}\n", vertex + 1)).collect();
    folder.write("line.txt", edges);
    folder.run("format line.txt line").succeeds();
    let done = folder.run("run bfs line --source 0 --target 70000 --path path.csv --device cpu --quiet");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let expected: String = (0..=70_000).map(|vertex| format!("{vertex},{vertex}\n")).collect();
    assert!(folder.read("path.csv") == format!("vertex,level\n{expected}"));
    let done =
        folder.run("run bfs line --source 69000 --target 70000 --device cpu").prints(&["path from 69000 to 70000"]);
    let done = done.prints(&["… 901 more", "--path FILE writes all of it"]);
    assert!(done_line(&done.stdout, "69049 ") < done_line(&done.stdout, "69951 "), "{}", done.stdout);
}

#[test]
fn a_cutoff_ends_the_search_and_is_validated() {
    let folder = roads();
    for more in ["", "--delta 1", "--parents", "--target e"] {
        let options = format!("--source a --cutoff 1.5 --validate --output near.csv --device cpu {more}");
        let done = folder.run(&format!("run sssp roads {options}")).succeeds();
        done.prints(&["validated by Graph500's rules: 3 vertices reached", "3 of 6 vertices"]);
        let near: Vec<String> = rows(&folder, "near.csv").into_iter().filter(|row| !row.contains("-1")).collect();
        let near: Vec<&str> = near[1..].iter().map(|row| &row[..3]).collect();
        assert_eq!(near, ["a,0", "b,1", "e,1"], "{options}");
    }
    let done = folder.run("run sssp roads --source a --cutoff 1.5 --target c --device cpu").succeeds();
    done.prints(&["no path from a to c was found"]);
    for cutoff in ["-1", "NaN"] {
        let done = folder.run(&format!("run sssp roads --source a --cutoff {cutoff} --device cpu"));
        done.fails(1, &["cutoff", "a number from 0 on"]);
    }
    folder.run("run sssp roads --source a --cutoff far").fails(2, &["--cutoff", "far"]);
}

#[test]
fn shortest_paths_have_buckets_where_no_vertex_has_many_neighbours() {
    let folder = Folder::new();
    // Lists are of 2 to 4; with a hub, of up to 20.
    let grid = |weight: fn(u32) -> u32| (0..400).flat_map(move |v| [(v, v + 1, weight(v)), (v, v + 20, weight(v + 7))]);
    let lines = |weight: fn(u32) -> u32| grid(weight).map(|(a, b, w)| format!("{a} {b} {w}\n")).collect::<String>();
    let weights = lines(|v| v * 7919 % 9 + 1);
    let hub = weights.clone() + &(0..16).map(|v| format!("0 {} 9\n", 400 - 3 * v)).collect::<String>();
    for (name, text, buckets) in [("grid", &weights, true), ("hub", &hub, false), ("zero", &lines(|_| 0), false)] {
        folder.write("edges.wel", text);
        folder.run(&format!("format edges.wel {name} --symmetrize --weight-type u32")).succeeds();
        let visits = [" --delta inf", ""].map(|delta| {
            let options = format!("--source 0 --device cpu --threads 1 --output {name}{}.csv{delta}", delta.len());
            let report = folder.run(&format!("run sssp {name} {options} --json")).succeeds().json();
            (report["steps"].as_array().unwrap().len(), report["total"]["edges"].as_u64().unwrap())
        });
        assert_eq!(folder.read(&format!("{name}0.csv")), folder.read(&format!("{name}12.csv")));
        assert_eq!(visits[0] != visits[1], buckets, "{name}: {visits:?}");
    }
    folder.run("run sssp grid --source 0 --delta nan").fails(1, &["delta NaN: the width of a bucket must be"]);
}
