//! The io_uring fetcher: direct I/O from registered files into frames, which are registered if that pays off
//! (`registration`).
//!
//! Completions signal an eventfd that tokio watches. They are first collected into a queue and then processed.
//!
//! A request that the kernel refuses with a transient error is submitted again after a pause. A lasting error makes the
//! ring *dead*: it is not entered again, so the kernel never takes the requests that are still queued. Requests that it
//! has taken may still write to their frames. `shut_down` waits for them on the eventfd, which needs no system call on
//! the ring. Frames whose requests do not complete are never freed.

mod registration;

use self::registration::Registration;
use super::open::FileRange;
use super::{
    Fetcher, Frame, IN_FLIGHT_MAX, PageFiles, PageFilled, PagePool, PageRead, PageRef, SHUT_DOWN_TIMEOUT, Unfilled,
};
use crate::error;
use io_uring::{IoUring, opcode, squeue, types};
use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::unix::AsyncFd;
use tokio::time::Sleep;
use topostream_formats::patience::{Patience, is_transient};

/// The maximum size of one request. A page of 64 MiB becomes several requests.
const REQUEST_BYTES_MAX: usize = 2 << 20;
/// The maximum number of requests in the ring.
const ENTRIES: u32 = 256;
/// How often entering the ring is tried before an error that is not known to be transient makes it dead.
const TRIES_MAX: u32 = 3;

/// A fetcher that reads by io_uring.
pub struct UringFetcher {
    ring: IoUring,
    /// Submits requests to the kernel. Tests replace it.
    submit: fn(&IoUring) -> Result<usize>,
    event: AsyncFd<OwnedFd>,
    files: PageFiles,
    registration: Registration,
    reads: Vec<Option<ReadInFlight>>,
    requests: Vec<Option<Request>>,
    /// Requests that wait for room in the ring.
    waiting: VecDeque<usize>,
    /// Requests in the submission queue that the kernel has not taken, oldest first.
    queued: VecDeque<usize>,
    /// Requests in the submission queue or taken by the kernel.
    in_ring: usize,
    in_flight: usize,
    filled: Vec<PageFilled>,
    /// Counts refusals by the kernel since it last took a request.
    refusals: Patience,
    /// Counts requests that completed with a transient error since one last succeeded.
    undone: Patience,
    /// After a refusal: the pause before the next submission.
    pause: Option<Pin<Box<Sleep>>>,
    /// The error that made the ring dead.
    dead: Option<Error>,
}

/// A page that is being read. It is filled when `requests_left` is 0.
struct ReadInFlight {
    page: PageRef,
    frame: Frame,
    requests_left: usize,
    result: Result<()>,
}

/// One request to the kernel.
struct Request {
    read: usize,
    range: FileRange,
}

impl UringFetcher {
    /// Creates a ring for reads from page files into a pool's frames, and tests it with one no-op request. Must be
    /// called within a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    /// If the system has no io_uring or does not allow it.
    pub fn new(files: PageFiles, pool: &Arc<PagePool>) -> Result<Self> {
        let mut ring = IoUring::new(ENTRIES)?;
        let fds: Vec<i32> = files.files.iter().map(|open| open.file.as_raw_fd()).collect();
        ring.submitter().register_files(&fds)?;
        let registration = Registration::new(&ring, pool);
        round_trip(&mut ring)?;
        let event = eventfd()?;
        ring.submitter().register_eventfd(event.as_raw_fd())?;
        #[allow(unsafe_code)]
        // SAFETY: an OwnedFd keeps its descriptor until it is dropped, and it is moved in here.
        let event = unsafe { AsyncFd::register(event)? };
        Ok(Self {
            ring,
            submit: |ring| ring.submit(),
            event,
            files,
            registration,
            reads: Vec::new(),
            requests: Vec::new(),
            waiting: VecDeque::new(),
            queued: VecDeque::new(),
            in_ring: 0,
            in_flight: 0,
            filled: Vec::with_capacity(IN_FLIGHT_MAX),
            refusals: Patience::default(),
            undone: Patience::default(),
            pause: None,
            dead: None,
        })
    }

    fn add_request(&mut self, request: Request) {
        let slot = insert(&mut self.requests, request);
        self.waiting.push_back(slot);
    }

    /// Submits waiting requests to the kernel, up to the capacity of the ring.
    fn enter(&mut self) -> Result<()> {
        while self.in_ring < ENTRIES as usize
            && let Some(slot) = self.waiting.pop_front()
        {
            let entry = self.entry(slot);
            #[allow(unsafe_code)]
            // SAFETY: the request's memory is a part of a frame that `reads` owns until the request has completed; if
            // `shut_down` does not wait for that, it never frees the frame.
            unsafe {
                self.ring.submission().push(&entry).expect("the queue has room for every request in the ring");
            }
            self.queued.push_back(slot);
            self.in_ring += 1;
        }
        if self.queued.is_empty() {
            return Ok(());
        }
        let outcome = (self.submit)(&self.ring);
        let (before, left) = (self.queued.len(), self.ring.submission().len());
        self.queued.drain(..before - left);
        match outcome {
            Err(error) => Err(error),
            // The kernel lacks a resource and has taken none of the requests.
            Ok(_) if left == before => Err(Error::from_raw_os_error(libc::EAGAIN)),
            Ok(_) => {
                self.refusals.progress();
                Ok(())
            }
        }
    }

