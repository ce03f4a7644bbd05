//! Everything in main memory, no device cache: each page crosses the bus in every iteration.

use super::baseline::walls;
use super::bench::{Bench, over};
use crate::error::Result;
use crate::measure::{Spread, ratio};
use crate::outcome::{Cell, Goal, Outcome, Table};
use crate::rig::{DeviceChoice, Measured, PageTransfer, Setup, Share, Work};
use std::sync::Arc;
use std::time::{Duration, Instant};
use topostream::device::gpu::import::device_buffer;
use topostream::device::gpu::{Gpu, GpuOptions, HostImport, HostMemory, adapters};
use topostream_formats::buffer::AlignedBuffer;

const EXPECTATION: &str = "PageRank moves its pages at 90% or more of the rate at which pinned memory is copied to \
    the device in the same run (50.6 GB/s on an H200, so 12.6 G edges/s at 4 bytes an edge), both ways: a kernel \
    that reads main memory in place reached the same rate with its own time hidden behind it, and copies on the \
    transfer queue overlap kernels, which take a third of the time. A top-down search moves less and is bound by \
    the launches of its small levels: 60%";
const TARGET: f64 = 0.9;
/// Bytes of the buffer that is copied to measure the rate, and the number of copies per submission.
const RATE_BYTES: u64 = 256 << 20;
const RATE_COPIES: u64 = 8;

/// Measures.
///
/// # Errors
/// Any failure, including a wrong answer.
pub fn run(bench: &Bench) -> Result<Outcome> {
    let mut outcome = bench.outcome("gpu-bus", EXPECTATION);
    let columns = [
        "graph",
        "work",
        "pages",
        "ms",
        "G edges/s",
        "GB/s over the bus",
        "copies GB/s",
        "of them",
        "kernels ms",
        "copies ms",
        "copies beside kernels",
    ];
    let mut table = Table::new("Everything in main memory, device cache off", &columns);
    if let Some(baseline) = &bench.settings.baseline {
        let rate = walls(baseline)?;
        outcome.notes.push(format!("the CUDA baseline copies pinned memory to the device at {rate:.1} GB/s"));
    }
    for case in bench.graphs()? {
        for work in [Work::Push, Work::Pull, Work::TopDown(case.hub)] {
            for (transfer, name) in [(PageTransfer::InPlace, "read in place"), (PageTransfer::Copy, "copied")] {
                let setup = Setup { buffer: Share::All, cache: Share::Nothing, transfer, ..bench.setup() };
                let mut rates = Vec::new();
                let rig = setup.rig(&case.path, work)?;
                case.run(&rig)?;
                let round = |_| -> Result<Measured> {
                    rates.extend(copy_gb_per_s(&bench.settings.device)?);
                    case.run(&rig)
                };
                let measured = (0..bench.fewer_runs()).map(round).collect::<Result<Vec<_>>>()?;
                let pairs: Vec<_> = measured.iter().zip(&rates).collect();
                let share = Spread::over(&pairs, |(run, rate)| ratio(run.bus_gb_per_s(), **rate));
                let mut cells = vec![case.name.as_str().into(), work.name().into(), name.into()];
                cells.extend(row(&measured, Spread::of(&rates), share));
                table.row(cells);
                if !work.is_search() {
                    let what = format!("{}, {}, {name}: share of the bus", case.name, work.name());
                    outcome.claim(what, Goal::AtLeast, TARGET, share);
                }
            }
        }
    }
    outcome.tables.push(table);
    Ok(outcome)
}

fn row(measured: &[Measured], rate: Spread, share: Spread) -> Vec<Cell> {
    let over = |of: fn(&Measured) -> f64| Cell::from(over(measured, of));
    vec![
        over(|run| run.ns / 1e6),
        over(Measured::gedges_per_s),
        over(Measured::bus_gb_per_s),
        rate.into(),
        share.into(),
        over(|run| run.kernel_ns / 1e6),
        over(|run| run.copy_ns / 1e6),
        over(|run| ratio(run.overlap_ns, run.copy_ns)),
    ]
}

/// Returns the rate of copies from main memory to the device, in GB/s; `None` if the device cannot read main memory.
///
/// # Errors
/// Errors of the driver.
fn copy_gb_per_s(choice: &DeviceChoice) -> Result<Option<f64>> {
    let Some(adapter) = adapters::choose(choice)? else { return Ok(None) };
    let gpu = Gpu::open(&adapter, &GpuOptions::default())?;
    if !gpu.caps().host_import {
        return Ok(None);
    }
    let bytes =
        RATE_BYTES.min(gpu.caps().binding_bytes_max / 2).next_multiple_of(gpu.caps().import_alignment.max(4096));
    let memory: Arc<dyn HostMemory> = Arc::new(AlignedBuffer::new(bytes as usize));
    let (import, dest) = (HostImport::new(&gpu, memory, bytes)?, device_buffer(&gpu, "copy of main memory", bytes)?);
    let mut best = 0.0f64;
    for _ in 0..3 {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        (0..RATE_COPIES).for_each(|_| encoder.copy_buffer_to_buffer(&import.chunks()[0], 0, &dest, 0, bytes));
        let started = Instant::now();
        let submission = gpu.queue().submit([encoder.finish()]);
        if !gpu.wait(submission, Duration::from_secs(60))? {
            return Err("a copy over the bus takes longer than a minute".into());
        }
        best = best.max(ratio((RATE_COPIES * bytes) as f64, started.elapsed().as_nanos() as f64));
    }
    Ok(Some(best))
}
