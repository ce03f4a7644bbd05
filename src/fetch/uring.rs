//! The fast fetcher: io_uring, past the page cache, into registered buffers, from registered files.
//!
//! Completions raise an eventfd that tokio watches; they are collected into a queue and never acted on while reaping.

use super::open::Piece;
use super::{Fetcher, Frame, IN_FLIGHT_MAX, PageFiles, PageFilled, PagePool, PageRead, PageRef};
use io_uring::{IoUring, opcode, squeue, types};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::unix::AsyncFd;

/// The kernel's limit for one registered buffer.
const REGISTERED_BYTES_MAX: usize = 1 << 30;
/// One request reads at most this much, so that a page of 64 MiB keeps several requests busy.
const REQUEST_BYTES_MAX: usize = 2 << 20;
/// Requests in the ring at once.
const ENTRIES: u32 = 256;

/// Reads by io_uring.
pub struct UringFetcher {
    ring: IoUring,
    event: AsyncFd<OwnedFd>,
    files: PageFiles,
    /// Frames of one registered buffer; 0 where buffers could not be registered (locked-memory limit).
    frames_per_buffer: usize,
    reads: Vec<Option<ReadInFlight>>,
    requests: Vec<Option<Request>>,
    /// Requests that wait for room in the ring.
    waiting: Vec<usize>,
    in_ring: usize,
    in_flight: usize,
    filled: Vec<PageFilled>,
}

/// A page on its way: it is filled when no request is left.
struct ReadInFlight {
    page: PageRef,
    frame: Frame,
    requests_left: usize,
    result: Result<()>,
}

/// One request to the kernel.
struct Request {
    read: usize,
    piece: Piece,
}

impl UringFetcher {
    /// A ring over these files for frames of this pool. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// Where the system has no io_uring or does not allow it.
    pub fn new(files: PageFiles, pool: &Arc<PagePool>) -> Result<Self> {
        let ring = IoUring::new(ENTRIES)?;
        let fds: Vec<i32> = files.files.iter().map(|open| open.file.as_raw_fd()).collect();
        ring.submitter().register_files(&fds)?;
        let frames_per_buffer = register_buffers(&ring, pool);
        let event = eventfd()?;
        ring.submitter().register_eventfd(event.as_raw_fd())?;
        #[allow(unsafe_code)]
        // SAFETY: an OwnedFd is its descriptor until it is dropped, and it is moved in here.
        let event = unsafe { AsyncFd::register(event)? };
        Ok(Self {
            ring,
            event,
            files,
            frames_per_buffer,
            reads: Vec::new(),
            requests: Vec::new(),
            waiting: Vec::new(),
            in_ring: 0,
            in_flight: 0,
            filled: Vec::with_capacity(IN_FLIGHT_MAX),
        })
    }

    fn add_request(&mut self, request: Request) {
        let slot = insert(&mut self.requests, request);
        self.waiting.push(slot);
    }

