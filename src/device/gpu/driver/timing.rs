//! Kernel timestamps: every launch is timed by the device's clock if the adapter supports timestamps.

use crate::device::gpu::adapter::open::Gpu;
use crate::device::gpu::adapter::readback::{READBACK, read_buffer};
use crate::error::Result;
use crate::trace::{Detail, Lane, Timeline};
use std::time::Instant;

/// Suffix of the names of kernels that read pages in main memory.
pub const IN_PLACE: &str = " in place";
/// Timestamps of one query set: two for each launch.
const QUERIES: u32 = 4096;
/// Bytes of a timestamp.
const TIMESTAMP_BYTES: u64 = 8;

/// The timestamps of a superstep's launches.
pub struct Timing {
    enabled: bool,
    /// Nanoseconds per tick.
    period_ns: f64,
    sets: Vec<(wgpu::QuerySet, wgpu::Buffer)>,
    /// Queries used since the last readback.
    used: u32,
    /// The name of each pair of queries: first of those that are resolved and not decoded, then of the others.
    names: Vec<&'static str>,
    /// The number of the first ones.
    resolved: usize,
    /// Offset of the timeline's clock from the device's.
    offset_ns: f64,
}

/// A span on the device's clock, in nanoseconds since an arbitrary fixed time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceSpan {
    /// What ran.
    pub name: &'static str,
    /// The beginning.
    pub begin_ns: f64,
    /// The end.
    pub end_ns: f64,
}

impl Timing {
    /// Timestamps, if the adapter supports them.
    pub fn new(gpu: &Gpu) -> Self {
        let period_ns = f64::from(gpu.queue().get_timestamp_period());
        let (enabled, sets, names) = (gpu.caps().timestamps, Vec::new(), Vec::new());
        Self { enabled, period_ns, sets, used: 0, names, resolved: 0, offset_ns: 0.0 }
    }

