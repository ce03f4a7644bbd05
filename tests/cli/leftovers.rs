//! Killed commands, concurrent commands, and a user's files: nothing is lost, and repeating the command works.
#![cfg(unix)]

use crate::program::{Done, Folder};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STORES: [&str; 3] = [
    "format e.u32 s --in-edges --page-size 64KiB --stripe x --memory 96MiB",
    "generate rmat --scale 14 --store s --page-size 64KiB --in-edges --stripe x",
    "extract source s --ego max-degree --hops 2 --in-edges --page-size 64KiB --stripe x",
];

fn start(folder: &Folder, line: &str) -> Child {
    let mut command = folder.command(line);
    command.env("TMPDIR", folder.path(".")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs a command once and returns its duration; removes its product.
fn time(folder: &Folder, line: &str, made: &[&str]) -> (Duration, Vec<Vec<String>>) {
    let started = Instant::now();
    folder.run(line).succeeds();
    let (time, names) = (started.elapsed(), made.iter().map(|made| folder.names(made)).collect());
    made.iter().for_each(|made| remove(folder, made));
    (time, names)
}

fn remove(folder: &Folder, name: &str) {
    std::fs::remove_dir_all(folder.path(name)).or_else(|_| std::fs::remove_file(folder.path(name))).ok();
}

/// Commands are killed at moments spread over their duration, and repeated.
#[test]
fn after_a_kill_the_same_command_works() {
    let folder = Folder::new();
    folder.run("generate rmat --scale 14 --edges-file e.u32").succeeds();
    folder.rmat("source", 14, "--page-size 64KiB");
    for line in STORES {
        let (time, whole) = time(&folder, line, &["s", "x"]);
        for moment in 1..=5 {
            let mut child = start(&folder, line);
            std::thread::sleep(time * moment / 5);
            child.kill().unwrap();
            child.wait().unwrap();
            if folder.path("s/graph.json").exists() {
                folder.run("verify s").succeeds();
                folder.run(line).fails(1, &["s: there is a store already; remove it"]);
                folder.run("clean s").succeeds();
                folder.run("clean x").succeeds();
            } else {
                folder.run("verify s").fails(1, &["not a graph store"]);
                folder.run(line).succeeds();
            }
            folder.run("verify s").succeeds();
            assert_eq!([folder.names("s"), folder.names("x")], whole[..], "{line}: {moment}");
            ["s", "x"].iter().for_each(|made| remove(&folder, made));
        }
    }
}

/// The next run, or `clean`, removes the temporary file of a killed command.
#[test]
fn temporary_files_of_killed_commands_are_removed() {
    let folder = Folder::new();
    folder.rmat("source", 12, "");
    std::fs::create_dir(folder.path("o")).unwrap();
    for (long, short) in [
        ("run pagerank source --iterations 1000000000 --output o/r", "run pagerank source --output o/r"),
        ("generate rmat --scale 26 --edges-file o/e.el", "generate rmat --scale 10 --edges-file o/e.el"),
    ] {
        let killed = || {
            let mut child = start(&folder, long);
            while folder.names("o").is_empty() {
                std::thread::sleep(Duration::from_millis(5));
            }
            folder.run("clean o").succeeds().prints(&["in use by another process: o/."]);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(folder.names("o").len(), 1);
        };
        killed();
        folder.run(short).succeeds();
        let product = folder.names("o");
        assert!(product.len() == 1 && !product[0].starts_with('.'), "{product:?}");
        remove(&folder, &format!("o/{}", product[0]));
        killed();
        folder.run("clean o --dry-run").succeeds().prints(&["would remove o/."]);
        folder.run("clean o").succeeds().prints(&["removed o/."]);
        folder.run("clean o").succeeds().prints(&["o: nothing to remove"]);
        assert_eq!(folder.names("o"), Vec::<String>::new());
    }
}

#[test]
fn of_two_concurrent_formats_into_one_folder_one_wins() {
    let folder = Folder::new();
    folder.run("generate rmat --scale 13 --edges-file big.u32").succeeds();
    folder.run("generate uniform --vertices 500 --edges 5000 --edges-file small.el").succeeds();
    let format = |input: &str| format!("format {input} s --in-edges --page-size 64KiB --memory 96MiB");
    for round in 0..6 {
        let pair = [["big.u32", "small.el"], ["big.u32", "big.u32"], ["small.el", "small.el"]][round % 3];
        let mut first = start(&folder, &format(pair[0]));
        std::thread::sleep(Duration::from_millis(10) * round as u32);
        let second = folder.run(&format(pair[1]));
        let first = first.wait().unwrap().code();
        let mut codes = [first, second.code];
        codes.sort();
        assert_eq!(codes, [Some(0), Some(1)], "{}", second.stderr);
        if second.code == Some(1) {
            second.fails(1, &["s: "]);
        }
        folder.run("verify s").succeeds();
        assert!(!folder.names("s").iter().any(|name| name.contains("partial")));
        remove(&folder, "s");
    }
}

#[test]
fn a_users_files_survive() {
    let folder = Folder::new();
    folder.write("good.txt", "0 1\n1 2\n");
    folder.write("bad.txt", "0 1\nfoo\n");
    for input in ["good.txt", "bad.txt"] {
        std::fs::create_dir_all(folder.path("mine")).unwrap();
        let names = ["directory.bin", "degrees.bin", "ids.bin", "pages.0", "notes.txt"];
        names.iter().for_each(|name| folder.write(&format!("mine/{name}"), "precious"));
        let done =
            folder.run(&format!("format {input} mine")).fails(1, &["mine: the folder is not empty", "degrees.bin"]);
        assert!(done.stderr.contains("1 more"), "{}", done.stderr);
        names.iter().for_each(|name| assert_eq!(folder.read(&format!("mine/{name}")), "precious"));
        folder.run(&format!("format {input} .")).fails(1, &["is not empty"]);
        folder.run("format good.txt outer/s --in-edges").succeeds();
        folder.run(&format!("format {input} outer/s/in")).fails(1, &["outer/s/in: lies inside the store"]);
        folder.run(&format!("format {input} outer/s/new")).fails(1, &["outer/s/new: lies inside the store"]);
        folder.run("verify outer/s").succeeds();
        remove(&folder, "outer");
    }
    // A stripe may share its folder with other files; a failure leaves nothing there.
    std::fs::create_dir(folder.path("ssd")).unwrap();
    folder.write("ssd/mine", "precious");
    folder.run("format bad.txt s --stripe ssd").fails(1, &["bad.txt:2"]);
    assert_eq!(folder.names("ssd"), ["mine"]);
    folder.run("format good.txt s --stripe ssd").succeeds();
    folder.run("verify s").succeeds();
    folder.run("format good.txt t --stripe ssd").fails(1, &["ssd/pages.1: is in the way"]);
    assert!(!folder.path("t").exists());
    folder.run("clean s").succeeds().prints(&["s: nothing to remove"]);
    folder.run("verify s").succeeds();
}

/// The order of syncs and renames, as traced by strace.
#[test]
fn files_are_synced_before_they_are_renamed() {
    let folder = Folder::new();
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: no strace");
        return;
    }
    folder.run("generate uniform --vertices 200 --edges 2000 --edges-file e.el").succeeds();
    folder.run("format e.el source").succeeds();
    std::fs::create_dir(folder.path("results")).unwrap();
    for (line, product) in [
        ("format e.el s --in-edges --stripe x", "s/graph.json"),
        ("run bfs source --source 0 --output r.txt", "r.txt"),
        ("run bfs source --source 0 --output results/r.csv", "results/r.csv"),
        ("run bfs source --source 0 --tune trace=t.json", "t.json"),
        ("generate uniform --vertices 9 --edges 99 --edges-file g.el", "g.el"),
        ("extract source --ego 0 --output x.el", "x.el"),
    ] {
        let mut strace = folder.command_of("strace", "-f -qq -y -o log -e trace=write,fsync,rename");
        strace.arg(env!("CARGO_BIN_EXE_topostream")).args(line.split_whitespace());
        let done = Done::of(line, strace.output().unwrap());
        if done.stderr.contains("ptrace") || done.stderr.contains("PTRACE") {
            eprintln!("skipped: no tracing here");
            return;
        }
        done.succeeds();
        assert_order(&folder.read("log"), &folder.path("."), product);
    }
}

/// Checks the order for every renamed file: last write, sync, rename, sync of its folder; and the product last.
fn assert_order(log: &str, folder: &std::path::Path, product: &str) {
    let root = std::fs::canonicalize(folder).unwrap();
    let absolute = |name: &str| std::path::absolute(root.join(name)).unwrap();
    let calls: Vec<&str> = log.lines().collect();
    let on_file = |call: &str, path: &std::path::Path| {
        let (call, path) = (format!("{call}("), format!("<{}>", path.display()));
        calls.iter().rposition(|line| line.contains(&call) && line.contains(&path))
    };
    let mut renames = Vec::new();
    for (at, line) in calls.iter().enumerate().filter(|(_, line)| line.contains("rename(")) {
        let names: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        let (from, to) = (absolute(names[0]), absolute(names[1]));
        let synced = on_file("fsync", &from).unwrap_or_else(|| panic!("{} is never synced", from.display()));
        let written = on_file("write", &from).unwrap_or(0);
        assert!(written < synced && synced < at, "{}: {written}, {synced}, {at}", from.display());
        let parent = on_file("fsync", to.parent().unwrap()).unwrap_or_else(|| panic!("{}: folder", to.display()));
        assert!(parent > at, "{}: {parent}, {at}", to.display());
        renames.push((at, to));
    }
    let (last, others) = renames.split_last().unwrap_or_else(|| panic!("{product}: no rename"));
    assert_eq!(last.1, absolute(product));
    for (at, to) in others {
        let folder = to.parent().unwrap();
        let mark = format!("<{}>", folder.display());
        let synced = (*at..last.0).any(|at| calls[at].contains("fsync(") && calls[at].contains(&mark));
        assert!(synced, "{}: not durable before {product}", to.display());
    }
}
