//! The executor: the only place that submits work to the device. It turns plans into commands, times them, waits for
//! them, reads what they have read, and reports a device that does not answer.
//!
//! ```text
//!   Plan ── encode ─▶ Encoded ── submit ─▶ Submitted ── read ─▶ Read: bytes, times of passes
//!                     (now, or before it is known that the plan comes next)
//!   Plan of copies ── beside ─▶ ticket of the transfer queue
//! ```

use super::context::Context;
use super::kept::Bound;
use super::plan::{Bytes, Dispatch, Pass, Plan, Work};
use super::timing::{DeviceSpan, Timed};
use crate::device::gpu::adapter::import::SharedBuffer;
use crate::device::gpu::adapter::readback::PATIENCE;
use crate::device::gpu::adapter::transfer::{Copy, TransferTicket};
use crate::error::Result;
use crate::trace::{Detail, Lane};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread sleeps between polls of the device, or of other devices.
pub const LOOK: Duration = Duration::from_micros(30);

/// Commands that have not been submitted.
pub struct Encoded {
    commands: wgpu::CommandBuffer,
    reading: Option<Reading>,
    /// The number of passes whose times this plan does not read.
    untold: usize,
}

/// Where a plan's reads are.
struct Reading {
    buffer: wgpu::Buffer,
    /// Bytes in all, those that the plan reads, and where the timestamps begin.
    bytes: u64,
    found: u64,
    times: u64,
    passes: Vec<Timed>,
    /// Whether the buffer is mapped.
    done: Arc<AtomicBool>,
}

/// Commands in flight.
pub struct Submitted {
    /// Their number.
    pub index: wgpu::SubmissionIndex,
    reading: Option<Reading>,
}

/// What a plan has read.
pub struct Read {
    /// The bytes of all reads.
    pub bytes: Vec<u8>,
    /// The times of passes, if they were asked for.
    pub spans: Vec<DeviceSpan>,
}

/// The kernels of passes that have been bound, by the address of what passes share.
type Known = Vec<(*const Dispatch<wgpu::Buffer>, Vec<Bound>)>;

impl Context {
    /// Turns a plan into commands. Commands of several plans run in the order in which they are submitted.
    ///
    /// # Errors
    /// Shader and device errors.
    pub fn encode(&mut self, plan: &Plan<wgpu::Buffer>) -> Result<Encoded> {
        let mut encoder = self.gpu().device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let before = self.kept.timing.passes();
        let (mut known, mut reading, mut read) = (Known::new(), self.reading(plan)?, 0);
        let mut works = plan.work.iter().peekable();
        while let Some(work) = works.next() {
            match work {
                Work::Copy(Bytes { of, at, count }, to, to_at) => {
                    encoder.copy_buffer_to_buffer(of, *at, to, *to_at, *count);
                }
                Work::Clear(buffer, at, count) => encoder.clear_buffer(buffer, *at, *count),
                Work::Read(Bytes { of, at, count }) => {
                    let reading = reading.as_ref().expect("the plan reads");
                    encoder.copy_buffer_to_buffer(of, *at, &reading.buffer, read, *count);
                    read += count;
                }
                Work::Pass(pass) => {
                    let mut row = vec![pass];
                    while let Some(Work::Pass(next)) = works.next_if(|next| self.joins(pass, next)) {
                        row.push(next);
                    }
                    self.encode_passes(&mut encoder, &row, &mut known)?;
                }
            }
        }
        if let Some(reading) = reading.as_mut().filter(|_| plan.times) {
            reading.bytes = reading.times + self.kept.timing.bytes();
            reading.passes = self.kept.timing.resolve(&mut encoder, &reading.buffer, reading.times);
        }
        let untold = self.kept.timing.passes().saturating_sub(before);
        Ok(Encoded { commands: encoder.finish(), reading, untold })
    }

    /// Room for what a plan reads.
    fn reading(&mut self, plan: &Plan<wgpu::Buffer>) -> Result<Option<Reading>> {
        let found = plan.read_bytes();
        let passes = plan.work.iter().filter(|work| matches!(work, Work::Pass(_))).count() as u64;
        let room = if plan.times { self.kept.timing.room(passes) } else { 0 };
        if found + room == 0 {
            return Ok(None);
        }
        let times = found.next_multiple_of(8);
        let buffer = self.kept.readback(&self.home.gpu, times + room)?;
        Ok(Some(Reading { buffer, bytes: times, found, times, passes: Vec::new(), done: Arc::default() }))
    }

