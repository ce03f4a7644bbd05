//! How jobs end that do not succeed: with a reason, soon, on all ranks.

use crate::job::{Job, LIMIT, Random, kills, run, signal, text, words};
use crate::stores;
use std::time::Duration;

/// How long a job may take to end once a rank has failed, on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// A run that takes longer than any test.
fn endless(store: &str) -> Vec<String> {
    words(&["run", "pagerank", store, "--iterations", "1000000", "--device", "cpu", "--threads", "1"])
}

#[test]
fn a_foreign_store_is_named() {
    let [graph, other] = ["graph", "other"].map(|name| text(&stores().path(name)));
    let parts = [(1, words(&["run", "pagerank", &graph])), (1, words(&["run", "pagerank", &other]))];
    let ended = Job::start(&parts).end_within(LIMIT);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("the ranks do not run the same: store: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("on rank 0, ") && ended.stderr.contains(" on rank 1"), "{}", ended.stderr);
}

#[test]
fn a_missing_store_is_named_with_its_rank() {
    let graph = text(&stores().path("graph"));
    let parts = [
        (2, words(&["run", "bfs", &graph, "--source", "1"])),
        (1, words(&["run", "bfs", "/no/such", "--source", "1"])),
    ];
    let ended = Job::start(&parts).end_within(LIMIT);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("error: rank 2 of 3: /no/such"), "{}", ended.stderr);
}

/// Both ranks open the first part, or as many ranks run as there are not parts.
#[test]
fn wrong_parts_are_named() {
    let [parts, first] = ["part{rank}", "part0"].map(|name| text(&stores().path(name)));
    let same = run(2, &["run", "pagerank", &first]);
    assert_eq!(same.code, Some(1), "{}", same.stderr);
    assert!(same.stderr.contains("rank 1") && same.stderr.contains("part0"), "{}", same.stderr);
    let missing = run(3, &["run", "pagerank", &parts]);
    assert_eq!(missing.code, Some(1), "{}", missing.stderr);
    assert!(missing.stderr.contains("rank 2 of 3") && missing.stderr.contains("part2"), "{}", missing.stderr);
}

#[test]
fn other_parameters_are_named() {
    let graph = text(&stores().path("graph"));
    let part = |iterations: &str| (1, words(&["run", "pagerank", &graph, "--iterations", iterations]));
    let ended = Job::start(&[part("5"), part("6")]).end_within(LIMIT);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("the ranks do not run the same: parameter"), "{}", ended.stderr);
}

/// What all ranks fail for is said once.
#[test]
fn bad_usage_has_its_exit_code() {
    let ended = run(3, &["run", "pagerank", "/tmp", "--iterations", "many"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("invalid value 'many'").count(), 1, "{}", ended.stderr);
    let help = run(2, &["--help"]);
    assert_eq!((help.code, help.stdout.matches("Run algorithms on several").count()), (Some(0), 1), "{}", help.stdout);
}

/// A rank is killed at random moments of the start and of the run: the job ends soon, with an error, and leaves no
/// process. `TOPOSTREAM_MPI_KILLS` is the number of times.
#[test]
fn a_killed_rank_ends_the_job() {
    let graph = text(&stores().path("graph"));
    let mut random = Random(7);
    for kill in 0..kills() {
        let ranks = 2 + random.below(3) as usize;
        let mut job = Job::start(&[(ranks, endless(&graph))]);
        job.wait_for_ranks(ranks);
        std::thread::sleep(Duration::from_millis(random.below(1500)));
        job.wait_for_ranks(ranks);
        let (victim, process) = job.ranks()[random.below(ranks as u64) as usize];
        eprintln!("kill {kill}: rank {victim} of {ranks}, process {process}");
        signal(process, "KILL");
        let ended = job.end_within(SOON);
        assert_ne!(ended.code, Some(0), "kill {kill}: {}", ended.stderr);
        assert!(ended.stderr.contains("signal 9"), "kill {kill}: {}", ended.stderr);
    }
}

#[test]
fn an_interrupt_ends_the_job() {
    let graph = text(&stores().path("graph"));
    let mut job = Job::start(&[(2, endless(&graph))]);
    job.wait_for_ranks(2);
    std::thread::sleep(Duration::from_millis(700));
    job.signal("INT");
    let ended = job.end_within(SOON);
    assert_ne!(ended.code, Some(0), "{}", ended.stderr);
}

/// A rank that is asked to stop tells the others: all stop after the same superstep, without an abort.
#[test]
fn a_rank_that_is_asked_to_stop_tells_the_others() {
    let graph = text(&stores().path("graph"));
    let mut job = Job::start(&[(3, endless(&graph))]);
    job.wait_for_ranks(3);
    std::thread::sleep(Duration::from_millis(1500));
    signal(job.ranks()[1].1, "INT");
    let ended = job.end_within(SOON);
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("interrupted: stopped cleanly").count(), 1, "{}", ended.stderr);
    assert!(!ended.stderr.contains("MPI_ABORT"), "{}", ended.stderr);
}
