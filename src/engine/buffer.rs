//! The page buffer between runs: a run finds there what the last one left.

use crate::error::Result;
use crate::pages::cache::PageCache;
use crate::pages::fetch::{Frame, PagePool};
use crate::pages::memory::MemoryPlan;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A place for the page buffer of the last run.
#[derive(Debug, Default)]
pub(super) struct KeptBuffer(Mutex<Option<PageBuffer>>);

#[derive(Debug)]
struct PageBuffer {
    cache: PageCache<Frame>,
    frames: u32,
    frame_bytes: u64,
}

impl KeptBuffer {
    /// A panic while the lock is held leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Option<PageBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the buffer that is kept.
    pub fn bytes(&self) -> u64 {
        self.lock().as_ref().map_or(0, |kept| u64::from(kept.frames) * kept.frame_bytes)
    }

    /// Frees the buffer.
    pub fn free(&self) {
        *self.lock() = None;
    }

    /// The buffer of the last run if it has the shape that is planned, else a new one.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) where the system refuses the memory.
    pub fn take(&self, plan: &MemoryPlan, page_bytes: u32) -> Result<PageCache<Frame>> {
        let kept = self.lock().take();
        let (frames, frame_bytes) = (plan.frames, plan.frame_bytes);
        match kept.filter(|kept| (kept.frames, kept.frame_bytes) == (frames, frame_bytes)) {
            Some(kept) => Ok(kept.cache),
            None => {
                let memory = PagePool::frames(frames, page_bytes, frame_bytes as u32 - page_bytes)?;
                Ok(PageCache::new(memory, plan.stream_frames()))
            }
        }
    }

    /// Keeps the buffer of a finished run for the next one.
    pub fn keep(&self, cache: PageCache<Frame>, plan: &MemoryPlan) {
        *self.lock() = Some(PageBuffer { cache, frames: plan.frames, frame_bytes: plan.frame_bytes });
    }
}
