//! `run --checkpoint` and `--resume`, as used before and after a crash.
#![cfg(unix)]

use crate::program::{Done, Folder};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A search with hundreds of supersteps: a path with weights.
fn path(folder: &Folder, vertices: u32) {
    let edges: String = (1..vertices).map(|vertex| format!("{} {vertex}\n", vertex - 1)).collect();
    folder.write("path.txt", edges);
    folder.run("format path.txt s --page-size 64KiB").succeeds();
}

fn start(folder: &Folder, line: &str) -> Child {
    folder.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a checkpoint, and a little longer.
fn wait_for_checkpoint(folder: &Folder, child: &mut Child, longer: Duration) {
    let begun = Instant::now();
    while !["checkpoint.0", "checkpoint.1"].iter().any(|name| folder.path("c").join(name).exists()) {
        assert!(child.try_wait().unwrap().is_none(), "over before there was a checkpoint");
        assert!(begun.elapsed() < Duration::from_secs(60), "never a checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(longer);
}

#[test]
fn repeated_kills_do_not_change_the_results() {
    let folder = Folder::new();
    folder.rmat("s", 10, "");
    folder.run("run pagerank s --device cpu --iterations 3000 --output expected.txt --json").succeeds();
    let line =
        "run pagerank s --device cpu --iterations 3000 --output r.txt --checkpoint c --checkpoint-every 50 --resume";
    let (mut sessions, expected) = (0, folder.read("expected.txt").into_bytes());
    for longer in [0, 3, 11, 17, 40] {
        let mut child = start(&folder, line);
        wait_for_checkpoint(&folder, &mut child, Duration::from_millis(longer));
        // The run may have ended before.
        child.kill().ok();
        let done = child.wait_with_output().unwrap();
        if done.status.success() {
            break;
        }
        sessions += 1;
        let results = std::fs::read(folder.path("r.txt")).ok();
        assert!(results.is_none_or(|found| found == expected), "killed, with results that are not whole");
    }
    assert!(sessions > 0, "it was never killed");
    let done = folder.run(line);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(folder.read("r.txt").into_bytes() == expected, "other results after {sessions} kills");
    assert_eq!(folder.names("c"), Vec::<String>::new(), "checkpoints go when results are written");
}

fn interrupt(child: &Child) {
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn ctrl_c_writes_a_checkpoint_and_says_how_to_resume() {
    // A superstep for each vertex. A checkpoint is due after half of them, and no second one.
    const VERTICES: u32 = 600_000;
    const DUE: u64 = 301_000;
    let folder = Folder::new();
    path(&folder, VERTICES);
    let line = format!("run bfs s --source 0 --device cpu --output r.txt --checkpoint c --checkpoint-every {DUE}");
    let mut child = start(&folder, &line);
    wait_for_checkpoint(&folder, &mut child, Duration::ZERO);
    interrupt(&child);
    let done = Done::of(&line, child.wait_with_output().unwrap());
    let done = done.fails(130, &["c has a checkpoint after", "the same command with --resume goes on", "interrupted"]);
    let text = done.stderr.split("has a checkpoint after ").nth(1).unwrap().split(' ').next().unwrap();
    let after: u64 = text.replace(',', "").parse().unwrap();
    assert!(after > DUE, "no checkpoint after the one that was due: {after} supersteps");
    // Without --resume the checkpoint is not touched.
    folder.run(&line).fails(1, &["the folder already has a checkpoint (bfs after", "add --resume"]);
    let done = folder.run(&format!("{line} --resume --json"));
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains(&format!("goes on after {text} supersteps")), "{}", done.stderr);
    let report = done.json();
    assert_eq!(report["checkpoints"]["resumed"]["supersteps"], after);
    assert_eq!(report["supersteps"].as_u64().unwrap() + after, u64::from(VERTICES));
    let levels: String = (0..VERTICES).map(|vertex| format!("{vertex} {vertex}\n")).collect();
    assert_eq!(folder.read("r.txt"), levels);
}

#[test]
fn one_command_line_starts_and_resumes() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    let line = "run pagerank s --device cpu --iterations 5 --checkpoint c --checkpoint-every 1 --resume";
    let done = folder.run(line);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), "c: no complete checkpoint yet: from the beginning\n"));
    done.prints(&["checkpoints: 4 written"]);
    assert_eq!(folder.names("c"), Vec::<String>::new());
}

