//! The GPU layer below kernels: imported memory, arenas, the transfer queue, and device failures. On hardware if
//! available, otherwise on software Vulkan (Debian: `mesa-vulkan-drivers`).

#![cfg(feature = "gpu")]

mod kernels;

use kernels::{Kernel, copy, done, read, sum_on};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use topostream::Error;
use topostream::device::DeviceChoice;
use topostream::device::gpu::import::device_buffer;
use topostream::device::gpu::{Adapter, Gpu, GpuOptions, HostImport, HostMemory, SharedBuffer, adapters};
use topostream::error::GpuError;
use topostream::pages::fetch::{Frame, PagePool};
use topostream_formats::buffer::AlignedBuffer;
use wgpu::BufferUsages;

const MIB: u64 = 1 << 20;
const MINUTE: Duration = Duration::from_secs(60);

/// Held by a test from its first device until its thread ends: one test fills the device's memory, and NVIDIA's driver
/// (580) sometimes hangs when a device is destroyed while other threads use other devices.
static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    static MY_TURN: MutexGuard<'static, ()> = TURN.lock().unwrap_or_else(PoisonError::into_inner);
}

/// Hardware before software; `None` if there is neither and none is required, or if GPU tests are disabled.
fn adapter() -> Option<Adapter> {
    MY_TURN.with(|_| ());
    let asked = std::env::var("TOPOSTREAM_GPU_TESTS").unwrap_or_default();
    if asked == "off" {
        return None;
    }
    let found = adapters::choose(&DeviceChoice::Auto).unwrap().or_else(|| {
        let software = adapters::list().first().map(|report| DeviceChoice::Index(report.index));
        software.and_then(|choice| adapters::choose(&choice).unwrap())
    });
    assert!(
        found.is_some() || asked.is_empty(),
        "no GPU and no software Vulkan (on Debian: apt-get install mesa-vulkan-drivers)"
    );
    found
}

/// Skips a test if GPU tests are disabled.
macro_rules! gpu_or_return {
    ($options:expr) => {
        match adapter() {
            Some(adapter) => Gpu::open(&adapter, &$options).unwrap(),
            None => return,
        }
    };
    () => {
        gpu_or_return!(GpuOptions::default())
    };
}

// After the macro that these modules use.
mod staging;
mod start;
#[cfg(target_os = "linux")]
mod transfer;

/// Frames of 64 KiB; each word is a hash of its offset.
fn frames(count: u32) -> Vec<Frame> {
    let mut frames = PagePool::frames(count, 64 << 10, 0).unwrap();
    for (at, frame) in frames.iter_mut().enumerate() {
        fill(frame, at as u32);
    }
    frames
}

fn fill(frame: &mut Frame, seed: u32) {
    for (at, word) in frame.bytes_mut().chunks_exact_mut(4).enumerate() {
        let value = (seed << 16 | at as u32).wrapping_mul(2_654_435_761);
        word.copy_from_slice(&value.to_le_bytes());
    }
}

fn pool(frames: &[Frame]) -> Arc<dyn HostMemory> {
    let pool: Arc<PagePool> = Arc::clone(frames[0].pool());
    pool
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    words.fold(0, u32::wrapping_add)
}

fn gpu_error<T: std::fmt::Debug>(result: Result<T, impl Into<Error>>) -> GpuError {
    match result.map_err(Into::into) {
        Err(Error::Gpu(error)) => error,
        other => panic!("expected an error of the GPU, found {other:?}"),
    }
}

#[test]
fn a_kernel_reads_imported_memory_in_several_chunks() {
    let gpu = gpu_or_return!();
    let frames = frames(100);
    let import = HostImport::new(&gpu, pool(&frames), 32 * (64 << 10)).unwrap();
    let sizes: Vec<u64> = import.chunks().iter().map(|chunk| chunk.size()).collect();
    assert_eq!(sizes, [2 * MIB, 2 * MIB, 2 * MIB, 4 * (64 << 10)], "three chunks and a tail");
    for (chunk, frames) in import.chunks().iter().zip(frames.chunks(32)) {
        let expected = frames.iter().fold(0u32, |total, frame| total.wrapping_add(sum(frame.page())));
        assert_eq!(sum_on(&gpu, chunk), expected);
    }
    assert_eq!(import.locate(0), (0, 0));
    assert_eq!(import.locate(2 * MIB - 1), (0, 2 * MIB - 1));
    assert_eq!(import.locate(6 * MIB + 5), (3, 5));
}

