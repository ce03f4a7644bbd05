//! Keeps a card busy until a run does.
//!
//! An idle card lowers its clock (an H200 from 1,980 to 345 MHz) and takes some hundred milliseconds to raise it again.
//! A card that waits for a disk counts as idle: after two seconds of pages from an SSD, supersteps over the pages that
//! it then holds took 2.6 times as long (bench/notes/0017). A thread submits tiny kernels one after another and
//! waits for each, from opening until the first launch, or until all pages are there if the device will hold them.
//! Launches wait for at most one of them, about ten microseconds.

use super::open::Gpu;
use super::probe::Probe;
use crate::error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use topostream_formats::threads;
use wgpu::BufferUsages as Usage;

/// Maximum duration: longer than it takes to fill a device's memory from an SSD.
const LONGEST: Duration = Duration::from_secs(60);
/// Maximum wait for a kernel.
const PATIENCE: Duration = Duration::from_secs(1);
/// Workgroups: about one for each multiprocessor.
const WORKGROUPS: u32 = 128;

/// 2,000 dependent multiplications per thread: 6 µs at 1,980 MHz, 35 µs at 345.
const KERNEL: &str = "
@group(0) @binding(0) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var word = words[id.x];
    for (var round = 0u; round < 2000u; round += 1u) {
        word = word * 1664525u + 1013904223u;
    }
    words[id.x] = word;
}
";

/// Keeps a card busy until it is ended or dropped.
pub struct Awake {
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Awake {
    /// Starts the thread. `None` if the system refuses it, which does no harm.
    pub fn begin(gpu: &Arc<Gpu>) -> Option<Self> {
        let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let work = {
            let (gpu, stop, rounds) = (Arc::clone(gpu), Arc::clone(&stop), Arc::clone(&rounds));
            move || drop(keep_busy(&gpu, &stop, &rounds))
        };
        Some(Self { stop, rounds, thread: Some(threads::start("gpu awake", 1, work).ok()?) })
    }

    /// Ends it without waiting for the kernel in flight.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The number of completed kernels.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.end();
        self.thread.take().map(JoinHandle::join);
    }
}

fn keep_busy(gpu: &Gpu, stop: &AtomicBool, rounds: &AtomicU64) -> Result<()> {
    let begun = Instant::now();
    let words = gpu.buffer("awake", u64::from(4 * 64 * WORKGROUPS), Usage::STORAGE)?;
    let kernel = Probe::new(gpu, "a kernel that keeps the device awake", KERNEL, &words)?;
    while !stop.load(Ordering::Relaxed) && begun.elapsed() < LONGEST {
        let encoder = kernel.encode(gpu, WORKGROUPS);
        if !gpu.wait(gpu.queue().submit([encoder.finish()]), PATIENCE)? {
            break;
        }
        rounds.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
