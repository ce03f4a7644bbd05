//! GPUs that stay open when their engine is dropped.

use crate::device::gpu::{AdapterReport, Home};
use crate::device::settings::GpuSettings;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Open GPUs that no engine uses, for programs that create one engine after another.
///
/// An engine with [`EngineOptions::with_open_gpus`](crate::EngineOptions::with_open_gpus) takes its GPUs from here if
/// there are any that it would open in the same way, and returns them when it is dropped. They keep the kernels that
/// were compiled on them, and nothing of a graph: their memory is free. A GPU that was lost is not returned. Clones
/// share the same GPUs.
#[derive(Clone)]
pub struct OpenGpus {
    count_max: usize,
    /// In the order in which they were returned: the most recent one is last.
    homes: Arc<Mutex<Vec<Home>>>,
}

impl OpenGpus {
    /// Creates an empty set that keeps up to `count_max` GPUs. Beyond that, the least recently used one is closed.
    pub fn at_most(count_max: usize) -> Self {
        Self { count_max, homes: Arc::default() }
    }

    /// The number of GPUs that are kept now.
    pub fn count(&self) -> usize {
        self.homes().len()
    }

    /// Takes a GPU that was opened as these settings would open the adapter: the one with the most compiled kernels.
    #[doc(hidden)]
    pub fn take(&self, adapter: &AdapterReport, settings: &GpuSettings) -> Option<Home> {
        loop {
            let mut homes = self.homes();
            let fit = homes.iter().enumerate().filter(|(_, home)| home.is_open_as(adapter, settings));
            let (at, _) = fit.max_by_key(|(_, home)| home.kernel_count())?;
            let home = homes.remove(at);
            drop(homes);
            // The device may have been lost meanwhile.
            if home.is_sound() {
                return Some(home.begin_again(settings));
            }
        }
    }

    /// Keeps a GPU, if it can be used again.
    #[doc(hidden)]
    pub fn give(&self, home: Home) {
        let Some(home) = home.emptied() else { return };
        let mut homes = self.homes();
        homes.push(home);
        let surplus = homes.len().saturating_sub(self.count_max);
        let closed: Vec<Home> = homes.drain(..surplus).collect();
        drop(homes);
        // Drivers take a while to close a device, so the lock is released first.
        drop(closed);
    }

    /// Every change is one push or removal, so a panic leaves the list consistent.
    fn homes(&self) -> MutexGuard<'_, Vec<Home>> {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenGpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenGpus").field("count_max", &self.count_max).field("count", &self.count()).finish()
    }
}
