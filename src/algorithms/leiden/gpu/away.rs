//! Lists that only device memory has.

use super::resident::Resident;
use crate::algorithms::leiden::lists::{Lists, Weights};
use crate::device::gpu::compute::Compute;
use crate::error::Result;
use std::sync::{Arc, OnceLock};

/// A graph's copy in device memory, once there is one.
#[derive(Default)]
pub struct DeviceCopy(pub(super) OnceLock<Arc<Resident>>);

impl DeviceCopy {
    /// Of a graph that is there.
    pub(super) fn of(resident: Arc<Resident>) -> Self {
        Self(OnceLock::from(resident))
    }
}

/// Lists in device memory. Main memory has their lengths, and all of them once the CPU has read one.
pub struct Away {
    pub(super) compute: Arc<Compute>,
    pub(super) resident: Arc<Resident>,
    /// Where each list begins, and the end of the last.
    pub(super) starts: Vec<u64>,
    pub(super) lists: OnceLock<Lists>,
}

impl Away {
    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.resident.vertices
    }

    /// The length of a vertex's list.
    #[inline(always)]
    pub fn degree(&self, vertex: u32) -> usize {
        (self.starts[vertex as usize + 1] - self.starts[vertex as usize]) as usize
    }

    /// Whether main memory has them too.
    pub fn is_fetched(&self) -> bool {
        self.lists.get().is_some()
    }

    /// The lists, which are copied to main memory at first.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn fetched(&self) -> Result<&Lists> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let (resident, places) = (&self.resident, u64::from(self.resident.places));
        let read = |words: u32| self.compute.read(&resident.weights, places * u64::from(words));
        let wide = |words: &[u32]| u64::from(words[0]) | u64::from(words[1]) << 32;
        let weights = match resident.shape.weight_words {
            0 => Weights::Ones,
            1 => Weights::Narrow(read(1)?),
            _ => Weights::Wide(read(2)?.chunks_exact(2).map(wide).collect()),
        };
        let neighbours = self.compute.read(&resident.neighbours, places)?;
        let lists = Lists { starts: self.starts.clone(), lengths: Vec::new(), neighbours, weights };
        Ok(self.lists.get_or_init(|| lists))
    }
}
