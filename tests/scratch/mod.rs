//! Folders for stores and checkpoints, for tests that need no particular file system.

#![allow(dead_code, reason = "each test binary uses a part")]

use tempfile::TempDir;

/// Linux's file system in memory.
const MEMORY: &str = "/dev/shm";
/// The free space required: containers often have 64 MiB, which is too little.
const MEMORY_BYTES_MIN: u64 = 1 << 30;

/// A folder in main memory if there is room, otherwise in the usual folder for temporary files. Writers sync every
/// file, which takes most of the time of a small test on a disk. Tests of fetchers, stripes, faults, the program and
/// the campaigns use the disk.
pub fn in_memory() -> TempDir {
    match is_roomy() {
        true => tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    }
    .unwrap()
}

fn is_roomy() -> bool {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    // Fields: device, folder, type, options.
    let mut mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let Some(mount) = mounts.rfind(|mount| mount.len() > 3 && mount[1] == MEMORY && mount[2] == "tmpfs") else {
        return false;
    };
    // Without the option, half of main memory.
    let size = mount[3].split(',').find_map(|option| option.strip_prefix("size=")?.strip_suffix('k')?.parse().ok());
    size.is_none_or(|kib: u64| kib << 10 >= MEMORY_BYTES_MIN)
}
