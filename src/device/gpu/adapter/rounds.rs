//! Drivers that end loops early, and how they are found out.
//!
//! Mesa's llvmpipe (22.3, and others) counts the rounds of all loops that a thread goes through in a launch, and at
//! 65,535 of them ends every loop after its first round, without a word: a wrong answer. An adapter that is not a card
//! is tried when it is opened. Where loops are limited, kernels that call an algorithm's hooks look at their end
//! whether that has happened (shaders/lib/loops.wgsl), and a superstep in which it has is an error of the run. All
//! other kernels have loops of bounded length, which comments in their files give.

use super::open::Gpu;
use super::readback::{READBACK, read_buffer};
use crate::error::{Error, GpuError};
use wgpu::BufferUsages as Usage;

/// Rounds that are tried: more than any known limit.
const ROUNDS: u32 = 200_000;

/// `words[0]` rounds, and then the loop that finds out whether they were all.
const TRIAL: &str = "
@group(0) @binding(0) var<storage, read_write> words: array<u32>;

fn rounds(wanted: u32) -> u32 {
    var done = 0u;
    for (var round = 0u; round < wanted; round += 1u) {
        done += 1u;
    }
    return done;
}

@compute @workgroup_size(1)
fn main() {
    words[2] = rounds(words[0]);
    words[3] = rounds(words[1]);
}
";

/// Whether the driver ends loops early.
///
/// # Errors
/// [`GpuError::Unavailable`] where it does so in a way that a later loop does not show; device errors.
pub fn are_limited(gpu: &Gpu) -> Result<bool, Error> {
    let found = tried(gpu, [ROUNDS, 2])?;
    match (found[2] == ROUNDS, found[3] == 2) {
        (true, true) => Ok(false),
        (false, false) => Ok(true),
        (complete, _) => {
            let message = match complete {
                true => "the driver does not run a loop of 2 rounds to its end".into(),
                false => format!("the driver ends a loop of {ROUNDS} rounds after {}, without a trace", found[2]),
            };
            Err(gpu.health().unavailable("loops", &message).into())
        }
    }
}

/// The error of a run whose kernels need more rounds than the driver lets them have.
pub fn cut(gpu: &Gpu, algorithm: &str) -> GpuError {
    let message = "the driver ends the loops of a thread after a number of rounds in all (llvmpipe: 65535), and this \
                   needs more of them; run with `--device cpu`";
    gpu.health().unavailable(&format!("{algorithm} of this graph"), message)
}

/// The words that the trial has written.
fn tried(gpu: &Gpu, wanted: [u32; 2]) -> Result<[u32; 4], Error> {
    let words = gpu.buffer("trial", 16, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST)?;
    let readback = gpu.buffer("trial's words", 16, READBACK)?;
    gpu.queue().write_buffer(&words, 0, bytemuck::bytes_of(&wanted));
    let device = gpu.device();
    let (pipeline, group) = gpu.scoped("a trial of loops", || {
        let source = wgpu::ShaderSource::Wgsl(TRIAL.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("trial"), source });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("trial"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let entries = [wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }];
        let layout = pipeline.get_bind_group_layout(0);
        let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        let group = device.create_bind_group(&group);
        (pipeline, group)
    })?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&words, 0, &readback, 0, 16);
    let submission = gpu.queue().submit([encoder.finish()]);
    let bytes = read_buffer(gpu, &readback, submission, 16)?;
    Ok(bytemuck::pod_read_unaligned(&bytes))
}
