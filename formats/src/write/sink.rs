//! A topology writer's thread: computes checksums of full pages and writes them, while the next one is being packed.

use crate::buffer::AlignedBuffer;
use crate::checksum::crc32c;
use crate::chunks::ChunkTableWriter;
use crate::error::{Error, Result};
use crate::page::Capacity;
use crate::threads;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// A page of topology and, if the graph has weights, its page of weights.
#[derive(Debug)]
pub(super) struct PageBuffers {
    pub(super) page: AlignedBuffer,
    pub(super) weights: AlignedBuffer,
}

/// Receives full pages in order and returns empty buffers.
#[derive(Debug)]
pub(super) struct Sink {
    full: SyncSender<PageBuffers>,
    empty: Receiver<PageBuffers>,
    thread: JoinHandle<Result<Written>>,
}

/// What is known about the pages after they have been written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The checksums of each page and its weights, in order.
    pub(super) checksums: Vec<(u32, u32)>,
    /// The chunks, if pages are packed.
    pub(super) chunks: Option<ChunkTableWriter>,
}

/// Files by stripe.
type Files = Vec<(PathBuf, File)>;

/// The number of page buffers: one is packed while another is written.
pub(super) const BUFFERS: usize = 3;

impl Sink {
    /// Starts the thread, which owns the files, one a stripe.
    pub(super) fn start(
        capacity: Capacity,
        pages: Vec<(PathBuf, File)>,
        weights: Vec<(PathBuf, File)>,
    ) -> Result<Self> {
        let (full, full_out) = sync_channel(BUFFERS);
        let (empty_in, empty) = channel();
        let weight_bytes = if weights.is_empty() { 0 } else { u64::from(capacity.weight_page_bytes()) };
        for _ in 0..BUFFERS {
            let page = AlignedBuffer::try_new("a page to write", capacity.page_bytes.into())?;
            let weights = AlignedBuffer::try_new("a page of weights to write", weight_bytes)?;
            empty_in.send(PageBuffers { page, weights }).expect("the receiver is in hand");
        }
        let chunks = capacity.is_packed().then(ChunkTableWriter::default);
        let write = move || write_pages(&full_out, &empty_in, (pages, weights), chunks);
        let thread = threads::start("page writer", 1, write)?;
        Ok(Self { full, empty, thread })
    }

    /// Waits for an empty buffer; none if the thread has failed: [`finish`](Self::finish) returns the error.
    pub(super) fn empty(&self) -> Option<PageBuffers> {
        self.empty.recv().ok()
    }

    /// Queues a full page. [`finish`](Self::finish) reports errors of the thread.
    pub(super) fn write(&self, buffers: PageBuffers) {
        self.full.send(buffers).ok();
    }

    /// Waits until everything is on disk.
    pub(super) fn finish(self) -> Result<Written> {
        drop(self.full);
        drop(self.empty);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn write_pages(
    full: &Receiver<PageBuffers>,
    empty: &Sender<PageBuffers>,
    (mut pages, mut weights): (Files, Files),
    mut chunks: Option<ChunkTableWriter>,
) -> Result<Written> {
    let mut checksums = Vec::new();
    while let Ok(buffers) = full.recv() {
        let stripe = checksums.len() % pages.len();
        let mut crcs = (crc32c(&buffers.page), 0);
        chunks.iter_mut().for_each(|chunks| chunks.add(&buffers.page));
        write(&mut pages[stripe], &buffers.page)?;
        if let Some(file) = weights.get_mut(stripe) {
            crcs.1 = crc32c(&buffers.weights);
            write(file, &buffers.weights)?;
        }
        checksums.push(crcs);
        empty.send(buffers).ok();
    }
    for (path, file) in pages.iter().chain(&weights) {
        file.sync_all().map_err(Error::io(path, "sync"))?;
    }
    Ok(Written { checksums, chunks })
}

fn write((path, file): &mut (PathBuf, File), bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(Error::io(&*path, "write"))
}
