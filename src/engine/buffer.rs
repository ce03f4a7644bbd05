//! The page buffer between runs. A run reuses the pages that the last run left.

use crate::error::Result;
use crate::pages::cache::PageCache;
use crate::pages::fetch::{Frame, PagePool};
use crate::pages::memory::MemoryPlan;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the page buffer of the last run.
#[derive(Debug, Default)]
pub(super) struct KeptBuffer(Mutex<Option<PageBuffer>>);

#[derive(Debug)]
struct PageBuffer {
    cache: PageCache<Frame>,
    frames: u32,
    frame_bytes: u64,
    place_bytes: u64,
}

impl KeptBuffer {
    /// The value is replaced as a whole, so a panic cannot leave it inconsistent and poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Option<PageBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of the buffer that is kept, in bytes.
    pub fn bytes(&self) -> u64 {
        self.lock().as_ref().map_or(0, |kept| u64::from(kept.frames) * kept.frame_bytes)
    }

    /// The number of pages in the buffer that is kept.
    pub fn pages(&self) -> usize {
        self.lock().as_ref().map_or(0, |kept| kept.cache.pages())
    }

    /// Frees the buffer.
    pub fn free(&self) {
        *self.lock() = None;
    }

    /// Returns the buffer of the last run if it has the planned shape, otherwise a new one.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) if the memory cannot be allocated.
    pub fn take(&self, plan: &MemoryPlan) -> Result<PageCache<Frame>> {
        let kept = self.lock().take();
        let shape = (plan.frames, plan.frame_bytes, plan.place_bytes);
        match kept.filter(|kept| (kept.frames, kept.frame_bytes, kept.place_bytes) == shape) {
            Some(kept) => Ok(kept.cache),
            None => {
                let weight_bytes = plan.frame_bytes - plan.place_bytes;
                let mut frames = PagePool::frames(plan.frames, plan.place_bytes as u32, weight_bytes as u32)?;
                // The cache takes free frames from the back: the first ones in memory are used first.
                frames.reverse();
                Ok(PageCache::new(frames, plan.stream_frames()))
            }
        }
    }

    /// Keeps the buffer of a finished run for the next one.
    pub fn keep(&self, cache: PageCache<Frame>, plan: &MemoryPlan) {
        let MemoryPlan { frames, frame_bytes, place_bytes, .. } = *plan;
        *self.lock() = Some(PageBuffer { cache, frames, frame_bytes, place_bytes });
    }
}