#[test]
fn host_writes_are_visible_to_the_next_submission() {
    let gpu = gpu_or_return!();
    let mut frames = frames(4);
    let import = HostImport::new(&gpu, pool(&frames), 4 * (64 << 10)).unwrap();
    for round in 0..20 {
        fill(&mut frames[round % 4], 1000 + round as u32);
        let expected = frames.iter().fold(0u32, |total, frame| total.wrapping_add(sum(frame.page())));
        assert_eq!(sum_on(&gpu, &import.chunks()[0]), expected, "round {round}");
    }
}

#[test]
#[allow(unsafe_code)]
fn device_writes_are_visible_to_the_host() {
    let gpu = gpu_or_return!();
    let memory = Arc::new(AlignedBuffer::new(MIB as usize));
    let shared: Arc<dyn HostMemory> = Arc::clone(&memory) as _;
    // SAFETY: the memory is only read after waiting for the submission.
    let import = unsafe { HostImport::writable(&gpu, shared, MIB) }.unwrap();
    done(&gpu, Kernel::new(&gpu, "write").submit(&[(2, &import.chunks()[0])]));
    for (at, word) in memory.chunks_exact(4).enumerate() {
        assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), at as u32 * 3);
    }
}

#[test]
fn pages_are_copied_to_an_arena() {
    let off = GpuOptions { host_import: false, transfer_queue: false, ..Default::default() };
    let (gpu, portable) = (gpu_or_return!(), gpu_or_return!(off));
    let frames = frames(8);
    let import = HostImport::new(&gpu, pool(&frames), 8 * (64 << 10)).unwrap();
    let arena = device_buffer(&gpu, "arena", 16 * (64 << 10)).unwrap();
    for (at, frame) in frames.iter().enumerate() {
        let (from, to) = ((at as u64) << 16, (15 - at as u64) << 16);
        done(&gpu, copy(&gpu, &import.chunks()[0], from, &arena, to, 64 << 10));
        assert_eq!(read(&gpu, &arena, to, 64 << 10), frame.page(), "page {at}");
    }
    // Without access to the API below wgpu, the arena is an ordinary buffer and works the same.
    let arena = device_buffer(&portable, "arena", 64 << 10).unwrap();
    portable.queue().write_buffer(&arena, 0, frames[3].page());
    assert_eq!(read(&portable, &arena, 0, 64 << 10), frames[3].page());
    assert_eq!(sum_on(&portable, &arena), sum(frames[3].page()));
}

#[test]
fn memory_that_cannot_be_imported_is_a_typed_error() {
    let gpu = gpu_or_return!();
    let unavailable = |gpu: &Gpu, bytes: usize, chunk: u64, word: &str| {
        let memory: Arc<dyn HostMemory> = Arc::new(AlignedBuffer::new(bytes));
        let error = gpu_error(HostImport::new(gpu, memory, chunk));
        let text = error.to_string();
        assert!(matches!(error, GpuError::Unavailable { .. }) && text.contains(word), "{text}");
    };
    unavailable(&gpu, 8192, 0, "multiples");
    unavailable(&gpu, 8192, 100, "multiples");
    unavailable(&gpu, 5000, 4096, "multiples");
    unavailable(&gpu, 8192, 1 << 40, "at most");
    unavailable(&gpu_or_return!(GpuOptions { host_import: false, ..Default::default() }), 8192, 4096, "is disabled");
}

