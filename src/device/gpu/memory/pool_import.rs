//! The import of the page pool, in the background, chunk by chunk.
//!
//! A driver pins imported memory page by page on the calling thread: about 0.1 s per GB. Frames come into use in
//! address order, so the first chunk is ready for the first page, and the others follow while pages are read. A launch
//! that needs a chunk earlier waits for it.

use crate::device::gpu::adapter::import::{HostImport, HostMemory, SharedBuffer};
use crate::device::gpu::adapter::open::{Caps, Gpu};
use crate::device::workers::panic_message;
use crate::error::{GpuError, Result};
use crate::pages::fetch::PagePool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use topostream_formats::threads;

/// Maximum size of a chunk: a launch binds one chunk, so smaller ones mean more launches.
const CHUNK_BYTES_MAX: u64 = 1 << 30;

type Chunk = OnceLock<Result<SharedBuffer, GpuError>>;

/// A pool and its import.
pub struct PoolImport {
    pool: Arc<PagePool>,
    chunk_bytes: u64,
    chunks: Arc<[Chunk]>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PoolImport {
    /// Starts importing a pool, which the shared threads are faulting in.
    ///
    /// # Errors
    /// [`GpuError::Unavailable`] if this memory cannot be imported; [`Error::Store`](crate::Error::Store) if the thread
    /// cannot start.
    pub fn begin(gpu: &Arc<Gpu>, pool: &Arc<PagePool>) -> Result<Self> {
        let (frame_bytes, pool_bytes) = (pool.frame_bytes() as u64, pool.memory().len() as u64);
        let chunk_bytes = chunk_bytes(gpu.caps(), pool_bytes, frame_bytes);
        HostImport::check(gpu, &**pool, chunk_bytes)?;
        let chunks: Arc<[Chunk]> = (0..pool_bytes.div_ceil(chunk_bytes)).map(|_| OnceLock::new()).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let work = {
            let (gpu, pool, chunks, stop) = (Arc::clone(gpu), Arc::clone(pool), Arc::clone(&chunks), Arc::clone(&stop));
            move || {
                for (chunk, begin) in chunks.iter().zip((0..).step_by(chunk_bytes as usize)) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    chunk.set(import(&gpu, &pool, begin, chunk_bytes.min(pool_bytes - begin))).ok();
                }
            }
        };
        let thread = Some(threads::start("gpu import", 1, work)?);
        Ok(Self { pool: Arc::clone(pool), chunk_bytes, chunks, stop, thread })
    }

    /// Whether it is the import of this pool.
    pub fn is_of(&self, pool: &Arc<PagePool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }

    /// The chunk that holds a byte of the pool, and the byte's offset in it.
    pub fn locate(&self, offset: u64) -> (usize, u64) {
        ((offset / self.chunk_bytes) as usize, offset % self.chunk_bytes)
    }

    /// Waits for a chunk.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the driver can pin no more; the other errors of [`HostImport::new`].
    pub fn chunk(&self, number: usize) -> Result<&SharedBuffer, GpuError> {
        self.chunks[number].wait().as_ref().map_err(Clone::clone)
    }
}

/// Bytes of a chunk of a pool with frames of this size.
fn chunk_bytes(caps: &Caps, pool_bytes: u64, frame_bytes: u64) -> u64 {
    let most = caps.binding_bytes_max.min(caps.buffer_bytes_max);
    let frames = (most.min(CHUNK_BYTES_MAX) / frame_bytes).max((most / frame_bytes).min(1));
    (frames * frame_bytes).min(pool_bytes)
}

/// The number of chunks of a pool.
pub fn import_chunks(caps: &Caps, pool_bytes: u64, frame_bytes: u64) -> u64 {
    pool_bytes.div_ceil(chunk_bytes(caps, pool_bytes, frame_bytes).max(1))
}

/// Imports one chunk. A panic becomes an error: launches wait for the chunk.
fn import(gpu: &Gpu, pool: &Arc<PagePool>, begin: u64, bytes: u64) -> Result<SharedBuffer, GpuError> {
    let memory = Arc::clone(pool) as Arc<dyn HostMemory>;
    let made = catch_unwind(AssertUnwindSafe(|| HostImport::chunk(gpu, &memory, begin..begin + bytes)));
    made.unwrap_or_else(|panic| Err(gpu.health().fault("host memory import", &panic_message(&*panic))))
}

impl Drop for PoolImport {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}
