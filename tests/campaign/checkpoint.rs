//! kill -9, failing system calls, and damage between sessions: repeating the command resumes a run with checkpoints,
//! and the results are, byte for byte, the results of an undisturbed run.

use crate::context::{Campaign, Case, Verdict};
use crate::process;
use crate::stores::Data;
use crate::strace;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Algorithms of every kind: with sums, with frontiers, with sets, of several phases. All are bitwise reproducible.
const LINES: [&str; 8] = [
    "pagerank {data}/source --iterations 60",
    "delta-pagerank {data}/source --tolerance 1e-6",
    "sssp {data}/source --source 0 --delta 10",
    "bfs {data}/source --source 0",
    "scc {data}/source",
    "kcore {data}/source",
    "radius {data}/source --passes 4",
    "communities {data}/source --max-iterations 30 --table 256KiB",
];

const PATIENCE: Duration = Duration::from_secs(60);

/// An undisturbed run.
struct Undisturbed {
    line: String,
    bytes: Vec<u8>,
    took: Duration,
}

impl Undisturbed {
    fn all(data: &Data) -> Vec<Self> {
        LINES.iter().map(|line| Self::of(&line.replace("{data}", &data.path().display().to_string()))).collect()
    }

    fn of(line: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let line = format!("run {line} --device cpu --memory 128MiB --output r.txt");
        let done = process::run(folder.path(), &line);
        assert_eq!(done.code, Some(0), "{}: {}", done.line, done.stderr);
        let bytes = fs::read(folder.path().join("r.txt")).expect("results");
        Self { line: format!("{line} --checkpoint c --resume"), bytes, took: done.took }
    }

    /// Whether a successful run has left the right results and nothing else.
    fn compare(&self, folder: &Path) -> Result<(), String> {
        let found = fs::read(folder.join("r.txt")).map_err(|error| format!("no results: {}: {error}", self.line))?;
        if found != self.bytes {
            return Err(format!("other results: {}", self.line));
        }
        let left: Vec<_> = fs::read_dir(folder.join("c")).into_iter().flatten().collect();
        if left.is_empty() { Ok(()) } else { Err(format!("checkpoints are left: {left:?}: {}", self.line)) }
    }
}

/// The newest checkpoint's file, if any.
fn newest(folder: &Path) -> Option<PathBuf> {
    let files = ["c/checkpoint.0", "c/checkpoint.1"].map(|name| folder.join(name)).into_iter();
    files.filter(|path| path.exists()).max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
}

/// Flips a bit of a file, or truncates it.
fn damage(case: &mut Case, path: &Path) {
    let mut bytes = fs::read(path).expect("a checkpoint");
    let at = case.random.index(bytes.len().max(1));
    match bytes.get_mut(at) {
        Some(byte) if !case.random.once_in(4) => *byte ^= 1 << case.random.below(8),
        _ => bytes.truncate(at),
    }
    fs::write(path, bytes).expect("a file is written");
}

/// Sessions that end at random moments, some followed by damage, and a last one.
fn at_moments(case: &mut Case, runs: &[Undisturbed]) -> Verdict {
    let run = &runs[case.number as usize % runs.len()];
    let folder = case.folder().to_owned();
    let line = format!("{} --checkpoint-every {}", run.line, case.random.within(1..5));
    let mut outcome = "went on";
    for _ in 0..case.random.within(1..6) {
        let moment = run.took.mul_f64(1.5 * case.random.fraction());
        let done = process::end_at(process::program(&folder, &line), PATIENCE, Some(moment));
        if done.hung {
            return Err(format!("hang: {line}"));
        }
        if done.code == Some(0) {
            return run.compare(&folder).map(|()| "over before");
        }
        if let Some(path) = newest(&folder).filter(|_| case.random.once_in(3)) {
            damage(case, &path);
            outcome = "went on from the older one";
        }
    }
    let mut done = process::run(&folder, &line);
    if !done.succeeded()? {
        if !done.stderr.contains("no checkpoint in the folder can be used") || outcome == "went on" {
            return Err(format!("the same command fails: {line}: {}", done.stderr.trim()));
        }
        // Both are damaged, and the error says so: do what a user would, remove them.
        fs::remove_dir_all(folder.join("c")).expect("the folder is removed");
        outcome = "refused, then from the beginning";
        done = process::run(&folder, &line);
    }
    match done.succeeded()? {
        true => run.compare(&folder).map(|()| outcome),
        false => Err(format!("fails: {line}: {}", done.stderr.trim())),
    }
}

/// A system call that writes checkpoints fails, or ends the process; afterwards the same command works.
fn at_a_call(case: &mut Case, runs: &[Undisturbed]) -> Verdict {
    const CALLS: [&str; 7] = ["openat", "write", "fsync", "rename", "unlink", "mkdir", "flock"];
    const ERRORS: [&str; 3] = ["signal=KILL", "error=ENOSPC", "error=EIO"];
    let run = &runs[case.number as usize % runs.len()];
    let folder = case.folder().to_owned();
    let line = format!("{} --checkpoint-every 1", run.line);
    let (call, error) = (*case.random.choose(&CALLS), *case.random.choose(&ERRORS));
    let (number, is_signal) = (case.random.within(1..60), error.starts_with("signal"));
    let mut inject = format!("{call}:{error}:when={number}{}", if is_signal { "" } else { "+" });
    let first = if call == "write" && !is_signal {
        // Threads also wake each other by writes to eventfds, which do not fail like that: inject into file writes
        // only.
        inject = format!("files of at most {} blocks", 2 * number);
        process::end(process::limited(&folder, &line, 2 * number), PATIENCE)
    } else {
        strace::run(&folder, &line, call, &inject, PATIENCE)
    };
    if first.hung {
        return Err(format!("hang: {line}, {inject}"));
    }
    if first.code == Some(0) {
        return run.compare(&folder).map(|()| "the run went on");
    }
    if first.code.is_some() && first.stderr.contains("panicked") {
        return Err(format!("panic: {line}, {inject}: {}", first.stderr));
    }
    let done = process::run(&folder, &line);
    match done.succeeded()? {
        true => run.compare(&folder).map(|()| "the next one went on"),
        false => Err(format!("the same command fails: {line}, {inject}: {}", done.stderr.trim())),
    }
}

fn moments(campaign: Campaign) {
    let data = Data::new(&mut campaign.random(), 2000, if campaign.is_full() { 60_000 } else { 12_000 });
    let runs = Undisturbed::all(&data);
    campaign.run(|case| at_moments(case, &runs));
}

fn calls(campaign: Campaign) {
    if !strace::is_here() {
        return;
    }
    let data = Data::new(&mut campaign.random(), 2000, 12_000);
    let runs = Undisturbed::all(&data);
    campaign.run(|case| at_a_call(case, &runs));
}

#[test]
fn share_at_moments() {
    moments(Campaign::share("checkpoints: kill -9 and damage", "checkpoint::share_at_moments", 8));
}

#[test]
fn share_at_calls() {
    calls(Campaign::share("checkpoints: system calls", "checkpoint::share_at_calls", 8));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full_at_moments() {
    moments(Campaign::full("checkpoints: kill -9 and damage", "checkpoint::full_at_moments", 400, 0.1));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full_at_calls() {
    calls(Campaign::full("checkpoints: system calls", "checkpoint::full_at_calls", 300, 0.05));
}
