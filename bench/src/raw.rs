//! The maximum rate of the disk: plain io_uring reads with `O_DIRECT` that discard the bytes.
//!
//! Several request sizes and queue depths are tried; the best shape is measured again together with each run.

use crate::answers::hash;
use crate::error::Result;
use crate::measure::ratio;
use io_uring::{IoUring, opcode, types};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use topostream_formats::buffer::{ALIGNMENT, AlignedBuffer};
use topostream_formats::checksum::crc32c;

/// The queue depths to try.
const DEPTHS: [usize; 4] = [8, 16, 32, 64];
/// The number of tries of each shape.
const SWEEPS: usize = 3;

/// The size and number of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Requests in flight.
    pub depth: usize,
}

/// A finished read.
#[derive(Clone, Copy, Debug)]
pub struct RawRead {
    /// Its shape.
    pub shape: Shape,
    /// Whether reads bypassed the system's page cache.
    pub direct: bool,
    /// Bytes read.
    pub bytes: u64,
    /// Its duration in nanoseconds.
    pub ns: u64,
}

impl RawRead {
    /// The speed.
    pub fn gb_per_s(&self) -> f64 {
        ratio(self.bytes as f64, self.ns as f64)
    }

    /// The time to read this many bytes at this rate.
    pub fn ns_of(&self, bytes: u64) -> f64 {
        ratio(bytes as f64, self.gb_per_s())
    }

    /// A note on the rate over the files of a graph.
    pub fn note(&self, graph: &str) -> String {
        let through = if self.direct { "" } else { ", through the page cache: the file system has no O_DIRECT" };
        let (speed, shape) = (self.gb_per_s(), self.shape);
        format!("{graph}: raw reads at best {speed:.2} GB/s with {shape}{through}; the bytes were checked")
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} KiB × {}", self.request_bytes >> 10, self.depth)
    }
}

/// Tries requests of 1 MiB and of a page at every depth, and returns the best by the median of a few sweeps, since a
/// single one could pick an outlier. Checks first that reads return the contents of the files.
///
/// # Errors
/// If a file cannot be read, or io_uring is refused.
pub fn best(files: &[PathBuf], page_bytes: usize) -> Result<RawRead> {
    check(files)?;
    let mut sizes = vec![1 << 20, page_bytes];
    sizes.dedup();
    let shape = |request_bytes| DEPTHS.map(|depth| Shape { request_bytes, depth });
    let shapes: Vec<Shape> = sizes.into_iter().flat_map(shape).collect();
    let sweep = |_| shapes.iter().map(|&shape| read(files, shape)).collect::<Result<Vec<_>>>();
    let sweeps = (0..SWEEPS).map(sweep).collect::<Result<Vec<_>>>()?;
    let medians = (0..shapes.len()).map(|shape| {
        let mut reads: Vec<RawRead> = sweeps.iter().map(|sweep| sweep[shape]).collect();
        reads.sort_by_key(|read| read.ns);
        reads[reads.len() / 2]
    });
    Ok(medians.min_by_key(|read| read.ns).expect("there are shapes to try"))
}

/// Reads files from beginning to end.
///
/// # Errors
/// If a file cannot be read, or io_uring is refused.
pub fn read(files: &[PathBuf], shape: Shape) -> Result<RawRead> {
    read_each(files, shape, &mut |_, _, _| {})
}

/// Reads files by `read_each` and by ordinary reads, and compares.
fn check(files: &[PathBuf]) -> Result<()> {
    let shape = Shape { request_bytes: 1 << 20, depth: DEPTHS[0] };
    let mut found = 0u64;
    read_each(files, shape, &mut |file, offset, bytes| found = found.wrapping_add(fingerprint(file, offset, bytes)))?;
    let mut expected = 0u64;
    for (number, path) in files.iter().enumerate() {
        let (file, mut buffer) = (File::open(path)?, vec![0; 1 << 20]);
        let length = file.metadata()?.len();
        for offset in (0..length).step_by(buffer.len()) {
            let bytes = &mut buffer[..(length - offset).min(1 << 20) as usize];
            topostream_formats::store::read_exact_at(&file, bytes, offset)?;
            expected = expected.wrapping_add(fingerprint(number, offset, bytes));
        }
    }
    if found == expected { Ok(()) } else { Err("raw reads returned bytes other than those of the files".into()) }
}

/// A sum over blocks that depends on contents and offsets, but not on the order of reads.
fn fingerprint(file: usize, offset: u64, bytes: &[u8]) -> u64 {
    let block = |(index, block): (usize, &[u8])| {
        let place = (file as u64) << 48 ^ (offset / ALIGNMENT as u64 + index as u64);
        hash(crc32c(block).into(), hash(0, place))
    };
    bytes.chunks(ALIGNMENT).enumerate().map(block).fold(0, u64::wrapping_add)
}

/// Called with every filled buffer: file, offset, bytes.
type Visit<'a> = dyn FnMut(usize, u64, &[u8]) + 'a;