#[test]
fn every_fast_path_can_be_disabled() {
    let off = GpuOptions {
        binding_bytes_max: Some(MIB),
        host_import: false,
        transfer_queue: false,
        float_atomics: false,
        wide_atomics: false,
        subgroups: false,
        pipelines: None,
    };
    let gpu = gpu_or_return!(off);
    let caps = gpu.caps();
    assert!(!(caps.host_import || caps.float_atomics || caps.wide_atomics || caps.subgroups));
    assert_eq!((caps.transfer_family, caps.binding_bytes_max), (None, MIB));
    let features = gpu.device().features();
    use wgpu::Features as Has;
    let allowed = Has::TIMESTAMP_QUERY | Has::TIMESTAMP_QUERY_INSIDE_ENCODERS | Has::TIMESTAMP_QUERY_INSIDE_PASSES;
    assert!(allowed.contains(features), "{features:?}");
    for bytes in [0, 100, 5000] {
        let options = GpuOptions { binding_bytes_max: Some(bytes), ..Default::default() };
        let refused = Gpu::open(&adapter().unwrap(), &options);
        assert!(matches!(refused, Err(Error::Parameter(_))), "{bytes}");
    }
}

#[test]
fn a_low_binding_limit_is_respected() {
    let gpu = gpu_or_return!(GpuOptions { binding_bytes_max: Some(MIB), ..Default::default() });
    let memory = || -> Arc<dyn HostMemory> { Arc::new(AlignedBuffer::new(4 * MIB as usize)) };
    assert!(matches!(gpu_error(HostImport::new(&gpu, memory(), 2 * MIB)), GpuError::Unavailable { .. }));
    assert_eq!(HostImport::new(&gpu, memory(), MIB).unwrap().chunks().len(), 4);
    let (small, large) = (device_buffer(&gpu, "small", MIB).unwrap(), device_buffer(&gpu, "large", 2 * MIB).unwrap());
    let bind = |buffer: &SharedBuffer| {
        let layout = &Kernel::new(&gpu, "write").pipeline.get_bind_group_layout(0);
        let entries = [wgpu::BindGroupEntry { binding: 2, resource: buffer.as_entire_binding() }];
        let group = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        gpu.scoped("binding", || gpu.device().create_bind_group(&group))
    };
    bind(&small).unwrap();
    assert!(matches!(gpu_error(bind(&large)), GpuError::Fault { .. }));
    gpu.check().expect("an error that was caught is not the device's");
}

#[test]
fn allocation_failures_are_typed_errors() {
    let gpu = gpu_or_return!();
    let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let out_of_memory = |error: GpuError, word: &str| {
        let text = error.to_string();
        assert!(matches!(error, GpuError::OutOfMemory { .. }) && text.contains(word), "{text}");
    };
    // Larger than the maximum buffer size.
    out_of_memory(gpu_error(gpu.buffer("ranks", 1 << 50, storage)), "ranks of 1125899906842624 bytes");
    out_of_memory(gpu_error(device_buffer(&gpu, "arena", 1 << 50)), "arena of 1125899906842624 bytes");
    out_of_memory(gpu_error(device_buffer(&gpu, "arena", 0)), "from 1 to");
    gpu.buffer("ranks", MIB, storage).expect("the device goes on");
    gpu.check().unwrap();
}

#[test]
fn validation_errors_do_not_panic() {
    let gpu = gpu_or_return!();
    let usages = BufferUsages::MAP_READ | BufferUsages::MAP_WRITE | BufferUsages::STORAGE;
    let fault = gpu_error(gpu.buffer("odd", 64, usages));
    assert!(matches!(fault, GpuError::Fault { .. }) && fault.to_string().contains("odd of 64 bytes"), "{fault}");
    let source = wgpu::ShaderSource::Wgsl("fn half(".into());
    let module = wgpu::ShaderModuleDescriptor { label: None, source };
    let fault = gpu_error(gpu.scoped("the kernel half", || gpu.device().create_shader_module(module)));
    assert!(matches!(fault, GpuError::Fault { .. }) && fault.to_string().contains("the kernel half"), "{fault}");
    gpu.check().expect("errors that were caught are not the device's");
    // Outside an error scope the error is kept, and the device is unusable.
    let dest = gpu.buffer("small", 16, BufferUsages::COPY_DST).unwrap();
    let source = gpu.buffer("large", 64, BufferUsages::COPY_SRC).unwrap();
    let submission = copy(&gpu, &source, 0, &dest, 0, 64);
    let fault = gpu_error(gpu.wait(submission, MINUTE));
    assert!(matches!(fault, GpuError::Fault { .. }), "{fault}");
    assert_eq!(gpu_error(gpu.buffer("further", 16, BufferUsages::COPY_DST)), fault);
}