    /// Handles a refusal: pauses, or makes the ring dead.
    fn refused(&mut self, error: Error) {
        let tries = self.refusals.refusals() + 1;
        match self.refusals.pause() {
            Some(pause) if is_transient(&error) || tries < TRIES_MAX => self.pause_for(pause),
            _ if is_transient(&error) => self.die(self.refusals.lasting(&error)),
            _ => self.die(error),
        }
    }

    fn pause_for(&mut self, pause: Duration) {
        self.pause = Some(Box::pin(tokio::time::sleep(pause)));
    }

    /// Makes the ring dead. The kernel never takes the requests that are still queued: it reads the submission queue
    /// only when the ring is entered.
    fn die(&mut self, error: Error) {
        self.in_ring -= self.queued.len();
        let never: Vec<usize> = self.queued.drain(..).chain(self.waiting.drain(..)).collect();
        for slot in never {
            let Request { read, .. } = self.requests[slot].take().expect("the request has not completed");
            let in_flight = self.reads[read].as_mut().expect("the read has requests");
            in_flight.requests_left -= 1;
            if in_flight.requests_left == 0 {
                self.reads[read] = None;
            }
        }
        self.pause = None;
        self.dead = Some(error);
    }

    fn entry(&self, slot: usize) -> squeue::Entry {
        let Request { read, range } = self.requests[slot].as_ref().expect("the request waits");
        let frame = &self.reads[*read].as_ref().expect("the read has requests").frame;
        let (file, start) = (types::Fixed(range.file as u32), frame.as_mut_ptr().wrapping_add(range.at));
        let bytes = range.bytes as u32;
        let entry = match self.registration.buffer(frame.index()) {
            Some(buffer) => opcode::ReadFixed::new(file, start, bytes, buffer).offset(range.offset).build(),
            None => opcode::Read::new(file, start, bytes).offset(range.offset).build(),
        };
        entry.user_data(slot as u64)
    }

    /// Collects completions and processes them.
    fn reap(&mut self) {
        let completions: Vec<(u64, i32)> =
            self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
        for (slot, result) in completions {
            self.in_ring -= 1;
            self.complete(slot as usize, result);
        }
    }

    fn complete(&mut self, slot: usize, result: i32) {
        let Request { read, mut range } = self.requests[slot].take().expect("every completion has its request");
        let outcome = match usize::try_from(result) {
            Ok(0) => Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(bytes) if bytes < range.bytes && self.dead.is_none() => {
                range.offset += bytes as u64;
                range.at += bytes;
                range.bytes -= bytes;
                self.undone.progress();
                return self.add_request(Request { read, range });
            }
            Ok(bytes) if bytes < range.bytes => Err(Error::from(ErrorKind::Interrupted)),
            Ok(_) => {
                self.undone.progress();
                Ok(())
            }
            Err(_) => match Error::from_raw_os_error(-result) {
                error if is_transient(&error) && self.dead.is_none() => match self.undone.pause() {
                    Some(pause) => {
                        self.pause_for(pause);
                        return self.add_request(Request { read, range });
                    }
                    None => Err(self.undone.lasting(&error)),
                },
                error => Err(error),
            },
        };
        let in_flight = self.reads[read].as_mut().expect("the read has requests");
        in_flight.requests_left -= 1;
        if let Err(error) = outcome {
            in_flight.result = Err(self.files.named(range, error));
        }
        if in_flight.requests_left == 0 {
            let ReadInFlight { page, frame, result, .. } = self.reads[read].take().expect("just seen");
            self.filled.push(PageFilled { page, frame, result: result.map_err(Unfilled::Read) });
        }
    }

    /// Returns whether submissions are paused. The task is woken when the pause ends.
    fn is_pausing(&mut self, context: &mut Context<'_>) -> bool {
        let pausing = self.pause.as_mut().is_some_and(|pause| pause.as_mut().poll(context).is_pending());
        if !pausing {
            self.pause = None;
        }
        pausing
    }

    /// Returns the error of a dead ring.
    fn death(&self) -> Option<error::Error> {
        let error = self.dead.as_ref()?;
        Some(error::Error::Fetcher(format!(
            "io_uring failed during the run (io_uring_enter: {error}); `--tune fetcher=threads` does not use it"
        )))
    }
}

