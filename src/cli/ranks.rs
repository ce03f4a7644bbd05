//! The ranks that run a command together, for `topostream-mpi`. Results are shown and written by the first of them.

use crate::cluster::Cluster;
use std::sync::{Arc, OnceLock};

static SHARED: OnceLock<Arc<Cluster>> = OnceLock::new();

/// Sets the ranks of this process, before the command begins.
pub fn keep(cluster: &Arc<Cluster>) {
    SHARED.set(Arc::clone(cluster)).ok();
}

/// The ranks that run the command, if there are several.
pub fn shared() -> Option<Arc<Cluster>> {
    SHARED.get().filter(|cluster| cluster.is_shared()).cloned()
}

/// Whether this process shows and writes the results: the first rank, or the only one.
pub fn is_first() -> bool {
    shared().is_none_or(|cluster| cluster.rank() == 0)
}
