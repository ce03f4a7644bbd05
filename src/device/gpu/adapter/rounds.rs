//! Detects drivers that end loops early.
//!
//! Mesa's llvmpipe (22.3, and others) counts the rounds of all loops of a thread in a launch, and after 65,535 of them
//! silently ends every loop after its first round, which gives wrong answers. Adapters that are not cards are tested
//! when they are opened. If loops are limited, kernels that call an algorithm's hooks check at their end whether a loop
//! was cut short (shaders/lib/loops.wgsl), which is an error of the run. All other kernels have loops of bounded
//! length, stated in comments.

use super::open::Gpu;
use super::probe::Probe;
use super::readback::{READBACK, read_buffer};
use crate::error::{Error, GpuError};
use wgpu::BufferUsages as Usage;

/// Rounds of the trial: more than any known limit.
const ROUNDS: u32 = 200_000;

/// A loop of `words[0]` rounds, and then one of `words[1]`, which shows whether the first was cut short.
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
/// [`GpuError::Unavailable`] if it does so without affecting a later loop; device errors.
pub fn are_limited(gpu: &Gpu) -> Result<bool, Error> {
    let found = tried(gpu, [ROUNDS, 2])?;
    match (found[2] == ROUNDS, found[3] == 2) {
        (true, true) => Ok(false),
        (false, false) => Ok(true),
        (complete, _) => {
            let message = match complete {
                true => "the driver does not run a loop of 2 rounds to its end".into(),
                false => format!("the driver ends a loop of {ROUNDS} rounds after {} and reports no error", found[2]),
            };
            Err(gpu.health().unavailable("loops", &message).into())
        }
    }
}

/// The error of a run whose kernels need more rounds than the driver allows.
pub fn cut(gpu: &Gpu, algorithm: &str) -> GpuError {
    let message = "the driver limits the total number of loop rounds of a thread (llvmpipe: 65535), and this needs \
                   more; run with `--device cpu`";
    gpu.health().unavailable(&format!("{algorithm} of this graph"), message)
}

/// Runs the trial; returns its words.
fn tried(gpu: &Gpu, wanted: [u32; 2]) -> Result<[u32; 4], Error> {
    let words = gpu.buffer("trial", 16, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST)?;
    let readback = gpu.buffer("trial's words", 16, READBACK)?;
    gpu.queue().write_buffer(&words, 0, bytemuck::bytes_of(&wanted));
    let mut encoder = Probe::new(gpu, "a trial of loops", TRIAL, &words)?.encode(gpu, 1);
    encoder.copy_buffer_to_buffer(&words, 0, &readback, 0, 16);
    let submission = gpu.queue().submit([encoder.finish()]);
    let bytes = read_buffer(gpu, &readback, submission, 16)?;
    Ok(bytemuck::pod_read_unaligned(&bytes))
}
