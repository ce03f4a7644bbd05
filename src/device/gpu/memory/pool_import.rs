//! The import of the page pool, in the background, chunk by chunk, as far as its frames come into use.
//!
//! A driver pins imported memory page by page on the calling thread: about 0.1 s per GB, and as much again when the
//! process ends. Frames come into use in address order, and a run whose pages stay on the device uses few, again and
//! again. So chunks begin small and double, and the next one is imported once a frame in the second half of the one
//! before is used. A launch that needs a chunk earlier waits for it.

use crate::device::gpu::adapter::import::{HostImport, HostMemory, SharedBuffer};
use crate::device::gpu::adapter::open::{Caps, Gpu};
use crate::device::workers::panic_message;
use crate::error::{GpuError, Result};
use crate::pages::fetch::PagePool;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use topostream_formats::threads;

/// The size of the first chunk, or less if a frame does not divide it.
const FIRST_BYTES: u64 = 128 << 20;
/// Maximum size of a chunk: a launch binds one chunk, so smaller ones mean more launches.
const CHUNK_BYTES_MAX: u64 = 1 << 30;

type Chunk = OnceLock<Result<SharedBuffer, GpuError>>;

/// The division of a pool: the second chunk is as large as the first, and each later one twice the one before, up to
/// the largest that a kernel can bind.
#[derive(Clone, Copy, Debug)]
struct Division {
    pool_bytes: u64,
    first_bytes: u64,
    /// How often the size doubles.
    doublings: u32,
}

impl Division {
    fn new(caps: &Caps, pool_bytes: u64, frame_bytes: u64) -> Self {
        Self::of(caps.binding_bytes_max.min(caps.buffer_bytes_max), pool_bytes, frame_bytes)
    }

    /// The division into chunks of at most `most` bytes.
    fn of(most: u64, pool_bytes: u64, frame_bytes: u64) -> Self {
        let frames = |bytes: u64| bytes.min(most) / frame_bytes;
        let first = frames(FIRST_BYTES).max(1);
        let doublings = (frames(CHUNK_BYTES_MAX) / first).checked_ilog2().unwrap_or(0);
        Self { pool_bytes, first_bytes: first * frame_bytes, doublings }
    }

    /// The number of chunks.
    fn count(&self) -> usize {
        self.pool_bytes.checked_sub(1).map_or(0, |last| self.number(last) + 1)
    }

    /// The chunk that holds a byte of the pool.
    fn number(&self, offset: u64) -> usize {
        let firsts = offset / self.first_bytes;
        match firsts >> self.doublings {
            0 => firsts.checked_ilog2().map_or(0, |log2| log2 as usize + 1),
            largest => self.doublings as usize + largest as usize,
        }
    }

    /// The bytes of a chunk.
    fn range(&self, number: usize) -> Range<u64> {
        let (number, doublings) = (number as u64, u64::from(self.doublings));
        let begin = |number: u64| match number {
            0 => 0,
            _ if number <= doublings => 1 << (number - 1),
            _ => (number - doublings) << doublings,
        };
        let [begin, end] =
            [begin(number), begin(number + 1)].map(|firsts| self.pool_bytes.min(firsts * self.first_bytes));
        begin..end
    }
}

/// The number of chunks of a pool.
pub fn import_chunks(caps: &Caps, pool_bytes: u64, frame_bytes: u64) -> u64 {
    Division::new(caps, pool_bytes, frame_bytes).count() as u64
}

