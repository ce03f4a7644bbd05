//! The main memory that is available to a command: the machine's, and the limits of memory cgroups (containers) and of
//! the process.
//!
//! ```text
//!  /proc/meminfo      MemAvailable                                    soft: the page cache shrinks, swap is ignored
//!  cgroup v1 and v2   limit - (use - page cache that can be dropped): hard: beyond it the kernel kills the process
//!                     the smallest of the group and its parents
//!  /proc/self/limits  address space (ulimit -v), data (ulimit -d)     hard: beyond it allocations fail
//! ```
//!
//! In a memory cgroup everything that the process touches counts: its own pages, pages of files that it maps or reads,
//! locked pages, and some kernel memory (page tables, rings of asynchronous reads). Clean pages of files are dropped
//! when the group is full, so they do not count as used here; files in a tmpfs do.
//!
//! Windows and macOS report the machine's memory by a call, and have none of these files; limits of job objects are not
//! read.
//!
//! Existing crates do not fit: those that are maintained (`sysinfo`) collect the state of a whole machine,
//! and none reads all three limits. The files are a few lines of text each. On macOS `sysinfo` counts all active memory
//! of programs as available.

mod cgroup;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::fs;
use std::path::{Path, PathBuf};

/// What limits the memory of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The machine's available memory.
    Machine,
    /// A memory cgroup (a container, for example).
    Cgroup {
        /// The file with its limit.
        file: PathBuf,
    },
    /// The address space of the process: `ulimit -v`.
    AddressSpace,
    /// The data segment of the process: `ulimit -d`.
    DataSegment,
    /// Unknown.
    Unknown,
}

/// The main memory that a command can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// Available bytes.
    pub bytes: u64,
    /// What limits them.
    pub bound: Bound,
    /// The limit in bytes, including memory in use.
    pub limit_bytes: u64,
}

/// The assumption if the system reports nothing.
const UNKNOWN_BYTES: u64 = 2 << 30;
/// Minimum reserve, for the kernel's memory in a cgroup, or for mappings outside the budget under a limit on address
/// space. The reserve is otherwise a fraction of the memory left.
const KERNEL_BYTES: u64 = 4 << 20;
const KERNEL_SHARE: u64 = 32;
/// Address space of a thread: its stack with guard pages, and its allocator arena.
const THREAD_BYTES: u64 = 4 << 20;

impl Available {
    /// Reads the limits of the system.
    pub fn now() -> Self {
        Self::under(Path::new("/"), told())
    }

    /// Reads the limits from the files below `root`, which is `/` except in tests. The machine's memory is what the
    /// system has told, if it has.
    fn under(root: &Path, told: Option<Self>) -> Self {
        let soft = told.or_else(|| machine(root)).into_iter();
        let all = soft.chain(Self::walls(root));
        let unknown = Self { bytes: UNKNOWN_BYTES, bound: Bound::Unknown, limit_bytes: UNKNOWN_BYTES };
        all.min_by_key(|available| available.bytes).unwrap_or(unknown)
    }

    /// The hard limit, if there is one: beyond it the process is killed, or allocations fail.
    pub fn wall() -> Option<Self> {
        Self::walls(Path::new("/")).into_iter().min_by_key(|available| available.bytes)
    }

    /// Whether address space is limited: mapped memory then counts, whether or not it is touched.
    pub fn has_limited_address_space() -> bool {
        process_limits(Path::new("/")).iter().any(|limit| limit.bound == Bound::AddressSpace)
    }

    fn walls(root: &Path) -> Vec<Self> {
        let mut walls: Vec<Self> = cgroup::groups(root)
            .into_iter()
            .map(|group| Self {
                bytes: with_reserve(group.limit_bytes.saturating_sub(group.used_bytes)),
                bound: Bound::Cgroup { file: group.file },
                limit_bytes: group.limit_bytes,
            })
            .collect();
        walls.extend(process_limits(root));
        walls
    }

    /// A description for people: "this container allows 128 MiB (/sys/fs/cgroup/memory.max)".
    pub fn describe(&self) -> String {
        let mib = |bytes: u64| bytes >> 20;
        let (limit, left) = (mib(self.limit_bytes), mib(self.bytes));
        match &self.bound {
            Bound::Machine => format!("this machine has {left}MiB available"),
            Bound::Cgroup { file } => {
                format!("this container allows {limit}MiB ({}) and leaves {left}MiB", file.display())
            }
            Bound::AddressSpace => {
                format!("the address space is limited to {limit}MiB (ulimit -v), which leaves {left}MiB")
            }
            Bound::DataSegment => {
                format!("the data segment is limited to {limit}MiB (ulimit -d), which leaves {left}MiB")
            }
            Bound::Unknown => format!("the system does not say what is available: {left}MiB are assumed"),
        }
    }
}

/// Subtracts the kernel's memory.
fn with_reserve(left_bytes: u64) -> u64 {
    left_bytes.saturating_sub((left_bytes / KERNEL_SHARE).max(KERNEL_BYTES))
}

/// The machine's memory, of systems that tell it by a call.
fn told() -> Option<Available> {
    #[cfg(target_os = "macos")]
    let told = macos::available_and_total_bytes();
    #[cfg(windows)]
    let told = windows::available_and_total_bytes();
    #[cfg(not(any(target_os = "macos", windows)))]
    let told: Option<(u64, u64)> = None;
    told.map(|(bytes, limit_bytes)| Available { bytes, bound: Bound::Machine, limit_bytes })
}

/// The peak resident memory of this process, in bytes, if the system says.
pub fn peak_bytes() -> Option<u64> {
    #[cfg(target_os = "macos")]
    return macos::peak_bytes();
    #[cfg(windows)]
    return windows::peak_bytes();
    #[cfg(not(any(target_os = "macos", windows)))]
    kib_of(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

fn machine(root: &Path) -> Option<Available> {
    let info = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let kib = |key: &str| kib_of(&info, key);
    let bytes = kib("MemAvailable:")?;
    Some(Available { bytes, bound: Bound::Machine, limit_bytes: kib("MemTotal:").unwrap_or(bytes) })
}

/// The value of a line such as `MemAvailable:  1024 kB`, in bytes.
fn kib_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The limits on address space and data segment. Every thread maps a stack.
fn process_limits(root: &Path) -> Vec<Available> {
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (limits, status) = (text("proc/self/limits"), text("proc/self/status"));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let limit = |name: &str, used: &str, bound| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        // `unlimited` is not a number.
        let limit_bytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        let used_bytes = kib_of(&status, used).unwrap_or(0);
        // Two pools with one thread per core each, and a few more threads.
        let threads_bytes = (2 * threads + 4) * THREAD_BYTES;
        let left = limit_bytes.saturating_sub(used_bytes).saturating_sub(threads_bytes);
        Some(Available { bytes: with_reserve(left), bound, limit_bytes })
    };
    let address_space = limit("Max address space", "VmSize:", Bound::AddressSpace);
    address_space.into_iter().chain(limit("Max data size", "VmData:", Bound::DataSegment)).collect()
}

#[cfg(test)]
mod tests;