/// Reads files from beginning to end and passes every buffer to `visit`.
fn read_each(files: &[PathBuf], shape: Shape, visit: &mut Visit<'_>) -> Result<RawRead> {
    let opened = files.iter().map(|path| open(path)).collect::<Result<Vec<_>>>()?;
    let direct = opened.iter().all(|(_, direct)| *direct);
    let opened: Vec<File> = opened.into_iter().map(|(file, _)| file).collect();
    let mut requests = Vec::new();
    for (file, opened) in opened.iter().enumerate() {
        let length = opened.metadata()?.len();
        let request = |offset: u64| (file, offset, (length - offset).min(shape.request_bytes as u64) as usize);
        requests.extend((0..length).step_by(shape.request_bytes).map(request));
    }
    let bytes = requests.iter().map(|request| request.2 as u64).sum();
    let mut ring = Ring::new(opened, shape)?;
    let started = Instant::now();
    ring.run(&requests, visit)?;
    Ok(RawRead { shape, direct, bytes, ns: started.elapsed().as_nanos() as u64 })
}

/// Opens a file for direct I/O, or for buffered reads if the file system does not support it.
fn open(path: &Path) -> Result<(File, bool)> {
    let name = |error| format!("{}: {error}", path.display());
    match File::options().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok((File::open(path).map_err(name)?, false)),
        Err(error) => Err(name(error).into()),
    }
}

/// A read to be done: file, offset, bytes.
type Request = (usize, u64, usize);

/// A ring with a buffer for each request in flight, registered if the system allows it.
struct Ring {
    // Dropped first, so that the kernel releases the buffers before they are freed.
    ring: IoUring,
    buffers: Vec<AlignedBuffer>,
    registered: bool,
    files: Vec<File>,
    in_flight: usize,
}

impl Ring {
    fn new(files: Vec<File>, shape: Shape) -> Result<Self> {
        let ring = IoUring::new(shape.depth as u32)?;
        let buffers: Vec<_> = (0..shape.depth).map(|_| AlignedBuffer::new(shape.request_bytes)).collect();
        let place = |buffer: &AlignedBuffer| libc::iovec {
            iov_base: buffer.shared().as_mut_ptr().cast(),
            iov_len: shape.request_bytes,
        };
        let places: Vec<libc::iovec> = buffers.iter().map(place).collect();
        #[allow(unsafe_code)]
        // SAFETY: the buffers live as long as the ring, which is dropped before them.
        let registered = unsafe { ring.submitter().register_buffers(&places) }.is_ok();
        Ok(Self { ring, buffers, registered, files, in_flight: 0 })
    }

    fn run(&mut self, requests: &[Request], visit: &mut Visit<'_>) -> Result<()> {
        let (mut next, mut free) = (0, (0..self.buffers.len()).collect::<Vec<_>>());
        let mut held = vec![(0, 0, 0); self.buffers.len()];
        while next < requests.len() || self.in_flight > 0 {
            while next < requests.len()
                && let Some(slot) = free.pop()
            {
                held[slot] = requests[next];
                self.submit(slot, requests[next])?;
                next += 1;
            }
            self.ring.submit_and_wait(1)?;
            let completed: Vec<(u64, i32)> =
                self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
            self.in_flight -= completed.len();
            for (slot, result) in completed {
                let (file, offset, bytes) = held[slot as usize];
                if usize::try_from(result) != Ok(bytes) {
                    return Err(format!("a raw read of {bytes} bytes at {offset} returned {result}").into());
                }
                visit(file, offset, &self.buffers[slot as usize][..bytes]);
                free.push(slot as usize);
            }
        }
        Ok(())
    }

    fn submit(&mut self, slot: usize, (file, offset, bytes): Request) -> Result<()> {
        let (file, start) = (types::Fd(self.files[file].as_raw_fd()), self.buffers[slot].shared().as_mut_ptr());
        let entry = match self.registered {
            true => opcode::ReadFixed::new(file, start, bytes as u32, slot as u16).offset(offset).build(),
            false => opcode::Read::new(file, start, bytes as u32).offset(offset).build(),
        };
        #[allow(unsafe_code)]
        // SAFETY: the buffer and the file belong to this ring, whose `drop` waits for every request; the buffer is
        // not accessed before the request has completed, because its slot is not free until then.
        unsafe {
            self.ring.submission().push(&entry.user_data(slot as u64)).map_err(|_| "the ring is full")?;
        }
        self.in_flight += 1;
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.ring.submit_and_wait(1).is_err_and(|error| error.raw_os_error() != Some(libc::EINTR)) {
                // Waiting failed: leak the memory, since the kernel may still write to it.
                return std::mem::forget(std::mem::take(&mut self.buffers));
            }
            self.in_flight -= self.ring.completion().count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_reads_give_the_bytes_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let contents: Vec<u8> =
            (0..300_000u32).flat_map(|value| value.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let files: Vec<PathBuf> = [(0, 1_048_576), (4096, 200_704)]
            .map(|(start, bytes)| {
                let path = folder.path().join(start.to_string());
                std::fs::write(&path, &contents[start..start + bytes]).unwrap();
                path
            })
            .into();
        let best = best(&files, 64 << 10).unwrap();
        assert_eq!(best.bytes, 1_048_576 + 200_704);
        assert!(best.ns_of(best.bytes) > 0.0 && (best.ns_of(best.bytes) - best.ns as f64).abs() < 10.0);
    }

    #[test]
    fn fingerprints_depend_on_the_offset() {
        let (a, b) = ([1u8; ALIGNMENT], [2u8; ALIGNMENT]);
        let both = |first, second| fingerprint(0, 0, first).wrapping_add(fingerprint(0, 4096, second));
        assert_eq!(both(&a[..], &b[..]), fingerprint(0, 0, &[a, b].concat()));
        assert_ne!(both(&a[..], &b[..]), both(&b[..], &a[..]));
    }
}