    /// Whether a pass and the next work run as one.
    fn joins(&self, pass: &Pass<wgpu::Buffer>, next: &Work<wgpu::Buffer>) -> bool {
        let joined = matches!(next, Work::Pass(next) if next.joined && next.name == pass.name);
        joined && pass.joined && self.gpu().caps().pass_timestamps
    }

    /// Encodes a pass, or several that run as one, with timestamps.
    fn encode_passes(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        row: &[&Pass<wgpu::Buffer>],
        known: &mut Known,
    ) -> Result<()> {
        for pass in row {
            if !known.iter().any(|(same, _)| *same == pass.kernels.as_ptr()) {
                let bound = pass.kernels.iter().map(|kernel| self.bind(kernel)).collect::<Result<_>>()?;
                known.push((pass.kernels.as_ptr(), bound));
            }
        }
        let kernels = |pass: &Pass<wgpu::Buffer>| {
            let bound = known.iter().find(|(same, _)| *same == pass.kernels.as_ptr());
            bound.expect("just bound").1.iter()
        };
        let (gpu, timing) = (&self.home.gpu, &mut self.kept.timing);
        let name = row[0].name;
        let inside = row[0].joined && gpu.caps().pass_timestamps;
        let timestamp_writes = name.filter(|_| !inside).and_then(|name| timing.next(gpu, name));
        let mut open = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        if inside {
            timing.mark(gpu, &mut open, None);
        }
        for pass in row {
            kernels(pass).for_each(|kernel| kernel.encode(&mut open));
            if inside {
                timing.mark(gpu, &mut open, name);
            }
        }
        if inside {
            timing.end_marks(gpu, &mut open);
        }
        Ok(())
    }

    /// Binds a kernel to its own buffers, and to the run's for the rest.
    fn bind(&mut self, dispatch: &Dispatch<wgpu::Buffer>) -> Result<Bound> {
        let (direction, visit) = dispatch.lists;
        let kernel = self.kernel(dispatch.kernel, (direction, visit), dispatch.variant)?;
        self.kept.prepare(&self.home.gpu, dispatch)?;
        let graph = self.graph_buffers();
        let find = |resource| {
            let own = self.kept.own(dispatch, resource);
            own.unwrap_or_else(|| self.buffers.find(graph, dispatch.superstep, direction, &resource)).clone()
        };
        let buffers = kernel.resources().map(find).collect();
        Ok(self.kept.bind(&self.home.gpu, kernel, buffers, dispatch.size.clone()))
    }

    /// Submits commands together; what the last of them reads can be read.
    pub fn submit(&self, encoded: impl IntoIterator<Item = Encoded>) -> Submitted {
        let mut reading = None;
        let commands = encoded.into_iter().map(|encoded| {
            reading = encoded.reading;
            encoded.commands
        });
        let index = self.gpu().queue().submit(commands.collect::<Vec<_>>());
        if let Some(reading) = &reading {
            let mark = Arc::clone(&reading.done);
            reading
                .buffer
                .map_async(wgpu::MapMode::Read, 0..reading.bytes, move |_| mark.store(true, Ordering::Release));
        }
        Submitted { index, reading }
    }

    /// Encodes and submits a plan.
    ///
    /// # Errors
    /// The errors of [`encode`](Self::encode).
    pub fn run(&mut self, plan: &Plan<wgpu::Buffer>) -> Result<Submitted> {
        let encoded = self.encode(plan)?;
        Ok(self.submit([encoded]))
    }

    /// Drops commands that will not be submitted, and were the last to be encoded.
    pub fn drop_encoded(&mut self, encoded: Encoded) {
        self.kept.timing.take_back(encoded.untold);
        self.kept.spare(encoded.reading.map(|reading| reading.buffer));
    }

