//! Faults of system calls, injected by strace.

use crate::context::say;
use crate::process::{self, Ended};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A system call, by its name and its index among a thread's calls of this name.
pub type Call = (String, u64);

/// Whether strace is available. If not, a note says so; it is an error if strace is required.
pub fn is_here() -> bool {
    let tried = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let here = tried.is_ok_and(|status| status.success());
    if !here {
        let insists = std::env::var("TOPOSTREAM_CAMPAIGN_STRACE").is_ok_and(|asked| asked == "required");
        assert!(!insists, "TOPOSTREAM_CAMPAIGN_STRACE=required, and strace is not here or may not trace");
        say("skipped: no strace (Debian, Ubuntu: `apt-get install strace`), or it may not trace\n");
    }
    here
}

/// Runs the program under strace, with an injection.
pub fn run(folder: &Path, line: &str, calls: &str, inject: &str, patience: Duration) -> Ended {
    let mut command = strace(folder, Path::new("/dev/null"));
    command.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={inject}")]);
    command.arg(process::path()).args(line.split_whitespace());
    process::end(command, patience)
}

/// The calls among `names` that a command line makes: for each name, those of the thread with the most.
///
/// `of_files`: without reads and writes if some of them are of eventfds, by which threads wake each other: those do not
/// fail, and their numbers do not distinguish them.
pub fn calls(folder: &Path, line: &str, names: &[&str], of_files: bool) -> Vec<Call> {
    let log = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut command = strace(folder, log.path());
    command.args(["-y", "-e", &format!("trace={}", names.join(","))]);
    command.arg(process::path()).args(line.split_whitespace());
    let done = process::end(command, Duration::from_secs(60));
    assert_eq!(done.code, Some(0), "{}: {}", done.line, done.stderr);
    let text = String::from_utf8_lossy(&std::fs::read(log.path()).expect("strace's log")).into_owned();
    let mut counts: HashMap<(&str, &str), u64> = HashMap::new();
    let mut ended: HashSet<&str> = HashSet::new();
    for line in text.lines() {
        // `1234 write(1</dev/pts/0>, …`; a call interleaved with others begins on one line and is resumed on another.
        let Some((thread, rest)) = line.split_once(char::is_whitespace) else { continue };
        let Some((name, arguments)) = rest.trim_start().split_once('(') else { continue };
        if of_files && matches!(name, "read" | "write") && arguments.contains("<anon_inode:") {
            ended.insert(name);
        }
        if names.contains(&name) {
            *counts.entry((thread, name)).or_default() += 1;
        }
    }
    let mut most: BTreeMap<&str, u64> = BTreeMap::new();
    counts.retain(|(_, name), _| !ended.contains(name));
    counts.into_iter().for_each(|((_, name), count)| {
        let most = most.entry(name).or_default();
        *most = count.max(*most);
    });
    let numbered = |(name, count): (&str, u64)| (1..=count).map(|number| (name.to_owned(), number)).collect::<Vec<_>>();
    most.into_iter().flat_map(numbered).collect()
}

fn strace(folder: &Path, log: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "--signal=none", "-o"]).arg(log);
    process::set_up(&mut command, folder);
    command
}
