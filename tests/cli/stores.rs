//! Stores: generated or formatted, inspected, verified.

use crate::graph::{Graph, columns};
use crate::program::Folder;

#[test]
fn a_generated_store_has_the_requested_size() {
    let folder = Folder::new();
    let graph = Graph::rmat(&folder, 10);
    folder
        .rmat("s", 10, "--in-edges --encoding vertex-id --order natural")
        .prints(&["s: 1,024 vertices, 16,384 edges, 2 pages of 1 MiB", "edges/s"]);
    let info = folder.run("info s").succeeds();
    info.prints(&["rmat scale 10", "16,384 directed", "0 to 1023", "vertex-id", "1 page of 1 MiB", "out-degree"]);
    let info = folder.run("info s --json").succeeds().json();
    assert_eq!((&info["manifest"]["vertices"], &info["manifest"]["edges"]), (&1024.into(), &graph.edges.into()));
    assert_eq!(info["manifest"]["page_bytes"], 1 << 20);
    let longest = graph.out.values().map(Vec::len).max().unwrap();
    let empty = graph.out.values().filter(|list| list.is_empty()).count();
    assert_eq!((&info["degrees"][0]["max"], &info["degrees"][0]["empty"]), (&longest.into(), &empty.into()));
    folder.run("verify s").succeeds().prints(&["s: no defects; 2 pages, 32,768 edges"]);
    // By default neighbours are packed, and a sample chooses the order.
    folder.rmat("default", 10, "--in-edges");
    let info = folder.run("info default").succeeds();
    info.prints(&["packed (17408 edges a page)", "by descending power of two of the degree", "in ids.bin"]);
}

#[test]
fn a_generated_edge_list_and_store_agree() {
    let folder = Folder::new();
    folder.rmat("direct", 10, "");
    for name in ["e.el", "e.u32", "e.u64", "e.txt"] {
        let done = folder.run(&format!("generate rmat --scale 10 --edges-file {name}")).succeeds();
        done.prints(&[&format!("{name}: 16,384 edges")]);
        let store = name.replace('.', "-");
        folder.run(&format!("format {name} {store} --ids 1024")).succeeds();
        for store in ["direct", &store] {
            let run = format!("run bfs {store} --source max-degree --output {store}.txt");
            folder.run(&run).succeeds().prints(&["reached"]);
        }
        assert_eq!(folder.read("direct.txt"), folder.read(&format!("{store}.txt")));
    }
}

#[test]
fn other_generators_and_weights() {
    let folder = Folder::new();
    folder
        .run("generate rmat --vertices 77 --edges 500 --like parmat --store odd")
        .succeeds()
        .prints(&["77 vertices, 500 edges"]);
    folder.run("generate geometric --vertices 500 --degree 9 --store near --random-weights u32:1:9").succeeds();
    folder.run("verify near").succeeds().prints(&["no defects"]);
    folder.run("generate uniform --vertices 100 --edges 1000 --store u --random-weights u32:1:9").succeeds();
    folder.run("info u").succeeds().prints(&["100", "1,000 directed", "u32"]);
    folder.run("generate grid --width 20 --height 5 --diagonals 0.5 --store g --random-weights f32:0:1").succeeds();
    folder.run("info g").succeeds().prints(&["each way counted", "f32"]);
    for store in ["u", "g"] {
        folder.run(&format!("verify {store}")).succeeds().prints(&["no defects"]);
    }
    // Without diagonals, hops on a grid are Manhattan distances.
    folder.run("generate grid --width 20 --height 5 --store plain").succeeds();
    folder.run("run bfs plain --source 0 --output l").succeeds().prints(&["reached 100 of 100", "largest level 23"]);
    let levels = columns(&folder.read("l"), ' ');
    assert!((0..100).all(|id| levels[&id] == [(id % 20 + id / 20) as f64]));
}

