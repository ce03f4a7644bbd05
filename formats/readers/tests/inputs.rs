//! Replays the corpora of the fuzz targets that read edge lists, unchanged and with pseudo-random changes: no panic, no
//! error that does not name the file, and no excessive allocation.

// The global allocator records the sizes of allocations.
#![allow(unsafe_code)]

#[path = "../../fuzz/fuzz_targets/inputs.rs"]
mod inputs;
#[path = "../../fuzz/mutations.rs"]
mod mutations;

use mutations::{Draws, mutated};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use topostream_readers::Kind;

/// The maximum size of a single allocation, whatever the file contains: the edges of a block of 8 MiB, with room to
/// grow. (The windows of decompressors are bounded by the readers, and allocated elsewhere.)
const ALLOCATION_BYTES_MAX: usize = 100 << 20;
/// The number of changed copies of each file of a corpus.
const CHANGES: usize = 60;
const SEED: u64 = 12;

/// An allocator that records the largest allocation.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Runs a target over its corpus and over changed copies. It must accept the files `good-…` and refuse the files
/// `bad-…`.
fn replay(target: &str, run: impl Fn(&[u8]) -> bool) {
    let mut paths: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target))
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 3, "{target} has a corpus");
    let mut draws = Draws(SEED);
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let data = fs::read(&path).expect("a file");
        let accepted = run(&data);
        assert!(accepted || !name.starts_with("good-"), "{target}/{name} is refused");
        assert!(!accepted || !name.starts_with("bad-"), "{target}/{name} is accepted");
        for _ in 0..CHANGES {
            run(&mutated(&data, 1, &mut draws));
        }
    }
    let largest = LARGEST.load(Relaxed);
    assert!(largest <= ALLOCATION_BYTES_MAX, "{target}: {largest} bytes at once");
}

#[test]
fn corpora_of_every_kind() {
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Graphalytics) {
        replay(&kind.name().replace('-', "_"), |data| inputs::edges(Some(kind), data));
    }
}

#[test]
fn corpus_of_files_that_are_recognised() {
    replay("recognised", |data| inputs::edges(None, data));
}

#[test]
fn corpus_of_graphalytics() {
    replay("graphalytics", inputs::graphalytics);
}

#[test]
fn corpus_of_vertices() {
    replay("vertices", inputs::vertices);
}
