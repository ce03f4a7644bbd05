//! MPI jobs, with a limit for their time and a mark by which their processes are found.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub const TOPOSTREAM_MPI: &str = env!("CARGO_BIN_EXE_topostream-mpi");

/// How long a job may take, on a machine that is busy with other tests.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The variable by which a job's processes are found.
const MARK: &str = "TOPOSTREAM_MPI_TEST";

/// The program `topostream`, which tests of the whole workspace have built in the same folder.
fn program() -> PathBuf {
    let program = Path::new(TOPOSTREAM_MPI).with_file_name("topostream");
    assert!(program.exists(), "{} is missing: run `cargo build` first", program.display());
    program
}

/// Runs a command to its end, which must be a success. Returns what it printed.
pub fn topostream(arguments: &[&OsStr]) -> String {
    let output = Command::new(program()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Stores of an R-MAT graph with weights and in-lists, its two parts, and another graph.
pub struct Stores {
    folder: PathBuf,
}

impl Stores {
    pub fn make() -> Self {
        // In the folder of builds: what all tests share is never dropped.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loopback");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        std::fs::create_dir_all(&folder).unwrap();
        for (name, seed) in [("graph", "7"), ("other", "8")] {
            let store = folder.join(name);
            let make = ["generate", "rmat", "--scale", "14", "--seed", seed, "--random-weights", "u32:1:100"];
            let layout = ["--in-edges", "--page-size", "64KiB", "--store"];
            let mut arguments: Vec<&OsStr> = make.iter().chain(&layout).map(OsStr::new).collect();
            arguments.push(store.as_ref());
            topostream(&arguments);
        }
        // The first graph in two parts.
        let (whole, sharded) = (folder.join("graph"), folder.join("sharded"));
        let shards = ["--shards", "2", "--in-edges", "--page-size", "64KiB"].map(OsStr::new);
        let reformat: Vec<&OsStr> =
            [OsStr::new("reformat"), whole.as_ref(), sharded.as_ref()].into_iter().chain(shards).collect();
        topostream(&reformat);
        topostream(&[OsStr::new("split"), sharded.as_ref(), folder.join("part{rank}").as_ref()]);
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The end of a job.
pub struct Ended {
    /// The exit code of the launcher; `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A running job.
pub struct Job {
    launcher: Child,
    mark: String,
    /// The launcher's files.
    sessions: PathBuf,
    begun: Instant,
}

impl Job {
    /// Starts a job. Each element of `parts` is a number of ranks, and the arguments of their program.
    pub fn start(parts: &[(usize, Vec<String>)]) -> Self {
        Self::start_by(&[], parts)
    }

    /// As [`start`](Self::start), with words before the name of the program.
    pub fn start_by(before: &[&str], parts: &[(usize, Vec<String>)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new("mpirun");
        command.args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "tcp,self",
        ]);
        command.args(["--mca", "btl_tcp_if_include", "lo", "-x", MARK]);
        // Launchers that start or end together fail if they share the folder of their sessions, which each creates if
        // it is missing, and removes. In the system's folder, since paths of sockets are short.
        let sessions = std::env::temp_dir().join(format!("topostream-mpi-{mark}"));
        std::fs::create_dir(&sessions).unwrap();
        command.args([OsStr::new("--mca"), OsStr::new("orte_tmpdir_base"), sessions.as_ref()]);
        for (at, (ranks, arguments)) in parts.iter().enumerate() {
            if at > 0 {
                command.arg(":");
            }
            command.args(["-n", &ranks.to_string()]).args(before).arg(TOPOSTREAM_MPI).args(arguments);
        }
        let launcher = command.env(MARK, &mark).stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
        let launcher = launcher.spawn().expect("mpirun starts");
        Self { launcher, mark, sessions, begun: Instant::now() }
    }

    /// The ranks' processes that run, by rank.
    pub fn ranks(&self) -> Vec<(usize, u32)> {
        let mut ranks: Vec<(usize, u32)> = self
            .processes()
            .into_iter()
            .filter_map(|(process, environment)| {
                let rank = environment.iter().find_map(|line| line.strip_prefix("OMPI_COMM_WORLD_RANK="))?;
                Some((rank.parse().ok()?, process))
            })
            .collect();
        ranks.sort_unstable();
        ranks
    }

    /// All processes of the job, with their environment.
    fn processes(&self) -> Vec<(u32, Vec<String>)> {
        let marked = format!("{MARK}={}", self.mark);
        let process = |entry: std::fs::DirEntry| {
            let number: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let lines: Vec<String> =
                environment.split(|&byte| byte == 0).map(|line| String::from_utf8_lossy(line).into()).collect();
            lines.contains(&marked).then_some((number, lines))
        };
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(process).collect()
    }

    /// Waits until so many ranks run.
    pub fn wait_for_ranks(&mut self, count: usize) {
        while self.ranks().len() < count {
            assert!(self.begun.elapsed() < LIMIT, "{count} ranks do not start");
            if let Some(status) = self.launcher.try_wait().unwrap() {
                panic!("the job has ended: {status}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until a rank, if it has not ended, has a handler for SIGINT. One that the signal ends while the process is
    /// loaded makes Open MPI's launcher wait for ever, now and then.
    pub fn wait_until_listening(&self, rank: usize) {
        while self.ranks().iter().any(|&(one, process)| one == rank && !is_listening(process)) {
            assert!(self.begun.elapsed() < LIMIT, "rank {rank} has no handler for SIGINT");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends a signal to the launcher.
    pub fn signal(&self, name: &str) {
        signal(self.launcher.id(), name);
    }

    /// Waits for the end of the job, which must come within a time, and leave no process.
    pub fn end_within(mut self, limit: Duration) -> Ended {
        let begun = Instant::now();
        while self.launcher.try_wait().unwrap().is_none() {
            if begun.elapsed() > limit {
                let left: Vec<String> = self.ranks().into_iter().map(|(rank, process)| state(rank, process)).collect();
                self.kill();
                let said = self.launcher.wait_with_output().map(|output| output.stderr).unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                panic!("the job has not ended after {limit:?}; ranks left: {left:?}; the launcher: {said}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut left = self.ranks();
        // The launcher may end before the processes that it has killed.
        while !left.is_empty() && begun.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(20));
            left = self.ranks();
        }
        self.kill();
        let Output { status, stdout, stderr } = self.launcher.wait_with_output().unwrap();
        std::fs::remove_dir_all(&self.sessions).ok();
        assert!(left.is_empty(), "the job has left ranks: {left:?}");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ended { code: status.code(), stdout: text(&stdout), stderr: text(&stderr) }
    }

    /// Kills what is left of the job.
    fn kill(&self) {
        self.processes().iter().for_each(|(process, _)| signal(*process, "KILL"));
    }
}

/// What a rank that should have ended does: its state and where it waits in the kernel.
fn state(rank: usize, process: u32) -> String {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    let stat = read("stat");
    let stat = stat.rsplit(") ").next().unwrap_or_default().chars().next().unwrap_or('?');
    format!("rank {rank}, process {process}: {stat} {}", read("wchan"))
}

/// Whether a process has a handler for SIGINT, or has ended.
fn is_listening(process: u32) -> bool {
    const SIGINT: u64 = 1 << (2 - 1);
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_none_or(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & SIGINT != 0)
}

/// Sends a signal to a process, which may have ended.
pub fn signal(process: u32, name: &str) {
    Command::new("kill").args(["-s", name, &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

/// How often tests kill a rank, or ask one to stop, at random moments.
pub fn kills() -> u32 {
    std::env::var("TOPOSTREAM_MPI_KILLS").map_or(3, |kills| kills.parse().unwrap())
}

/// Random numbers: a linear congruential generator (Knuth, MMIX).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Runs a job to its end: the same command on all ranks.
pub fn run(ranks: usize, arguments: &[&str]) -> Ended {
    Job::start(&[(ranks, words(arguments))]).end_within(LIMIT)
}

/// As [`run`], with ranks that share no memory, as if each were on a machine of its own.
pub fn run_apart(ranks: usize, arguments: &[&str]) -> Ended {
    let before = ["env", "TOPOSTREAM_RANKS_SHARE_MEMORY=off"];
    Job::start_by(&before, &[(ranks, words(arguments))]).end_within(LIMIT)
}

pub fn words(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("a path of letters").to_owned()
}