impl Fetcher for UringFetcher {
    fn name(&self) -> &'static str {
        if self.registration.is_possible() { "io_uring" } else { "io_uring, buffers not registered" }
    }

    fn direct(&self) -> bool {
        self.files.direct()
    }

    fn submit(&mut self, PageRead { page, frame }: PageRead) {
        let ranges: Vec<FileRange> = self.files.ranges(page, frame.requested()).into_iter().flat_map(cut).collect();
        self.in_flight += 1;
        // The kernel writes to any address it is given: only this check keeps a page out of the next frame.
        if ranges.iter().any(|range| range.at + range.bytes > frame.pool().frame_bytes()) {
            let result = Err(Error::new(ErrorKind::InvalidInput, "the frame is smaller than the page").into());
            return self.filled.push(PageFilled { page, frame, result });
        }
        if ranges.is_empty() {
            return self.filled.push(PageFilled { page, frame, result: Ok(()) });
        }
        frame.pool().fault_in_beyond(frame.index());
        self.registration.count(&self.ring, frame.pool(), frame.index());
        let read = ReadInFlight { page, frame, requests_left: ranges.len(), result: Ok(()) };
        let read = insert(&mut self.reads, read);
        ranges.into_iter().for_each(|range| self.add_request(Request { read, range }));
    }

    fn poll_filled(&mut self, context: &mut Context<'_>, filled: &mut Vec<PageFilled>) -> Poll<error::Result<()>> {
        loop {
            if self.dead.is_none()
                && !self.is_pausing(context)
                && let Err(error) = self.enter()
            {
                self.refused(error);
            }
            if let Some(error) = self.death() {
                return Poll::Ready(Err(error));
            }
            self.reap();
            if !self.filled.is_empty() {
                self.in_flight -= self.filled.len();
                filled.append(&mut self.filled);
                return Poll::Ready(Ok(()));
            }
            if self.is_pausing(context) {
                // The end of the pause or a completion wakes the task.
            } else if !self.waiting.is_empty() && self.in_ring < ENTRIES as usize || !self.queued.is_empty() {
                continue;
            }
            match self.event.poll_read_ready(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(mut ready)) => {
                    drain(ready.get_inner());
                    ready.clear_ready();
                }
                Poll::Ready(Err(error)) => self.die(error),
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn shut_down(&mut self, until: Instant) {
        if self.dead.is_none() {
            self.die(Error::from(ErrorKind::Interrupted));
        }
        self.reap();
        while self.in_ring > 0
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            wait_for(self.event.get_ref(), left.min(SHUT_DOWN_STEP));
            self.reap();
        }
        if self.in_ring > 0 {
            // The kernel may write to these frames at any time: they are leaked.
            std::mem::forget(std::mem::take(&mut self.reads));
            self.in_ring = 0;
        }
        self.in_flight = 0;
    }
}

impl Drop for UringFetcher {
    fn drop(&mut self) {
        if self.in_ring > 0 {
            self.shut_down(Instant::now() + SHUT_DOWN_TIMEOUT);
        }
    }
}

#[cfg(test)]
mod tests;

/// The maximum duration of one wait for completions in `shut_down`. Some completions become visible only after a system
/// call.
const SHUT_DOWN_STEP: Duration = Duration::from_millis(20);

/// Waits until the eventfd is signalled, at most for `longest`.
fn wait_for(event: &OwnedFd, longest: Duration) {
    let mut wanted = libc::pollfd { fd: event.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    #[allow(unsafe_code)]
    // SAFETY: the kernel gets a pointer to one structure and writes only to it.
    unsafe {
        libc::poll(&raw mut wanted, 1, longest.as_millis().max(1) as i32);
    }
    drain(event);
}

/// Sends a no-op request through the ring. Some systems allow a ring to be created but not used.
fn round_trip(ring: &mut IoUring) -> Result<()> {
    #[allow(unsafe_code)]
    // SAFETY: the request has no memory.
    unsafe {
        ring.submission().push(&opcode::Nop::new().build()).expect("the queue is empty");
    }
    let mut patience = Patience::default();
    while ring.completion().next().is_none() {
        match ring.submit_and_wait(1) {
            Err(error) if is_transient(&error) => match patience.pause() {
                Some(pause) => std::thread::sleep(pause),
                None => return Err(patience.lasting(&error)),
            },
            other => drop(other?),
        }
    }
    Ok(())
}

/// Divides a read into requests of bounded size.
fn cut(range: FileRange) -> impl Iterator<Item = FileRange> {
    (0..range.bytes).step_by(REQUEST_BYTES_MAX).map(move |start| FileRange {
        offset: range.offset + start as u64,
        at: range.at + start,
        bytes: REQUEST_BYTES_MAX.min(range.bytes - start),
        ..range
    })
}

/// Puts a value into the first free slot and returns the slot's number.
fn insert<T>(slots: &mut Vec<Option<T>>, value: T) -> usize {
    let slot = slots.iter().position(Option::is_none).unwrap_or(slots.len());
    if slot == slots.len() {
        slots.push(None);
    }
    slots[slot] = Some(value);
    slot
}

fn eventfd() -> Result<OwnedFd> {
    #[allow(unsafe_code)]
    // SAFETY: eventfd takes no pointers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    #[allow(unsafe_code)]
    // SAFETY: the descriptor is new, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Resets the counter of the eventfd.
fn drain(event: &OwnedFd) {
    let mut count = 0u64;
    #[allow(unsafe_code)]
    // SAFETY: eight bytes are read into eight bytes.
    unsafe {
        libc::read(event.as_raw_fd(), (&raw mut count).cast(), 8);
    }
}
