//! Registers the page pool with a ring, piece by piece, and only if it pays off.
//!
//! The kernel pins the memory of a read while it is in flight. Registered memory stays pinned, which saves a few
//! microseconds per page of 1 MiB. Registration itself faults in and pins the memory. Registering the whole pool at the
//! start took longer than it saved: a run that reads every page once uses each frame once. So a piece of the pool is
//! registered once it has been filled [`FILLS`] times.

use super::super::PagePool;
use io_uring::IoUring;

/// The size of a piece, unless the table would have too many entries. The kernel allows at most 1 GiB.
const PIECE_BYTES: usize = 64 << 20;
/// The kernel's limit on entries of a table of buffers.
const PIECES_MAX: usize = 1 << 14;
/// The number of times that a piece is filled before it is registered.
const FILLS: usize = 2;

/// The table of a ring's registered buffers.
pub(super) struct Registration {
    /// Frames of a piece; 0 if the system registers nothing (an old kernel, the limit on locked memory).
    frames_per_piece: usize,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Default)]
struct Piece {
    reads: usize,
    is_registered: bool,
}

impl Registration {
    /// Creates an empty table for the pieces of a pool.
    pub fn new(ring: &IoUring, pool: &PagePool) -> Self {
        let frames = pool.memory().len() / pool.frame_bytes();
        let frames_per_piece = (PIECE_BYTES / pool.frame_bytes()).max(frames.div_ceil(PIECES_MAX)).max(1);
        let pieces = frames.div_ceil(frames_per_piece).max(1);
        match ring.submitter().register_buffers_sparse(pieces as u32) {
            Ok(()) => Self { frames_per_piece, pieces: vec![Piece::default(); pieces] },
            Err(_) => Self { frames_per_piece: 0, pieces: Vec::new() },
        }
    }

    /// Whether the system registers buffers, as far as is known.
    pub fn is_possible(&self) -> bool {
        self.frames_per_piece > 0
    }

    /// The number of the registered buffer that a frame lies in, if there is one.
    pub fn buffer(&self, frame: u32) -> Option<u16> {
        let piece = (frame as usize).checked_div(self.frames_per_piece)?;
        self.pieces[piece].is_registered.then_some(piece as u16)
    }

    /// Counts a read into a frame, and registers the frame's piece if that is due. If the system refuses, no further
    /// piece is registered.
    pub fn count(&mut self, ring: &IoUring, pool: &PagePool, frame: u32) {
        let Some(number) = (frame as usize).checked_div(self.frames_per_piece) else { return };
        let (memory, piece_bytes) = (pool.memory(), self.frames_per_piece * pool.frame_bytes());
        let start = number * piece_bytes;
        let bytes = piece_bytes.min(memory.len() - start);
        let piece = &mut self.pieces[number];
        piece.reads += 1;
        if piece.is_registered || piece.reads <= FILLS * (bytes / pool.frame_bytes()) {
            return;
        }
        let part = libc::iovec { iov_base: memory.as_mut_ptr().wrapping_add(start).cast(), iov_len: bytes };
        #[allow(unsafe_code)]
        // SAFETY: the range lies within the pool, which outlives every request (frames hold it), and the kernel keeps
        // registered pages pinned by itself. No request in flight names this entry of the table: it was empty.
        let registered = unsafe { ring.submitter().register_buffers_update(number as u32, &[part], None) };
        match registered {
            Ok(()) => piece.is_registered = true,
            // Requests in flight that name registered pieces complete as before.
            Err(_) => (self.frames_per_piece, self.pieces) = (0, Vec::new()),
        }
    }
}
