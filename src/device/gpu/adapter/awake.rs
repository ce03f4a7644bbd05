//! Keeps a card at work until there is work for it.
//!
//! An idle card lowers its clock (an H200 from 1,980 to 345 MHz) and takes some hundred milliseconds to raise it: the
//! first pages of a run would be computed at the low one. From opening until the first launch, a thread submits one
//! tiny kernel after the other and waits for each. Work that arrives waits for one of them at most, some ten
//! microseconds.

use super::open::Gpu;
use crate::error::GpuError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use topostream_formats::threads;
use wgpu::BufferUsages as Usage;

/// How long a card is kept at work: longer than a run takes to its first launch.
const LONGEST: Duration = Duration::from_secs(5);
/// How long a wait for the kernel may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// Workgroups: about one for each multiprocessor.
const WORKGROUPS: u32 = 128;

/// 2,000 dependent multiplications a thread: 6 µs at 1,980 MHz, 35 µs at 345.
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

/// A card that is kept at work, until this is ended or dropped.
pub struct Awake {
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Awake {
    /// Begins. `None` where the kernel or the thread cannot be made: nothing depends on it.
    pub fn begin(gpu: &Arc<Gpu>) -> Option<Self> {
        let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let work = {
            let (gpu, stop, rounds) = (Arc::clone(gpu), Arc::clone(&stop), Arc::clone(&rounds));
            move || drop(keep_at_work(&gpu, &stop, &rounds))
        };
        Some(Self { stop, rounds, thread: Some(threads::start("gpu awake", 1, work).ok()?) })
    }

    /// Ends it, without waiting for the kernel that is under way.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The number of kernels that have been run.
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

fn keep_at_work(gpu: &Gpu, stop: &AtomicBool, rounds: &AtomicU64) -> Result<(), crate::error::Error> {
    let begun = Instant::now();
    let words = gpu.buffer("awake", u64::from(4 * 64 * WORKGROUPS), Usage::STORAGE)?;
    let (pipeline, group) = kernel(gpu, &words)?;
    while !stop.load(Ordering::Relaxed) && begun.elapsed() < LONGEST {
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(WORKGROUPS, 1, 1);
        drop(pass);
        if !gpu.wait(gpu.queue().submit([encoder.finish()]), PATIENCE)? {
            break;
        }
        rounds.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn kernel(gpu: &Gpu, words: &wgpu::Buffer) -> Result<(wgpu::ComputePipeline, wgpu::BindGroup), GpuError> {
    let device = gpu.device();
    gpu.scoped("a kernel that keeps the device awake", || {
        let source = wgpu::ShaderSource::Wgsl(KERNEL.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("awake"), source });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("awake"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let entries = [wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }];
        let layout = pipeline.get_bind_group_layout(0);
        let group =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
        (pipeline, group)
    })
}