#[test]
fn formatting_options_have_their_effect() {
    let folder = Folder::new();
    folder.write("e.txt", "# a comment\n5 7\n5 7\n7 7\n7 9\n");
    folder.run("format e.txt plain").succeeds().prints(&["3 vertices, 4 edges"]);
    let done = folder.run("format e.txt clean --remove-duplicates --remove-self-loops --symmetrize").succeeds();
    done.prints(&["3 vertices, 4 edges", "removed 1 self-loop and 2 duplicates"]);
    folder.run("run bfs clean --source 9 --output l").succeeds();
    assert_eq!(folder.read("l"), "5 2\n7 1\n9 0\n");
    folder.run("format e.txt kept --ids keep").succeeds().prints(&["10 vertices, 4 edges"]);
    folder.run("run bfs kept --source 0").succeeds().prints(&["reached 1 of 10 vertices"]);
    folder.run("format e.txt compact --ids compact --order degree").succeeds().prints(&["3 vertices"]);
    folder.run("run bfs compact --source 5 --output l.csv").succeeds();
    let levels = columns(&folder.read("l.csv"), ',');
    assert_eq!((&levels[&5][..], &levels[&7][..], &levels[&9][..]), (&[0.0][..], &[1.0][..], &[2.0][..]));
}

/// Shards change the location of edges, but not answers.
#[test]
fn stores_with_shards() {
    let folder = Folder::new();
    folder.rmat("plain", 10, "--in-edges --encoding vertex-id");
    folder
        .rmat("three", 10, "--in-edges --shards 3 --encoding vertex-id")
        .prints(&["1,024 vertices, 16,384 edges, 4 pages"]);
    folder.rmat("one", 10, "--in-edges --shards 1 --encoding vertex-id");
    folder.run("info plain").succeeds().prints(&["shards          no"]);
    folder
        .run("info three")
        .succeeds()
        .prints(&["shards          3; the largest has", "of the edges; 8 KiB of further slots"]);
    let info = folder.run("info three --json").succeeds().json();
    assert_eq!((&info["shards"]["count"], &info["shards"]["extra_slot_bytes"]), (&3.into(), &8192.into()));
    assert_eq!(info["manifest"]["out"]["shards"][2]["end"], 1024);
    folder.run("verify three").succeeds().prints(&["three: no defects; 4 pages, 32,768 edges"]);
    for run in ["pagerank {} --traffic push --iterations 5", "pagerank {} --iterations 5", "bfs {} --source max-degree"]
    {
        for store in ["plain", "three"] {
            folder.run(&format!("run {} --output {store}.txt", run.replace("{}", store))).succeeds();
        }
        assert_eq!(folder.read("plain.txt"), folder.read("three.txt"), "{run}");
    }
    assert_eq!(folder.read("plain/graph.json"), folder.read("one/graph.json"));
    folder.write("e.txt", "1 2\n2 3\n");
    folder.run("format e.txt e --shards 256 --memory 1GiB").succeeds();
    folder.run("run bfs e --source 1 --output l").succeeds();
    assert_eq!(folder.read("l"), "1 0\n2 1\n3 2\n");
}

/// Graphs without vertices or without edges work.
#[test]
fn empty_graphs_work() {
    let folder = Folder::new();
    folder.write("empty.txt", "");
    folder.run("format empty.txt none").fails(1, &["empty.txt", "an empty file"]);
    folder.assert_nothing_left("none");
    folder.write("empty.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
    folder.run("format empty.mtx none").succeeds().prints(&["0 vertices, 0 edges"]);
    folder.run("generate uniform --vertices 5 --edges 0 --store edgeless").succeeds();
    for store in ["none", "edgeless"] {
        folder.run(&format!("info {store}")).succeeds();
        folder.run(&format!("verify {store}")).succeeds().prints(&["no defects"]);
        folder.run(&format!("run pagerank {store} --output {store}.txt")).succeeds();
    }
    assert_eq!(folder.read("none.txt"), "");
    assert_eq!(columns(&folder.read("edgeless.txt"), ' ')[&4], [0.200_000_002_980_232_24]);
    folder.run("run bfs none --source max-degree").fails(1, &["--source max-degree", "no vertices"]);
    folder.run("run bfs edgeless --source max-degree").succeeds().prints(&["reached 1 of 5"]);
}

/// The largest possible ids: what can be formatted can be opened.
#[test]
fn the_largest_ids_can_be_formatted() {
    let folder = Folder::new();
    folder.write("e.txt", format!("{} {}\n", u64::MAX - 1, u64::MAX));
    folder.run("format e.txt s").succeeds();
    folder.run("verify s").succeeds();
    folder.run(&format!("run bfs s --source {} --output l", u64::MAX - 1)).succeeds();
    assert_eq!(folder.read("l"), format!("{} 0\n{} 1\n", u64::MAX - 1, u64::MAX));
}

/// The names and bytes of a folder's files.
fn contents(folder: &Folder, store: &str) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(folder.path(store)).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

/// An output that is named like a file of the store would replace it.
#[test]
fn outputs_do_not_go_into_a_store() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.rmat("other", 8, "");
    let before = contents(&folder, "s");
    let lines = [
        "run bfs s --source max-degree --tune trace=s/directory.bin",
        "run bfs s --source max-degree --report s/graph.json",
        "run bfs s --source max-degree --output s/levels.txt",
        "run bfs other --source max-degree --output s/pages.0 --output-format text",
        "run pagerank s --checkpoint s/c",
        "run pagerank s --output s/parts --tune output-parts",
        "info s --report s/graph.json",
        "extract s --all --output s/e.csv",
        "partition s --parts 2 --output s/p.txt",
    ];
    for line in lines {
        folder.run(line).fails(1, &["lies inside the store", "outside of it"]);
        assert!(contents(&folder, "s") == before, "{line}");
    }
    // A folder of another program's `graph.json` is no store.
    std::fs::create_dir(folder.path("d")).unwrap();
    folder.write("d/graph.json", "{\"nodes\": []}");
    folder.run("run bfs s --source max-degree --device cpu --output d/levels.txt").succeeds();
    // A stripe outside of the store.
    folder.rmat("striped", 8, "--stripe away");
    let stripe = std::fs::read(folder.path("away/pages.1")).unwrap();
    let done =
        folder.run("run bfs striped --source max-degree --device cpu --output away/pages.1 --output-format text");
    done.fails(1, &["is a file of a store's stripe"]);
    assert!(std::fs::read(folder.path("away/pages.1")).unwrap() == stripe);
}

