//! How much main memory there is for a command: what the machine, memory cgroups (containers) and the limits of the
//! process leave.
//!
//! ```text
//!  /proc/meminfo        MemAvailable                                             soft: the page cache gives way, swap is ignored
//!  cgroup v1 and v2     limit - (use - page cache that can be dropped),          hard: beyond it the kernel kills the process
//!                       the least of the own group and all groups above it
//!  /proc/self/limits    address space (ulimit -v), data segment (ulimit -d)      hard: beyond it allocations fail
//! ```
//!
//! In a memory cgroup everything that the process touches counts: its own pages, those of files that it maps or reads,
//! locked pages, and some of what the kernel allocates for it (page tables, rings for reading). Pages of files that are
//! clean are dropped where the group is full, so they are not counted as use; files in a tmpfs stay and are.
//!
//! There are crates that read such limits; those that are kept up (`sysinfo`) bring the whole state of a machine along,
//! and none looks at all three. The files are a few lines of text each.

mod cgroup;

use std::fs;
use std::path::{Path, PathBuf};

/// What bounds the memory of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// What the machine has left.
    Machine,
    /// A memory cgroup, as containers are: the file with its limit.
    Cgroup {
        /// The file.
        file: PathBuf,
    },
    /// The address space of the process: `ulimit -v`.
    AddressSpace,
    /// The data segment of the process: `ulimit -d`.
    DataSegment,
    /// The system does not tell.
    Unknown,
}

/// Main memory that a command can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// Bytes that are left.
    pub bytes: u64,
    /// What leaves no more.
    pub bound: Bound,
    /// What that allows in all, in bytes, what is in use included.
    pub limit_bytes: u64,
}

/// What is assumed where the system does not tell.
const UNKNOWN_BYTES: u64 = 2 << 30;
/// What the kernel may take for the process in a cgroup, and what is mapped beside the budget under a limit on address
/// space: a part of what is left, and this much at least.
const KERNEL_BYTES: u64 = 4 << 20;
const KERNEL_SHARE: u64 = 32;
/// Address space of a thread: its stack with guard pages, and what the allocator maps for it.
const THREAD_BYTES: u64 = 4 << 20;

impl Available {
    /// Looks at the system.
    pub fn now() -> Self {
        Self::under(Path::new("/"))
    }

    /// The same with the system's files below another folder than `/`.
    fn under(root: &Path) -> Self {
        let soft = machine(root).into_iter();
        let all = soft.chain(Self::walls(root));
        let unknown = Self { bytes: UNKNOWN_BYTES, bound: Bound::Unknown, limit_bytes: UNKNOWN_BYTES };
        all.min_by_key(|available| available.bytes).unwrap_or(unknown)
    }

    /// What must not be passed, if there is such a limit: more than that ends the process, or its allocations fail.
    pub fn wall() -> Option<Self> {
        Self::walls(Path::new("/")).into_iter().min_by_key(|available| available.bytes)
    }

    /// Whether address space is limited: then what is mapped counts, whether it is touched or not.
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

    /// What says so, for people: "this container allows 128 MiB (/sys/fs/cgroup/memory.max)".
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

/// Less what the kernel takes.
fn with_reserve(left_bytes: u64) -> u64 {
    left_bytes.saturating_sub((left_bytes / KERNEL_SHARE).max(KERNEL_BYTES))
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
        // `unlimited` is no number.
        let limit_bytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        let used_bytes = kib_of(&status, used).unwrap_or(0);
        // Two pools of a thread for each core, and a few more.
        let threads_bytes = (2 * threads + 4) * THREAD_BYTES;
        let left = limit_bytes.saturating_sub(used_bytes).saturating_sub(threads_bytes);
        Some(Available { bytes: with_reserve(left), bound, limit_bytes })
    };
    let address_space = limit("Max address space", "VmSize:", Bound::AddressSpace);
    address_space.into_iter().chain(limit("Max data size", "VmData:", Bound::DataSegment)).collect()
}

#[cfg(test)]
mod tests;