#[test]
fn a_lost_device_is_a_typed_error_and_no_hang() {
    let gpu = gpu_or_return!();
    let begun = Instant::now();
    let frames = frames(4);
    let import = HostImport::new(&gpu, pool(&frames), 4 * (64 << 10)).unwrap();
    let arena = device_buffer(&gpu, "arena", 4 * (64 << 10)).unwrap();
    let kernel = Kernel::new(&gpu, "write");
    let before = kernel.submit(&[(2, &arena)]);
    gpu.lose();
    let lost = gpu_error(gpu.wait(before, MINUTE));
    assert!(matches!(lost, GpuError::Lost { .. }) && lost.to_string().contains("--device cpu"), "{lost}");
    let after = copy(&gpu, &import.chunks()[0], 0, &arena, 0, 4);
    assert_eq!(gpu_error(gpu.wait(after, MINUTE)), lost);
    assert_eq!(gpu_error(gpu.poll()), lost);
    assert_eq!(gpu_error(gpu.check()), lost);
    assert_eq!(gpu_error(gpu.buffer("more", 64, BufferUsages::STORAGE)), lost);
    assert_eq!(gpu_error(device_buffer(&gpu, "more", 64)), lost);
    assert_eq!(gpu_error(HostImport::new(&gpu, pool(&frames), 4 * (64 << 10))), lost);
    assert!(begun.elapsed() < MINUTE);
    drop((import, arena, gpu.device().clone()));
}

/// With work in flight, commands for the lost device fail before the loss is reported.
#[test]
fn faults_during_a_loss_report_the_loss() {
    let gpu = gpu_or_return!();
    let arena = device_buffer(&gpu, "arena", 64 * MIB).unwrap();
    let kernel = Kernel::new(&gpu, "write");
    for _ in 0..20 {
        kernel.submit(&[(2, &arena)]);
    }
    gpu.loser()();
    let after = gpu.queue().submit([]);
    let found = gpu.wait(after, MINUTE).map(drop).expect_err("the device is gone");
    let explained = gpu.explained(found);
    assert!(matches!(&explained, Error::Gpu(GpuError::Lost { .. })), "{explained}");
    assert!(matches!(gpu.check(), Err(GpuError::Lost { .. })));
    // Errors that are not faults are unchanged.
    let other = gpu.explained(Error::Parameter("a source".into()));
    assert!(matches!(other, Error::Parameter(_)), "{other}");
}

#[test]
fn a_wait_times_out() {
    let gpu = gpu_or_return!();
    let arena = device_buffer(&gpu, "arena", 64 * MIB).unwrap();
    let kernel = Kernel::new(&gpu, "write");
    let mut last = kernel.submit(&[(2, &arena)]);
    for _ in 0..20 {
        last = kernel.submit(&[(2, &arena)]);
    }
    let begun = Instant::now();
    // Whether it is done depends on the machine, but the answer must come at once.
    gpu.wait(last.clone(), Duration::ZERO).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    done(&gpu, last.clone());
    assert!(gpu.wait(last, Duration::ZERO).unwrap(), "what is done stays done");
}

