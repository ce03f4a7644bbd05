//! The machine and the program version of a measurement.

use serde::Serialize;
use std::fs::read_to_string;
use std::process::Command;
use topostream_tools::available::{Available, Bound};

/// A machine, and a version of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Cores that the process may use.
    pub cores: usize,
    /// The processor's name.
    pub cpu: String,
    /// Main memory that the process may use, in bytes; 0 if the system does not say.
    pub memory_bytes: u64,
    /// The system's kernel.
    pub kernel: String,
    /// The version of this program, with git's description if available.
    pub version: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let memory = Available::now();
        let read = |path| read_to_string(path).unwrap_or_default();
        Self {
            cores: threads(None),
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            memory_bytes: if memory.bound == Bound::Unknown { 0 } else { memory.limit_bytes },
            kernel: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim()),
            version: version(),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let memory = match self.memory_bytes {
            0 => "memory of unknown size".into(),
            bytes => format!("{:.1} GiB of memory", bytes as f64 / (1u64 << 30) as f64),
        };
        write!(f, "{} cores, {}, {memory}, {}", self.cores, self.cpu, self.kernel)
    }
}

/// The number of worker threads: all cores unless `wanted` is given.
pub fn threads(wanted: Option<usize>) -> usize {
    wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The value of the first `name : value` line.
fn field(text: &str, name: &str) -> Option<String> {
    let value = |line: &str| line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, v)| v.trim().into());
    text.lines().find_map(value)
}

/// The version set at build time; otherwise the commit that was built; otherwise git's description of the sources, or
/// the package's version.
fn version() -> String {
    if let Some(version) = option_env!("TOPOSTREAM_VERSION") {
        return version.into();
    }
    let package = concat!("topostream ", env!("CARGO_PKG_VERSION"));
    if topostream::COMMIT.starts_with(|first: char| first.is_ascii_hexdigit()) && topostream::COMMIT.len() >= 40 {
        return format!("{package}, git {}", topostream::COMMIT);
    }
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    match git.output() {
        Ok(output) if output.status.success() => {
            format!("{package}, git {}", String::from_utf8_lossy(&output.stdout).trim())
        }
        _ => package.into(),
    }
}

/// Empties the system's page cache, so that no program starts with a warm one. Returns whether that succeeded: it takes
/// administrator rights.
pub fn drop_page_cache() -> bool {
    Command::new("sync").status().is_ok_and(|status| status.success())
        && std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}

/// Bytes that this process and its finished children have read from disk, if the system reports it.
pub fn disk_read_bytes() -> Option<u64> {
    field(&read_to_string("/proc/self/io").ok()?, "read_bytes")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_proc_files() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nread_bytes: 4096\n";
        assert_eq!(field(text, "model name").as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(field(text, "read_bytes").as_deref(), Some("4096"));
        assert_eq!(field(text, "flags"), None);
    }

    #[test]
    fn this_machine_has_a_core_and_a_version() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && machine.version.starts_with("topostream "));
    }
}
