//! Input from pipes: it is read completely or an error, and waiting for it can be interrupted.
#![cfg(unix)]

use crate::interrupt::interrupted;
use crate::program::{Done, Folder};
use std::io::Write;
use std::process::Stdio;

/// Runs a command with `bytes` on standard input.
fn fed(folder: &Folder, line: &str, bytes: &[u8]) -> Done {
    let mut command = folder.command(line);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    let bytes = bytes.to_vec();
    // Refused input is not read to the end.
    let writer = std::thread::spawn(move || input.write_all(&bytes).ok());
    let done = Done::of(line, child.wait_with_output().expect("the program ends"));
    writer.join().expect("no panic");
    done
}

/// The parts that stores of the same edges have in common: everything but the store tag, which depends on the input's
/// name.
fn assert_same_store(folder: &Folder, expected: &str, found: &str) {
    for name in ["degrees.bin", "ids.bin"] {
        let read = |store: &str| std::fs::read(folder.path(store).join(name)).ok();
        assert!(read(expected) == read(found), "{found}/{name}");
    }
    let pages = |store: &str| {
        let mut bytes = std::fs::read(folder.path(store).join("pages.0")).expect("pages");
        bytes.chunks_mut(64 << 10).for_each(|page| page[4..8].fill(0));
        bytes
    };
    assert!(pages(expected) == pages(found), "{found}/pages.0");
}

/// Much more than the capacity of a pipe. With `wide`, the last edge has an id of more than 32 bits.
fn text(wide: bool) -> Vec<u8> {
    let line = |edge: u64| format!("{} {} {}\n", 100 + edge % 900, 100 + edge * 7 % 900, edge % 50);
    let mut text: String = (0..60_000).map(line).collect();
    if wide {
        text += "5000000000 100 3\n7 7 1\n100 5000000000 2\n";
    }
    text.into_bytes()
}

#[test]
fn standard_input_is_read_whole() {
    let folder = Folder::new();
    for (name, bytes, options) in [
        ("plain", text(false), ""),
        ("wide", text(true), ""),
        ("dropped", text(true), "--remove-self-loops --symmetrize"),
        ("ordered", text(true), "--order degree --weight-type ignore --memory 128MiB"),
    ] {
        folder.write("t.txt", &bytes);
        let layout = format!("--page-size 64KiB --in-edges {options}");
        folder.run(&format!("format t.txt {name} {layout}")).succeeds();
        for input in ["-", "/dev/stdin"] {
            fed(&folder, &format!("format {input} s {layout}"), &bytes).succeeds();
            assert_same_store(&folder, name, "s");
            folder.run("verify s").succeeds();
            std::fs::remove_dir_all(folder.path("s")).expect("a store");
        }
    }
    fed(&folder, "format - s", b"").fails(1, &["standard input", "an empty file"]);
    fed(&folder, "format - s", b"0 1\nfoo 2\n").fails(1, &["standard input:2: expected a vertex id"]);
    fed(&folder, "format - s --kind metis", b"3 2\n2 3\n1\n\n").fails(1, &["standard input", "4 neighbours"]);
    folder.assert_nothing_left("s");
    fed(&folder, "extract plain part --vertices -", b"100\n101\n102\n").succeeds();
    folder.run("info part").succeeds().prints(&["vertices        3"]);
    folder.write("some.txt", "100\n101\n102\n");
    let between = |from: &str, to: &str| format!("run cross-edges plain --from {from} --to {to} --device cpu");
    let expected = folder.run(&between("some.txt", "some.txt")).succeeds().stdout;
    let told = |text: &str| text.lines().find(|line| line.starts_with("cross-edges:")).expect("counts").to_owned();
    let found = fed(&folder, &between("-", "some.txt"), b"100\n101\n102\n").succeeds().stdout;
    assert_eq!(told(&found), told(&expected));
    let found = fed(&folder, &between("some.txt", "-"), b"100\n101\n102\n").succeeds().stdout;
    assert_eq!(told(&found), told(&expected));
    fed(&folder, &between("-", "some.txt"), b"99\n").fails(1, &["standard input:1"]);
    fed(&folder, &between("-", "-"), b"100\n").fails(2, &["--from and --to", "standard input"]);
}