    /// A mark that is set once all commands so far are done and the device has been polled.
    pub fn mark(&self) -> Arc<AtomicBool> {
        let done = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&done);
        self.when_done(move || mark.store(true, Ordering::Release));
        done
    }

    /// Calls back once all commands so far are done.
    pub fn when_done(&self, call: impl FnOnce() + Send + 'static) {
        self.gpu().queue().on_submitted_work_done(call);
    }

    /// Waits for commands, of which `what` is said if they do not end.
    ///
    /// # Errors
    /// Device errors; [`Lost`](crate::error::GpuError::Lost) after [`PATIENCE`].
    pub fn wait(&self, submitted: &Submitted, what: &str) -> Result<()> {
        match self.gpu().wait(submitted.index.clone(), PATIENCE)? {
            true => Ok(()),
            false => Err(self.gpu().health().lost(what).into()),
        }
    }

    /// Whether commands are done.
    ///
    /// # Errors
    /// Device errors.
    pub fn is_done(&self, submitted: &Submitted) -> Result<bool> {
        self.gpu().wait(submitted.index.clone(), Duration::ZERO)
    }

    /// Frees the staging memory of writes so far.
    ///
    /// # Errors
    /// Device errors.
    pub fn flush(&self) -> Result<()> {
        self.submit([]);
        Ok(self.gpu().poll()?)
    }

    /// Waits for commands that soon end, and reads what they have read.
    ///
    /// # Errors
    /// The errors of [`wait`](Self::wait).
    pub fn read(&mut self, submitted: Submitted) -> Result<Read> {
        if let Some(reading) = &submitted.reading {
            self.gpu().poll_until(&reading.done)?;
        }
        self.read_later(submitted)
    }

    /// Waits and reads without polling: other commands may be in flight before these.
    ///
    /// # Errors
    /// The errors of [`wait`](Self::wait).
    pub fn read_later(&mut self, submitted: Submitted) -> Result<Read> {
        self.wait(&submitted, "a superstep did not end")?;
        let Some(Reading { buffer, bytes, found, times, passes, .. }) = submitted.reading else {
            return Ok(Read { bytes: Vec::new(), spans: Vec::new() });
        };
        let view = buffer.get_mapped_range(0..bytes);
        let view = view.map_err(|error| self.gpu().health().fault("readback", &format!("{error:?}")))?;
        let spans = self.kept.timing.spans(&passes, &view[times as usize..bytes as usize]);
        let read = Read { bytes: view[..found as usize].to_vec(), spans };
        drop(view);
        buffer.unmap();
        self.kept.spare(Some(buffer));
        Ok(read)
    }

    /// Starts a plan of copies on the transfer queue, beside kernels; none if there is no such queue or no copy.
    ///
    /// # Errors
    /// Device errors.
    pub fn beside(&mut self, plan: &Plan<SharedBuffer>) -> Result<Option<TransferTicket>> {
        let copies = plan.work.iter().map(|work| match work {
            Work::Copy(Bytes { of, at, count }, dest, dest_offset) => {
                Copy { source: of, source_offset: *at, dest, dest_offset: *dest_offset, bytes: *count }
            }
            _ => unreachable!("the transfer queue copies"),
        });
        let copies: Vec<Copy<'_>> = copies.collect();
        let Some(transfer) = self.home.transfer.as_mut().filter(|_| !copies.is_empty()) else { return Ok(None) };
        Ok(Some(transfer.submit(&copies)?))
    }

    // ---- Times ------------------------------------------------------------------------------------------------------

    /// Aligns the device's clock with the timeline's, if there is one, to within the duration of an empty submission.
    ///
    /// # Errors
    /// Device errors.
    pub fn calibrate(&mut self) -> Result<()> {
        let Some(timeline) = self.trace.clone() else { return Ok(()) };
        let empty = Pass { name: Some("calibration"), joined: false, kernels: Vec::new().into() };
        let plan = Plan { work: vec![Work::Pass(empty)], times: true };
        for _ in 0..2 {
            let encoded = self.encode(&plan)?;
            let begun = timeline.ns_at(Instant::now());
            let submitted = self.submit([encoded]);
            let read = self.read(submitted)?;
            let middle = (begun + timeline.ns_at(Instant::now())) as f64 / 2.0;
            if let Some(span) = read.spans.first() {
                self.kept.timing.offset_ns = middle - span.begin_ns;
            }
        }
        Ok(())
    }

    /// Adds device spans to the timeline, if there is one.
    pub fn tell(&self, lane: Lane, spans: &[DeviceSpan]) {
        let Some(timeline) = &self.trace else { return };
        for span in spans {
            let offset = self.kept.timing.offset_ns;
            let (begin, end) = (span.begin_ns + offset, span.end_ns + offset);
            timeline.span_ns(lane, span.name, begin.max(0.0) as u64, end.max(0.0) as u64, Detail::default());
        }
    }
}
