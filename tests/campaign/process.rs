//! Runs the program with a time limit, and measures its peak memory.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program: the one that cargo has built, or that of `TOPOSTREAM_CAMPAIGN_PROGRAM`.
pub fn path() -> PathBuf {
    let other = std::env::var_os("TOPOSTREAM_CAMPAIGN_PROGRAM").map(PathBuf::from);
    other.unwrap_or_else(|| env!("CARGO_BIN_EXE_topostream").into())
}

/// More than any case takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a process ended.
#[allow(dead_code, reason = "not every campaign looks at everything")]
#[derive(Debug)]
pub struct Ended {
    /// The command line, for the report of a defect.
    pub line: String,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Killed because the time limit was exceeded.
    pub hung: bool,
    pub stdout: String,
    pub stderr: String,
    /// Peak resident memory, as counted by the system.
    pub peak_bytes: u64,
    pub took: Duration,
}

impl Ended {
    /// A documented exit code; an error for a hang, a signal or a panic.
    pub fn orderly(&self) -> Result<(), String> {
        let first = |text: &str| text.lines().find(|line| line.contains("panicked")).unwrap_or_default().to_owned();
        match (self.hung, self.signal, self.code) {
            (true, ..) => Err(format!("hang: {}", self.line)),
            (_, Some(signal), _) => Err(format!("signal {signal}: {}: {}", self.line, self.stderr)),
            (_, _, Some(101)) => Err(format!("panic: {}: {}", self.line, self.stderr)),
            _ if self.stderr.contains("panicked") => Err(format!("panic: {}: {}", self.line, first(&self.stderr))),
            (_, _, Some(0 | 1)) => Ok(()),
            (_, _, code) => Err(format!("exit code {code:?}: {}: {}", self.line, self.stderr)),
        }
    }

    /// Whether it ended with exit code 0; an error for a hang, a signal or a panic.
    pub fn succeeded(&self) -> Result<bool, String> {
        self.orderly().map(|()| self.code == Some(0))
    }
}

/// The program with arguments separated by spaces, in a folder.
pub fn program(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(path());
    command.args(line.split_whitespace());
    set_up(&mut command, folder);
    command
}

/// A command with a limit on the size of files, in blocks of 512 bytes: a write beyond it is an error, not a signal.
pub fn limited(folder: &Path, line: &str, blocks: u64) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
    command.arg(path()).args(line.split_whitespace());
    set_up(&mut command, folder);
    command
}

/// Settings of all processes: working directory, temporary files within it, no input, no rates measured on this
/// machine.
pub fn set_up(command: &mut Command, folder: &Path) {
    command.current_dir(folder).stdin(Stdio::null());
    command.env("TMPDIR", folder).env("XDG_RUNTIME_DIR", folder);
    command.env("TOPOSTREAM_CALIBRATION", folder.join("no-calibration.json"));
}

/// Runs the program with a line of arguments.
pub fn run(folder: &Path, line: &str) -> Ended {
    end(program(folder, line), PATIENCE)
}

/// Runs a command to its end or the time limit.
pub fn end(command: Command, patience: Duration) -> Ended {
    end_at(command, patience, None)
}

/// As [`end`], with an optional time until SIGKILL.
#[expect(clippy::zombie_processes, reason = "it is waited for by its number")]
pub fn end_at(mut command: Command, patience: Duration, kill: Option<Duration>) -> Ended {
    let line = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<_> = line.map(|word| word.to_string_lossy().into_owned()).collect();
    let [mut out, mut err] = [(); 2].map(|()| tempfile::tempfile().expect("a temporary file"));
    let copy = |file: &File| Stdio::from(file.try_clone().expect("a second handle"));
    command.stdout(copy(&out)).stderr(copy(&err)).process_group(0);
    let started = Instant::now();
    let child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", line[0]));
    // Afterwards: other tests of this process may have needed memory just before.
    let own = resident_peak(std::process::id());
    let mut watch = Watch { pid: child.id() as i32, started, patience, kill, sampled: 0 };
    let (status, hung) = watch.wait();
    let took = started.elapsed();
    // The figure of wait4 starts at this process's own size when it started the child: near that, use the samples.
    // Near, since Linux counts pages per CPU and adds them up now and then, so that two readings of one size differ.
    let peak_bytes = if status.peak_bytes > own + own / 4 { status.peak_bytes } else { watch.sampled };
    let [stdout, stderr] = [&mut out, &mut err].map(|file| {
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("output is read");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let name = Path::new(&line[0]).file_name().map(|name| name.to_string_lossy().into_owned());
    let line = [name.unwrap_or_default(), line[1..].join(" ")].join(" ");
    let Status { code, signal, .. } = status;
    Ended { line, code, signal, hung, stdout, stderr, peak_bytes, took }
}

struct Status {
    code: Option<i32>,
    signal: Option<i32>,
    peak_bytes: u64,
}

/// Waits for a child that leads a process group.
struct Watch {
    pid: i32,
    started: Instant,
    patience: Duration,
    kill: Option<Duration>,
    /// The peak of its resident memory in the last sample.
    sampled: u64,
}

impl Watch {
    /// Waits until the process ends; kills its group at the time limit. Also returns whether it hung.
    fn wait(&mut self) -> (Status, bool) {
        loop {
            self.sampled = resident_peak(self.pid as u32).max(self.sampled);
            if let Some(status) = reap(self.pid, false) {
                return (status, false);
            }
            let elapsed = self.started.elapsed();
            let hung = elapsed > self.patience;
            if hung || self.kill.is_some_and(|moment| elapsed >= moment) {
                end_group(self.pid);
                return (reap(self.pid, true).expect("waited for"), hung);
            }
            let pause = (elapsed / 16).clamp(Duration::from_micros(200), Duration::from_millis(20));
            std::thread::sleep(self.kill.map_or(pause, |moment| pause.min(moment - elapsed)));
        }
    }
}

/// Peak resident memory of a process; 0 if it has ended.
fn resident_peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// `wait4`, which also returns the child's resource usage.
#[expect(unsafe_code, reason = "std has no wait with the resources that were used")]
fn reap(pid: i32, block: bool) -> Option<Status> {
    let mut status = 0;
    // SAFETY: a `rusage` of zeros is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let flags = if block { 0 } else { libc::WNOHANG };
    // SAFETY: both pointers are to variables that outlive the call; `pid` is a child that nothing else waits for.
    let found = unsafe { libc::wait4(pid, &raw mut status, flags, &raw mut usage) };
    assert!(found >= 0, "wait4: {}", std::io::Error::last_os_error());
    (found == pid).then(|| Status {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        peak_bytes: usage.ru_maxrss as u64 * 1024,
    })
}

/// Sends SIGKILL to a process group that this module created.
#[expect(unsafe_code, reason = "std signals a child alone, not what it has started")]
fn end_group(leader: i32) {
    // SAFETY: a plain system call; the child leads its own group and has not been waited for.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
}