    /// Hands waiting requests to the kernel, as many as the ring has room for.
    fn enter(&mut self) -> Result<()> {
        while self.in_ring < ENTRIES as usize
            && let Some(slot) = self.waiting.pop()
        {
            let entry = self.entry(slot);
            #[allow(unsafe_code)]
            // SAFETY: the request's memory is a part of a frame that `reads` owns until every request of it has completed;
            // `drop` waits for them.
            unsafe {
                self.ring.submission().push(&entry).map_err(|_| Error::from(ErrorKind::WouldBlock))?;
            }
            self.in_ring += 1;
        }
        if !self.ring.submission().is_empty() {
            match self.ring.submit() {
                Err(error) if !is_transient(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn entry(&self, slot: usize) -> squeue::Entry {
        let Request { read, piece } = self.requests[slot].as_ref().expect("the request waits");
        let frame = &self.reads[*read].as_ref().expect("the read has requests").frame;
        let (file, start) = (types::Fixed(piece.file as u32), frame.as_mut_ptr().wrapping_add(piece.at));
        let bytes = piece.bytes as u32;
        let entry = match (frame.index() as usize).checked_div(self.frames_per_buffer) {
            Some(buffer) => opcode::ReadFixed::new(file, start, bytes, buffer as u16).offset(piece.offset).build(),
            None => opcode::Read::new(file, start, bytes).offset(piece.offset).build(),
        };
        entry.user_data(slot as u64)
    }

    /// Collects completions.
    fn reap(&mut self) {
        let completions: Vec<(u64, i32)> =
            self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
        for (slot, result) in completions {
            self.in_ring -= 1;
            self.complete(slot as usize, result);
        }
    }

    fn complete(&mut self, slot: usize, result: i32) {
        let Request { read, mut piece } = self.requests[slot].take().expect("every completion has its request");
        let outcome = match usize::try_from(result) {
            Ok(0) => Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(bytes) if bytes < piece.bytes => {
                piece.offset += bytes as u64;
                piece.at += bytes;
                piece.bytes -= bytes;
                return self.add_request(Request { read, piece });
            }
            Ok(_) => Ok(()),
            Err(_) => match Error::from_raw_os_error(-result) {
                error if is_transient(&error) => return self.add_request(Request { read, piece }),
                error => Err(error),
            },
        };
        let in_flight = self.reads[read].as_mut().expect("the read has requests");
        in_flight.requests_left -= 1;
        if let Err(error) = outcome {
            in_flight.result = Err(self.files.named(piece, error));
        }
        if in_flight.requests_left == 0 {
            let ReadInFlight { page, frame, result, .. } = self.reads[read].take().expect("just seen");
            self.filled.push(PageFilled { page, frame, result });
        }
    }

    /// After the kernel has refused to take requests: fails every read that has none in the ring.
    fn fail_waiting(&mut self, error: &Error) {
        for slot in std::mem::take(&mut self.waiting) {
            self.complete(slot, -error.raw_os_error().unwrap_or(libc::EIO));
        }
    }
}

impl Fetcher for UringFetcher {
    fn name(&self) -> &'static str {
        if self.frames_per_buffer > 0 { "io_uring" } else { "io_uring, buffers not registered" }
    }

    fn direct(&self) -> bool {
        self.files.direct()
    }

    fn submit(&mut self, PageRead { page, frame }: PageRead) {
        let pieces: Vec<Piece> = self.files.pieces(page).flat_map(cut).collect();
        let read = ReadInFlight { page, frame, requests_left: pieces.len(), result: Ok(()) };
        let read = insert(&mut self.reads, read);
        // The ring takes waiting requests from the back.
        pieces.into_iter().rev().for_each(|piece| self.add_request(Request { read, piece }));
        self.in_flight += 1;
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<()> {
        loop {
            if let Err(error) = self.enter() {
                self.fail_waiting(&error);
            }
            self.reap();
            if !self.filled.is_empty() {
                self.in_flight -= self.filled.len();
                filled.append(&mut self.filled);
                return Poll::Ready(());
            }
            if !self.waiting.is_empty() && self.in_ring < ENTRIES as usize {
                continue;
            }
            if !self.ring.submission().is_empty() {
                // The kernel is short of something and has taken no request: no event may come. Ask again soon.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            match ready!(self.event.poll_read_ready(context)) {
                Ok(mut ready) => {
                    drain(ready.get_inner());
                    ready.clear_ready();
                }
                Err(error) => self.fail_waiting(&error),
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }
}

impl Drop for UringFetcher {
    fn drop(&mut self) {
        // The kernel may still be writing to frames: wait until it is not.
        self.waiting.clear();
        while self.in_ring > 0 {
            if self.ring.submit_and_wait(1).is_err_and(|error| !is_transient(&error)) {
                break;
            }
            self.in_ring -= self.ring.completion().count();
        }
        if self.in_ring > 0 {
            // It could not be waited for: leave the memory to the kernel.
            std::mem::forget(std::mem::take(&mut self.reads));
        }
    }
}

fn is_transient(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}

/// Cuts a read into requests of bounded size.
fn cut(piece: Piece) -> impl Iterator<Item = Piece> {
    (0..piece.bytes).step_by(REQUEST_BYTES_MAX).map(move |start| Piece {
        offset: piece.offset + start as u64,
        at: piece.at + start,
        bytes: REQUEST_BYTES_MAX.min(piece.bytes - start),
        ..piece
    })
}

/// Puts a value into the first free slot.
fn insert<T>(slots: &mut Vec<Option<T>>, value: T) -> usize {
    let slot = slots.iter().position(Option::is_none).unwrap_or(slots.len());
    if slot == slots.len() {
        slots.push(None);
    }
    slots[slot] = Some(value);
    slot
}

/// Registers the pool in pieces that the kernel takes; returns how many frames are in a piece, 0 where it is refused.
fn register_buffers(ring: &IoUring, pool: &PagePool) -> usize {
    let frames_per_buffer = REGISTERED_BYTES_MAX / pool.frame_bytes();
    let piece_bytes = frames_per_buffer * pool.frame_bytes();
    let memory = pool.memory();
    let buffers: Vec<libc::iovec> = (0..memory.len())
        .step_by(piece_bytes)
        .map(|start| libc::iovec {
            iov_base: memory.as_mut_ptr().wrapping_add(start).cast(),
            iov_len: piece_bytes.min(memory.len() - start),
        })
        .collect();
    #[allow(unsafe_code)]
    // SAFETY: the pool outlives every request (frames hold it), and the kernel keeps registered pages pinned by itself.
    let registered = unsafe { ring.submitter().register_buffers(&buffers) };
    if registered.is_ok() { frames_per_buffer } else { 0 }
}

fn eventfd() -> Result<OwnedFd> {
    #[allow(unsafe_code)]
    // SAFETY: eventfd takes no pointers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    #[allow(unsafe_code)]
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Takes the count out of the eventfd.
fn drain(event: &OwnedFd) {
    let mut count = 0u64;
    #[allow(unsafe_code)]
    // SAFETY: eight bytes are read into eight bytes.
    unsafe {
        libc::read(event.as_raw_fd(), (&raw mut count).cast(), 8);
    }
}
