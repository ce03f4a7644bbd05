//! A topology writer's threads: they encode full pages, compute checksums and write, while the next page is being
//! packed.
//!
//! ```text
//!  packer ── full pages ─▶ threads: encode, CRC-32C, write at the page's place ── empty buffers ─▶ packer
//! ```
//!
//! Where a page is in its file follows from its number, so pages are written in any order. Pages of packed weights
//! follow one another: a thread that has packed one waits until those before it have their places.

use super::layout::Layout;
use crate::buffer::AlignedBuffer;
use crate::checksum::crc32c;
use crate::chunks::{ChunkTableWriter, PageChunks};
use crate::error::{Error, Result};
use crate::file::write_all_at;
use crate::packed::{self, PackedParameters, PageEncoder};
use crate::page::{self, PageHeader, WeightsHeader};
use crate::threads;
use crate::weights::WeightPlacesWriter;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// A page of topology and, if the graph has weights, its page of weights.
#[derive(Debug)]
pub(super) struct PageBuffers {
    /// Zeros beyond what has been put there.
    pub(super) page: AlignedBuffer,
    pub(super) weights: AlignedBuffer,
    /// The lists, if pages are packed: they are written into `page` by the thread that takes it.
    pub(super) encoder: Option<PageEncoder>,
}

/// Receives full pages in order and returns empty buffers.
#[derive(Debug)]
pub(super) struct Sink {
    full: SyncSender<(PageHeader, PageBuffers)>,
    empty: Receiver<PageBuffers>,
    threads: Vec<JoinHandle<Result<()>>>,
    target: Arc<Target>,
}

/// What is known about the pages after they have been written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// By page: the checksums of the page and of its weights.
    pub(super) checksums: Vec<(u32, u32)>,
    /// The chunks, if pages are packed.
    pub(super) chunks: Option<ChunkTableWriter>,
    /// The places of the pages of weights, if these are packed.
    pub(super) weight_places: Option<WeightPlacesWriter>,
}

/// The number of page buffers: one is packed while others are written.
pub(super) const BUFFERS: usize = WRITERS + 1;
/// The number of threads that encode and write.
const WRITERS: usize = 3;
/// After this many bytes a thread waits for the disk, so that no more than a multiple of them is only in the system's
/// page cache, and the last sync is short.
const SYNC_BYTES: u64 = 256 << 20;

/// The files, one a stripe, and the checksums of what is in them.
#[derive(Debug)]
struct Target {
    pages: Vec<(PathBuf, File)>,
    weights: Vec<(PathBuf, File)>,
    written: Mutex<Written>,
    /// Notified when a page of weights has been given its place, or writing has failed.
    turn: Condvar,
    written_bytes: AtomicU64,
    failed: AtomicBool,
    packs_weights: bool,
}

/// Ends all threads when one panics: the others would wait for its page's place.
struct FailIfPanicking<'a>(&'a Target);

impl Drop for FailIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail();
        }
    }
}

impl Sink {
    /// Starts the threads.
    pub(super) fn start(layout: &Layout, pages: Vec<(PathBuf, File)>, weights: Vec<(PathBuf, File)>) -> Result<Self> {
        let (full, full_out) = sync_channel(BUFFERS);
        let (empty_in, empty) = channel();
        let weight_bytes = layout.weights.map_or(0, |of| layout.capacity().weight_page_bytes(of).into());
        for _ in 0..BUFFERS {
            let page = AlignedBuffer::try_new("a page to write", layout.page_bytes.into())?;
            let weights = AlignedBuffer::try_new("a page of weights to write", weight_bytes)?;
            let parameters = PackedParameters::of(layout.encoding);
            let encoder = parameters.map(|parameters| PageEncoder::new(layout.page_bytes, parameters));
            empty_in.send(PageBuffers { page, weights, encoder }).expect("the receiver is in hand");
        }
        let chunks = layout.encoding.is_packed().then(ChunkTableWriter::default);
        let weight_places = layout.packs_weights().then(|| WeightPlacesWriter::new(weights.len()));
        let target = Target {
            pages,
            weights,
            written: Mutex::new(Written { checksums: Vec::new(), chunks, weight_places }),
            turn: Condvar::new(),
            written_bytes: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            packs_weights: layout.packs_weights(),
        };
        let (target, full_out) = (Arc::new(target), Arc::new(Mutex::new(full_out)));
        let mut threads = Vec::with_capacity(WRITERS);
        for _ in 0..WRITERS {
            let (target, full, empty) = (Arc::clone(&target), Arc::clone(&full_out), empty_in.clone());
            threads.push(threads::start("page writer", WRITERS, move || target.write_pages(&full, &empty))?);
        }
        Ok(Self { full, empty, threads, target })
    }

