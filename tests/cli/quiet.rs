//! Output to pipes, closed and full ones. (`Done::of` checks every run for escape codes and progress in a pipe.)

use crate::program::{Done, Folder};
use std::fs::File;
use std::process::Stdio;

#[test]
fn a_closed_stdout_is_no_error() {
    let folder = Folder::new();
    folder.rmat("s", 10, "");
    for line in ["--help", "info s", "info s --json", "run pagerank s", "run pagerank s --json", "verify s"] {
        let mut child = folder.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        Done::of(line, child.wait_with_output().unwrap()).succeeds();
    }
    folder.shell("\"$0\" info s | head -1").succeeds().prints(&["store"]);
}

#[test]
fn a_closed_stderr_is_no_panic() {
    let folder = Folder::new();
    let mut child = folder.command("info nothing").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    Done::of("info nothing", child.wait_with_output().unwrap()).fails(1, &[]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_stdout_is_an_error() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = folder.command("info s").stdout(full).output().unwrap();
    Done::of("info s", output).fails(1, &["stdout", "No space left"]);
}

#[test]
fn the_demonstration_passes() {
    let folder = Folder::new();
    let done = folder.run("demo --scale 12 --memory 128MiB").succeeds();
    done.prints(&["4,096 vertices, 65,536 edges", "generate and format", "verify", "PageRank, 10 iterations", "BFS"])
        .prints(&["0 levels differ", "All answers agree"]);
    assert_eq!(folder.names("."), Vec::<String>::new());
}