#[test]
fn bad_options_and_folders_are_refused() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    let run = |options: &str| folder.run(&format!("run pagerank s --device cpu {options}"));
    run("--resume").fails(2, &["--checkpoint"]);
    run("--checkpoint-every 5m").fails(2, &["--checkpoint"]);
    run("--checkpoint c --checkpoint-every 5d").fails(2, &["60s, 5m or 1h"]);
    run("--checkpoint c --checkpoint-every 0").fails(2, &["from 1 on"]);
    folder.write("file", "");
    run("--checkpoint file").fails(1, &["file", "cannot be created"]);
    std::fs::create_dir(folder.path("c")).unwrap();
    folder.write("c/checkpoint.0", "something else");
    run("--checkpoint c").fails(1, &["the folder already has checkpoint files"]);
    run("--checkpoint c --resume").fails(1, &["no checkpoint in the folder can be used", "checkpoint.0"]);
    assert_eq!(folder.read("c/checkpoint.0"), "something else");
    folder.run("run pagerank s --device cpu --checkpoint d --memory 30MiB").fails(1, &["checkpoints 6291456", "hint"]);
}

/// The newest of two generations: header and sections of different runs' files do not pass together.
#[test]
fn parts_of_different_checkpoints_do_not_pass() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    // More iterations than it does before it is killed.
    let line = "run pagerank s --device cpu --iterations 300000 --checkpoint c --checkpoint-every 1";
    let mut child = start(&folder, line);
    while ["checkpoint.0", "checkpoint.1"].iter().any(|name| !folder.path("c").join(name).exists()) {
        assert!(child.try_wait().unwrap().is_none(), "over before there were two checkpoints");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let [one, other] = ["c/checkpoint.0", "c/checkpoint.1"].map(read);
    // Headers may have different lengths, but sections have the same: the spliced file is as long as its header says.
    let [begin, begin_of_other] = [&one, &other].map(|bytes| 24 + word(bytes, 12));
    assert_eq!(one.len() - begin, other.len() - begin_of_other);
    let spliced = [&one[..begin], &other[begin_of_other..]].concat();
    assert!(spliced != one, "two generations have different values");
    folder.write("c/checkpoint.0", &spliced);
    folder.write("c/checkpoint.1", &spliced);
    let resumed = folder.run(&format!("{line} --resume"));
    resumed.fails(1, &["no checkpoint in the folder can be used", "do not belong together"]);
    // A header with another parameter and the right checksum of its own.
    let text = String::from_utf8(one[24..begin].to_vec()).unwrap();
    let edited = text.replacen("Iterations(300000)", "Iterations(300001)", 1);
    assert_ne!(text, edited);
    let crc = crc32c(edited.as_bytes());
    let mut forged = one.clone();
    forged[24..begin].copy_from_slice(edited.as_bytes());
    forged[16..20].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32c(&forged[..20]);
    forged[20..24].copy_from_slice(&crc.to_le_bytes());
    for name in ["c/checkpoint.0", "c/checkpoint.1"] {
        folder.write(name, &forged);
    }
    let line = line.replace("300000", "300001");
    folder.run(&format!("{line} --resume")).fails(1, &["do not belong together"]);
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (0..8).fold(crc, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 });
    !bytes.iter().fold(!0, |crc, &byte| step(crc ^ u32::from(byte)))
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let folder = Folder::new();
    folder.rmat("s", 8, "");
    folder.write("precious", "precious");
    let line = "run pagerank s --device cpu --iterations 3 --checkpoint c --checkpoint-every 1";
    let make: [(&str, &str); 7] = [
        ("ln -s ../precious c/checkpoint.new", "found a symbolic link"),
        ("mkfifo c/checkpoint.new", "found a pipe"),
        ("mkdir c/checkpoint.new", "found a folder"),
        ("echo precious > c/checkpoint.new", "found another file: move it elsewhere"),
        ("mkfifo c/checkpoint.0", "checkpoint files"),
        ("ln -s ../precious c/checkpoint.0", "checkpoint files"),
        ("ln -s checkpoint.1 c/checkpoint.1", "checkpoint files"),
    ];
    for (make, said) in make {
        let done = folder.shell(&format!("rm -rf c; mkdir c; {make}"));
        assert_eq!(done.code, Some(0), "{make}: {}", done.stderr);
        let before = folder.names("c");
        folder.run(line).fails(1, &[said]);
        assert_eq!(folder.names("c"), before, "{make}");
        assert_eq!(folder.read("precious"), "precious", "{make}");
    }
    // What a killed process has left, and what is left of it after a loss of power.
    for left in [&b""[..], b"TOPO", b"TOPOCKPT and more", &[0; 4096]] {
        std::fs::remove_dir_all(folder.path("c")).unwrap();
        std::fs::create_dir(folder.path("c")).unwrap();
        folder.write("c/checkpoint.new", left);
        folder.run(line).succeeds();
        assert_eq!(folder.names("c"), Vec::<String>::new());
    }
    // A folder of the run's own goes with it; one that was there stays.
    folder.run(&line.replace("--checkpoint c", "--checkpoint d")).succeeds();
    assert!(!folder.path("d").exists() && folder.path("c").exists());
}
