//! The ranks that run a command together, for `topostream-mpi`. Results are shown and written by the first of them.

use crate::cluster::Cluster;
use crate::error::Result;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use topostream_formats::part::host_name;

static SHARED: OnceLock<Arc<Cluster>> = OnceLock::new();
/// Whether all ranks know that one was interrupted: they do not meet again.
static PARTED: AtomicBool = AtomicBool::new(false);
/// The number of ranks on this machine.
static HERE: OnceLock<usize> = OnceLock::new();

/// Sets the ranks of this process, before the command begins.
///
/// # Errors
/// If another rank has failed.
pub fn keep(cluster: &Arc<Cluster>) -> Result<()> {
    SHARED.set(Arc::clone(cluster)).ok();
    if cluster.is_shared() {
        let own = host_name();
        let hosts = cluster.gather_bytes(own.as_bytes())?;
        HERE.set(hosts.iter().filter(|host| **host == own.as_bytes()).count()).ok();
    }
    Ok(())
}

/// The number of ranks that share this machine's memory, at least 1.
pub fn here() -> usize {
    HERE.get().map_or(1, |&ranks| ranks.max(1))
}

/// The number of threads of a rank unless another is requested: its share of the machine's cores. A rank that its
/// launcher has bound to some cores has those for itself.
pub fn threads(cores: usize) -> usize {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let status = read("/proc/self/status");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let is_bound = allowed.trim() != read("/sys/devices/system/cpu/online").trim();
    if is_bound { cores } else { (cores / here()).max(1) }
}

/// The ranks that run the command, if there are several.
pub fn shared() -> Option<Arc<Cluster>> {
    SHARED.get().filter(|cluster| cluster.is_shared()).cloned()
}

/// Waits for all ranks at the end of a command. Returns whether all have come here without being interrupted: one that
/// was asked to stop too late to tell the others in a superstep tells them here.
///
/// # Errors
/// If another rank has failed.
pub fn meet(is_interrupted: bool) -> Result<bool> {
    let Some(cluster) = shared() else { return Ok(!is_interrupted) };
    if PARTED.load(Relaxed) {
        return Ok(false);
    }
    let all = cluster.gather(&[u32::from(is_interrupted)])?;
    let undisturbed = all.iter().all(|one| one == &[0]);
    PARTED.store(!undisturbed, Relaxed);
    Ok(undisturbed)
}

/// Whether this process shows and writes the results: the first rank, or the only one.
pub fn is_first() -> bool {
    shared().is_none_or(|cluster| cluster.rank() == 0)
}