/// On hardware only: software Vulkan overcommits, and allocates on the first write.
#[test]
fn a_full_device_is_a_typed_error_and_remains_usable() {
    let gpu = gpu_or_return!();
    let report = adapter().unwrap().report;
    let Some(memory_bytes) = report.memory_bytes.filter(|_| report.is_hardware()) else { return };
    let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let fill = |make: &dyn Fn() -> Result<wgpu::Buffer, Error>| {
        let buffers: Vec<_> = (0..memory_bytes / (1 << 30) + 2).map(|_| make()).collect();
        assert!(buffers.iter().take(2).all(Result::is_ok));
        let refused = buffers.into_iter().find_map(Result::err).expect("a device has an end");
        assert!(matches!(refused, Error::Gpu(GpuError::OutOfMemory { .. })), "{refused}");
        gpu.poll().unwrap();
    };
    fill(&|| gpu.buffer("ranks", 1 << 30, storage));
    fill(&|| Ok((*device_buffer(&gpu, "arena", 1 << 30)?).clone()));
    let arena = device_buffer(&gpu, "arena", MIB).unwrap();
    done(&gpu, Kernel::new(&gpu, "write").submit(&[(2, &arena)]));
    assert_eq!(read(&gpu, &arena, 4, 4), 3u32.to_le_bytes());
}

/// Resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

/// One device is kept throughout, so that the figures show buffers and host memory, not the driver's caches.
#[test]
#[cfg(target_os = "linux")]
fn nothing_leaks_in_any_drop_order() {
    let gpu = gpu_or_return!();
    let kernel = Kernel::new(&gpu, "add");
    let round = |order: usize| {
        let frames = frames(128);
        let import = HostImport::new(&gpu, pool(&frames), 32 * (64 << 10)).unwrap();
        let arena = device_buffer(&gpu, "arena", 8 * MIB).unwrap();
        let total = gpu.buffer("total", 4, BufferUsages::STORAGE).unwrap();
        // Still in flight during the drops.
        let submission = kernel.submit(&[(0, &import.chunks()[1]), (1, &total)]);
        for quarter in 0..4 {
            copy(&gpu, &import.chunks()[quarter], 0, &arena, quarter as u64 * 2 * MIB, 2 * MIB);
        }
        let memory = Arc::downgrade(frames[0].pool());
        match order % 4 {
            0 => drop((frames, import, arena, total)),
            1 => drop((arena, import, frames)),
            2 => {
                let kept = import.chunks()[2].clone();
                drop((frames, import, arena));
                drop(kept);
            }
            _ => {
                done(&gpu, submission);
                drop((import, frames, arena));
            }
        }
        memory
    };
    let settle = || {
        done(&gpu, gpu.queue().submit([]));
        gpu.poll().unwrap();
        resident_bytes()
    };
    (0..8).map(round).for_each(drop);
    let before = settle();
    let memories: Vec<_> = (0..50).map(round).collect();
    let after = settle();
    assert!(memories.iter().all(|memory| memory.strong_count() == 0), "host memory is still held");
    assert!(after < before + 100 * MIB, "resident bytes grew from {before} to {after} in rounds of 16 MiB each");
}

#[test]
fn devices_and_their_objects_can_be_dropped_in_any_order() {
    for order in 0..6 {
        let gpu = gpu_or_return!();
        let frames = frames(4);
        let import = HostImport::new(&gpu, pool(&frames), 2 * (64 << 10)).unwrap();
        let arena = device_buffer(&gpu, "arena", MIB).unwrap();
        copy(&gpu, &import.chunks()[0], 0, &arena, 0, 64 << 10);
        match order {
            0 => drop((gpu, import, arena, frames)),
            1 => drop((frames, gpu, arena, import)),
            2 => drop((import, gpu, frames, arena)),
            3 => drop((arena, frames, import, gpu)),
            4 => {
                gpu.lose();
                drop((gpu, frames, import, arena));
            }
            _ => {
                gpu.lose();
                drop((import, arena, gpu, frames));
            }
        }
    }
}

/// The engine's own pool implements the trait object above.
#[test]
fn a_pool_is_host_memory() {
    let frames: Vec<Frame> = PagePool::frames(2, 64 << 10, 64 << 10).unwrap();
    assert_eq!(pool(&frames).memory().len(), 4 * (64 << 10));
}
