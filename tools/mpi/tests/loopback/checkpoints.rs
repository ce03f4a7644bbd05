//! Checkpoints of jobs that are killed or interrupted: the same command with `--resume` has the results of a job that
//! nobody disturbed.

use crate::job::{Job, LIMIT, Random, kills, signal, text, words};
use crate::stores;
use std::path::Path;
use std::time::{Duration, Instant};

/// A job of some seconds on two ranks, whose result is always the same.
fn command(folder: &Path, output: &str, more: &[&str]) -> Vec<String> {
    let graph = text(&stores().path("graph"));
    let run = ["run", "pagerank", &graph, "--iterations", "200", "--device", "cpu", "--threads", "1"];
    let output = ["--output".to_owned(), text(&folder.join(output))];
    words(&run).into_iter().chain(output).chain(words(more)).collect()
}

fn results(folder: &Path, output: &str) -> String {
    std::fs::read_to_string(folder.join(output)).unwrap()
}

/// Waits until every rank has a checkpoint.
fn wait_for_checkpoints(job: &mut Job, folder: &Path) {
    let begun = Instant::now();
    let has = |rank: u32| folder.join(format!("rank-{rank:05}-of-00002/checkpoint.0")).exists();
    while !(0..2).all(has) {
        assert!(begun.elapsed() < LIMIT, "no checkpoint");
        job.wait_for_ranks(2);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the run goes on: the first rank has replaced a checkpoint.
fn wait_for_another(job: &Job, folder: &Path) {
    let written = |slot: u32| {
        let file = folder.join(format!("rank-00000-of-00002/checkpoint.{slot}"));
        file.metadata().and_then(|file| file.modified()).ok()
    };
    let (before, begun) = ([written(0), written(1)], Instant::now());
    while [written(0), written(1)] == before {
        assert!(begun.elapsed() < LIMIT && !job.ranks().is_empty(), "no other checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killed_and_interrupted_jobs_are_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, checkpoints) = (folder.path(), folder.path().join("checkpoints"));
    let ended = Job::start(&[(2, command(folder, "undisturbed.csv", &[]))]).end_within(LIMIT);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = results(folder, "undisturbed.csv");
    let path = text(&checkpoints);
    let options = ["--checkpoint", &path, "--checkpoint-every", "1", "--resume"];
    let mut random = Random(11);
    for round in 0..kills() {
        // A rank is killed.
        let mut job = Job::start(&[(2, command(folder, "resumed.csv", &options))]);
        wait_for_checkpoints(&mut job, &checkpoints);
        signal(job.ranks()[random.below(2) as usize].1, "KILL");
        assert_ne!(job.end_within(LIMIT).code, Some(0), "round {round}");
        // One is asked to stop, at the start, in the run or at its end: all write a checkpoint first, unless they are
        // done.
        let mut job = Job::start(&[(2, command(folder, "resumed.csv", &options))]);
        job.wait_for_ranks(2);
        if round == 0 {
            wait_for_another(&job, &checkpoints);
        } else {
            std::thread::sleep(Duration::from_millis(random.below(2500)));
        }
        let asked = random.below(2) as usize;
        job.wait_until_listening(asked);
        if let Some((_, process)) = job.ranks().into_iter().find(|&(rank, _)| rank == asked) {
            signal(process, "INT");
        }
        let ended = job.end_within(LIMIT);
        assert!(round > 0 || ended.code == Some(130), "it was in the middle: {:?}, {}", ended.code, ended.stderr);
        if ended.stderr.contains("the same command with --resume") {
            assert_eq!(ended.code, Some(130), "round {round}: {}", ended.stderr);
            assert_eq!(ended.stderr.matches("the same command with --resume").count(), 1, "{}", ended.stderr);
        }
        if ended.code != Some(0) {
            assert!(!folder.join("resumed.csv").exists());
            let ended = Job::start(&[(2, command(folder, "resumed.csv", &options))]).end_within(LIMIT);
            assert_eq!(ended.code, Some(0), "round {round}: {}", ended.stderr);
            assert_eq!(ended.stderr.matches("goes on after").count(), 1, "round {round}: {}", ended.stderr);
        }
        assert!(results(folder, "resumed.csv") == expected, "round {round}: other results");
        std::fs::remove_file(folder.join("resumed.csv")).unwrap();
        let left = std::fs::read_dir(&checkpoints).unwrap().count();
        assert_eq!(left, 0, "checkpoints are removed once results are written");
    }
}
