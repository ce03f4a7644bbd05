//! A GPU, and how much of its memory is in use.

use crate::device::gpu::compute::Compute;
use crate::error::{Error, GpuError, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A GPU.
pub struct Card {
    /// Its kernels and buffers.
    pub compute: Arc<Compute>,
    /// Device memory in use, in bytes.
    held: Arc<AtomicU64>,
}

impl Card {
    /// With nothing in its memory.
    pub fn new(compute: Compute) -> Self {
        Self { compute: Arc::new(compute), held: Arc::default() }
    }

    /// Room for buffers of these sizes; none if they do not fit.
    pub fn hold(&self, bytes: &[u64]) -> Option<Held> {
        let sum: u64 = bytes.iter().sum();
        let fits = self.held.load(Relaxed) + sum <= self.compute.budget_bytes();
        let all_bind = bytes.iter().all(|&bytes| bytes <= self.compute.binding_bytes_max());
        (fits && all_bind).then(|| Held::new(&self.held, sum))
    }
}

/// None if device memory is full.
///
/// # Errors
/// All others.
pub fn unless_full<T>(made: Result<Option<T>>) -> Result<Option<T>> {
    match made {
        Err(Error::Gpu(GpuError::OutOfMemory { .. })) => Ok(None),
        other => other,
    }
}

/// Bytes of device memory that are in use.
pub struct Held {
    all: Arc<AtomicU64>,
    bytes: u64,
}

impl Held {
    fn new(all: &Arc<AtomicU64>, bytes: u64) -> Self {
        all.fetch_add(bytes, Relaxed);
        Self { all: Arc::clone(all), bytes }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Relaxed);
    }
}