/// A pool and its import.
pub struct PoolImport {
    pool: Arc<PagePool>,
    division: Division,
    chunks: Arc<[Chunk]>,
    /// The number of chunks that have been requested, from the first one on.
    asked: AtomicUsize,
    /// Asks the thread for the next chunk. It ends when this is dropped.
    next: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PoolImport {
    /// Starts importing the first chunk of a pool.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] if this memory cannot be imported; [`Error::Store`](crate::Error::Store) if the thread
    /// cannot start.
    pub fn begin(gpu: &Arc<Gpu>, pool: &Arc<PagePool>) -> Result<Self> {
        let division = Division::new(gpu.caps(), pool.memory().len() as u64, pool.frame_bytes() as u64);
        HostImport::check(gpu, &**pool, division.first_bytes.min(division.pool_bytes))?;
        let chunks: Arc<[Chunk]> = (0..division.count()).map(|_| OnceLock::new()).collect();
        let (next, asked) = channel();
        let work = {
            let (gpu, pool, chunks) = (Arc::clone(gpu), Arc::clone(pool), Arc::clone(&chunks));
            move || {
                for (number, chunk) in chunks.iter().enumerate() {
                    if asked.recv().is_err() {
                        return;
                    }
                    chunk.set(import(&gpu, &pool, division.range(number))).ok();
                }
            }
        };
        let thread = Some(threads::start("gpu import", 1, work)?);
        let import =
            Self { pool: Arc::clone(pool), division, chunks, asked: AtomicUsize::new(0), next: Some(next), thread };
        import.ask_for(0);
        Ok(import)
    }

    /// Starts faulting in what [`begin`](Self::begin) will import first.
    pub fn fault_in_first(gpu: &Gpu, pool: &Arc<PagePool>) {
        let division = Division::new(gpu.caps(), pool.memory().len() as u64, pool.frame_bytes() as u64);
        pool.fault_in_until(division.range(0).end as usize);
    }

    /// Whether it is the import of this pool.
    pub fn is_of(&self, pool: &Arc<PagePool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }

    /// The chunk that holds a byte of the pool, and the byte's offset in it. The chunk will be imported, and the one
    /// after it if the byte is in the second half.
    pub fn locate(&self, offset: u64) -> (usize, u64) {
        let number = self.division.number(offset);
        let Range { start, end } = self.division.range(number);
        self.ask_for(if offset < start.midpoint(end) { number } else { number + 1 });
        (number, offset - start)
    }

    /// Waits for a chunk that [`locate`](Self::locate) has returned.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the driver can pin no more; the other errors of [`HostImport::new`].
    pub fn chunk(&self, number: usize) -> Result<&SharedBuffer, GpuError> {
        self.chunks[number].wait().as_ref().map_err(Clone::clone)
    }

    /// Has all chunks up to this one imported, if there is one.
    fn ask_for(&self, number: usize) {
        let wanted = (number + 1).min(self.chunks.len());
        if self.asked.load(Ordering::Relaxed) >= wanted {
            return;
        }
        let before = self.asked.fetch_max(wanted, Ordering::Relaxed);
        if before < wanted {
            self.pool.fault_in_until(self.division.range(wanted - 1).end as usize);
        }
        for _ in before..wanted {
            self.next.iter().for_each(|next| next.send(()).unwrap_or_default());
        }
    }
}

/// Imports one chunk. A panic becomes an error: launches wait for the chunk.
fn import(gpu: &Gpu, pool: &Arc<PagePool>, part: Range<u64>) -> Result<SharedBuffer, GpuError> {
    let memory = Arc::clone(pool) as Arc<dyn HostMemory>;
    let made = catch_unwind(AssertUnwindSafe(|| HostImport::chunk(gpu, &memory, part)));
    made.unwrap_or_else(|panic| Err(gpu.health().fault("host memory import", &panic_message(&*panic))))
}

impl Drop for PoolImport {
    fn drop(&mut self) {
        self.next = None;
        self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte is in the chunk that the lookup returns, and in no other, for pools and frames of many sizes.
    #[test]
    fn chunks_tile_the_pool() {
        for (frame_bytes, frames, most) in [
            (1 << 20, 5000, 1 << 31),
            (3 << 20, 999, 1 << 27),
            (200 << 20, 9, 1 << 28),
            (4096, 3, 1 << 27),
            (65536, 1, 1 << 30),
        ] {
            let division = Division::of(most, frames * frame_bytes, frame_bytes);
            let mut end = 0;
            for number in 0..division.count() {
                let range = division.range(number);
                assert!(
                    range.start == end
                        && range.end > end
                        && range.end - range.start <= most.min(CHUNK_BYTES_MAX).max(frame_bytes)
                );
                assert!(range.start.is_multiple_of(frame_bytes), "frames lie within a chunk");
                assert!([range.start, range.end - 1].iter().all(|&byte| division.number(byte) == number));
                end = range.end;
            }
            assert_eq!(end, frames * frame_bytes);
        }
        let sizes = |division: Division| {
            (0..division.count()).map(move |number| division.range(number)).map(|range| (range.end - range.start) >> 20)
        };
        let division = Division::of(1 << 31, 5000 << 20, 1 << 20);
        assert_eq!(sizes(division).collect::<Vec<_>>(), [128, 128, 256, 512, 1024, 1024, 1024, 904]);
    }
}