    /// Aligns the device's clock with a timeline's, to within the duration of an empty submission.
    ///
    /// # Errors
    /// Device errors.
    pub fn calibrate(&mut self, gpu: &Gpu, timeline: &Timeline) -> Result<()> {
        for _ in 0..2 {
            let Some((query_set, begin, end)) = self.next(gpu, "calibration") else { return Ok(()) };
            let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(begin),
                end_of_pass_write_index: Some(end),
            });
            drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes }));
            let bytes = self.bytes();
            let buffer = gpu.buffer("calibration", bytes.next_multiple_of(16), READBACK)?;
            self.resolve(&mut encoder, &buffer, 0);
            let submitted = timeline.ns_at(Instant::now());
            let submission = gpu.queue().submit([encoder.finish()]);
            let read = read_buffer(gpu, &buffer, submission, bytes)?;
            let middle = (submitted + timeline.ns_at(Instant::now())) as f64 / 2.0;
            if let Some(span) = self.spans(&read).first() {
                self.offset_ns = middle - span.begin_ns;
            }
        }
        Ok(())
    }

    /// Adds device spans to a timeline.
    pub fn tell(&self, timeline: &Timeline, lane: Lane, spans: &[DeviceSpan]) {
        for span in spans {
            let (begin, end) = (span.begin_ns + self.offset_ns, span.end_ns + self.offset_ns);
            timeline.span_ns(lane, span.name, begin.max(0.0) as u64, end.max(0.0) as u64, Detail::default());
        }
    }

    /// The queries of the next launch: a set, and two indices in it.
    pub fn next(&mut self, gpu: &Gpu, name: &'static str) -> Option<(&wgpu::QuerySet, u32, u32)> {
        if !self.enabled {
            return None;
        }
        let (set, at) = ((self.used / QUERIES) as usize, self.used % QUERIES);
        if set == self.sets.len() {
            self.sets.push(Self::set(gpu));
        }
        self.used += 2;
        self.names.push(name);
        Some((&self.sets[set].0, at, at + 1))
    }

    /// The number of launches since the last [`resolve`](Self::resolve).
    pub fn launches(&self) -> usize {
        self.names.len() - self.resolved
    }

    /// Takes back the last queries: the launches will not run.
    pub fn take_back(&mut self, launches: usize) {
        self.names.truncate(self.names.len() - launches);
        self.used -= 2 * launches as u32;
    }

    fn set(gpu: &Gpu) -> (wgpu::QuerySet, wgpu::Buffer) {
        let label = Some("timestamps");
        let ty = wgpu::QueryType::Timestamp;
        let queries = gpu.device().create_query_set(&wgpu::QuerySetDescriptor { label, ty, count: QUERIES });
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let size = u64::from(QUERIES) * TIMESTAMP_BYTES;
        let buffer =
            gpu.device().create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false });
        (queries, buffer)
    }

    /// Number of bytes that [`resolve`](Self::resolve) will write.
    pub fn bytes(&self) -> u64 {
        u64::from(self.used) * TIMESTAMP_BYTES
    }

    /// Encodes the resolution of all timestamps since the last call into `buffer` at `offset`.
    pub fn resolve(&mut self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer, offset: u64) {
        let mut left = std::mem::take(&mut self.used);
        self.resolved = self.names.len();
        for (number, (queries, resolved)) in self.sets.iter().enumerate() {
            let count = left.min(QUERIES);
            if count == 0 {
                return;
            }
            let to = offset + number as u64 * u64::from(QUERIES) * TIMESTAMP_BYTES;
            encoder.resolve_query_set(queries, 0..count, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, buffer, to, u64::from(count) * TIMESTAMP_BYTES);
            left -= count;
        }
    }

    /// Decodes the spans written by the last [`resolve`](Self::resolve).
    pub fn spans(&mut self, bytes: &[u8]) -> Vec<DeviceSpan> {
        let ticks: Vec<u64> = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        let ns = |tick: u64| tick as f64 * self.period_ns;
        let (pairs, _) = ticks.as_chunks::<2>();
        // The timestamps of a launch that never ran are zero.
        let ran = |(pair, _): &(&[u64; 2], &'static str)| pair[0] != 0 && pair[1] >= pair[0];
        let span = |(&[begin, end], name): (&[u64; 2], _)| DeviceSpan { name, begin_ns: ns(begin), end_ns: ns(end) };
        let names = self.names.drain(..std::mem::take(&mut self.resolved));
        pairs.iter().zip(names).filter(ran).map(span).collect()
    }
}

/// The length of the union of spans, in nanoseconds. Sorts the spans.
pub fn union_ns(spans: &mut [DeviceSpan]) -> f64 {
    spans.sort_by(|a, b| a.begin_ns.total_cmp(&b.begin_ns));
    let (mut covered, mut until) = (0.0, f64::NEG_INFINITY);
    for span in spans {
        covered += (span.end_ns - span.begin_ns.max(until)).max(0.0);
        until = until.max(span.end_ns);
    }
    covered
}

/// The length of the intersection of two unions of spans, in nanoseconds.
pub fn overlap_ns(a: &[DeviceSpan], b: &[DeviceSpan]) -> f64 {
    let mut both = [a, b].concat();
    let union = union_ns(&mut both);
    let alone = |spans: &[DeviceSpan]| union_ns(&mut spans.to_vec());
    (alone(a) + alone(b) - union).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(begin_ns: f64, end_ns: f64) -> DeviceSpan {
        DeviceSpan { name: "", begin_ns, end_ns }
    }

    #[test]
    fn time_is_counted_once() {
        let kernels = [span(10.0, 20.0), span(0.0, 12.0), span(30.0, 40.0), span(31.0, 32.0)];
        assert_eq!(union_ns(&mut kernels.to_vec()), 30.0);
        assert_eq!(overlap_ns(&kernels, &[span(15.0, 35.0)]), 10.0);
        assert_eq!(overlap_ns(&kernels, &[span(20.0, 30.0)]), 0.0);
        assert_eq!(overlap_ns(&kernels, &[]), 0.0);
    }
}
