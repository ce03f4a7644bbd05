//! Errors of system calls: of one call, or of all calls from one on.
//!
//! The command fails with exit code 1, names a file and leaves nothing; or it copes, ends with exit code 0, and its
//! product is right. It neither hangs nor panics.

use crate::context::{Campaign, Case, Verdict};
use crate::files::listing;
use crate::jobs::Job;
use crate::process::Ended;
use crate::random::Random;
use crate::stores::{Data, left};
use crate::strace::{self, Call};
use std::time::Duration;

/// A system call to fail: its errors, those that may be permanent, and whether it concerns a file.
struct Failing {
    call: &'static str,
    once: &'static [&'static str],
    lasting: &'static [&'static str],
    names_file: bool,
}

const fn of_file(call: &'static str, once: &'static [&'static str], lasting: &'static [&'static str]) -> Failing {
    Failing { call, once, lasting, names_file: true }
}

const fn of_none(call: &'static str, once: &'static [&'static str], lasting: &'static [&'static str]) -> Failing {
    Failing { call, once, lasting, names_file: false }
}

/// The standard library retries interrupted calls without limit, and only an injection interrupts them forever: EINTR
/// is permanent only for calls that the program itself retries.
const FAILING: [Failing; 33] = [
    of_file("openat", &["EACCES", "EMFILE", "EIO", "EINTR"], &["EACCES", "EMFILE"]),
    of_file("read", &["EIO", "EINTR"], &["EIO"]),
    of_file("pread64", &["EIO", "EINTR", "EAGAIN"], &["EIO", "EINTR", "EAGAIN"]),
    of_file("write", &["EIO", "ENOSPC", "EINTR"], &["EIO", "ENOSPC"]),
    of_file("pwrite64", &["EIO", "ENOSPC", "EINTR"], &["EIO", "ENOSPC"]),
    of_file("pwritev", &["EIO", "ENOSPC"], &["ENOSPC"]),
    of_file("copy_file_range", &["EIO", "ENOSPC", "EXDEV"], &["ENOSPC", "EXDEV"]),
    of_file("fsync", &["EIO", "ENOSPC"], &["EIO"]),
    of_file("fdatasync", &["EIO", "ENOSPC"], &["EIO"]),
    of_file("ftruncate", &["EIO", "EFBIG", "ENOSPC"], &["ENOSPC"]),
    of_file("fallocate", &["EIO", "EOPNOTSUPP", "ENOSPC"], &["ENOSPC", "EOPNOTSUPP"]),
    of_file("rename", &["EIO", "EACCES", "ENOSPC"], &["EACCES"]),
    of_file("renameat", &["EIO", "EACCES"], &["EACCES"]),
    of_file("renameat2", &["EIO", "EACCES", "EINVAL"], &["EACCES"]),
    of_file("link", &["EPERM", "EMLINK"], &["EPERM"]),
    of_file("linkat", &["EPERM", "EMLINK"], &["EPERM"]),
    of_file("mkdir", &["EACCES", "ENOSPC"], &["EACCES", "ENOSPC"]),
    of_file("mkdirat", &["EACCES", "ENOSPC"], &["ENOSPC"]),
    of_file("unlink", &["EACCES", "EIO"], &["EACCES"]),
    of_file("unlinkat", &["EACCES", "EIO"], &["EACCES"]),
    of_file("rmdir", &["EACCES", "EBUSY"], &["EACCES"]),
    of_file("getdents64", &["EIO"], &["EIO"]),
    of_file("statx", &["EACCES", "EIO"], &["EACCES"]),
    of_file("newfstatat", &["EACCES", "EIO"], &["EACCES"]),
    of_file("flock", &["ENOLCK", "EINTR"], &["ENOLCK"]),
    of_file("fchmod", &["EPERM"], &["EPERM"]),
    of_none("io_uring_setup", &["EPERM", "ENOSYS", "ENOMEM", "EMFILE"], &["EPERM", "ENOSYS"]),
    of_none("io_uring_register", &["ENOMEM", "EPERM", "EINVAL"], &["ENOMEM", "EINVAL"]),
    of_none(
        "io_uring_enter",
        &["EIO", "EINTR", "EAGAIN", "EPERM", "ENOMEM", "EINVAL", "EBUSY"],
        &["EIO", "EINTR", "EAGAIN", "EPERM", "ENOMEM", "EINVAL", "EBUSY"],
    ),
    of_none("clone3", &["EAGAIN"], &["EAGAIN"]),
    of_none("mmap", &["ENOMEM"], &[]),
    of_none("madvise", &["ENOMEM", "EINVAL"], &["EINVAL"]),
    of_none("eventfd2", &["EMFILE"], &["EMFILE"]),
];

/// A run takes a fraction of a second, even under strace.
const PATIENCE: Duration = Duration::from_secs(30);

/// An injected error.
struct Injection<'a> {
    failing: &'a Failing,
    number: u64,
    error: &'static str,
    lasts: bool,
}

impl std::fmt::Display for Injection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let from = if self.lasts { " on" } else { "" };
        write!(f, "{} from {} {}{from}", self.error, self.failing.call, self.number)
    }
}

impl Injection<'_> {
    fn draw(case: &mut Case, (name, number): &Call) -> Self {
        let failing = FAILING.iter().find(|failing| failing.call == name).expect("only these are counted");
        let lasts = !failing.lasting.is_empty() && case.random.once_in(3);
        let error = *case.random.choose(if lasts { failing.lasting } else { failing.once });
        Self { failing, number: *number, error, lasts }
    }

    fn run(&self, case: &Case, job: &Job) -> Ended {
        let call = self.failing.call;
        let inject = format!("{call}:error={}:when={}{}", self.error, self.number, if self.lasts { "+" } else { "" });
        strace::run(case.folder(), &job.line, call, &inject, PATIENCE)
    }

    /// Whether the leftovers are acceptable: files that could not be removed.
    fn keeps_files(&self) -> bool {
        let removing = ["unlink", "unlinkat", "rmdir", "getdents64", "openat", "statx", "newfstatat"];
        self.lasts || removing.contains(&self.failing.call)
    }

    fn check(&self, case: &mut Case, job: &Job, data: &Data) -> Verdict {
        job.set_up(case.folder());
        let before = listing(case.folder());
        let done = self.run(case, job);
        if let Some(outcome) = self.beyond_the_program(&done) {
            return Ok(outcome);
        }
        let worked = done.succeeded()?;
        let whole = job.is_whole(case.folder())?;
        if worked {
            return self.check_success(case, job, whole);
        }
        self.check_message(&done, job, data)?;
        let left = left(case.folder(), &before);
        if !whole && !left.is_empty() && !self.keeps_files() {
            return Err(format!("left after an error: {left:?}: {}", done.stderr.trim()));
        }
        if case.random.once_in(4) || !left.is_empty() {
            job.again(case.folder())?;
        }
        Ok(if whole { "exit 1, the product is whole" } else { "exit 1" })
    }

    /// Exit code 0: the product is complete, and the only leftovers are files that could not be removed.
    fn check_success(&self, case: &Case, job: &Job, whole: bool) -> Verdict {
        match (whole, job.difference(case.folder())) {
            (false, _) => Err("exit 0 and nothing there: ".to_owned()),
            (true, None) => Ok("exit 0, right"),
            (true, Some(_)) if self.keeps_files() => {
                job.again(case.folder()).map(|_| "exit 0, right, rest removed by clean")
            }
            (true, Some(difference)) => Err(format!("exit 0 and: {difference}")),
        }
    }

    /// Failures before the program starts, or those that no program can report.
    fn beyond_the_program(&self, done: &Ended) -> Option<&'static str> {
        let loader = done.code == Some(127) && done.stderr.contains("shared librar");
        let of_runtime = ["memory allocation of", "guard page", "alternative stack"];
        let allocation = self.failing.call == "mmap" && of_runtime.iter().any(|words| done.stderr.contains(words));
        (loader || allocation).then_some(if loader { "not loaded" } else { "out of memory" })
    }

    fn check_message(&self, done: &Ended, job: &Job, data: &Data) -> Result<(), String> {
        let message = done.stderr.trim();
        // The failing write may be that of the message.
        let silent = message.is_empty() && self.failing.call != "write";
        let nameless = self.failing.names_file && !message.is_empty() && !job.is_named_in(message, data);
        match (silent, nameless) {
            (true, _) => Err(format!("no message: {}", done.line)),
            (_, true) => Err(format!("names no file: {message}")),
            _ => Ok(()),
        }
    }
}

