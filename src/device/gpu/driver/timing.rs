//! Kernel timestamps: every pass is timed by the device's clock if the adapter supports timestamps.

use crate::device::gpu::adapter::open::Gpu;

/// Timestamps of one query set.
const QUERIES: u32 = 4096;
/// Bytes of a timestamp.
const TIMESTAMP_BYTES: u64 = 8;

/// The timestamps of passes.
pub struct Timing {
    enabled: bool,
    /// Nanoseconds per tick.
    period_ns: f64,
    sets: Vec<(wgpu::QuerySet, wgpu::Buffer)>,
    /// Queries used since the last readback.
    used: u32,
    /// The passes since then.
    passes: Vec<Timed>,
    /// Offset of the timeline's clock from the device's.
    pub offset_ns: f64,
}

/// A pass, and its queries.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    name: &'static str,
    begin: u32,
    end: u32,
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
        let (enabled, period_ns) = (gpu.caps().timestamps, f64::from(gpu.queue().get_timestamp_period()));
        Self { enabled, period_ns, sets: Vec::new(), used: 0, passes: Vec::new(), offset_ns: 0.0 }
    }

    /// The timestamps of the next pass.
    pub fn next(&mut self, gpu: &Gpu, name: &'static str) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let (begin, end) = (self.query(gpu)?, self.query(gpu)?);
        self.passes.push(Timed { name, begin, end });
        let (query_set, begin) = self.place(begin);
        let (beginning_of_pass_write_index, end_of_pass_write_index) = (Some(begin), Some(begin + 1));
        Some(wgpu::ComputePassTimestampWrites { query_set, beginning_of_pass_write_index, end_of_pass_write_index })
    }

    /// Writes a timestamp in an open pass: the first one of passes that are joined, or else the one at the end of the
    /// last of them.
    pub fn mark(&mut self, gpu: &Gpu, pass: &mut wgpu::ComputePass<'_>, ended: Option<&'static str>) {
        let Some(end) = self.query(gpu) else { return };
        self.passes.extend(ended.map(|name| Timed { name, begin: end - 1, end }));
        let (set, at) = self.place(end);
        pass.write_timestamp(set, at);
    }

    /// Ends passes that were joined. The queries of other passes come in pairs, which are in one set.
    pub fn end_marks(&mut self, gpu: &Gpu, pass: &mut wgpu::ComputePass<'_>) {
        if self.used % 2 == 1 {
            self.mark(gpu, pass, None);
        }
    }

    /// The next query.
    fn query(&mut self, gpu: &Gpu) -> Option<u32> {
        if !self.enabled {
            return None;
        }
        if (self.used / QUERIES) as usize == self.sets.len() {
            self.sets.push(Self::set(gpu));
        }
        self.used += 1;
        Some(self.used - 1)
    }

    fn place(&self, query: u32) -> (&wgpu::QuerySet, u32) {
        (&self.sets[(query / QUERIES) as usize].0, query % QUERIES)
    }

    /// The number of passes since the last [`resolve`](Self::resolve).
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// Takes back the last passes, each of two queries: they will not run.
    pub fn take_back(&mut self, passes: usize) {
        self.passes.truncate(self.passes.len().saturating_sub(passes));
        self.used = self.passes.last().map_or(0, |last| last.end + 1);
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

    /// The most bytes that [`resolve`](Self::resolve) will write after this many more passes.
    pub fn room(&self, passes: u64) -> u64 {
        if self.enabled { (u64::from(self.used) + 2 * passes + 2) * TIMESTAMP_BYTES } else { 0 }
    }

    /// Number of bytes that [`resolve`](Self::resolve) will write.
    pub fn bytes(&self) -> u64 {
        u64::from(self.used) * TIMESTAMP_BYTES
    }

    /// Encodes the resolution of all timestamps since the last call into `buffer` at `offset`; returns their passes.
    pub fn resolve(&mut self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer, offset: u64) -> Vec<Timed> {
        let mut left = std::mem::take(&mut self.used);
        for (number, (queries, resolved)) in self.sets.iter().enumerate() {
            let count = left.min(QUERIES);
            if count == 0 {
                break;
            }
            let to = offset + number as u64 * u64::from(QUERIES) * TIMESTAMP_BYTES;
            encoder.resolve_query_set(queries, 0..count, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, buffer, to, u64::from(count) * TIMESTAMP_BYTES);
            left -= count;
        }
        std::mem::take(&mut self.passes)
    }

    /// The spans of passes that have been [resolved](Self::resolve). A pass that never ran has none: its timestamps are
    /// zero.
    pub fn spans(&self, passes: &[Timed], bytes: &[u8]) -> Vec<DeviceSpan> {
        let ticks: Vec<u64> = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        let ns = |tick: u64| tick as f64 * self.period_ns;
        let span = |&Timed { name, begin, end }: &Timed| {
            let (begin, end) = (ticks[begin as usize], ticks[end as usize]);
            (begin != 0 && end >= begin).then(|| DeviceSpan { name, begin_ns: ns(begin), end_ns: ns(end) })
        };
        passes.iter().filter_map(span).collect()
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