/// The program waits at each pipe until it is read, so that the store is replaced between opening and the run: its
/// pages then belong to another store.
#[cfg(unix)]
#[test]
fn a_store_that_is_replaced_during_a_run_is_noticed() {
    use crate::program::Done;
    use std::fs::File;
    use std::process::Stdio;
    use std::sync::mpsc::{Receiver, channel};
    let folder = Folder::new();
    folder.rmat("s", 10, "");
    folder.rmat("t", 8, "");
    let done = folder.shell("mkfifo out trace");
    assert_eq!(done.code, Some(0));
    let line = "run pagerank s --device cpu --iterations 3 --output out --output-format text --tune trace=trace";
    let mut child = folder.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening waits for the program, which may wait at the other pipe: on another thread, for a minute at most.
    let open = |name: &str| {
        let (path, (opened, file)) = (folder.path(name), channel());
        std::thread::spawn(move || opened.send(File::open(path).unwrap()));
        file
    };
    let within_a_minute = |file: Receiver<File>| file.recv_timeout(std::time::Duration::from_secs(60));
    let Ok(out) = within_a_minute(open("out")) else {
        child.kill().unwrap();
        panic!("it does not open `out` first");
    };
    std::fs::rename(folder.path("s"), folder.path("before")).unwrap();
    std::fs::rename(folder.path("t"), folder.path("s")).unwrap();
    let Ok(mut trace) = within_a_minute(open("trace")) else {
        child.kill().unwrap();
        panic!("it does not open `trace`");
    };
    let trace = std::thread::spawn(move || std::io::copy(&mut trace, &mut std::io::sink()).unwrap());
    let done = Done::of(line, child.wait_with_output().unwrap());
    done.fails(1, &["s/pages.0: page 0"]);
    let written = std::io::read_to_string(out).unwrap();
    assert_eq!(written, "");
    trace.join().unwrap();
}

/// Paths and arguments are bytes.
#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_text() {
    use crate::program::Done;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    let strange = std::ffi::OsStr::from_bytes(b"s\xff\xfe");
    std::fs::rename(folder.path("s"), folder.path("").join(strange)).unwrap();
    for line in ["", "--json", "--report r.html", "--tune trace=t.json", "--checkpoint c", "--output o.parquet"] {
        let mut command = folder.command("run pagerank --iterations 2 --device cpu");
        let output = command.arg(strange).args(line.split_whitespace()).output().unwrap();
        Done::of(line, output).succeeds();
    }
    let output = folder.command("run bfs --source 0 --device cpu").arg(strange).arg("--output").arg(strange).output();
    Done::of("an output", output.unwrap()).fails(1, &["s", "is a directory"]);
}