/// A reader that closes the pipe has what it wants, as with `| head`.
#[test]
fn a_reader_may_close_the_pipe_of_results() {
    let folder = Folder::new();
    folder.rmat("g", 15, "");
    for format in ["text", "csv", "npy", "parquet", "arrow"] {
        let line = format!("run pagerank g --iterations 1 --quiet -o - --output-format {format}");
        let mut command = folder.command(&line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        Done::of(&line, child.wait_with_output().expect("the program ends")).succeeds();
    }
    // A full disk is an error there, too.
    if std::path::Path::new("/dev/full").exists() {
        let done = folder.shell("\"$0\" run pagerank g --iterations 1 --quiet -o - > /dev/full");
        done.fails(1, &["No space left"]);
    }
}

/// Formats that need a copy of their input report it if the copy fails.
#[test]
fn a_copy_without_room() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("tmp")).unwrap();
    let numbers: String = (0..60_000).map(|offset| format!("{offset}\n")).collect();
    folder.write("a.adj", format!("AdjacencyGraph\n60000\n60000\n{numbers}{numbers}"));
    folder.write("wide.txt", [b"1 5000000000 9\n".to_vec(), text(false)].concat());
    let limited = |command: &str| folder.shell(&format!("trap '' XFSZ; ulimit -f 200 || exit 99; {command}"));
    let done = limited("cat a.adj | \"$0\" format - s --temporary tmp");
    if done.code == Some(99) {
        eprintln!("skipped: no limit can be set");
        return;
    }
    done.fails(1, &["tmp: copy the input", "File too large", "bytes of standard input", "--temporary"]);
    folder.assert_nothing_left("s");
    let done = limited("cat wide.txt | \"$0\" format - s --temporary tmp --kind text");
    done.fails(1, &["tmp: write the edges", "File too large", "edges of standard input", "--temporary"]);
    folder.assert_nothing_left("s");
    assert_eq!(folder.names("tmp"), Vec::<String>::new());
    folder.shell("cat a.adj | \"$0\" format - s --temporary tmp").succeeds().prints(&["60,000 edges"]);
}

#[test]
fn a_pipe_without_a_writer_can_be_interrupted() {
    let folder = Folder::new();
    if folder.shell("mkfifo p.txt p.adj").code != Some(0) {
        eprintln!("skipped: there is no mkfifo");
        return;
    }
    for line in ["format p.txt s", "format p.txt s --kind text", "format p.adj s"] {
        interrupted(&folder, line, || true);
        folder.assert_nothing_left("s");
    }
    folder.rmat("r", 8, "");
    interrupted(&folder, "extract r part --vertices p.txt", || true);
    interrupted(&folder, "run cross-edges r --from p.txt --to p.txt", || true);
    // Small files that are read more than once cannot be pipes.
    folder.run("run bfs r --source 1 --tune calibration=p.txt").fails(1, &["p.txt: expected a regular file"]);
    folder.shell("mkfifo g.properties");
    folder.run("format g.properties s").fails(1, &["g.properties: expected a regular file"]);
}

/// Of outputs that do not go there, `-` is no file either.
#[test]
fn a_dash_is_never_a_file() {
    let folder = Folder::new();
    folder.rmat("s", 8, "--random-weights u32:1:9");
    for line in [
        "extract s --all --output-format csv --output -",
        "extract s --all --output-format wsg --output -",
        "partition s --parts 2 --output -",
        "info s --report -",
        "run bfs s --source max-degree --report -",
        "run bfs s --source max-degree --tune trace=-",
        "run sssp s --source max-degree --target max-degree --path -",
    ] {
        folder.run(line).fails(2, &["-: this is not written to standard output"]);
        assert!(!folder.path("-").exists(), "{line}");
    }
}