fn calls_of(job: &Job) -> Vec<Call> {
    let folder = tempfile::tempdir().expect("a folder");
    job.set_up(folder.path());
    let names: Vec<&str> = FAILING.iter().map(|failing| failing.call).collect();
    // Calls of the dynamic loader come before the program, which cannot report their errors.
    let of_loader = strace::calls(folder.path(), "--version", &["mmap"], true).len() as u64;
    let calls = strace::calls(folder.path(), &job.line, &names, true);
    calls.into_iter().filter(|(name, number)| name != "mmap" || *number > of_loader).collect()
}

fn campaign(campaign: Campaign) {
    if !strace::is_here() {
        return;
    }
    let data = Data::new(&mut campaign.random(), 2000, 12_000);
    let mut jobs = Job::all(&data, 10, campaign.is_full());
    jobs.extend(Job::reads(&data));
    let calls: Vec<Vec<Call>> = jobs.iter().map(calls_of).collect();
    campaign.run(|case| {
        let at = case.number as usize % jobs.len();
        let call = draw_call(&mut case.random, &calls[at]);
        let injection = Injection::draw(case, call);
        let verdict = injection.check(case, &jobs[at], &data);
        verdict.map_err(|defect| format!("{defect} ({}, {injection})", jobs[at].name))
    });
}

/// Any call, or one of a random name: calls that are made once are drawn as often as frequent ones.
fn draw_call<'a>(random: &mut Random, calls: &'a [Call]) -> &'a Call {
    let any = random.choose(calls);
    if random.once_in(2) {
        return any;
    }
    let mut names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    let name = *random.choose(&names);
    let of_name: Vec<&Call> = calls.iter().filter(|(one, _)| one == name).collect();
    of_name[random.index(of_name.len())]
}

#[test]
fn share() {
    campaign(Campaign::share("errors of system calls", "errors::share", 39));
}

#[test]
#[ignore = "takes minutes: .ci/slow runs it"]
fn full() {
    campaign(Campaign::full("errors of system calls", "errors::full", 4000, 0.12));
}
