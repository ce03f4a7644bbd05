//! kill -9 at every system call that changes files, and at random moments.
//!
//! Afterwards the product is complete or absent, and the same command succeeds and leaves nothing of the killed one.

use crate::context::{Campaign, Case, Verdict};
use crate::jobs::Job;
use crate::process;
use crate::stores::Data;
use crate::strace::{self, Call};
use std::time::Duration;

/// System calls that change files and folders. Names that a machine does not have are harmless.
const CHANGES: [&str; 22] = [
    "copy_file_range",
    "fallocate",
    "fchmod",
    "fdatasync",
    "flock",
    "fsync",
    "ftruncate",
    "io_uring_enter",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "openat",
    "pwrite64",
    "pwritev",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "unlink",
    "unlinkat",
    "write",
];

const PATIENCE: Duration = Duration::from_secs(60);

/// Every point of every job, round-robin over jobs.
fn points(jobs: &[Job]) -> Vec<(usize, Call)> {
    let mut all: Vec<Vec<Call>> = jobs.iter().map(calls_of).collect();
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    let by_turns = (0..longest).flat_map(|at| {
        let one = |(job, calls): (usize, &mut Vec<Call>)| calls.get(at).cloned().map(|call| (job, call));
        all.iter_mut().enumerate().filter_map(one).collect::<Vec<_>>()
    });
    by_turns.collect()
}

fn calls_of(job: &Job) -> Vec<Call> {
    let folder = tempfile::tempdir().expect("a folder");
    job.set_up(folder.path());
    strace::calls(folder.path(), &job.line, &CHANGES, false)
}

fn at_a_call(case: &Case, job: &Job, (name, number): &Call) -> Verdict {
    job.set_up(case.folder());
    let inject = format!("{name}:signal=KILL:when={number}");
    let done = strace::run(case.folder(), &job.line, name, &inject, PATIENCE);
    if done.hung {
        return Err(format!("hang: {}", done.line));
    }
    let outcome = job.again(case.folder());
    outcome.map_err(|defect| format!("{defect} ({}, {name} {number})", job.name))
}

fn at_calls(campaign: Campaign) {
    if !strace::is_here() {
        return;
    }
    let data = Data::new(&mut campaign.random(), 2000, 12_000);
    let jobs = Job::all(&data, 10, campaign.is_full());
    let mut points = points(&jobs);
    // Every point once, then again, because the order of calls among threads varies.
    let mut random = campaign.random();
    (1..points.len()).rev().for_each(|at| points.swap(at, random.index(at + 1)));
    campaign.run(|case| {
        let (job, call) = &points[case.number as usize % points.len()];
        at_a_call(case, &jobs[*job], call)
    });
}

fn at_a_moment(case: &mut Case, jobs: &[Job]) -> Verdict {
    let job = &jobs[case.number as usize % jobs.len()];
    job.set_up(case.folder());
    // Half of the moments are anywhere, half in the last part, in which files are renamed.
    let moment = case.random.fraction();
    let moment = if case.random.once_in(2) { 1.05 * moment } else { 0.5 + 0.6 * moment };
    let moment = job.took.mul_f64(moment);
    process::end_at(process::program(case.folder(), &job.line), PATIENCE, Some(moment));
    let outcome = job.again(case.folder());
    outcome.map_err(|defect| format!("{defect} ({}, after {:.1} ms)", job.name, 1e3 * moment.as_secs_f64()))
}

fn at_moments(campaign: Campaign) {
    let edges = if campaign.is_full() { 400_000 } else { 20_000 };
    let data = Data::new(&mut campaign.random(), 20_000, edges);
    let jobs = Job::all(&data, if campaign.is_full() { 15 } else { 10 }, campaign.is_full());
    campaign.run(|case| at_a_moment(case, &jobs));
}

#[test]
fn share_at_calls() {
    at_calls(Campaign::share("kill -9 at a system call", "kill::share_at_calls", 18));
}

#[test]
fn share_at_moments() {
    at_moments(Campaign::share("kill -9 at a random moment", "kill::share_at_moments", 9));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full_at_calls() {
    at_calls(Campaign::full("kill -9 at a system call", "kill::full_at_calls", 700, 0.12));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full_at_moments() {
    at_moments(Campaign::full("kill -9 at a random moment", "kill::full_at_moments", 400, 0.1));
}
