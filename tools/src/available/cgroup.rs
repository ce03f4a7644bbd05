//! Memory cgroups: the groups of this process and their limits.
//!
//! `/proc/self/cgroup` names the group; `/proc/self/mountinfo` says where the hierarchy is mounted, and which part of
//! it. In a container the name is often that on the host, which is not visible inside: the mounted folder is then the
//! group's own.

use std::fs;
use std::path::{Path, PathBuf};

/// A group with a limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The file with the limit.
    pub file: PathBuf,
    pub limit_bytes: u64,
    /// Memory in use, without page cache that can be dropped.
    pub used_bytes: u64,
}

/// Limits from here on mean "unlimited": version 1 writes the largest multiple of a page.
const NO_LIMIT: u64 = 1 << 60;

/// The two versions of cgroups; their file names differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

impl Version {
    /// Files with limits. A process above `memory.high` is throttled almost to a standstill.
    fn limits(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &["memory.limit_in_bytes"],
            Self::V2 => &["memory.max", "memory.high"],
        }
    }

    fn usage(self) -> &'static str {
        if self == Self::V1 { "memory.usage_in_bytes" } else { "memory.current" }
    }

    /// Lines of `memory.stat` that count memory which can be dropped, child groups included.
    fn droppable(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &["total_inactive_file", "total_active_file"],
            Self::V2 => &["inactive_file", "active_file", "slab_reclaimable"],
        }
    }
}

/// Returns the groups of this process that have a limit, its own first. `root` is `/` except in tests.
pub(super) fn groups(root: &Path) -> Vec<Group> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (own, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let mut groups = Vec::new();
    for mount in mounts.lines().filter_map(Mount::parse) {
        let Some(name) = own.lines().find_map(|line| group_name(line, mount.version)) else { continue };
        // File names as the user sees them, and where they are read.
        let top = mount.point.to_owned();
        for folder in folders(&top, &mount.within(name), root) {
            groups.extend(limits(root, &folder, mount.version));
        }
    }
    groups
}

/// A mounted hierarchy.
struct Mount<'a> {
    version: Version,
    /// The part of the hierarchy that is mounted.
    part: &'a str,
    point: &'a Path,
}

impl<'a> Mount<'a> {
    /// A line of mountinfo: `35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`.
    fn parse(line: &'a str) -> Option<Self> {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (part, point) = (mount.next()?, Path::new(mount.next()?));
        let mut filesystem = filesystem.split(' ');
        let version = match (filesystem.next()?, filesystem.nth(1)) {
            ("cgroup2", _) => Version::V2,
            ("cgroup", Some(options)) if options.split(',').any(|option| option == "memory") => Version::V1,
            _ => return None,
        };
        Some(Self { version, part, point })
    }

    /// A group's name relative to the mounted part.
    fn within(&self, name: &str) -> PathBuf {
        let below = match self.part {
            "/" => Some(name),
            part => name.strip_prefix(part),
        };
        // Names with `..` are groups outside the mount.
        let below = below.map(|below| below.trim_start_matches('/')).filter(|below| !below.contains(".."));
        PathBuf::from(below.unwrap_or_default())
    }
}

/// Returns the group name of a line such as `4:memory:/user` (version 1) or `0::/user` (version 2).
fn group_name(line: &str, version: Version) -> Option<&str> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, name) = (parts.next()?, parts.next()?, parts.next()?);
    let of = match version {
        Version::V1 => controllers.split(',').any(|controller| controller == "memory"),
        Version::V2 => number == "0" && controllers.is_empty(),
    };
    of.then_some(name)
}

/// Returns the group's folder and its parents up to the mount point; only the mount point if the group is not visible.
fn folders(top: &Path, below: &Path, root: &Path) -> Vec<PathBuf> {
    let own = top.join(below);
    let own = if real(root, &own).is_dir() { own } else { top.to_owned() };
    own.ancestors().take_while(|folder| folder.starts_with(top)).map(Path::to_owned).collect()
}

/// Returns a folder's limits; none if it lacks such a file, as the root group does.
fn limits(root: &Path, folder: &Path, version: Version) -> Vec<Group> {
    let number = |name: &str| fs::read_to_string(real(root, &folder.join(name))).ok()?.trim().parse::<u64>().ok();
    let limited = |name: &&str| {
        // `max` means unlimited.
        let limit_bytes = number(name).filter(|&limit| limit < NO_LIMIT)?;
        let used = number(version.usage()).unwrap_or(0);
        let stat = fs::read_to_string(real(root, &folder.join("memory.stat"))).unwrap_or_default();
        let value = |line: &str| {
            let (key, value) = line.split_once(' ')?;
            if version.droppable().contains(&key) { value.trim().parse::<u64>().ok() } else { None }
        };
        let droppable: u64 = stat.lines().filter_map(value).sum();
        Some(Group { file: folder.join(name), limit_bytes, used_bytes: used.saturating_sub(droppable) })
    };
    version.limits().iter().filter_map(limited).collect()
}

fn real(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
