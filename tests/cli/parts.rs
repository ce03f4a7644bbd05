//! Parts of graphs: `split`, `--part`, and what other commands say of them.

use crate::program::Folder;

/// A store in three shards, with in-lists, and its parts in `p0`, `p1` and `p2`.
fn parts() -> Folder {
    let folder = Folder::new();
    folder.rmat("s", 10, "--page-size 64KiB --shards 3 --in-edges");
    folder.run("split s p{rank}").succeeds().prints(&["own vertices", "p0 ", "p2 ", "16,384 edges"]);
    folder
}

fn same(folder: &Folder, one: &str, other: &str) {
    assert_eq!(folder.names(one), folder.names(other));
    for name in ["graph.json", "directory.bin", "degrees.bin", "chunks.bin", "pages.0", "in/pages.0", "in/chunks.bin"] {
        let [one, other] = [one, other].map(|store| std::fs::read(folder.path(store).join(name)).unwrap());
        assert!(one == other, "{name}");
    }
}

#[test]
fn parts_are_described_and_checked() {
    let folder = parts();
    folder.run("info p1").succeeds().prints(&["part            part 1 of 0 to 2: owns vertices ", " of 16,384 edges"]);
    let json = folder.run("info p1 --json").succeeds().json();
    assert_eq!((&json["manifest"]["part"]["number"], &json["manifest"]["vertices"]), (&1.into(), &1024.into()));
    folder.run("info p1 --report p1.html").succeeds();
    assert!(folder.read("p1.html").contains("Part of a graph"));
    for part in ["p0", "p1", "p2"] {
        folder.run(&format!("verify {part}")).succeeds().prints(&["no defects"]);
    }
    let pages = folder.path("p1/pages.0");
    let mut bytes = std::fs::read(&pages).unwrap();
    bytes[70] ^= 1;
    std::fs::write(&pages, bytes).unwrap();
    folder.run("verify p1").fails(1, &["p1/pages.0: page 0"]);
}

/// A part would pass for a graph of its own.
#[test]
fn one_process_does_not_use_a_part_alone() {
    let folder = parts();
    let commands = [
        "run pagerank p1",
        "run bfs p1 --source 0",
        "extract p1 x --ego 0",
        "extract p1 --all --output x.csv",
        "reformat p1 x",
        "split p1 x",
    ];
    for command in commands {
        folder.run(command).fails(1, &["p1: part 1 of 0 to 2 of a graph", "docs/clusters.md"]);
    }
    assert!(!folder.path("x").exists() && !folder.path("x.csv").exists());
}

#[test]
fn a_single_part_is_a_graph() {
    let folder = Folder::new();
    folder.rmat("s", 9, "--page-size 64KiB");
    folder.run("split s p").succeeds();
    folder.run("info p").succeeds().prints(&["part 0 of 0 to 0: owns vertices 0 to 511"]);
    let ranks = |store: &str| {
        folder.run(&format!("run pagerank {store} --iterations 3 --device cpu --output {store}.csv")).succeeds();
        folder.read(&format!("{store}.csv"))
    };
    assert_eq!(ranks("s"), ranks("p"));
}

#[test]
fn a_part_is_made_alone() {
    let folder = parts();
    for part in 0..3 {
        let store = format!("a{part}");
        folder.rmat(&store, 10, &format!("--page-size 64KiB --shards 3 --in-edges --part {part}"));
        same(&folder, &format!("p{part}"), &store);
    }
    folder.run("extract s --all --output s.el").succeeds();
    let options = "--page-size 64KiB --shards 2 --ids 1024 --balance bytes --shard-weights 1,3 --order degree";
    folder.run(&format!("format s.el f {options} --part 1 --stripe more")).succeeds();
    folder.run("verify f").succeeds();
    folder.run("info f").succeeds().prints(&["part 1 of 0 to 1", "stripes         2"]);
    assert!(folder.path("more/pages.1").exists());
    folder.run("reformat s r --shards 2 --part 0").succeeds();
    folder.run("info r").succeeds().prints(&["part 0 of 0 to 1"]);
}

/// Every part has all names: ids are found and written without the others.
#[test]
fn parts_have_all_names() {
    let folder = Folder::new();
    let edges: String = (0..400).map(|i| format!("user {},user {}\n", i % 90, i * i % 97)).collect();
    folder.write("e.csv", format!("from,to\n{edges}"));
    let options = "--page-size 64KiB --shards 2 --balance vertices";
    folder.run(&format!("format e.csv g {options}")).succeeds();
    folder.run("split g p0 p1").succeeds();
    for part in ["p0", "p1"] {
        folder.run(&format!("verify {part}")).succeeds();
        folder.run(&format!("info {part}")).succeeds().prints(&["names (strings)"]);
        let alone = format!("format e.csv a{part} {options} --part {}", &part[1..]);
        folder.run(&alone).succeeds();
        for name in ["graph.json", "names.bin", "names.index", "names.keys", "pages.0", "degrees.bin"] {
            let [one, other] = [part, &format!("a{part}")].map(|store| std::fs::read(folder.path(store).join(name)));
            assert!(one.unwrap() == other.unwrap(), "{part}/{name}");
        }
    }
}

#[test]
fn parts_have_stripes() {
    let folder = Folder::new();
    folder.rmat("s", 10, "--page-size 64KiB --shards 2");
    folder.run("split s a b --stripe disk{rank}").succeeds();
    assert!(folder.path("disk0/pages.1").exists() && folder.path("disk1/pages.1").exists());
    for part in ["a", "b"] {
        folder.run(&format!("verify {part}")).succeeds();
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let folder = Folder::new();
    folder.rmat("s", 9, "--page-size 64KiB --shards 2 --symmetrize");
    folder.run("split s a").fails(1, &["it has 2 shards", "reformat s NEW --shards 1"]);
    folder.run("split s a b c").fails(1, &["it has 2 shards", "--shards 3"]);
    folder.run("split s a a").fails(1, &["a: given for part 0 and for part 1"]);
    folder.run("split s a{part}").fails(1, &["{rank}"]);
    folder.run("split s a b --stripe x").fails(2, &["--stripe x", "{rank}"]);
    folder.run("split s a s").fails(1, &["there is a store already"]);
    folder.run("split s a b --memory 1MiB").fails(1, &["splitting needs", "hint: at least"]);
    folder.run("split nothing a b").fails(1, &["not a graph store"]);
    assert!(folder.names("a").is_empty() && folder.names("b").is_empty());
    let generate = "generate rmat --scale 8 --store t";
    folder.run(&format!("{generate} --shards 2 --part 2")).fails(1, &["part 2: expected 0 to 1"]);
    folder.run(&format!("{generate} --shards 2 --shard-weights 1")).fails(1, &["weights of shards", "expected 2"]);
    folder.run(&format!("{generate} --shards 2 --balance colour")).fails(2, &["--balance", "edges"]);
    assert!(folder.names("t").is_empty());
    // In-lists of an undirected graph are made where they are asked for.
    folder.run("split s a b --in-edges").succeeds();
    folder.run("verify a").succeeds();
    assert!(folder.path("a/in/pages.0").exists());
}
