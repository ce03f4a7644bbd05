//! Ctrl-C: commands end quickly and leave nothing behind.
#![cfg(unix)]

use crate::program::{Done, Folder};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for the end of the program: a second or two, plus a margin for a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts a command, waits until `ready`, sends SIGINT, and waits for the end.
pub fn interrupted(folder: &Folder, line: &str, ready: impl Fn() -> bool) -> Done {
    let done = signalled(folder, line, 1, ready);
    assert_eq!(done.stderr, "interrupted: stopped cleanly\n");
    done
}

/// As `interrupted`, with several signals in a row.
fn signalled(folder: &Folder, line: &str, signals: u32, ready: impl Fn() -> bool) -> Done {
    let mut command = folder.command(line);
    let mut child =
        command.env("TMPDIR", folder.path(".")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !ready() {
        assert!(child.try_wait().unwrap().is_none(), "{line}: over too early");
        assert!(started.elapsed() < Duration::from_secs(60), "{line}: never under way");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "{line}: over too early");
    let signalled = Instant::now();
    (0..signals).for_each(|_| signal(&child));
    while child.try_wait().unwrap().is_none() {
        if signalled.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{line}: still there after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Done::of(line, child.wait_with_output().unwrap()).fails(130, &[])
}

fn signal(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn generating_a_store_stops_and_leaves_nothing() {
    let folder = Folder::new();
    interrupted(&folder, "generate rmat --scale 22 --store s --memory 256MiB", || folder.path("s").exists());
    folder.assert_nothing_left("s");
    assert_eq!(folder.names("."), Vec::<String>::new());
}

#[test]
fn generating_an_edge_list_stops_and_leaves_nothing() {
    let folder = Folder::new();
    interrupted(&folder, "generate rmat --scale 24 --edges-file e.el", || !folder.names(".").is_empty());
    assert_eq!(folder.names("."), Vec::<String>::new());
}

#[test]
fn a_run_stops_and_leaves_no_results() {
    let folder = Folder::new();
    folder.rmat("s", 12, "");
    let before = folder.names(".");
    let line = "run pagerank s --iterations 1000000000 --output r.csv --quiet";
    interrupted(&folder, line, || folder.names(".") != before);
    assert_eq!(folder.names("."), before);
}

#[test]
fn formatting_stops_and_leaves_nothing() {
    let folder = Folder::new();
    folder.run("generate rmat --scale 19 --edges-file e.u32").succeeds();
    let line = "format e.u32 s --in-edges --symmetrize --order degree --memory 80MiB";
    interrupted(&folder, line, || folder.path("s").exists());
    folder.assert_nothing_left("s");
    assert_eq!(folder.names("."), ["e.u32"]);
}

#[test]
fn the_demonstration_stops_and_leaves_nothing() {
    let folder = Folder::new();
    interrupted(&folder, "demo --scale 22", || !folder.names(".").is_empty());
    assert_eq!(folder.names("."), Vec::<String>::new());
}

#[test]
fn calibration_stops_and_leaves_nothing() {
    let folder = Folder::new();
    let made = || folder.names(".").iter().any(|name| name.starts_with("pages"));
    interrupted(&folder, "calibrate --device cpu --scale 22 --memory 256MiB", made);
    assert_eq!(folder.names("."), Vec::<String>::new());
}

/// A second Ctrl-C ends the program at once, and also leaves nothing.
#[test]
fn a_second_signal_leaves_nothing() {
    let folder = Folder::new();
    folder.run("generate rmat --scale 19 --edges-file e.u32").succeeds();
    folder.rmat("source", 12, "");
    let before = folder.names(".");
    for line in [
        "format e.u32 s --in-edges --symmetrize --order degree --memory 80MiB --stripe x",
        "generate rmat --scale 22 --store deep/s --memory 256MiB",
        "generate rmat --scale 24 --edges-file g.el",
        "run pagerank source --iterations 1000000000 --output r.csv --tune trace=t.json",
        "demo --scale 22",
    ] {
        signalled(&folder, line, 2, || folder.names(".") != before);
        assert_eq!(folder.names("."), before, "{line}");
    }
}
