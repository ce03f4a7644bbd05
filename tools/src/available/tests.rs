//! Fixtures: the files of systems, below a folder.

use super::*;

const MIB: u64 = 1 << 20;

struct System(tempfile::TempDir);

impl System {
    fn new(files: &[(&str, &str)]) -> Self {
        let system = Self(tempfile::tempdir().unwrap());
        system.write("proc/meminfo", "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   20480000 kB\n");
        files.iter().for_each(|(path, text)| system.write(path, text));
        system
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn available(&self) -> Available {
        Available::under(self.0.path(), None)
    }
}

const V2: &str = "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";
const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                  32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                  41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

#[test]
fn a_machine_without_limits() {
    let found = System::new(&[]).available();
    assert_eq!((found.bytes, &found.bound, found.limit_bytes), (20_480_000 << 10, &Bound::Machine, 24_000_000 << 10));
    assert_eq!(found.describe(), "this machine has 20000MiB available");
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(Available::under(nothing.path(), None).bound, Bound::Unknown);
    let told = Available { bytes: 7, bound: Bound::Machine, limit_bytes: 9 };
    assert_eq!(Available::under(nothing.path(), Some(told.clone())), told);
}

/// The smallest limit among the group and its parents counts; page cache that can be dropped does not count as used.
#[test]
fn the_hierarchy_of_version_2() {
    let system = System::new(&[
        ("proc/self/cgroup", "0::/a/b/c\n"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/memory.stat", "anon 1\n"),
        ("sys/fs/cgroup/a/memory.max", "134217728\n"),
        ("sys/fs/cgroup/a/memory.current", "104857600\n"),
        ("sys/fs/cgroup/a/memory.stat", "anon 20971520\nfile 83886080\ninactive_file 52428800\nactive_file 31457280\n"),
        ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ("sys/fs/cgroup/a/b/memory.high", "max\n"),
        ("sys/fs/cgroup/a/b/memory.current", "1\n"),
        ("sys/fs/cgroup/a/b/c/memory.max", "1073741824\n"),
        ("sys/fs/cgroup/a/b/c/memory.current", "0\n"),
    ]);
    let found = system.available();
    let file = PathBuf::from("/sys/fs/cgroup/a/memory.max");
    assert_eq!((found.bytes, &found.bound), ((128 - 20 - 4) * MIB, &Bound::Cgroup { file }));
    // Names have the separators of the system that runs the test.
    let text = found.describe().replace('\\', "/");
    assert_eq!(text, "this container allows 128MiB (/sys/fs/cgroup/a/memory.max) and leaves 104MiB");
    system.write("sys/fs/cgroup/a/b/memory.high", "67108864\n");
    let found = system.available();
    assert_eq!((found.bytes, found.limit_bytes), (60 * MIB - 1, 64 * MIB), "{found:?}");
}

#[test]
fn the_hierarchy_of_version_1() {
    let none = "9223372036854771712\n";
    let system = System::new(&[
        ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/box/x:y\n0::/\n"),
        ("proc/self/mountinfo", V1),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", none),
        ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", none),
        ("sys/fs/cgroup/memory/box/x:y/memory.limit_in_bytes", "134217728\n"),
        ("sys/fs/cgroup/memory/box/x:y/memory.usage_in_bytes", "33554432\n"),
        (
            "sys/fs/cgroup/memory/box/x:y/memory.stat",
            "inactive_file 5\ntotal_inactive_file 16777216\ntotal_active_file 8388608\n",
        ),
    ]);
    let found = system.available();
    assert_eq!((found.bytes, found.limit_bytes), ((128 - 8 - 4) * MIB, 128 * MIB));
    system.write("sys/fs/cgroup/memory/box/x:y/memory.limit_in_bytes", none);
    assert_eq!(system.available().bound, Bound::Machine);
}

/// In a container the group's name may be that on the host, and only a part of the hierarchy may be mounted.
#[test]
fn a_part_of_the_hierarchy_is_mounted() {
    let limit = ("sys/fs/cgroup/memory.max", "268435456\n");
    for (own, part) in [("0::/", "/"), ("0::/docker/4f", "/docker/4f"), ("0::/docker/4f", "/"), ("0::/../../x", "/")] {
        let mount = format!("41 31 0:38 {part} /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n");
        let system = System::new(&[("proc/self/cgroup", own), ("proc/self/mountinfo", &mount), limit]);
        assert_eq!(system.available().limit_bytes, 256 * MIB, "{own} {part}");
    }
    let mount = V2.replace(" / ", " /docker/4f ");
    let inner = ("sys/fs/cgroup/job/memory.max", "134217728\n");
    let own = ("proc/self/cgroup", "0::/docker/4f/job");
    assert_eq!(System::new(&[own, ("proc/self/mountinfo", &mount), limit, inner]).available().limit_bytes, 128 * MIB);
}

#[test]
fn limits_of_the_process() {
    let limits = |data: &str, space: &str| {
        format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max data size             {data}            unlimited            bytes     \n\
             Max address space         {space}           unlimited            bytes     \n"
        )
    };
    let status = ("proc/self/status", "VmPeak:  999999 kB\nVmSize:  102400 kB\nVmData:  10240 kB\n");
    let found =
        |data: &str, space: &str| System::new(&[("proc/self/limits", &limits(data, space)), status]).available();
    assert_eq!(found("unlimited", "unlimited").bound, Bound::Machine);
    let space = found("unlimited", "8589934592");
    assert_eq!((&space.bound, space.limit_bytes), (&Bound::AddressSpace, 8 << 30));
    assert!(space.bytes < (8 << 30) - (100 << 20), "{space:?}");
    let data = found("4294967296", "8589934592");
    assert_eq!((&data.bound, data.limit_bytes), (&Bound::DataSegment, 4 << 30));
    assert!(data.bytes < (4 << 30) - (10 << 20) && data.describe().contains("ulimit -d"), "{data:?}");
    assert_eq!(found("1048576", "unlimited").bytes, 0);
}

/// A machine that runs this has some memory available, and some in use.
#[test]
#[cfg(any(target_os = "linux", target_os = "macos", windows))]
fn this_machine() {
    let machine = told().or_else(|| machine(Path::new("/"))).unwrap();
    assert!((64 * MIB..machine.limit_bytes).contains(&machine.bytes), "{machine:?}");
    assert_eq!(machine.bound, Bound::Machine);
    assert_eq!(told().is_some(), !cfg!(target_os = "linux"));
    assert_ne!(Available::now().bound, Bound::Unknown);
}

/// Memory that is touched is counted, in bytes.
#[test]
#[cfg(any(target_os = "linux", target_os = "macos", windows))]
fn peak_of_this_process() {
    let touched = std::hint::black_box(vec![1u8; 64 * MIB as usize]);
    let peak = peak_bytes().unwrap();
    assert!((touched.len() as u64..1 << 40).contains(&peak), "{peak}");
}