    /// Waits for empty buffers; none if writing has failed: [`finish`](Self::finish) returns the error.
    pub(super) fn empty(&self) -> Option<PageBuffers> {
        if self.target.failed.load(Ordering::Relaxed) { None } else { self.empty.recv().ok() }
    }

    /// Queues a full page. [`finish`](Self::finish) reports errors of the threads.
    pub(super) fn write(&self, header: PageHeader, buffers: PageBuffers) {
        self.full.send((header, buffers)).ok();
    }

    /// Waits until everything is on disk.
    pub(super) fn finish(self) -> Result<Written> {
        drop(self.full);
        drop(self.empty);
        let mut result = Ok(());
        for thread in self.threads {
            let ended = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result = result.and(ended);
        }
        result?;
        for (path, file) in self.target.pages.iter().chain(&self.target.weights) {
            file.sync_all().map_err(Error::io(path, "sync"))?;
        }
        Ok(std::mem::take(&mut *self.target.written.lock().expect("no thread has panicked")))
    }
}

impl Target {
    /// A thread: writes pages until there are no more, or writing fails.
    fn write_pages(
        &self,
        full: &Mutex<Receiver<(PageHeader, PageBuffers)>>,
        empty: &Sender<PageBuffers>,
    ) -> Result<()> {
        let _guard = FailIfPanicking(self);
        // The lock is held while a thread waits: the others wait for the lock.
        let next = || full.lock().expect("no thread panics while it takes a page").recv();
        while !self.failed.load(Ordering::Relaxed)
            && let Ok((header, mut buffers)) = next()
        {
            if let Err(error) = self.write_page(&header, &mut buffers) {
                self.fail();
                return Err(error);
            }
            buffers.page.fill(0);
            buffers.weights.fill(0);
            empty.send(buffers).ok();
        }
        Ok(())
    }

    fn write_page(&self, header: &PageHeader, buffers: &mut PageBuffers) -> Result<()> {
        if let Some(encoder) = &mut buffers.encoder {
            encoder.write(header, &mut buffers.page);
            encoder.release();
        }
        let mut crcs = (crc32c(&buffers.page), 0);
        self.write(&self.pages, header.page, &buffers.page)?;
        if self.packs_weights {
            let head: WeightsHeader = bytemuck::pod_read_unaligned(&buffers.weights[..size_of::<WeightsHeader>()]);
            let words = packed::weights::pack(&head, page::weights(&buffers.weights, head.edge_count));
            let bytes: &[u8] = bytemuck::cast_slice(&words);
            crcs.1 = crc32c(bytes);
            let Some(place) = self.weight_place(header.page, bytes.len()) else { return Ok(()) };
            self.write_at(&self.weights[header.page as usize % self.weights.len()], bytes, place)?;
        } else if !self.weights.is_empty() {
            crcs.1 = crc32c(&buffers.weights);
            self.write(&self.weights, header.page, &buffers.weights)?;
        }
        let chunks = buffers.encoder.is_some().then(|| PageChunks::of(&buffers.page));
        let mut written = self.written.lock().expect("no thread panics while it adds what it has written");
        let page = header.page as usize;
        if written.checksums.len() <= page {
            written.checksums.resize(page + 1, (0, 0));
        }
        written.checksums[page] = crcs;
        if let Some((table, chunks)) = written.chunks.as_mut().zip(chunks) {
            table.set(page, chunks);
        }
        Ok(())
    }

    /// Gives a page of packed weights its place, after those before it. None if writing has failed.
    fn weight_place(&self, page: u32, bytes: usize) -> Option<u64> {
        let mut written = self.written.lock().expect("no thread panics while it adds what it has written");
        loop {
            let places = written.weight_places.as_mut().expect("weights are packed");
            if places.next() == page {
                let place = places.add(bytes);
                self.turn.notify_all();
                return Some(place);
            }
            if self.failed.load(Ordering::Relaxed) {
                return None;
            }
            written = self.turn.wait(written).expect("no thread panics while it adds what it has written");
        }
    }

    /// Ends all threads.
    fn fail(&self) {
        // With the lock, so that a thread that is about to wait sees it.
        let _written = self.written.lock();
        self.failed.store(true, Ordering::Relaxed);
        self.turn.notify_all();
    }

    fn write(&self, files: &[(PathBuf, File)], page: u32, bytes: &[u8]) -> Result<()> {
        let (stripe, place) = (page as usize % files.len(), u64::from(page) / files.len() as u64);
        self.write_at(&files[stripe], bytes, place * bytes.len() as u64)
    }

    fn write_at(&self, (path, file): &(PathBuf, File), bytes: &[u8], place: u64) -> Result<()> {
        write_all_at(file, bytes, place).map_err(Error::io(path, "write"))?;
        let before = self.written_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before / SYNC_BYTES != (before + bytes.len() as u64) / SYNC_BYTES {
            file.sync_data().map_err(Error::io(path, "sync"))?;
        }
        Ok(())
    }
}
